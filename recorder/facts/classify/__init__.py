"""Classification: the columns of the log, from a document.

Pure functions from a document, already redacted, to a draft: which object,
which version, which node, when, why and by whom; and whether an update of a
Node or a Lease was only a heartbeat. A document is decoded once, for its draft
and its facts, and only in the fields that they need.

What a document *means* is not decided here; facts and verdicts are.

Documents come from any source. A field of the wrong type is no reason to
reject one; only bytes that are not a JSON object are rejected, with
`UnreadableError`.
"""

from recorder.facts.classify.audit_record import (
    is_audit_record,
    lacks_of_record,
    record_made,
    record_moment,
)
from recorder.facts.classify.claims import (
    CLAIM_GROUP,
    CLAIM_KIND,
    claim_draft,
    claim_type,
)
from recorder.facts.classify.drafts import draft
from recorder.facts.classify.heartbeat import (
    lease_renewed_at,
    node_ready,
    substance,
)
from recorder.facts.classify.objects import (
    DocumentHead,
    KubeObject,
    Wire,
    read_head,
    read_object,
)
from recorder.facts.classify.record_digests import (
    RecordDigests,
    record_digests,
)
from recorder.facts.classify.requests import (
    cluster_shown,
    read_record,
    request_draft,
)

__all__ = [
    "CLAIM_GROUP",
    "CLAIM_KIND",
    "DocumentHead",
    "KubeObject",
    "RecordDigests",
    "Wire",
    "claim_draft",
    "claim_type",
    "cluster_shown",
    "draft",
    "is_audit_record",
    "lacks_of_record",
    "lease_renewed_at",
    "node_ready",
    "read_head",
    "read_object",
    "read_record",
    "record_digests",
    "record_made",
    "record_moment",
    "request_draft",
    "substance",
]
