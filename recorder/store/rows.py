"""Drafts and heads as rows of their tables."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from recorder.intake.state import Batch, Head, ResumePoint, StreamKey
from recorder.model.entry import Draft
from recorder.model.reference import ObjectIdentity
from recorder.store.codes import OPERATION_CODES, SOURCE_CODES
from recorder.store.encoding import Encoder

__all__ = [
    "ENTRY_COLUMNS",
    "Numbers",
    "entry_rows",
    "head_columns",
    "identities",
    "resume_columns",
    "version_columns",
]

ENTRY_COLUMNS = (
    "recorded_at",
    "observed_at",
    "occurred_at",
    "position",
    "object_id",
    "version",
    "log_id",
    "node_id",
    "reason_id",
    "actor_id",
    "base_distance",
    "epoch",
    "resource_id",
    "operation",
    "source",
    "encoding",
    "resource_version",
    "payload",
)

VERSION_DIGITS_MAX = 18
"""Longer numbers may not fit a bigint and are kept as text."""

EVENT_COLLECTIONS = frozenset({"v1/events", "events.k8s.io/v1/events"})

UID_MEMBER = b'"uid":"'
UID_LENGTH_MAX = 64

DICTIONARIES = {
    "v1/events": "event",
    "events.k8s.io/v1/events": "event",
    "v1/pods": "pod",
    "v1/nodes": "node",
}
"""Which dictionary suits which resource; `object` suits the others."""


class Numbers:
    """What the dimension tables say for the names of one batch."""

    __slots__ = ("nodes", "objects", "resources", "words")

    def __init__(
        self,
        *,
        nodes: Mapping[str, int],
        objects: Mapping[ObjectIdentity, int],
        resources: Mapping[str, int],
        words: Mapping[str, int],
    ) -> None:
        self.nodes = nodes
        self.objects = objects
        self.resources = resources
        self.words = words


def version_columns(text: str | None) -> tuple[int | None, str | None]:
    """Split a resource version into its number and, else, its text."""
    if not text:
        return None, None
    if (
        len(text) <= VERSION_DIGITS_MAX
        and text.isascii()
        and text.isdecimal()
        and (text[0] != "0" or text == "0")
    ):
        return int(text), None
    return None, text


def identities(batch: Batch) -> list[ObjectIdentity]:
    """Give the object of every draft and every head."""
    named = [d.identity for _, d in batch.drafts if d.identity is not None]
    named.extend(head.identity for head in batch.heads.values())
    named.extend(head.identity for head in batch.gone.values())
    return named


def entry_rows(
    batch: Batch,
    numbers: Numbers,
    encoder: Encoder,
    *,
    log: int,
    recorded_at: datetime,
) -> list[tuple[Any, ...]]:
    """Give one row for each draft, in the order of the batch."""
    return [
        _entry_row(
            (log, recorded_at, epoch, position), draft, numbers, encoder
        )
        for position, (epoch, draft) in enumerate(
            batch.drafts, batch.first_position
        )
    ]


def _entry_row(
    place: tuple[int, datetime, int, int],
    draft: Draft,
    numbers: Numbers,
    encoder: Encoder,
) -> tuple[Any, ...]:
    log, recorded_at, epoch, position = place
    resource = draft.resource
    identity = draft.identity
    thing = None if identity is None else numbers.objects[identity]
    encoded = encoder.encode(
        draft.raw,
        dictionary=DICTIONARIES.get(resource or "", "object"),
        chain=_own_uid(draft.raw) if resource in EVENT_COLLECTIONS else thing,
        position=position,
    )
    version, version_text = version_columns(draft.resource_version)
    base = encoded.base
    return (
        recorded_at,
        draft.observed_at,
        draft.occurred_at,
        position,
        thing,
        version,
        log,
        None if draft.node is None else numbers.nodes[draft.node],
        None if draft.reason is None else numbers.words[draft.reason],
        None if draft.actor is None else numbers.words[draft.actor],
        None if base is None else position - base,
        epoch,
        None if resource is None else numbers.resources[resource],
        OPERATION_CODES[draft.operation],
        SOURCE_CODES[draft.source],
        encoded.encoding,
        version_text,
        encoded.payload,
    )


def _own_uid(event: bytes) -> bytes | None:
    """Find what tells an Event from others; its object is another's.

    The first uid of an Event that an API server wrote is its own; in any
    other document this finds something else, or nothing.
    """
    start = event.find(UID_MEMBER)
    if start < 0:
        return None
    start += len(UID_MEMBER)
    end = event.find(b'"', start, start + UID_LENGTH_MAX)
    return event[start:end] if end > start else None


def head_columns(
    heads: Iterable[Head], numbers: Numbers, log: int
) -> list[list[Any]]:
    """Give the columns of `object_head`, as its upsert takes them."""
    rows = []
    for head in heads:
        version, version_text = version_columns(head.resource_version)
        rows.append(
            (
                numbers.objects[head.identity],
                log,
                numbers.resources[head.resource],
                head.epoch,
                version,
                version_text,
                head.position,
                head.ready,
                head.heartbeats,
                head.heartbeat_at,
                head.substance,
                head.renewal,
            )
        )
    return [list(column) for column in zip(*rows, strict=True)]


def resume_columns(
    key: StreamKey, point: ResumePoint, numbers: Numbers, log: int
) -> tuple[Any, ...]:
    """Give the row of `resume_point` for one stream."""
    source, resource = key
    gap = point.gap
    return (
        log,
        source,
        numbers.resources[resource],
        point.state.value,
        point.completed,
        point.pending,
        sorted(point.seen),
        point.began_at,
        point.vouched_until,
        point.last_frame_at,
        point.entries,
        None if gap is None else gap.position,
        None if gap is None else gap.reason,
        None if gap is None else gap.since,
        None if gap is None else gap.resource_version,
        point.began_version,
    )
