"""Redaction: a document without its secrets.

It runs before anything else reads a document, tapes included, because an
immutable log must not be a leak. Nothing is optional for Secrets; which
environment variables count as secrets is configuration (`RedactionRules`).

Only the affected bytes change. A document with nothing to redact is returned
as the same object, after a search or two that cost a fraction of decoding it.

Pure: no clock, no files, no logging. Bytes that are not JSON are rejected with
`UnreadableError`; a caller that keeps a piece of them passes it through
`Redaction.refused` first.
"""

from recorder.intake.redact.digest import key_id
from recorder.intake.redact.redaction import Redaction
from recorder.intake.redact.rules import DEFAULT_PATTERNS, RedactionRules

__all__ = [
    "DEFAULT_PATTERNS",
    "Redaction",
    "RedactionRules",
    "key_id",
]
