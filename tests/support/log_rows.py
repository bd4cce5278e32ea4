"""A log, reduced to what an oracle can compare with the truth."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from recorder.intake.state import ResumePoint, StreamKey
from recorder.model.entry import Draft, Operation
from recorder.model.observation import WATCH
from recorder.model.reference import Resource
from tests.cluster.comparison import GapSpan, LogRow, Version, differences

__all__ = [
    "LogGap",
    "compared",
    "count_gaps",
    "gap_spans",
    "log_gaps",
    "log_rows",
]

LEASES = "leases"

COMPARED = {
    Operation.LISTED,
    Operation.RECOVERED,
    Operation.ADDED,
    Operation.MODIFIED,
    Operation.DELETED,
    Operation.ABSENT,
    Operation.RENEWED,
}


def log_rows(entries: Iterable[tuple[int, Draft]]) -> list[LogRow]:
    """Return the rows of epochs and drafts, in the order of the log."""
    rows = []
    for order, (epoch, draft) in enumerate(entries, 1):
        if draft.operation not in COMPARED or draft.source != WATCH:
            continue
        assert draft.resource is not None
        resource = Resource.parse(draft.resource)
        document = orjson.loads(draft.raw)
        metadata = document.get("metadata", document)
        identity = draft.identity
        if "metadata" not in document and identity is not None:
            metadata = {
                "uid": identity.uid,
                "name": identity.name,
                "namespace": identity.namespace,
            }
        version = metadata.get("resourceVersion")
        operation = draft.operation
        if operation is Operation.ABSENT and draft.resource_version:
            operation, version = Operation.DELETED, draft.resource_version
        rows.append(
            LogRow(
                epoch=epoch,
                group=resource.group,
                resource=resource.plural,
                namespace=metadata.get("namespace", ""),
                name=metadata.get("name", ""),
                uid=metadata.get("uid", document.get("uid", "")),
                revision=None if version is None else int(version),
                operation=operation.value,
                order=order,
            )
        )
    return rows


def compared(
    truth: Sequence[Version],
    entries: Sequence[tuple[int, Draft]],
    streams: Mapping[StreamKey, ResumePoint],
    *,
    resources: Collection[tuple[str, str]] | None = None,
    through: int | None = None,
) -> list[str]:
    """Return where a log is not what the truth is, up to a revision.

    Leases are left out: they are recorded in part, and of nodes alone.
    """
    rows = [row for row in log_rows(entries) if row.resource != LEASES]
    rows, wrong = over_rewinds(rows, truth)
    spans = [
        span for span in gap_spans(entries, streams) if span.resource != LEASES
    ]
    return wrong + differences(
        truth, rows, spans, resources=resources, through=through
    )


def over_rewinds(
    rows: Iterable[LogRow], truth: Iterable[Version]
) -> tuple[list[LogRow], list[str]]:
    """Judge what rows say of objects that a rewind took away.

    Such an object has no delete in any history: it was in the one before and
    is not in the state that the next one began with. Gives the other rows,
    and what is wrong.
    """
    there = {(v.epoch, v.resource, v.uid) for v in truth}
    alive: dict[tuple[str, str], int] = {}
    left, wrong = [], []
    for row in rows:
        thing = (row.resource, row.uid)
        if row.operation == "absent" and (row.epoch, *thing) not in there:
            if thing not in alive:
                wrong.append(f"absent, and not known: {row}")
            alive.pop(thing, None)
            continue
        left.append(row)
        if row.operation in {"absent", "deleted"}:
            alive.pop(thing, None)
        else:
            alive[thing] = row.epoch
    last = max((epoch for epoch, _, _ in there), default=0)
    wrong += [
        f"lost by a rewind, and its end is not reported: {thing}"
        for thing, epoch in alive.items()
        if epoch < last and (last, *thing) not in there
    ]
    return left, wrong


def gap_spans(
    entries: Iterable[tuple[int, Draft]],
    streams: Mapping[StreamKey, ResumePoint],
) -> list[GapSpan]:
    """Return what the log does not vouch for: its beginnings and its gaps."""
    spans = []
    opened: dict[str, int] = {}
    for epoch, draft in entries:
        if draft.resource is None:
            continue
        if draft.operation is Operation.GAP_OPENED:
            opened[draft.resource] = epoch
        if draft.operation is Operation.GAP_CLOSED:
            began = opened.pop(draft.resource, epoch)
            spans += _spans(draft, began, epoch)
    for (source, name), point in streams.items():
        if source != WATCH or point.began_version is None:
            continue
        resource = Resource.parse(name)
        spans.append(
            GapSpan(
                epoch=1,
                group=resource.group,
                resource=resource.plural,
                upto=int(point.began_version),
            )
        )
    return spans


def _spans(draft: Draft, began: int, epoch: int) -> list[GapSpan]:
    gap = orjson.loads(draft.raw)
    healed = not gap["possible"]
    if healed and "walked" not in gap:
        return []
    resource = Resource.parse(draft.resource or "")
    before = int(gap["resource_version_before"] or 0)
    after = gap["resource_version_after"]
    upto = None if after is None else int(after)
    if gap["reason"] == "history rewound":
        # The epoch-began entry is before the gap's, so that both are of
        # the new epoch; what was not vouched for is of both.
        return [
            GapSpan(
                epoch=began - 1,
                group=resource.group,
                resource=resource.plural,
                after=before,
            ),
            *(
                GapSpan(
                    epoch=number,
                    group=resource.group,
                    resource=resource.plural,
                    upto=upto if number == epoch else None,
                )
                for number in range(began, epoch + 1)
            ),
        ]
    return [
        GapSpan(
            epoch=began if number == began else number,
            group=resource.group,
            resource=resource.plural,
            after=before if number == began else 0,
            upto=upto if number == epoch else None,
            healed=healed,
        )
        for number in range(began, epoch + 1)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogGap:
    """A gap as its two entries describe it."""

    resource: str
    opened: int
    closed: int
    """Positions; zero while it is open."""

    opened_at: datetime
    epoch: int
    closed_epoch: int
    since: datetime
    to: datetime | None
    reason: str
    before: int | None
    after: int | None
    possible: tuple[str, ...]
    """What may be missing; nothing if it was healed."""

    def __str__(self) -> str:
        return (
            f"gap {self.opened}..{self.closed} of {self.resource}"
            f" ({self.reason}) from {self.since} at {self.before} to"
            f" {self.to} at {self.after}"
        )


def log_gaps(entries: Iterable[tuple[int, Draft]]) -> list[LogGap]:
    """Pair the entries that open and close gaps; open ones come last."""
    gaps: list[LogGap] = []
    opened: dict[str, tuple[int, int, Draft]] = {}
    for position, (epoch, draft) in enumerate(entries, 1):
        name = draft.resource or ""
        if draft.operation is Operation.GAP_OPENED:
            assert name not in opened, f"{name} was opened twice"
            opened[name] = position, epoch, draft
        elif draft.operation is Operation.GAP_CLOSED:
            ended = position, epoch, draft
            gaps.append(_gap(name, opened.pop(name), ended))
    gaps += [_gap(name, entry, None) for name, entry in opened.items()]
    return gaps


def _gap(
    name: str,
    began: tuple[int, int, Draft],
    ended: tuple[int, int, Draft] | None,
) -> LogGap:
    position, epoch, draft = began
    first = orjson.loads(draft.raw)
    last: dict[str, Any] = orjson.loads(ended[2].raw) if ended else {}
    for field in ("from", "reason", "resource_version_before"):
        assert not last or first[field] == last[field], (first, last)
    assert not last or last["opened"].endswith(f"/{position}"), last
    to, after = last.get("to"), last.get("resource_version_after")
    before = first["resource_version_before"]
    return LogGap(
        resource=name,
        opened=position,
        closed=ended[0] if ended else 0,
        opened_at=draft.observed_at,
        epoch=epoch,
        closed_epoch=ended[1] if ended else epoch,
        since=datetime.fromisoformat(first["from"]),
        to=datetime.fromisoformat(to) if to else None,
        reason=first["reason"],
        before=int(before) if before else None,
        after=int(after) if after else None,
        possible=tuple(last.get("possible", ["anything"])),
    )


def count_gaps(
    entries: Iterable[tuple[int, Draft]], reasons: Counter[str]
) -> int:
    """Count the gaps by their reason; return how many were healed."""
    gaps = log_gaps(entries)
    reasons.update(gap.reason for gap in gaps if gap.possible)
    return sum(not gap.possible for gap in gaps)
