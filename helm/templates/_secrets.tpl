{{/* The Secret with the key and the passwords of the bundled stores. */}}
{{- define "parley.secretName" -}}
{{- default (printf "%s-secrets" (include "parley.fullname" .)) .Values.secrets.existingSecret }}
{{- end }}

{{/* The key of an entry in that Secret: fixed in the chart's own Secret, from `secrets.keys` in an existing one. */}}
{{- define "parley.secretEntry" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{- if $root.Values.secrets.existingSecret }}{{ get $root.Values.secrets.keys $name }}
{{- else }}{{ get (dict "secretKey" "secret-key" "formerKeys" "former-keys" "postgresqlPassword" "postgresql-password" "postgresqlServiceUrl" "postgresql-service-url" "postgresqlApiUrl" "postgresql-api-url" "valkeyPassword" "valkey-password") $name }}
{{- end }}
{{- end }}

{{/*
The key of the URL with which API and worker log in to the bundled PostgreSQL, as a user that `migrate` creates. Empty if
the Secret lacks it: they then log in as the owner of the tables.
*/}}
{{- define "parley.serviceUrlEntry" -}}
{{- if not .Values.postgresql.enabled }}
{{- else if .Values.secrets.existingSecret }}{{ .Values.secrets.keys.postgresqlServiceUrl }}
{{- else if hasKey (include "parley.secretData" . | fromYaml) "postgresql-service-url" }}postgresql-service-url
{{- end }}
{{- end }}

{{/* The key of the URL with which the API logs in to the bundled PostgreSQL as a user of its own. Empty if it has none. */}}
{{- define "parley.apiUrlEntry" -}}
{{- if or (not .Values.postgresql.enabled) (not .Values.api.ownDatabaseUser) }}
{{- else if .Values.secrets.existingSecret }}{{ .Values.secrets.keys.postgresqlApiUrl }}
{{- else if hasKey (include "parley.secretData" . | fromYaml) "postgresql-api-url" }}postgresql-api-url
{{- end }}
{{- end }}

{{/* The data of the chart's own Secret, as YAML. Cached per render, because each call would generate new random bytes. */}}
{{- define "parley.secretData" -}}
{{- if not (hasKey .Values "generatedSecrets") }}
{{- $_ := set .Values "generatedSecrets" (include "parley.generateSecrets" . | fromYaml) }}
{{- end }}
{{- toYaml .Values.generatedSecrets }}
{{- end }}

{{/*
Keeps the values in the cluster, applies those from the chart's values, and generates the rest if that cannot lose data.

`lookup` returns an empty result both for a missing object and without access to a cluster (`helm template`, Argo CD).
To distinguish the two, the template lists Secrets: with a cluster even an empty list has a kind. Users of Helm may list
Secrets, because Helm stores its releases in them.
*/}}
{{- define "parley.generateSecrets" -}}
{{- $name := include "parley.secretName" . }}
{{- $data := dict }}
{{- range $key, $value := (lookup "v1" "Secret" .Release.Namespace $name).data }}{{ $_ := set $data $key $value }}{{ end }}
{{- $seesCluster := hasKey (lookup "v1" "Secret" .Release.Namespace "") "kind" }}
{{- $hasDatabase := include "parley.claim" (list . "postgresql") }}
{{- $former := list }}
{{- range .Values.secrets.formerKeys }}{{ $former = append $former (b64enc .) }}{{ end }}
{{- $needed := list (dict "entry" "secret-key" "value" "secretKey" "random" (randBytes 32) "lost" (or .Release.IsUpgrade (ne $hasDatabase ""))) }}
{{- if .Values.postgresql.enabled }}
{{- $needed = append $needed (dict "entry" "postgresql-password" "value" "postgresqlPassword" "random" (randAlphaNum 48) "lost" (ne $hasDatabase "")) }}
{{- $serviceUrl := printf "postgresql://parley_service:%s@%s-postgresql:5432/parley" (randAlphaNum 48) (include "parley.fullname" .) }}
{{- $needed = append $needed (dict "entry" "postgresql-service-url" "value" "postgresqlServiceUrl" "random" $serviceUrl "lost" false "optional" true) }}
{{- if .Values.api.ownDatabaseUser }}
{{- $apiUrl := printf "postgresql://parley_api:%s@%s-postgresql:5432/parley" (randAlphaNum 48) (include "parley.fullname" .) }}
{{- $needed = append $needed (dict "entry" "postgresql-api-url" "value" "postgresqlApiUrl" "random" $apiUrl "lost" false "optional" true) }}
{{- end }}
{{- end }}
{{- if include "parley.bundledValkey" . }}
{{- $needed = append $needed (dict "entry" "valkey-password" "value" "valkeyPassword" "random" (randAlphaNum 48) "lost" false) }}
{{- end }}
{{- range $needed }}
{{- $given := get $.Values.secrets .value }}
{{- $kept := get $data .entry }}
{{- if $given }}
{{- if and $kept (ne $kept (b64enc $given)) (eq .entry "secret-key") (not (has $kept $former)) }}
{{- fail (printf "\n\nsecrets.secretKey differs from the key in the Secret %s, which this installation encrypts with. Add the old key to secrets.formerKeys and see \"Changing the secret key\" in the chart's README." $name) }}
{{- end }}
{{- if and $kept (ne $kept (b64enc $given)) (eq .entry "postgresql-password") }}
{{- fail (printf "\n\nsecrets.postgresqlPassword differs from the password in the Secret %s, which PostgreSQL uses. Change it in PostgreSQL first (ALTER ROLE parley PASSWORD …), then in the Secret, then upgrade." $name) }}
{{- end }}
{{- $_ := set $data .entry (b64enc $given) }}
{{- else if $kept }}
{{- else if and (not $seesCluster) .optional }}
{{- else if not $seesCluster }}
{{- fail (printf "\n\nThis render has no access to the cluster (helm template, Argo CD, client-side dry run), so it cannot read the existing secrets and would generate new ones each time. Set secrets.existingSecret to a Secret that you manage:\n\n  kubectl -n %s create secret generic parley-secrets --from-literal=secret-key=\"$(openssl rand -base64 32)\" --from-literal=postgresql-password=\"$(openssl rand -hex 24)\" --from-literal=valkey-password=\"$(openssl rand -hex 24)\"\n\nor set secrets.%s. For a dry run with access to the cluster, use --dry-run=server." $.Release.Namespace .value) }}
{{- else if .lost }}
{{- fail (printf "\n\nThe Secret %s has no %s, but this installation was set up with one. A new value could not decrypt or access the existing data. Restore the Secret from your backup, or set secrets.%s to the previous value." $name .entry .value) }}
{{- else }}
{{- $_ := set $data .entry (b64enc .random) }}
{{- end }}
{{- end }}
{{- if $former }}
{{- $_ := set $data "former-keys" (join "," .Values.secrets.formerKeys | b64enc) }}
{{- else }}
{{- $_ := unset $data "former-keys" }}
{{- end }}
{{- toYaml $data }}
{{- end }}

{{/* The name of the volume claim of a bundled store, if it exists. These names must never change. */}}
{{- define "parley.claim" -}}
{{- $root := index . 0 -}}
{{- $name := printf "data-%s-%s-0" (include "parley.fullname" $root) (index . 1) -}}
{{- if lookup "v1" "PersistentVolumeClaim" $root.Release.Namespace $name }}{{ $name }}{{ end }}
{{- end }}
