"""Drafts and heads as rows of their tables."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import orjson

from recorder.intake.state import Batch, Head, ResumePoint, StreamKey
from recorder.model.entry import Draft
from recorder.model.observation import AUDIT
from recorder.store.codes import (
    OPERATION_CODES,
    SOURCE_CODES,
    version_columns,
)
from recorder.store.encoding import Encoder
from recorder.store.names import Names, Numbers
from recorder.store.timestamps import Ticks, ticks

__all__ = [
    "ENTRY_COLUMNS",
    "entry_rows",
    "head_rows",
    "name_entries",
    "resume_rows",
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

EVENT_COLLECTIONS = frozenset({"v1/events", "events.k8s.io/v1/events"})

UID_MEMBER = b'"uid":"'
UID_LENGTH_MAX = 64

DICTIONARIES = {
    "v1/events": "event",
    "events.k8s.io/v1/events": "event",
    "v1/pods": "pod",
    "v1/nodes": "node",
    AUDIT: "audit",
}
"""Which dictionary suits which resource; `object` suits the others."""


def name_entries(batch: Batch, names: Names) -> None:
    """Return the names that drafts, heads and streams refer to."""
    nodes, objects, words = names.nodes, names.objects, names.words
    for _, draft in batch.drafts:
        if draft.identity is not None:
            objects[draft.identity] = None
        if draft.node is not None:
            nodes.add(draft.node)
        if draft.resource is not None:
            names.resources.add(draft.resource)
        if draft.reason is not None:
            words.add(draft.reason)
        if draft.actor is not None:
            words.add(draft.actor)
    for head in (*batch.heads.values(), *batch.gone.values()):
        objects[head.identity] = None
        names.resources.add(head.resource)
    names.resources.update(resource for _, resource in batch.streams)
    names.resources.update(resource for _, resource in batch.left)


def entry_rows(
    batch: Batch,
    numbers: Numbers,
    encoder: Encoder,
    *,
    log: int,
    recorded_at: datetime,
) -> Iterator[tuple[Any, ...]]:
    """Yield one row for each draft, in the order of the batch."""
    recorded = ticks(recorded_at)
    for position, (epoch, draft) in enumerate(
        batch.drafts, batch.first_position
    ):
        place = (log, recorded, epoch, position)
        yield _entry_row(place, draft, numbers, encoder)


def _entry_row(
    place: tuple[int, Ticks, int, int],
    draft: Draft,
    numbers: Numbers,
    encoder: Encoder,
) -> tuple[Any, ...]:
    log, recorded, epoch, position = place
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
        recorded,
        ticks(draft.observed_at),
        None if draft.occurred_at is None else ticks(draft.occurred_at),
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
    """Return the identity of an Event; its object is another's.

    The first uid of an Event that an API server wrote is its own; in any
    other document this finds something else, or nothing.
    """
    start = event.find(UID_MEMBER)
    if start < 0:
        return None
    start += len(UID_MEMBER)
    end = event.find(b'"', start, start + UID_LENGTH_MAX)
    return event[start:end] if end > start else None


def head_rows(heads: Iterable[Head], numbers: Numbers) -> str:
    """Return the rows of `object_head` as JSON, as its upsert takes them.

    In arrays asyncpg asks of each element whether it is a container.
    """
    rows = []
    for head in heads:
        version, version_text = version_columns(head.resource_version)
        rows.append(
            {
                "object_id": numbers.objects[head.identity],
                "resource_id": numbers.resources[head.resource],
                "epoch": head.epoch,
                "version": version,
                "resource_version": version_text,
                "position": head.position,
                "ready": head.ready,
                "heartbeats": head.heartbeats,
                "heartbeat_at": head.heartbeat_at,
                "substance": _hex(head.substance),
                "renewal": _hex(head.renewal),
            }
        )
    return orjson.dumps(rows).decode()


def _hex(binary: bytes | None) -> str | None:
    return None if binary is None else rf"\x{binary.hex()}"


def resume_rows(
    streams: Mapping[StreamKey, ResumePoint], numbers: Numbers
) -> str:
    """Return the rows of `resume_point` as JSON, as its upsert takes them."""
    rows = []
    for (source, resource), point in streams.items():
        gap = point.gap
        row = {
            "source": source,
            "resource_id": numbers.resources[resource],
            "state": point.state.value,
            "completed": point.completed,
            "pending": point.pending,
            "seen": sorted(point.seen),
            "began_at": point.began_at,
            "vouched_until": point.vouched_until,
            "last_frame_at": point.last_frame_at,
            "entries": point.entries,
            "began_version": point.began_version,
            "settled_until": point.settled_until,
        }
        if gap is not None:
            row |= {
                "gap_position": gap.position,
                "gap_reason": gap.reason,
                "gap_since": gap.since,
                "gap_version": gap.resource_version,
            }
        rows.append(row)
    return orjson.dumps(rows).decode()
