{{- define "recorder.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "recorder.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "recorder.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "recorder.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "recorder.selector" -}}
app.kubernetes.io/name: {{ include "recorder.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "recorder.labels" -}}
{{ include "recorder.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "recorder.serviceAccount" -}}
{{- default (include "recorder.fullname" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "recorder.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "recorder.isExternal" -}}
{{- if eq .Values.database.mode "external" -}}true{{- end -}}
{{- end -}}

{{- /* The Secrets that an external database needs, and the embedded one may have. */ -}}
{{- define "recorder.keysSecret" -}}
{{- default (ternary "recorder-keys" "" (eq .Values.database.mode "external")) .Values.keys.secret -}}
{{- end -}}

{{- define "recorder.tokensSecret" -}}
{{- default (ternary "recorder-tokens" "" (eq .Values.database.mode "external")) .Values.api.tokens.secret -}}
{{- end -}}

{{- define "recorder.databaseSecret" -}}
{{- default "recorder-database" .Values.database.secret -}}
{{- end -}}

{{- define "recorder.tokenFile" -}}
- name: RECORDER_TOKEN_FILE
  value: {{ if include "recorder.tokensSecret" . }}/tokens/tokens{{ else }}/data/tokens{{ end }}
{{- end -}}

{{- /* How many Pods a value means; 0 is a number too. */ -}}
{{- define "recorder.replicas" -}}
{{- if eq (toString .value) "" -}}{{ .otherwise }}{{- else -}}{{ int .value }}{{- end -}}
{{- end -}}

{{- /* What every Pod has: the restricted Pod Security Standard. */ -}}
{{- define "recorder.podSecurity" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "recorder.containerSecurity" -}}
image: {{ include "recorder.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- /* A PostgreSQL address, by role. */ -}}
{{- define "recorder.databaseUrl" -}}
- name: RECORDER_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ include "recorder.databaseSecret" .root }}
      key: {{ index .root.Values.database.keys .role }}
{{- end -}}

{{- define "recorder.settings" -}}
{{- range $name, $value := .Values.settings }}
- name: RECORDER_{{ upper $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{- define "recorder.keys" -}}
- name: RECORDER_REDACTION_KEY_FILE
  value: /keys/redaction.key
- name: RECORDER_SIGNING_KEY_FILE
  value: /keys/signing.key
{{- end -}}

{{- define "recorder.archive" -}}
- name: RECORDER_RETENTION_ARCHIVE
  value: {{ default "/archive" .Values.retention.archive | quote }}
{{- end -}}

{{- define "recorder.archiveClaim" -}}
{{- default (printf "%s-archive" (include "recorder.fullname" .)) .Values.retention.volume.existingClaim -}}
{{- end -}}

{{- /* A waiting process is alive: only one that hangs is restarted. */ -}}
{{- define "recorder.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: {{ .port }}}
  periodSeconds: 2
  failureThreshold: 30
livenessProbe:
  httpGet: {path: /healthz, port: {{ .port }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: {path: /readyz, port: {{ .ready }}}
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}

{{- define "recorder.tokensVolume" -}}
- name: tokens
  secret:
    secretName: {{ include "recorder.tokensSecret" . }}
    defaultMode: 0440
    items:
      - key: {{ .Values.api.tokens.key }}
        path: tokens
{{- end -}}

{{- define "recorder.notifyFile" -}}
- name: RECORDER_NOTIFY_FILE
  value: /notify/{{ .Values.notify.key }}
{{- end -}}

{{- define "recorder.notifyMount" -}}
- name: notify
  mountPath: /notify
  readOnly: true
{{- end -}}

{{- define "recorder.notifyVolume" -}}
- name: notify
  secret:
    secretName: {{ .Values.notify.secret }}
    defaultMode: 0440
{{- end -}}

{{- define "recorder.doorHost" -}}
{{ include "recorder.fullname" . }}-door.{{ .Release.Namespace }}.svc
{{- end -}}

{{- /* Where measured metrics are posted to, by one that may do only that. */ -}}
{{- define "recorder.measureEnv" -}}
- name: RECORDER_METRICS_FILE
  value: /measure/metrics.yaml
- name: RECORDER_SEND_URL
  value: https://{{ include "recorder.doorHost" . }}:{{ .Values.measure.doorPort }}
- name: RECORDER_SEND_TOKEN_FILE
  value: /measure/token
- name: RECORDER_SEND_CA_FILE
  value: /measure/ca.crt
{{- end -}}

{{- define "recorder.doorEnv" -}}
- name: RECORDER_AUDIT_LISTEN
  value: 0.0.0.0:{{ .Values.measure.doorPort }}
- name: RECORDER_AUDIT_CERTIFICATE
  value: /door/tls.crt
- name: RECORDER_AUDIT_KEY
  value: /door/tls.key
- name: RECORDER_INGEST_TOKEN_FILE
  value: /door/senders
{{- end -}}

{{- define "recorder.measureMount" -}}
- name: measure
  mountPath: /measure
  readOnly: true
{{- end -}}

{{- define "recorder.measureVolume" -}}
- name: measure
  secret:
    secretName: {{ .Values.measure.secret }}
    defaultMode: 0440
{{- end -}}

{{- define "recorder.doorMount" -}}
- name: door
  mountPath: /door
  readOnly: true
{{- end -}}

{{- define "recorder.doorVolume" -}}
- name: door
  secret:
    secretName: {{ .Values.measure.doorSecret }}
    defaultMode: 0440
{{- end -}}

{{- define "recorder.toStore" -}}
- ports:
    {{- range .Values.measure.storePorts }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
    - {port: {{ .Values.measure.doorPort }}, protocol: TCP}
{{- end -}}

{{- define "recorder.toReceivers" -}}
- ports:
    {{- range .Values.notify.receiverPorts }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
{{- end -}}

{{- define "recorder.keysVolume" -}}
- name: keys
  secret:
    secretName: {{ include "recorder.keysSecret" . }}
    defaultMode: 0440
{{- end -}}

{{- define "recorder.toDatabase" -}}
- ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
- ports:
    - {port: {{ .Values.networkPolicy.databasePort }}, protocol: TCP}
{{- if or .Values.retention.archive .Values.retention.secret }}
# The bucket.
- ports:
    - {port: 443, protocol: TCP}
{{- end }}
{{- end -}}

{{- define "recorder.fromMetrics" -}}
- ports:
    - {port: 9464, protocol: TCP}
  from:
    {{- with .Values.networkPolicy.metricsFrom }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    - namespaceSelector: {}
    {{- end }}
{{- end -}}

{{- define "recorder.fromClients" -}}
- ports:
    - {port: 9470, protocol: TCP}
  from:
    {{- with .Values.networkPolicy.apiFrom }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    - podSelector: {}
    {{- end }}
{{- end -}}
