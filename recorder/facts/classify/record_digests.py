"""The digest of an audit record: the same whichever way it came.

The client chooses the audit ID, so it identifies nothing. A file and a webhook
deliver the same members with the same values, except that only one of them has
the kind of the document. A record that the API server truncated lacks its
bodies.
"""

from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

TRUNCATED = "audit.k8s.io/truncated"
BODIES = ("requestObject", "responseObject")
DIGEST_BYTES = 16


class RecordDigests(NamedTuple):
    """The digests of one record."""

    whole: bytes
    bare: bytes | None
    """Of all except its bodies; None if it is not a record."""

    is_truncated: bool
    """Whether the API server removed the bodies."""


def record_digests(raw: bytes) -> RecordDigests:
    """Return the digests of a record, or of any other document."""
    try:
        record = orjson.loads(raw)
        if isinstance(record, dict):
            return _of_record(record)
    except (ValueError, orjson.JSONEncodeError):
        # Not JSON, or nested too deeply to be written again.
        pass
    return RecordDigests(_digest(raw, b"bytes"), None, is_truncated=False)


def _of_record(record: dict[str, Any]) -> RecordDigests:
    record.pop("kind", None)
    record.pop("apiVersion", None)
    bodies = {name: record.pop(name) for name in BODIES if name in record}
    marked = False
    annotations = record.get("annotations")
    if isinstance(annotations, dict):
        marked = annotations.pop(TRUNCATED, None) is not None
        if marked and not annotations:
            del record["annotations"]
    bare = _digest(_written(record), b"bare")
    whole = _digest(bare + _written([bodies, marked]), b"whole")
    return RecordDigests(whole, bare, is_truncated=marked and not bodies)


def _written(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def _digest(text: bytes, purpose: bytes) -> bytes:
    return blake2b(text, digest_size=DIGEST_BYTES, person=purpose).digest()
