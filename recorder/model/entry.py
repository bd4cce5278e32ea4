"""Drafts, and the entries they become.

`Operation` values are stored. They may be added to, never renamed or reused.
"""

from datetime import datetime
from enum import StrEnum

import msgspec

from recorder.model.reference import EntryName, ObjectIdentity


class Operation(StrEnum):
    """What an entry says."""

    LISTED = "listed"
    """A list showed a version that the log did not hold."""

    RECOVERED = "recovered"
    """A version that no watch showed, read afterwards from the history that
    the server still had."""

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


VERSIONS = frozenset(
    {
        Operation.LISTED,
        Operation.RECOVERED,
        Operation.ADDED,
        Operation.MODIFIED,
    }
)
"""Operations whose entry has a version of an object that exists."""


class Draft(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One observation about to become an entry; it has no position yet."""

    source: str
    resource: str | None = None
    """For example `v1/pods`."""

    operation: Operation
    identity: ObjectIdentity | None = None
    """The object itself; for a Kubernetes Event what the Event is about."""

    resource_version: str | None = None
    node: str | None = None
    """The node it is about."""

    reason: str | None = None
    """Reason of a Kubernetes Event."""

    actor: str | None = None
    """Who reported a Kubernetes Event."""

    occurred_at: datetime | None = None
    """By the cluster's clock; null for versions of objects."""

    observed_at: datetime
    """By the recorder's clock."""

    raw: bytes
    """The document after redaction, byte for byte; empty in an entry that was
    read without it."""


class Entry(Draft, frozen=True, kw_only=True, gc=False):
    """One immutable line of the log: what a source reported."""

    entry: EntryName
    recorded_at: datetime
    """By PostgreSQL's clock, in the transaction."""

    epoch: int
    """Of the history of the cluster: versions compare within one."""

    words: str = ""
    """What it says, where it does not say so itself and that was asked for."""
