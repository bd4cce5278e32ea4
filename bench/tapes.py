"""Tapes for the benchmarks: fleets, recorded.

A tape opens with lists of what is alive, as a recorded one does, and holds
the number of documents asked for.
"""

from itertools import islice
from pathlib import Path

from bench.fleet import BEGAN, Change, Fleet
from bench.templates import EVENTS, JOBS, NODES, PODS
from recorder.model.observation import ListPage, WatchFrame
from recorder.model.reference import Resource
from recorder.sources.tape import TapeHeader, TapeWriter

__all__ = ["MIXES", "frame", "write_tape"]

MIXES = {
    "mixed": {EVENTS: 60, PODS: 20, NODES: 10, JOBS: 10},
    "events": {EVENTS: 1},
    "pods": {PODS: 1},
    "nodes": {NODES: 1},
    "jobs": {JOBS: 1},
}
CHUNK = 500


def write_tape(
    path: Path, mix: str, *, documents: int, seed: str = "measured"
) -> int:
    """Write a tape of so many documents; return the bytes of all of them."""
    header = TapeHeader(
        cluster=f"bench-{mix}",
        cluster_uid=f"bench-{mix}-{seed}",
        kubernetes="v1.36.3",
        started_at=BEGAN,
    )
    changes = Fleet(seed).changes(MIXES[mix])
    size = 0
    with TapeWriter(path, header) as tape:
        tape.write(
            ListPage(
                observed_at=BEGAN,
                resource=Resource.parse(resource),
                resource_version="1",
                items=[],
                more=False,
            )
            for resource in MIXES[mix]
        )
        for start in range(0, documents, CHUNK):
            chunk = list(islice(changes, min(CHUNK, documents - start)))
            size += sum(len(change.document) for change in chunk)
            tape.write([frame(change) for change in chunk])
    return size


def frame(change: Change) -> WatchFrame:
    """Return a change as a watch shows it."""
    return WatchFrame(
        observed_at=change.at,
        resource=Resource.parse(change.resource),
        type=change.type,
        object=change.document,
    )
