{{/* The sources of the secret settings of a component, as JSON: setting, Secret and key. Arguments: root, component. */}}
{{- define "parley.secretSettings" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- with $root -}}
{{- $list := list (dict "setting" "SECRET_KEY" "secret" (include "parley.secretName" .) "key" (include "parley.secretEntry" (list . "secretKey"))) }}
{{- $former := include "parley.secretEntry" (list . "formerKeys") }}
{{- if and $former (or .Values.secrets.formerKeys .Values.secrets.existingSecret) }}
{{- $list = append $list (dict "setting" "SECRET_KEY_OTHERS" "secret" (include "parley.secretName" .) "key" $former) }}
{{- end }}
{{- $service := include "parley.serviceUrlEntry" . }}
{{- $api := include "parley.apiUrlEntry" . }}
{{- /* They need the owner of the tables. */}}
{{- $isOwner := has $component (list "migration" "backup") }}
{{- if and $api (eq $component "api") }}
{{- $list = append $list (dict "setting" "DATABASE_URL" "secret" (include "parley.secretName" .) "key" $api) }}
{{- else if and .Values.postgresql.enabled (or $isOwner (not $service)) }}
{{- $list = append $list (dict "setting" "DATABASE_PASSWORD" "secret" (include "parley.secretName" .) "key" (include "parley.secretEntry" (list . "postgresqlPassword"))) }}
{{- if $service }}
{{- $list = append $list (dict "setting" "DATABASE_SERVICE_URL" "secret" (include "parley.secretName" .) "key" $service) }}
{{- end }}
{{- if and $api $isOwner }}
{{- $list = append $list (dict "setting" "DATABASE_API_URL" "secret" (include "parley.secretName" .) "key" $api) }}
{{- end }}
{{- else if .Values.postgresql.enabled }}
{{- $list = append $list (dict "setting" "DATABASE_URL" "secret" (include "parley.secretName" .) "key" $service) }}
{{- else if and (eq $component "api") .Values.api.databaseSecret.name }}
{{- $list = append $list (dict "setting" "DATABASE_URL" "secret" .Values.api.databaseSecret.name "key" .Values.api.databaseSecret.key) }}
{{- else if and $isOwner .Values.migrations.databaseSecret.name }}
{{- $list = append $list (dict "setting" "DATABASE_URL" "secret" .Values.migrations.databaseSecret.name "key" .Values.migrations.databaseSecret.key) }}
{{- else }}
{{- $list = concat $list (include "parley.externalSecrets" (list .Values.externalDatabase "DATABASE") | fromJsonArray) }}
{{- end }}
{{- if include "parley.bundledValkey" . }}
{{- $list = append $list (dict "setting" "REDIS_PASSWORD" "secret" (include "parley.secretName" .) "key" (include "parley.secretEntry" (list . "valkeyPassword"))) }}
{{- else if eq .Values.queue.backend "redis" }}
{{- $list = concat $list (include "parley.externalSecrets" (list .Values.externalRedis "REDIS") | fromJsonArray) }}
{{- end }}
{{- with .Values.externalRedis.sentinelSecret.name }}
{{- $list = append $list (dict "setting" "REDIS_SENTINEL_PASSWORD" "secret" . "key" $root.Values.externalRedis.sentinelSecret.key) }}
{{- end }}
{{- /* Workers send mails; the API only has to know whether there is a mail server. */}}
{{- if and .Values.config.smtp.existingSecret (not $isOwner) }}
{{- $list = append $list (dict "setting" "SMTP_URL" "secret" .Values.config.smtp.existingSecret "key" .Values.config.smtp.key) }}
{{- end }}
{{- with .Values.config.oidc.existingSecret }}
{{- $list = append $list (dict "setting" "OIDC_CLIENT_SECRET" "secret" . "key" $root.Values.config.oidc.key) }}
{{- end }}
{{- toJson $list }}
{{- end }}
{{- end }}

{{/* The secret settings of an external store: its URL, or only its password. */}}
{{- define "parley.externalSecrets" -}}
{{- $store := index . 0 -}}
{{- $prefix := index . 1 -}}
{{- if and $store.existingSecret $store.keys.url -}}
{{- toJson (list (dict "setting" (printf "%s_URL" $prefix) "secret" $store.existingSecret "key" $store.keys.url)) }}
{{- else if and $store.existingSecret $store.keys.password -}}
{{- toJson (list (dict "setting" (printf "%s_PASSWORD" $prefix) "secret" $store.existingSecret "key" $store.keys.password)) }}
{{- else -}}
[]
{{- end }}
{{- end }}

{{/* A part of an external store's URL: a variable that Kubernetes expands from the Secret, or the URL-encoded value. */}}
{{- define "parley.urlPart" -}}
{{- $store := index . 0 -}}
{{- $prefix := index . 1 -}}
{{- $part := index . 2 -}}
{{- if and $store.existingSecret (get $store.keys $part) -}}
$({{ $prefix }}_{{ upper $part }})
{{- else if eq $part "host" -}}
{{ get $store $part }}
{{- else -}}
{{ get $store $part | toString | urlquery | replace "+" "%20" }}
{{- end }}
{{- end }}

{{/* The environment variables used by `parley.urlPart`. */}}
{{- define "parley.urlPartVariables" -}}
{{- $store := index . 0 -}}
{{- $prefix := index . 1 -}}
{{- range $part := list "host" "port" "user" "database" }}
{{- with get $store.keys $part }}
- name: {{ $prefix }}_{{ upper $part }}
  valueFrom:
    secretKeyRef: { name: {{ $store.existingSecret }}, key: {{ . }} }
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.databaseUrl" -}}
{{- if .Values.postgresql.enabled -}}
postgresql://parley@{{ include "parley.fullname" . }}-postgresql:5432/parley
{{- else -}}
{{- $store := .Values.externalDatabase -}}
{{- if $store.url -}}
{{ $store.url }}
{{- else -}}
postgresql://{{ include "parley.urlPart" (list $store "DATABASE" "user") }}@{{ include "parley.urlPart" (list $store "DATABASE" "host") }}:{{ include "parley.urlPart" (list $store "DATABASE" "port") }}/{{ include "parley.urlPart" (list $store "DATABASE" "database") }}
{{- with $store.sslMode }}?sslmode={{ . }}{{ if $store.caSecret.name }}&sslrootcert=/run/parley/database-ca.crt{{ end }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.redisUrl" -}}
{{- if .Values.valkey.enabled -}}
redis://{{ include "parley.fullname" . }}-valkey:6379
{{- else -}}
{{- $store := .Values.externalRedis -}}
{{- if $store.url -}}
{{ $store.url }}
{{- else -}}
{{ $store.tls | ternary "rediss" "redis" }}://{{ if or $store.user $store.keys.user }}{{ include "parley.urlPart" (list $store "REDIS" "user") }}@{{ end }}{{ include "parley.urlPart" (list $store "REDIS" "host") }}:{{ include "parley.urlPart" (list $store "REDIS" "port") }}/{{ $store.database }}
{{- end }}
{{- end }}
{{- end }}

{{/* The number of proxies that append to X-Forwarded-For: one if the chart creates an Ingress or an HTTPRoute. */}}
{{- define "parley.proxyHops" -}}
{{- if kindIs "invalid" .Values.config.trustedProxyHops -}}
{{ or .Values.ingress.enabled .Values.gateway.httpRoute.enabled | ternary 1 0 }}
{{- else -}}
{{ .Values.config.trustedProxyHops }}
{{- end }}
{{- end }}

{{/* All settings of Parley's containers as `env`; secret ones as paths of files. Arguments: root, component. */}}
{{- define "parley.env" -}}
{{- $arguments := . }}
{{- with index . 0 }}
{{- $names := list }}
{{- range include "parley.secretSettings" $arguments | fromJsonArray }}
{{- $names = append $names .setting }}
- name: {{ .setting }}_FILE
  value: /run/parley/{{ .setting | lower | replace "_" "-" }}
{{- end }}
{{- if not (has "DATABASE_URL" $names) }}
{{- if not .Values.postgresql.enabled }}{{ include "parley.urlPartVariables" (list .Values.externalDatabase "DATABASE") }}{{ end }}
- name: DATABASE_URL
  value: {{ include "parley.databaseUrl" . | quote }}
{{- end }}
{{- if and (eq .Values.queue.backend "redis") (not (has "REDIS_URL" $names)) }}
{{- if not .Values.valkey.enabled }}{{ include "parley.urlPartVariables" (list .Values.externalRedis "REDIS") }}{{ end }}
- name: REDIS_URL
  value: {{ include "parley.redisUrl" . | quote }}
{{- end }}
- name: HOST
  value: "::" # every address, also of clusters with IPv6 only; 0.0.0.0 where the kernel has no IPv6
- name: METRICS_PORT
  value: {{ .Values.metrics.port | quote }}
- name: TRUSTED_PROXY_HOPS
  value: {{ include "parley.proxyHops" . | quote }}
{{- $config := .Values.config }}
{{- $settings := dict
  "BASE_URL" $config.baseUrl
  "LOG_LEVEL" $config.logLevel
  "QUEUE_DURABILITY" $config.queueDurability
  "QUEUE_DURABILITY_NOTE" $config.queueDurabilityNote
  "MAIL_FROM" $config.smtp.from
  "OIDC_ISSUER" $config.oidc.issuer
  "OIDC_CLIENT_ID" $config.oidc.clientId
  "OIDC_NAME" $config.oidc.name
  "OTEL_EXPORTER_OTLP_ENDPOINT" .Values.tracing.endpoint }}
{{- if or $config.trustedCa.secret $config.trustedCa.configMap }}
{{- $_ := set $settings "NODE_EXTRA_CA_CERTS" "/run/parley/trusted-ca.crt" }}
{{- end }}
{{- range $name, $value := merge (dict) $config.settings $settings }}
{{- if not (or (kindIs "invalid" $value) (eq (toString $value) "")) }}
- name: {{ $name }}
  value: {{ kindIs "float64" $value | ternary (printf "%v" ($value | int64)) (toString $value) | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The volume under /run/parley with one file per secret and certificate. Arguments: root, component. */}}
{{- define "parley.secretsVolume" -}}
{{- $arguments := . -}}
{{- with index . 0 -}}
name: secrets
projected:
  defaultMode: 0440
  sources:
    {{- range include "parley.secretSettings" $arguments | fromJsonArray }}
    - secret:
        name: {{ .secret }}
        items: [{ key: {{ .key }}, path: {{ .setting | lower | replace "_" "-" }} }]
    {{- end }}
    {{- if and (not .Values.postgresql.enabled) .Values.externalDatabase.caSecret.name }}
    - secret:
        name: {{ .Values.externalDatabase.caSecret.name }}
        items: [{ key: {{ .Values.externalDatabase.caSecret.key }}, path: database-ca.crt }]
    {{- end }}
    {{- with .Values.config.trustedCa }}
    {{- if .secret }}
    - secret:
        name: {{ .secret }}
        items: [{ key: {{ .key }}, path: trusted-ca.crt }]
    {{- else if .configMap }}
    - configMap:
        name: {{ .configMap }}
        items: [{ key: {{ .key }}, path: trusted-ca.crt }]
    {{- end }}
    {{- end }}
{{- end }}
{{- end }}
