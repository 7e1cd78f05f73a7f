{{/* Each guard fails the render, with the reason, if a process would refuse a value at its start or could not live with it. */}}
{{- define "parley.guards.values" -}}
{{- include "parley.guards.postgresqlSettings" . }}
{{- include "parley.guards.valkeySettings" . }}
{{- include "parley.guards.memory" . }}
{{- include "parley.guards.resources" . }}
{{- include "parley.guards.replicas" . }}
{{- include "parley.guards.schedule" . }}
{{- include "parley.guards.companions" . }}
{{- end }}

{{/* PostgreSQL ends at its start for an unknown setting or a value of another form. Settings of extensions have a dot. */}}
{{- define "parley.guards.postgresqlSettings" -}}
{{- $root := . }}
{{- if .Values.postgresql.enabled }}
{{- range $given, $value := .Values.postgresql.settings }}
{{- $name := $given | replace "-" "_" }}
{{- if and (ne $value nil) (not (contains "." $name)) }}
{{- $form := $root.Files.Get "postgresql-settings.txt" | regexFind (printf "(?im)^%s .+$" (regexQuoteMeta $name)) | regexFind " .+$" | trim }}
{{- if not $form }}
{{- include "parley.reject" (printf "postgresql.settings.%s is no setting that PostgreSQL 18 accepts: check its spelling. PostgreSQL would not start." $given) }}
{{- end }}
{{- if not (include "parley.hasForm" (list $form (toString $value))) }}
{{- include "parley.reject" (printf "postgresql.settings.%s is %v, but must be %s. PostgreSQL would not start." $given $value (include "parley.describeForm" $form)) }}
{{- end }}
{{- include "parley.guards.postgresqlValue" (list $root (lower $name) (toString $value | lower)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.isOn" }}{{ if has . (list "on" "true" "yes" "1") }}yes{{ end }}{{ end }}

{{/* Values of PostgreSQL that are valid and with which Parley does not work. Arguments: root, setting, value in small letters. */}}
{{- define "parley.guards.postgresqlValue" -}}
{{- $isRelaxed := eq (index . 0).Values.config.queueDurability "relaxed" }}
{{- $name := index . 1 }}
{{- $value := index . 2 }}
{{- if has $name (list "port" "data_directory") }}
{{- include "parley.reject" (printf "postgresql.settings.%s is set by the chart: its Service, probes and volume depend on it." $name) }}
{{- end }}
{{- if and (has $name (list "fsync" "full_page_writes")) (not (include "parley.isOn" $value)) (not $isRelaxed) }}
{{- include "parley.reject" (printf "postgresql.settings.%s=%s may lose confirmed answers on power failure, so that every answer would be rejected with 503. Set it to on, or accept the loss with config.queueDurability=relaxed." $name $value) }}
{{- end }}
{{- if and (eq $name "default_transaction_read_only") (include "parley.isOn" $value) }}
{{- include "parley.reject" "postgresql.settings.default_transaction_read_only=on refuses every write." }}
{{- end }}
{{- if and (eq $name "session_replication_role") (ne $value "origin") }}
{{- include "parley.reject" (printf "postgresql.settings.session_replication_role=%s stops the triggers on which Parley depends. It must be origin." $value) }}
{{- end }}
{{- end }}

{{/* Whether a value has a form of postgresql-settings.txt; empty if not. */}}
{{- define "parley.hasForm" -}}
{{- $form := index . 0 }}
{{- $value := index . 1 }}
{{- $number := "^-?([0-9]+([.][0-9]*)?|[.][0-9]+)(e[+-]?[0-9]+)?" }}
{{- $isBool := regexMatch "(?i)^(on|off|true|false|yes|no|1|0)$" $value }}
{{- if eq $form "text" }}yes
{{- else if eq $form "bool" }}{{ if $isBool }}yes{{ end }}
{{- else if has $form (list "integer" "real") }}{{ if regexMatch (printf "%s$" $number) $value }}yes{{ end }}
{{- else if eq $form "memory" }}{{ if regexMatch (printf "%s *(B|kB|MB|GB|TB)?$" $number) $value }}yes{{ end }}
{{- else if eq $form "time" }}{{ if regexMatch (printf "%s *(us|ms|s|min|h|d)?$" $number) $value }}yes{{ end }}
{{- else if has (lower $value) (splitList "|" $form) }}yes
{{- else if and $isBool (has "on" (splitList "|" $form)) }}yes
{{- end }}
{{- end }}

{{- define "parley.describeForm" -}}
{{- $forms := dict "bool" "on or off" "integer" "a number" "real" "a number" "memory" "a number with B, kB, MB, GB or TB" "time" "a number with us, ms, s, min, h or d" }}
{{- get $forms . | default (printf "one of %s" (replace "|" ", " .)) }}
{{- end }}

{{/* Directives that repeat what valkey.conf of the chart has: the last one counts, also against the promise of a 202. */}}
{{- define "parley.guards.valkeySettings" -}}
{{- if include "parley.bundledValkey" . }}
{{- $isRelaxed := eq .Values.config.queueDurability "relaxed" }}
{{- $durable := dict "appendonly" "yes" "appendfsync" "always" "no-appendfsync-on-rewrite" "no" "maxmemory-policy" "noeviction" }}
{{- $own := dict "maxmemory" "set valkey.maxmemory" "dir" "its volume is mounted there" "port" "its Service depends on it" "requirepass" "the password is in the Secret" "cluster-enabled" "Parley does not support a cluster" "replicaof" "the bundled Valkey is the primary" }}
{{- range $given, $value := .Values.valkey.settings }}
{{- $name := lower $given }}
{{- if hasKey $own $name }}
{{- include "parley.reject" (printf "valkey.settings.%s is not possible: %s." $given (get $own $name)) }}
{{- end }}
{{- $needed := get $durable $name }}
{{- if and $needed (ne (toString $value | lower | trimAll "\"'") $needed) (not $isRelaxed) }}
{{- include "parley.reject" (printf "valkey.settings.%s=%v may lose acknowledged answers, so that every answer would be rejected with 503. It must be %s, unless config.queueDurability=relaxed accepts the loss." $given $value $needed) }}
{{- end }}
{{- if regexMatch "\n" (printf "%s%v" $given $value) }}
{{- include "parley.reject" (printf "valkey.settings.%s has several lines, which are several directives." (regexFind "^[^\n]*" $given)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* What a process keeps in memory must fit below the limit at which Kubernetes ends it. */}}
{{- define "parley.guards.memory" -}}
{{- $limit := dig "limits" "memory" "" (.Values.api.resources | default dict) }}
{{- $cache := int (default 64 (get (default (dict) .Values.config.settings) "CACHE_MB")) }}
{{- $needed := add $cache 300 }}
{{- $bytes := include "parley.bytes" $limit | float64 }}
{{- if and $bytes (gt (mulf $needed 1048576) $bytes) }}
{{- include "parley.reject" (printf "config.settings.CACHE_MB is %d, so that an API process needs %d MB, but api.resources.limits.memory is %v: Kubernetes would end it. Raise the limit or lower CACHE_MB." $cache $needed $limit) }}
{{- end }}
{{- if include "parley.bundledValkey" . }}
{{- $units := dict "b" "" "k" "k" "kb" "Ki" "m" "M" "mb" "Mi" "g" "G" "gb" "Gi" }}
{{- $unit := regexReplaceAll "^[0-9]+" .Values.valkey.maxmemory "" | lower }}
{{- $most := include "parley.bytes" (printf "%s%s" (regexFind "^[0-9]+" .Values.valkey.maxmemory) (get $units $unit)) | float64 }}
{{- $limit := dig "limits" "memory" "" (.Values.valkey.resources | default dict) }}
{{- $bytes := include "parley.bytes" $limit | float64 }}
{{- if and $bytes (gt $most (mulf $bytes 0.8)) }}
{{- include "parley.reject" (printf "valkey.maxmemory is %s, more than four fifths of valkey.resources.limits.memory (%v): Valkey would be killed before answers are rejected. Set valkey.maxmemory to half of the limit." .Values.valkey.maxmemory $limit) }}
{{- end }}
{{- $volume := include "parley.bytes" .Values.valkey.persistence.size | float64 }}
{{- if and $volume (gt $most (mulf $volume 0.5)) }}
{{- include "parley.reject" (printf "valkey.maxmemory is %s, more than half of valkey.persistence.size (%v): a rewrite of the append-only file needs twice its space, and the volume would fill up." .Values.valkey.maxmemory .Values.valkey.persistence.size) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Kubernetes refuses pods whose requests are above their limits. */}}
{{- define "parley.guards.resources" -}}
{{- range $component := list "api" "worker" "migrations" "backup" "postgresql" "valkey" }}
{{- $resources := (get $.Values $component).resources | default dict }}
{{- range $resource := list "cpu" "memory" }}
{{- $request := dig "requests" $resource "" $resources }}
{{- $limit := dig "limits" $resource "" $resources }}
{{- $most := include "parley.amount" $limit | float64 }}
{{- if and $most (gt (include "parley.amount" $request | float64) $most) }}
{{- include "parley.reject" (printf "%s.resources.requests.%s (%v) is above %s.resources.limits.%s (%v): Kubernetes refuses such pods." $component $resource $request $component $resource $limit) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The amount of a quantity of Kubernetes, also of a fraction such as 200m. */}}
{{- define "parley.amount" -}}
{{- if regexMatch "^[0-9.]+m$" (toString .) }}{{ divf (toString . | trimSuffix "m" | float64) 1000 }}
{{- else }}{{ include "parley.bytes" . }}{{ end }}
{{- end }}

{{- define "parley.guards.replicas" -}}
{{- range $name, $values := dict "api.autoscaling" .Values.api.autoscaling "worker.autoscaling" .Values.worker.autoscaling "worker.keda" .Values.worker.keda }}
{{- if and $values.enabled (gt (int $values.minReplicas) (int $values.maxReplicas)) }}
{{- include "parley.reject" (printf "%s.minReplicas (%d) is above %s.maxReplicas (%d): Kubernetes refuses such an autoscaler." $name (int $values.minReplicas) $name (int $values.maxReplicas)) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Five fields within their ranges, or one of the names that Kubernetes knows. */}}
{{- define "parley.guards.schedule" -}}
{{- $schedule := .Values.backup.schedule }}
{{- $isValid := regexMatch "^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every [0-9].*)$" $schedule }}
{{- $fields := regexSplit " +" (trim $schedule) -1 }}
{{- if eq (len $fields) 5 }}
{{- $isValid = true }}
{{- range $index, $range := list (list 0 59) (list 0 23) (list 1 31) (list 1 12) (list 0 6) }}
{{- $field := index $fields $index }}
{{- if not (regexMatch "(?i)^([*?]|[0-9a-z]+(-[0-9a-z]+)?)(/[1-9][0-9]*)?(,([*?]|[0-9a-z]+(-[0-9a-z]+)?)(/[1-9][0-9]*)?)*$" $field) }}{{ $isValid = false }}{{ end }}
{{- $names := list "" "" "" "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec" "sun|mon|tue|wed|thu|fri|sat" }}
{{- range regexFindAll "[0-9a-z]+" (regexReplaceAll "/[0-9]+" (lower $field) "") -1 }}
{{- if regexMatch "^[0-9]+$" . }}{{ if or (lt (atoi .) (index $range 0)) (gt (atoi .) (index $range 1)) }}{{ $isValid = false }}{{ end }}
{{- else if not (has . (splitList "|" (index $names $index))) }}{{ $isValid = false }}{{ end }}
{{- end }}
{{- end }}
{{- end }}
{{- if not $isValid }}
{{- include "parley.reject" (printf "backup.schedule is %q, which Kubernetes refuses: it needs five fields (minute, hour, day, month, weekday from 0 to 6), such as \"0 3 * * *\", or a name such as @daily." $schedule) }}
{{- end }}
{{- end }}

{{/* Settings that require others: the processes would end at their start. */}}
{{- define "parley.guards.companions" -}}
{{- $config := .Values.config }}
{{- if and $config.smtp.existingSecret (not $config.smtp.from) }}
{{- include "parley.reject" "config.smtp.existingSecret requires config.smtp.from, the sender address, such as Parley <parley@example.com>." }}
{{- end }}
{{- if and $config.oidc.issuer (not (and $config.oidc.clientId $config.oidc.existingSecret)) }}
{{- include "parley.reject" "config.oidc.issuer requires config.oidc.clientId and config.oidc.existingSecret." }}
{{- end }}
{{- if ne (eq $config.queueDurability "declared") (ne $config.queueDurabilityNote "") }}
{{- include "parley.reject" "config.queueDurability=declared and config.queueDurabilityNote, the promise of the provider, require each other." }}
{{- end }}
{{- end }}
