"""The history that a log should hold, as the cluster itself has it.

A restore of a snapshot begins another history, and so another epoch of the
log. There is one exception: where the log had seen nothing of what was taken
away, nothing was, and the history that it follows goes on as the new one.
"""

from collections.abc import Iterator
from typing import Any

from tests.cluster.comparison import Version
from tests.faults.world import Rewind, World
from tests.support.fake_cluster import Change

__all__ = ["Truth", "truth_of"]

Body = dict[str, Any]
Truth = dict[Version, float | None]
"""Every version, and when it was made; None for what a snapshot brought."""


def truth_of(world: World) -> Truth:
    """Return every version by the log's own count of epochs."""
    noticed = world.noticed()
    truth: Truth = {}
    for number, epoch in enumerate(noticed, 1):
        ended_by = noticed[number] if number < len(noticed) else None
        truth |= _epoch(world, number, epoch, ended_by)
    return dict(sorted(truth.items(), key=lambda item: _order(item[0])))


def _order(version: Version) -> tuple[int, int]:
    return version.epoch, version.revision


def _epoch(
    world: World, number: int, epoch: int, ended_by: int | None
) -> Truth:
    versions: Truth = {}
    if epoch:
        rewind = world.rewinds[epoch - 1]
        versions = dict.fromkeys(_restored(rewind, number))
    versions |= _changes(world, number, epoch)
    for rewind in world.rewinds:
        if rewind.continues != epoch or rewind.epoch == ended_by:
            continue
        before = {
            v: t for v, t in versions.items() if v.revision <= rewind.common
        }
        after = _lineage(world, number, rewind.epoch)
        versions = before | {
            v: t for v, t in after.items() if v.revision > rewind.common
        }
        epoch = rewind.epoch
    return versions


def _lineage(world: World, number: int, epoch: int) -> Truth:
    """Return the whole history of an epoch, the snapshot's included."""
    if not epoch:
        return _changes(world, number, 0)
    rewind = world.rewinds[epoch - 1]
    before = _lineage(world, number, rewind.parent)
    upto = rewind.backup.revision
    kept = {v: t for v, t in before.items() if v.revision <= upto}
    return kept | _changes(world, number, epoch)


def _changes(world: World, number: int, epoch: int) -> Truth:
    return {
        _version(number, change): change.at
        for change in world.cluster.history
        if change.epoch == epoch
    }


def _version(number: int, change: Change) -> Version:
    return _made(
        number,
        change.revision,
        (change.plural, world_group(change.plural)),
        change.object,
        deleted=change.type == "DELETED",
    )


def _restored(rewind: Rewind, number: int) -> Iterator[Version]:
    for (plural, _, _), body in rewind.backup.objects.items():
        revision = int(body["metadata"]["resourceVersion"])
        yield _made(number, revision, (plural, world_group(plural)), body)


def world_group(plural: str) -> str:
    """Name the group of a resource of the fake."""
    return {
        "widgets": "example.com",
        "customresourcedefinitions": "apiextensions.k8s.io",
    }.get(plural, "")


def _made(
    epoch: int,
    revision: int,
    of: tuple[str, str],
    body: Body,
    *,
    deleted: bool = False,
) -> Version:
    metadata = body["metadata"]
    return Version(
        epoch=epoch,
        group=of[1],
        resource=of[0],
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        uid=metadata["uid"],
        revision=revision,
        deleted=deleted,
    )
