"""Drafts, and the entries they become.

`Operation` values are stored. They may be added to, never renamed or reused.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

import msgspec

from recorder.model.reference import EntryName, ObjectIdentity

__all__ = ["Draft", "Entry", "Operation"]


class Operation(StrEnum):
    """What an entry says."""

    LISTED = "listed"
    """A list showed a version that the log did not hold."""

    RECOVERED = "recovered"
    """A version that no watch told, read afterwards out of the past that the
    server still held."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"

    ABSENT = "absent"
    """Inferred: the object should be in a complete list and is not."""

    RENEWED = "renewed"
    """The last renewal of a Lease before a silence, entered late."""

    AUDIT = "audit"
    CLOUDEVENT = "cloudevent"
    POLLED = "polled"

    RETENTION = "retention"
    """What became of days: archived, dropped, held; see the document."""

    REFUSED = "refused"
    """Input that could not be taken as it was; the document describes it."""

    GAP_OPENED = "gap-opened"
    GAP_CLOSED = "gap-closed"
    EPOCH_BEGAN = "epoch-began"
    CLOCK_JUMPED = "clock-jumped"


class Draft(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One observation about to become an entry; it has no position yet."""

    source: str
    operation: Operation
    observed_at: datetime
    raw: bytes
    """The document after redaction, byte for byte."""

    resource: str | None = None
    """The resource in its written form, or what a poll calls it."""

    identity: ObjectIdentity | None = None
    """The object itself; for a Kubernetes Event what the Event is about."""

    resource_version: str | None = None
    node: str | None = None
    """Name of the node that the entry concerns."""

    occurred_at: datetime | None = None
    reason: str | None = None
    actor: str | None = None
    """For a Kubernetes Event its reporter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One immutable line of the log."""

    name: EntryName
    recorded_at: datetime
    epoch: int
    draft: Draft
