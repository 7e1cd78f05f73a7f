{{/* The version of a bundled store for its label, from the image tag. */}}
{{- define "parley.storeVersion" -}}
{{- default .major (regexFind "^[0-9][0-9A-Za-z._-]*" .tag) | toString }}
{{- end }}

{{/* The volume claim of a bundled store. Arguments: root, component, its persistence. Its labels are immutable too. */}}
{{- define "parley.claimTemplate" -}}
{{- $root := index . 0 -}}
{{- $persistence := index . 2 -}}
metadata:
  name: data
  labels:
    {{- include "parley.selector" (list $root (index . 1)) | nindent 4 }}
spec:
  accessModes: [{{ $persistence.accessMode }}]
  {{- with default $root.Values.global.storageClass $persistence.storageClass }}
  storageClassName: {{ eq . "-" | ternary "" . | quote }}
  {{- end }}
  resources:
    requests:
      storage: {{ $persistence.size }}
{{- end }}

{{/* Rolls a store's pod when its password changes. Arguments: root, key in the Secret. */}}
{{- define "parley.passwordChecksum" -}}
{{- $root := index . 0 -}}
{{- if not $root.Values.secrets.existingSecret -}}
checksum/password: {{ get (include "parley.secretData" $root | fromYaml) (index . 1) | sha256sum }}
{{- end }}
{{- end }}

{{/* valkey.conf without the password. */}}
{{- define "parley.valkeyConf" -}}
# What the promise of a 202 rests on: each write is on disk before the reply, and nothing is ever evicted.
dir /data
appendonly yes
appendfsync always
save ""
maxmemory {{ .Values.valkey.maxmemory }}
maxmemory-policy noeviction
{{- range $name, $value := .Values.valkey.settings }}
{{ $name }} {{ $value }}
{{- end }}
{{- end }}
