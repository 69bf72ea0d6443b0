{{- /* The image of an app: (list $ "webhookIngest" "webhook-ingest"). A digest replaces the tag. */}}
{{- define "parley.image" -}}
{{- $values := (index . 0).Values.image -}}
{{- with $values.registry }}{{ . }}/{{ end }}parley-{{ index . 2 }}
{{- with index $values.digests (index . 1) }}@{{ . }}{{ else }}:{{ $values.tag | default (index . 0).Chart.AppVersion }}{{ end }}
{{- end }}

{{- /* The address under which providers call the services; empty without a host. */}}
{{- define "parley.publicUrl" -}}
{{- if and (not .Values.host) (ne .Values.ingress.kind "none") }}
{{- fail "host is empty. Set it, or set ingress.kind to none." }}
{{- end }}
{{- with .Values.host }}https://{{ . }}{{ end }}
{{- end }}

{{- /*
Variables: (list $ <those of the service in the values> <the service's own>). The first that has a name counts; empty ones are left out.
*/}}
{{- define "parley.env" -}}
{{- $values := merge (dict) (index . 1) (index . 0).Values.env -}}
{{- range $name, $_ := $values }}
{{- if regexMatch "(_API_KEY|SECRETS_KEY|_TOKEN|_SECRET|_PASSWORD|DATABASE_URL|REDIS_URL)$" $name }}
{{- fail (printf "env has the secret %s. Put it into one of the Secrets whose names are in the values \"secrets\"." $name) }}
{{- end }}
{{- end }}
{{- range $name, $value := merge $values (index . 2) }}
{{- if $value }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}
