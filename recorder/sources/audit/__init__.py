"""Audit: the requests that an API server logged, as a source.

It follows the files that an API server writes through rotation, receives what
it sends to a webhook, and reports where records were lost. It does not redact,
classify or join.
"""

from recorder.sources.audit.counters import ApiServers, AuditCounters
from recorder.sources.audit.imported import ImportedFile, Refusal
from recorder.sources.audit.importing import AuditImport
from recorder.sources.audit.receiver import AuditReceiver
from recorder.sources.audit.several import Several
from recorder.sources.audit.tail import AuditTail
from recorder.sources.audit.webhook import AuditWebhook, serve_senders

__all__ = [
    "ApiServers",
    "AuditCounters",
    "AuditImport",
    "AuditReceiver",
    "AuditTail",
    "AuditWebhook",
    "ImportedFile",
    "Refusal",
    "Several",
    "serve_senders",
]
