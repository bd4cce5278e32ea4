"""Makes rows of drafts, heads and resume points, and entries of rows."""

from collections.abc import (
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from datetime import datetime
from itertools import count, repeat
from typing import Any

import orjson
from msgspec.structs import astuple

from recorder.intake.state import Batch, Head, ResumePoint, StreamKey
from recorder.model.columns import STORED, Column, Holds
from recorder.model.entry import Draft, Entry
from recorder.model.observation import AUDIT
from recorder.model.reference import EntryName
from recorder.store.codes import (
    OPERATION_CODES,
    OPERATIONS,
    SOURCE_CODES,
    SOURCES,
    version_columns,
)
from recorder.store.encoding import Encoder
from recorder.store.names import Names, Numbers
from recorder.store.timestamps import ticks

ENTRY_COLUMNS = tuple(column.name for column in STORED)
NUMBERED = tuple(column for column in STORED if column.holds is Holds.NUMBER)
MADE = frozenset({Holds.VALUE, Holds.TIME, Holds.CODE, Holds.NUMBER})
"""Columns that are made of one field of a draft."""

CODES: Mapping[str, Mapping[Any, int]] = {
    "operation": OPERATION_CODES,
    "source": SOURCE_CODES,
}

WORDS: Mapping[str, Mapping[int, Any]] = {
    "operation": OPERATIONS,
    "source": SOURCES,
}

ROWS_AT_ONCE = 100
"""Drafts whose rows are made together, column by column."""

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
"""The dictionary for each resource; others have `object`."""


def name_entries(batch: Batch, names: Names) -> None:
    """Add the names that drafts, heads and streams refer to."""
    found = _fields([draft for _, draft in batch.drafts])
    for column in NUMBERED if found else ():
        names.add(column.names, found[column.field])
    for head in (*batch.heads.values(), *batch.gone.values()):
        names.objects[head.identity] = None
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
    """Yield a row for each draft, in the order of the batch."""
    recorded = ticks(recorded_at)
    for begin in range(0, len(batch.drafts), ROWS_AT_ONCE):
        epochs, drafts = zip(
            *batch.drafts[begin : begin + ROWS_AT_ONCE], strict=True
        )
        first, fields = batch.first_position + begin, _fields(drafts)
        columns: dict[str, Iterable[Any]] = {
            "log_id": repeat(log, len(drafts)),
            "position": range(first, first + len(drafts)),
            "recorded_at": repeat(recorded, len(drafts)),
            "epoch": epochs,
        }
        for column in STORED:
            if column.field in fields and column.holds in MADE:
                columns[column.name] = _values(
                    column, fields[column.field], numbers
                )
        columns["version"], columns["resource_version"] = zip(
            *map(version_columns, fields["resource_version"]), strict=True
        )
        columns |= _documents(fields, columns["object_id"], encoder, first)
        yield from zip(*(columns[name] for name in ENTRY_COLUMNS), strict=True)


def _fields(drafts: Sequence[Draft]) -> Mapping[str, Sequence[Any]]:
    """Return the values of each field of drafts."""
    values = zip(*map(astuple, drafts), strict=True)
    return dict(zip(Draft.__struct_fields__, values, strict=False))


def _values(
    column: Column, values: Sequence[Any], numbers: Numbers
) -> Iterable[Any]:
    """Return the values of a field as they are stored."""
    match column.holds:
        case Holds.TIME:
            return [None if at is None else ticks(at) for at in values]
        case Holds.CODE:
            return map(CODES[column.field].__getitem__, values)
        case Holds.NUMBER:
            known = numbers.of(column.names)
            return [None if one is None else known[one] for one in values]
        case _:
            return values


def _documents(
    fields: Mapping[str, Sequence[Any]],
    objects: Iterable[int | None],
    encoder: Encoder,
    first: int,
) -> Mapping[str, Iterable[Any]]:
    """Return the columns of documents, from a position on."""
    payloads, encodings, distances = [], [], []
    for position, raw, resource, thing in zip(
        count(first),
        fields["raw"],
        fields["resource"],
        objects,
        strict=False,
    ):
        payload, encoding, base = encoder.encode(
            raw,
            dictionary=DICTIONARIES.get(resource or "", "object"),
            chain=_own_uid(raw) if resource in EVENT_COLLECTIONS else thing,
            position=position,
        )
        payloads.append(payload)
        encodings.append(encoding)
        distances.append(None if base is None else position - base)
    return {
        "payload": payloads,
        "encoding": encodings,
        "base_distance": distances,
    }


def entries_of(
    log: int, columns: Mapping[str, Sequence[Any]], raws: Mapping[int, bytes]
) -> list[Entry]:
    """Return the entries of rows, column by column.

    Args:
        log: the number of their log.
        columns: by name; columns of names by the field of the entry, with
            identities for objects.
        raws: the documents that were read, by position.

    Raises:
        KeyError: a row has an unknown number.
    """
    positions = columns["position"]
    fields: dict[str, Iterable[Any]] = {
        "entry": [EntryName(log, position) for position in positions],
        "raw": [raws.get(position, b"") for position in positions],
        "resource_version": [
            text if number is None else str(number)
            for number, text in zip(
                columns["version"], columns["resource_version"], strict=True
            )
        ],
    }
    for column in STORED:
        match column.holds:
            case Holds.VALUE | Holds.TIME:
                fields[column.field] = columns[column.name]
            case Holds.CODE:
                words = WORDS[column.field]
                fields[column.field] = [
                    words[code] for code in columns[column.name]
                ]
            case Holds.NUMBER:
                fields[column.field] = columns[column.field]
            case _:
                pass
    return [
        Entry(**dict(zip(fields, values, strict=True)))
        for values in zip(*fields.values(), strict=True)
    ]


def _own_uid(event: bytes) -> bytes | None:
    """Return the uid of an Event, whose entry has another object.

    The first uid of an Event from an API server is its own; other documents
    may give another uid, or None.
    """
    start = event.find(UID_MEMBER)
    if start < 0:
        return None
    start += len(UID_MEMBER)
    end = event.find(b'"', start, start + UID_LENGTH_MAX)
    return event[start:end] if end > start else None


def head_rows(heads: Iterable[Head], numbers: Numbers) -> str:
    """Return the rows of `object_head` as JSON, as its upsert takes them.

    For arrays asyncpg checks each element for being a container.
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
