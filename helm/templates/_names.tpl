{{- define "parley.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 36 | trimSuffix "-" }}
{{- end }}

{{/* The prefix of all names, at most 36 characters so that the names of Jobs and of StatefulSet revisions fit. */}}
{{- define "parley.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 36 | trimSuffix "-" }}
{{- else if contains (include "parley.name" .) .Release.Name }}
{{- .Release.Name | trunc 36 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "parley.name" .) | trunc 36 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* The labels that select the pods of a component; immutable. Arguments: root, component. */}}
{{- define "parley.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: {{ include "parley.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* The labels of an object. Arguments: root, component (or ""), optionally the version of another application. */}}
{{- define "parley.labels" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
app.kubernetes.io/name: {{ include "parley.name" $root }}
app.kubernetes.io/instance: {{ $root.Release.Name }}
{{- with $component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/version: {{ (gt (len .) 2) | ternary (last .) $root.Chart.AppVersion | toString | trunc 63 | quote }}
app.kubernetes.io/part-of: parley
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 }}
{{- with $root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* An image reference; a digest overrides the tag. Arguments: root, image values. */}}
{{- define "parley.image" -}}
{{- $root := index . 0 -}}
{{- $image := index . 1 -}}
{{- $registry := default $image.registry $root.Values.global.imageRegistry -}}
{{- with $registry }}{{ trimSuffix "/" . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ default $root.Chart.AppVersion $image.tag }}{{ end }}
{{- end }}

{{- define "parley.serviceAccountName" -}}
{{- default (.Values.serviceAccount.create | ternary (include "parley.fullname" .) "default") .Values.serviceAccount.name }}
{{- end }}

{{/* "true" if the chart's own Valkey is used. */}}
{{- define "parley.bundledValkey" -}}
{{- if and (eq .Values.queue.backend "redis") .Values.valkey.enabled }}true{{ end }}
{{- end }}

{{/* The host of config.baseUrl, the default for Ingress and HTTPRoute. */}}
{{- define "parley.host" -}}
{{- regexReplaceAll ":[0-9]+$" (get (urlParse .Values.config.baseUrl) "host") "" }}
{{- end }}
