{{/* Each guard fails the render, with a remedy, if the values cannot work or would lose data. */}}
{{- define "parley.guards" -}}
{{- include "parley.guards.stores" . }}
{{- include "parley.guards.passwords" . }}
{{- include "parley.guards.users" . }}
{{- include "parley.guards.shape" . }}
{{- include "parley.guards.values" . }}
{{- include "parley.guards.connections" . }}
{{- include "parley.guards.kinds" . }}
{{- include "parley.guards.data" . }}
{{- include "parley.guards.sizes" . }}
{{- end }}

{{- define "parley.reject" }}{{ fail (printf "\n\n%s" .) }}{{ end }}

{{- define "parley.guards.stores" -}}
{{- $database := .Values.externalDatabase }}
{{- $given := or $database.url $database.host (and $database.existingSecret (or $database.keys.url $database.keys.host)) }}
{{- if and .Values.postgresql.enabled $given }}
{{- include "parley.reject" "externalDatabase and postgresql.enabled are both set: choose one. To use the external database, set postgresql.enabled=false." }}
{{- end }}
{{- if not (or .Values.postgresql.enabled $given) }}
{{- include "parley.reject" "postgresql.enabled is false, so externalDatabase requires a host, a url, or an existingSecret with keys.host or keys.url." }}
{{- end }}
{{- if and $database.caSecret.name (not (has $database.sslMode (list "verify-ca" "verify-full"))) (not (or $database.url $database.keys.url)) }}
{{- include "parley.reject" "externalDatabase.caSecret requires externalDatabase.sslMode verify-ca or verify-full." }}
{{- end }}
{{- if eq .Values.queue.backend "redis" }}
{{- $redis := .Values.externalRedis }}
{{- $given := or $redis.url $redis.host (and $redis.existingSecret (or $redis.keys.url $redis.keys.host)) }}
{{- if and .Values.valkey.enabled $given }}
{{- include "parley.reject" "externalRedis and valkey.enabled are both set: choose one. To use the external store, set valkey.enabled=false." }}
{{- end }}
{{- if not (or .Values.valkey.enabled $given) }}
{{- include "parley.reject" "valkey.enabled is false, so externalRedis requires a host, a url, or an existingSecret with keys.host or keys.url. Alternatively, set queue.backend=postgres." }}
{{- end }}
{{- end }}
{{- end }}

{{/* A password in a URL of the values would be readable in the description of every pod. */}}
{{- define "parley.guards.passwords" -}}
{{- range $name, $url := dict "externalDatabase" .Values.externalDatabase.url "externalRedis" .Values.externalRedis.url }}
{{- if regexMatch "://[^/@]*:[^/@]+@|[?&](password|sslpassword)=" $url }}
{{- include "parley.reject" (printf "%s.url contains a password, which everybody who may see pods could read. Put the URL into a Secret and name it in %s.existingSecret and %s.keys.url." $name $name $name) }}
{{- end }}
{{- end }}
{{- end }}

{{/* A user of the API's own, without the rights of the worker. */}}
{{- define "parley.guards.users" -}}
{{- $own := .Values.api.ownDatabaseUser }}
{{- $secret := .Values.api.databaseSecret.name }}
{{- if and (or $own $secret) (ne .Values.queue.backend "redis") }}
{{- include "parley.reject" "api.ownDatabaseUser and api.databaseSecret require queue.backend=redis: with the queue in PostgreSQL, the API needs the rights of the worker to add answers." }}
{{- end }}
{{- if and $own (not .Values.postgresql.enabled) }}
{{- include "parley.reject" "api.ownDatabaseUser is for the bundled PostgreSQL. For an external database, set api.databaseSecret to a Secret with the URL of the API's user." }}
{{- end }}
{{- if and $secret .Values.postgresql.enabled }}
{{- include "parley.reject" "api.databaseSecret is for an external database. For the bundled PostgreSQL, set api.ownDatabaseUser=true." }}
{{- end }}
{{- if and $own .Values.secrets.existingSecret (not .Values.secrets.keys.postgresqlApiUrl) }}
{{- include "parley.reject" "api.ownDatabaseUser with secrets.existingSecret requires secrets.keys.postgresqlApiUrl, the key of the API's URL in that Secret." }}
{{- end }}
{{- end }}

{{/* The largest number of pods of a workload, with one more during an update. */}}
{{- define "parley.mostPods" -}}
{{- $values := . }}
{{- if and $values.keda $values.keda.enabled }}{{ add1 $values.keda.maxReplicas }}
{{- else if $values.autoscaling.enabled }}{{ add1 $values.autoscaling.maxReplicas }}
{{- else }}{{ add1 $values.replicas }}{{ end }}
{{- end }}

{{/* All pods at their limit must fit into the connections of the bundled PostgreSQL: docs/scaling.md has the numbers. */}}
{{- define "parley.guards.connections" -}}
{{- $most := .Values.postgresql.settings.max_connections }}
{{- if and .Values.postgresql.enabled $most }}
{{- $pool := int (default 10 (get (default (dict) .Values.config.settings) "DATABASE_POOL")) }}
{{- $inPostgres := eq .Values.queue.backend "postgres" }}
{{- $ofApi := add $pool 1 (ternary 8 0 $inPostgres) }}
{{- $ofWorker := add (div (add1 $pool) 2) 2 (ternary 15 0 $inPostgres) }}
{{- $apis := include "parley.mostPods" .Values.api | trim | int }}
{{- $workers := include "parley.mostPods" .Values.worker | trim | int }}
{{- $needed := add (mul $apis $ofApi) (mul $workers $ofWorker) 10 }}
{{- if gt (int $needed) (int $most) }}
{{- include "parley.reject" (printf "The pods can open %d connections (%d API pods with %d each, %d workers with %d each, one of each only during updates, and 10 for commands), but postgresql.settings.max_connections is %d. Raise it, or lower the replicas or config.settings.DATABASE_POOL (%d)." (int $needed) $apis (int $ofApi) $workers (int $ofWorker) (int $most) $pool) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.guards.shape" -}}
{{- if and .Values.worker.autoscaling.enabled .Values.worker.keda.enabled }}
{{- include "parley.reject" "worker.autoscaling and worker.keda are both enabled: choose one." }}
{{- end }}
{{- range $component, $values := dict "api" .Values.api "worker" .Values.worker }}
{{- $scaled := list }}
{{- if $values.autoscaling.enabled }}
{{- if $values.autoscaling.targetCPUUtilizationPercentage }}{{ $scaled = append $scaled "cpu" }}{{ end }}
{{- if $values.autoscaling.targetMemoryUtilizationPercentage }}{{ $scaled = append $scaled "memory" }}{{ end }}
{{- end }}
{{- range $scaled }}
{{- if and $values.vpa.enabled (ne $values.vpa.updateMode "Off") (has . $values.vpa.controlledResources) }}
{{- include "parley.reject" (printf "%s.autoscaling and %s.vpa both react to %s: each would undo the decisions of the other. Set %s.vpa.updateMode=Off, or remove %s from %s.vpa.controlledResources." $component $component . $component . $component) }}
{{- end }}
{{- end }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled }}
{{- include "parley.reject" "serviceMonitor and podMonitor are both enabled, which would scrape every pod twice: choose one." }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not .Values.metrics.enabled) }}
{{- include "parley.reject" "serviceMonitor requires metrics.enabled. podMonitor does not." }}
{{- end }}
{{- if and .Values.worker.keda.enabled (not .Values.worker.keda.serverAddress) }}
{{- include "parley.reject" "worker.keda requires worker.keda.serverAddress, the URL of Prometheus." }}
{{- end }}
{{- if and (or .Values.ingress.enabled .Values.gateway.httpRoute.enabled) (not .Values.config.baseUrl) }}
{{- include "parley.reject" "ingress and gateway.httpRoute require config.baseUrl, the public URL of Parley, such as https://feedback.example.com." }}
{{- end }}
{{- if not (regexMatch "^(?i)(https?://[^/?#@]+/*)?$" .Values.config.baseUrl) }}
{{- include "parley.reject" "config.baseUrl must be http:// or https:// and a host, without a path, query or credentials: Parley serves /v1, /dashboard and /docs at the root of its host. Use a host name of its own, such as https://feedback.example.com." }}
{{- end }}
{{- if and .Values.gateway.httpRoute.enabled (not .Values.gateway.httpRoute.parentRefs) }}
{{- include "parley.reject" "gateway.httpRoute requires parentRefs, its parent Gateways." }}
{{- end }}
{{- if and .Values.migrations.hook (or .Values.postgresql.enabled (not .Values.secrets.existingSecret)) }}
{{- include "parley.reject" "migrations.hook runs before any other resource of this chart exists, so it requires an external database and secrets.existingSecret. Without the hook, the migration works with bundled stores and generated secrets too." }}
{{- end }}
{{- end }}

{{/* Optional features whose kinds are not installed in the cluster. */}}
{{- define "parley.guards.kinds" -}}
{{- if .Values.checkKinds }}
{{- $wanted := list
  (list .Values.worker.keda.enabled "worker.keda" "keda.sh/v1alpha1/ScaledObject" "KEDA")
  (list .Values.api.vpa.enabled "api.vpa" "autoscaling.k8s.io/v1/VerticalPodAutoscaler" "the VerticalPodAutoscaler")
  (list .Values.worker.vpa.enabled "worker.vpa" "autoscaling.k8s.io/v1/VerticalPodAutoscaler" "the VerticalPodAutoscaler")
  (list .Values.serviceMonitor.enabled "serviceMonitor" "monitoring.coreos.com/v1/ServiceMonitor" "the Prometheus operator")
  (list .Values.podMonitor.enabled "podMonitor" "monitoring.coreos.com/v1/PodMonitor" "the Prometheus operator")
  (list .Values.prometheusRule.enabled "prometheusRule" "monitoring.coreos.com/v1/PrometheusRule" "the Prometheus operator")
  (list .Values.gateway.httpRoute.enabled "gateway.httpRoute" "gateway.networking.k8s.io/v1/HTTPRoute" "the Gateway API") }}
{{- range $wanted }}
{{- if and (index . 0) (not ($.Capabilities.APIVersions.Has (index . 2))) }}
{{- include "parley.reject" (printf "%s is enabled, but the cluster does not have the kind %s: install %s first. To render without a cluster (helm template), pass --api-versions %s or set checkKinds=false." (index . 1) (index . 2) (index . 3) (index . 2)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Changes that would leave data behind or that Kubernetes does not support. */}}
{{- define "parley.guards.data" -}}
{{- $claim := include "parley.claim" (list . "postgresql") }}
{{- if and $claim (not .Values.postgresql.enabled) (not .Values.postgresql.acceptDataLeftBehind) }}
{{- include "parley.reject" (printf "The bundled PostgreSQL is disabled, but its volume claim %s contains a database. Move the data to the external database first (see docs/backup.md), then set postgresql.acceptDataLeftBehind=true, or delete the claim." $claim) }}
{{- end }}
{{- $claim = include "parley.claim" (list . "valkey") }}
{{- if and $claim (not (include "parley.bundledValkey" .)) (not .Values.valkey.acceptDataLeftBehind) }}
{{- include "parley.reject" (printf "The bundled Valkey is disabled, but its volume claim %s may contain answers that are not stored yet. Follow \"Changing where the queue lives\" in the chart's README, then set valkey.acceptDataLeftBehind=true, or delete the claim." $claim) }}
{{- end }}
{{- $api := lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-api" (include "parley.fullname" .)) }}
{{- $backend := dig "metadata" "annotations" "parley/queue-backend" "" $api }}
{{- if and $backend (ne $backend .Values.queue.backend) (not .Values.queue.acceptBackendChange) }}
{{- include "parley.reject" (printf "queue.backend would change from %s to %s: answers waiting in the old queue would never be stored. Follow \"Changing where the queue lives\" in the chart's README, then set queue.acceptBackendChange=true." $backend .Values.queue.backend) }}
{{- end }}
{{- if .Values.postgresql.enabled }}{{ include "parley.guards.store" (list . "postgresql" .Values.postgresql) }}{{ end }}
{{- if include "parley.bundledValkey" . }}{{ include "parley.guards.store" (list . "valkey" .Values.valkey) }}{{ end }}
{{- end }}

{{/* The volume claim of a StatefulSet is immutable, and PostgreSQL cannot read the files of another major version. */}}
{{- define "parley.guards.store" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 }}
{{- $values := index . 2 }}
{{- $name := printf "%s-%s" (include "parley.fullname" $root) $component }}
{{- $set := lookup "apps/v1" "StatefulSet" $root.Release.Namespace $name }}
{{- if $set }}
{{- $spec := (first $set.spec.volumeClaimTemplates).spec }}
{{- $size := dig "resources" "requests" "storage" "" $spec }}
{{- $class := default $root.Values.global.storageClass $values.persistence.storageClass }}
{{- if or (ne $size $values.persistence.size) (and $class (ne (eq $class "-" | ternary "" $class) (dig "storageClassName" "" $spec))) (not (has $values.persistence.accessMode $spec.accessModes)) }}
{{- include "parley.reject" (printf "%s.persistence differs from that of the existing StatefulSet %s (%s), which Kubernetes cannot change. To grow the volume: kubectl -n %s patch pvc data-%s-0 with the new size, then kubectl -n %s delete statefulset %s --cascade=orphan, then upgrade. The pod and its data are kept." $component $name $size $root.Release.Namespace $name $root.Release.Namespace $name) }}
{{- end }}
{{- $was := dig "metadata" "labels" "app.kubernetes.io/version" "" $set | splitList "." | first | regexFind "^[0-9]+" }}
{{- $is := include "parley.storeVersion" $values.image | regexFind "^[0-9]+" }}
{{- if and (eq $component "postgresql") $was (ne $was $is) }}
{{- include "parley.reject" (printf "PostgreSQL %s cannot read the files of PostgreSQL %s. Back up (docs/backup.md), reinstall, and restore." $is $was) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Settings of the bundled PostgreSQL that do not fit into its volume or memory, such as defaults of a later version. */}}
{{- define "parley.guards.sizes" -}}
{{- if .Values.postgresql.enabled }}
{{- $settings := .Values.postgresql.settings | default dict }}
{{- $memory := dig "limits" "memory" "" (.Values.postgresql.resources | default dict) }}
{{- $parts := list
  (list "max_wal_size" "postgresql.persistence.size" .Values.postgresql.persistence.size "the volume fills up under load, and PostgreSQL stops")
  (list "shared_buffers" "postgresql.resources.limits.memory" $memory "PostgreSQL runs out of memory and is killed") }}
{{- range $parts }}
{{- $setting := index . 0 }}
{{- $part := get $settings $setting | include "parley.bytes" | float64 }}
{{- $whole := index . 2 | include "parley.bytes" | float64 }}
{{- if and $whole (gt $part (mulf $whole 0.4)) }}
{{- include "parley.reject" (printf "postgresql.settings.%s is %v, more than two fifths of %s (%v): %s. Set it to a quarter, such as postgresql.settings.%s=%dMB." $setting (get $settings $setting) (index . 1) (index . 2) (index . 3) $setting (int64 (divf $whole 4194304))) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The bytes of a quantity of Kubernetes (8Gi, 500M) or PostgreSQL (2GB, 64kB); 0 for any other text. */}}
{{- define "parley.bytes" -}}
{{- $text := toString . }}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "B" 1 "kB" 1024 "MB" 1048576 "GB" 1073741824 "TB" 1099511627776 }}
{{- $unit := regexReplaceAll "^[0-9.]+(e[+-]?[0-9]+)? *" $text "" }}
{{- if and (regexMatch "^[0-9]" $text) (hasKey $units $unit) }}
{{- mulf (regexFind "^[0-9.]+(e[+-]?[0-9]+)?" $text | float64) (get $units $unit) }}
{{- else }}0{{ end }}
{{- end }}
