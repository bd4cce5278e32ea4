"""A log, reduced to what an oracle can compare with the truth."""

from collections.abc import Iterable, Mapping

import orjson

from recorder.intake.state import ResumePoint, StreamKey
from recorder.model.entry import Draft, Operation
from recorder.model.observation import WATCH
from recorder.model.reference import Resource
from tests.cluster.comparison import GapSpan, LogRow, Version

__all__ = ["gap_spans", "log_rows", "over_rewinds"]

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
        f"lost by a rewind, and its end is not told: {thing}"
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
        # The epoch-began entry stands before the gap's, so that both are of
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
