{{/* Labels and annotations of a component's pods. Arguments: root, component, its values, annotations of the chart. */}}
{{- define "parley.podMetadata" -}}
{{- $root := index . 0 -}}
{{- $values := index . 2 -}}
labels:
  {{- include "parley.selector" (list $root (index . 1)) | nindent 2 }}
  {{- with merge (dict) $values.podLabels $root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) $values.podAnnotations (index . 3) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The pod spec without containers and volumes. Arguments: root, component, its values. */}}
{{- define "parley.podSettings" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := index . 2 -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with concat $root.Values.imagePullSecrets $root.Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ if kindIs "map" . }}{{ .name }}{{ else }}{{ . }}{{ end }}
  {{- end }}
{{- end }}
securityContext:
  {{- toYaml $values.podSecurityContext | nindent 2 }}
terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- range $name := list "runtimeClassName" "schedulerName" }}
{{- with get $values $name }}
{{ $name }}: {{ . }}
{{- end }}
{{- end }}
{{- range $name := list "hostAliases" "dnsConfig" }}
{{- with get $values $name }}
{{ $name }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- $own := dict "labelSelector" (dict "matchLabels" (include "parley.selector" (list $root $component) | fromYaml)) }}
  - {{- toYaml (merge (dict) . $own) | nindent 4 }}
  {{- end }}
{{- end }}
{{- with $values.initContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The container spec without command, ports and probes. Arguments: root, its values, its image. */}}
{{- define "parley.containerSettings" -}}
{{- $root := index . 0 -}}
{{- $values := index . 1 -}}
{{- $image := index . 2 -}}
image: {{ include "parley.image" (list $root $image) }}
imagePullPolicy: {{ $image.pullPolicy }}
securityContext:
  {{- toYaml $values.securityContext | nindent 2 }}
{{- with $values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.lifecycle }}
lifecycle:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The probes that are not null. */}}
{{- define "parley.probes" -}}
{{- range $name := list "startup" "liveness" "readiness" }}
{{- with get $.probes $name }}
{{ $name }}Probe:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{/* The pod spec of components that use Parley's image, or the one in their values. Arguments: root, component, its values, its container without the
shared parts. */}}
{{- define "parley.pod" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := index . 2 -}}
{{- include "parley.podSettings" (list $root $component $values) }}
containers:
  - name: {{ $component }}
    {{- index . 3 | nindent 4 }}
    {{- include "parley.containerSettings" (list $root $values (default $root.Values.image $values.image)) | nindent 4 }}
    env:
      {{- include "parley.env" (list $root $component) | trim | nindent 6 }}
      {{- with $values.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    volumeMounts:
      - { name: secrets, mountPath: /run/parley, readOnly: true }
      - { name: tmp, mountPath: /tmp }
      {{- with $values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
  {{- with $values.extraContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumes:
  - {{- include "parley.secretsVolume" (list $root $component) | nindent 4 }}
  - name: tmp
    emptyDir: { sizeLimit: 64Mi }
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Rolls the pods when the chart's own Secret changes. Their other dependencies are part of the pod spec. */}}
{{- define "parley.secretChecksum" -}}
{{- if not .Values.secrets.existingSecret -}}
checksum/secrets: {{ include "parley.secretData" . | sha256sum }}
{{- end }}
{{- end }}
