"""The entry of a claim: a CloudEvent that a sender posted.

The claim is an object of the log, named by its subject, with its key as UID:
so its entry and the key by which it is recognized are committed together, and
dropped together.
"""

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256

import msgspec

from recorder.facts.classify.times import moment
from recorder.model.entry import Draft, Operation
from recorder.model.reference import ObjectIdentity

CLAIM_GROUP = "cloudevents.io"
CLAIM_KIND = "CloudEvent"

RESOURCE = f"{CLAIM_GROUP}/v1/cloudevents"

NAME_CHARACTERS_MAX = 253
"""Of a subject as a name; the whole subject is in the document."""


def claim_draft(
    raw: bytes, *, key: str | None, source: str, observed_at: datetime
) -> Draft:
    """Return the draft of a claim, from its document after redaction.

    Without a time in the document, when it happened is not known.
    """
    said = _members(raw)
    identity = None
    if key is not None:
        name = str(said.get("subject") or said.get("type") or "")
        identity = ObjectIdentity(
            CLAIM_GROUP, CLAIM_KIND, "", name[:NAME_CHARACTERS_MAX], key
        )
    return Draft(
        source=source,
        resource=RESOURCE,
        operation=Operation.CLOUDEVENT,
        identity=identity,
        occurred_at=moment(said.get("time")),
        observed_at=observed_at,
        raw=raw,
    )


def _members(raw: bytes) -> Mapping[str, object]:
    try:
        said = msgspec.json.decode(raw)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def claim_type(raw: bytes) -> str:
    """Return the type of a claim; empty if its document is unreadable."""
    return str(_members(raw).get("type") or "")


def claim_key(source: str, name: str) -> str:
    """Return the SHA-256 of a source and an id, by which a claim is known."""
    return sha256(msgspec.json.encode([source, name])).hexdigest()
