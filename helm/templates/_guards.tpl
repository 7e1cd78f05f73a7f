{{/* What can't work, or would lose something, ends the render and says what to do. Each guard is silent where all is well. */}}
{{- define "parley.guards" -}}
{{- include "parley.guards.stores" . }}
{{- include "parley.guards.shape" . }}
{{- include "parley.guards.kinds" . }}
{{- include "parley.guards.data" . }}
{{- end }}

{{- define "parley.refuse" }}{{ fail (printf "\n\n%s" .) }}{{ end }}

{{- define "parley.guards.stores" -}}
{{- $database := .Values.externalDatabase }}
{{- $given := or $database.url $database.host (and $database.existingSecret (or $database.keys.url $database.keys.host)) }}
{{- if and .Values.postgresql.enabled $given }}
{{- include "parley.refuse" "externalDatabase is set, and postgresql.enabled still is: choose one. postgresql.enabled=false uses the external one." }}
{{- end }}
{{- if not (or .Values.postgresql.enabled $given) }}
{{- include "parley.refuse" "postgresql.enabled is false, so externalDatabase needs a host, a url, or an existingSecret with keys.host or keys.url." }}
{{- end }}
{{- if and $database.caSecret.name (not (has $database.sslMode (list "verify-ca" "verify-full"))) (not (or $database.url $database.keys.url)) }}
{{- include "parley.refuse" "externalDatabase.caSecret is used with externalDatabase.sslMode verify-ca or verify-full only." }}
{{- end }}
{{- if eq .Values.queue.backend "redis" }}
{{- $redis := .Values.externalRedis }}
{{- $given := or $redis.url $redis.host (and $redis.existingSecret (or $redis.keys.url $redis.keys.host)) }}
{{- if and .Values.valkey.enabled $given }}
{{- include "parley.refuse" "externalRedis is set, and valkey.enabled still is: choose one. valkey.enabled=false uses the external one." }}
{{- end }}
{{- if not (or .Values.valkey.enabled $given) }}
{{- include "parley.refuse" "valkey.enabled is false, so externalRedis needs a host, a url, or an existingSecret with keys.host or keys.url; or set queue.backend=postgres." }}
{{- end }}
{{- end }}
{{- end }}

{{- define "parley.guards.shape" -}}
{{- if and .Values.worker.autoscaling.enabled .Values.worker.keda.enabled }}
{{- include "parley.refuse" "worker.autoscaling and worker.keda would both scale the worker: choose one." }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled .Values.podMonitor.enabled }}
{{- include "parley.refuse" "serviceMonitor and podMonitor would both scrape every pod, and each series would count twice: choose one." }}
{{- end }}
{{- if and .Values.serviceMonitor.enabled (not .Values.metrics.enabled) }}
{{- include "parley.refuse" "serviceMonitor needs the Services of metrics.enabled; podMonitor does without." }}
{{- end }}
{{- if and .Values.worker.keda.enabled (not .Values.worker.keda.serverAddress) }}
{{- include "parley.refuse" "worker.keda needs worker.keda.serverAddress, the address of Prometheus." }}
{{- end }}
{{- if and (or .Values.ingress.enabled .Values.gateway.httpRoute.enabled) (not .Values.config.baseUrl) }}
{{- include "parley.refuse" "ingress and gateway.httpRoute need config.baseUrl, the address under which clients reach Parley, such as https://feedback.example.com." }}
{{- end }}
{{- if and .Values.gateway.httpRoute.enabled (not .Values.gateway.httpRoute.parentRefs) }}
{{- include "parley.refuse" "gateway.httpRoute needs parentRefs, the Gateway that it belongs to." }}
{{- end }}
{{- if and .Values.migrations.hook (or .Values.postgresql.enabled (not .Values.secrets.existingSecret)) }}
{{- include "parley.refuse" "migrations.hook runs before anything of this chart is there, so it needs an external database and secrets.existingSecret. Without the hook the migration works with everything." }}
{{- end }}
{{- end }}

{{/* Kinds that the cluster does not know yet. */}}
{{- define "parley.guards.kinds" -}}
{{- if .Values.checkKinds }}
{{- $wanted := list
  (list .Values.worker.keda.enabled "worker.keda" "keda.sh/v1alpha1/ScaledObject" "KEDA")
  (list .Values.serviceMonitor.enabled "serviceMonitor" "monitoring.coreos.com/v1/ServiceMonitor" "the Prometheus operator")
  (list .Values.podMonitor.enabled "podMonitor" "monitoring.coreos.com/v1/PodMonitor" "the Prometheus operator")
  (list .Values.prometheusRule.enabled "prometheusRule" "monitoring.coreos.com/v1/PrometheusRule" "the Prometheus operator")
  (list .Values.gateway.httpRoute.enabled "gateway.httpRoute" "gateway.networking.k8s.io/v1/HTTPRoute" "the Gateway API") }}
{{- range $wanted }}
{{- if and (index . 0) (not ($.Capabilities.APIVersions.Has (index . 2))) }}
{{- include "parley.refuse" (printf "%s is enabled, but the cluster knows no %s: install %s first. Where this render sees no cluster (helm template), pass --api-versions %s, or set checkKinds=false." (index . 1) (index . 2) (index . 3) (index . 2)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* What is in the cluster and would be left behind, or can't be changed as asked. */}}
{{- define "parley.guards.data" -}}
{{- $claim := include "parley.claim" (list . "postgresql") }}
{{- if and $claim (not .Values.postgresql.enabled) (not .Values.postgresql.acceptDataLeftBehind) }}
{{- include "parley.refuse" (printf "The bundled PostgreSQL is turned off, but its volume claim %s holds a database. Move it to the external one first (see docs/backup.md), then set postgresql.acceptDataLeftBehind=true, or delete the claim." $claim) }}
{{- end }}
{{- $claim = include "parley.claim" (list . "valkey") }}
{{- if and $claim (not (include "parley.bundledValkey" .)) (not .Values.valkey.acceptDataLeftBehind) }}
{{- include "parley.refuse" (printf "The bundled Valkey is turned off, but its volume claim %s may hold answers that are not stored yet. Follow \"Changing where the queue lives\" in the chart's README, then set valkey.acceptDataLeftBehind=true, or delete the claim." $claim) }}
{{- end }}
{{- $api := lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-api" (include "parley.fullname" .)) }}
{{- $backend := dig "metadata" "annotations" "parley/queue-backend" "" $api }}
{{- if and $backend (ne $backend .Values.queue.backend) (not .Values.queue.acceptBackendChange) }}
{{- include "parley.refuse" (printf "queue.backend was %s and would be %s: answers that wait in the former would never be stored. Follow \"Changing where the queue lives\" in the chart's README, then set queue.acceptBackendChange=true." $backend .Values.queue.backend) }}
{{- end }}
{{- if .Values.postgresql.enabled }}{{ include "parley.guards.store" (list . "postgresql" .Values.postgresql) }}{{ end }}
{{- if include "parley.bundledValkey" . }}{{ include "parley.guards.store" (list . "valkey" .Values.valkey) }}{{ end }}
{{- end }}

{{/* A StatefulSet's claim can't be changed, nor can a new major version of PostgreSQL read the files of another. */}}
{{- define "parley.guards.store" -}}
{{- $root := index . 0 }}
{{- $component := index . 1 }}
{{- $values := index . 2 }}
{{- $name := printf "%s-%s" (include "parley.fullname" $root) $component }}
{{- $set := lookup "apps/v1" "StatefulSet" $root.Release.Namespace $name }}
{{- if $set }}
{{- $spec := (first $set.spec.volumeClaimTemplates).spec }}
{{- $size := dig "resources" "requests" "storage" "" $spec }}
{{- $class := $values.persistence.storageClass }}
{{- if or (ne $size $values.persistence.size) (and $class (ne (eq $class "-" | ternary "" $class) (dig "storageClassName" "" $spec))) (not (has $values.persistence.accessMode $spec.accessModes)) }}
{{- include "parley.refuse" (printf "%s.persistence is another one than the StatefulSet %s was made with (%s), and Kubernetes can't change it. To grow it: kubectl -n %s patch pvc data-%s-0 with the new size, then kubectl -n %s delete statefulset %s --cascade=orphan, then upgrade. The pod and its data stay." $component $name $size $root.Release.Namespace $name $root.Release.Namespace $name) }}
{{- end }}
{{- $was := dig "metadata" "labels" "app.kubernetes.io/version" "" $set | splitList "." | first | regexFind "^[0-9]+" }}
{{- $is := include "parley.storeVersion" $values.image | regexFind "^[0-9]+" }}
{{- if and (eq $component "postgresql") $was (ne $was $is) }}
{{- include "parley.refuse" (printf "PostgreSQL %s can't read the files of PostgreSQL %s. Back up (docs/backup.md), install anew, restore." $is $was) }}
{{- end }}
{{- end }}
{{- end }}
