"""A recording by script: every kind of write, in two batches, no cluster.

The script is played as a tape is: each commit holds the place in it, so that
a process that starts anew goes on behind what is committed.
"""

import asyncio
from collections.abc import Sequence

from recorder.intake.ports import Known, Sink
from recorder.model.observation import EpochBegan, Observation, PlaceReached
from tests.support.builders import (
    EVENTS,
    LEASES,
    NODES,
    PODS,
    a_bookmark,
    a_closed_stream,
    a_frame,
    a_lease,
    a_list,
    a_node,
    an_event,
    an_object,
    at,
)

__all__ = ["BATCHES", "EXPECTED", "SCRIPT", "Script"]

SCRIPT = "script"
"""The name of the source that delivers it."""

FILLER = "".join(chr(97 + n * n % 26) for n in range(900))
"""Enough for a document to be worth a delta."""

BATCHES: Sequence[Sequence[Observation]] = (
    (
        a_list(
            PODS,
            9,
            an_object("stays", 1, filler=FILLER),
            an_object("goes", 2),
            an_object("vanishes", 3),
        ),
        a_list(NODES, 9, a_node("gpu-001", 4)),
        a_list(LEASES, 9, a_lease("gpu-001", 5, renewed=0)),
        a_list(EVENTS, 9, an_event("first", 6)),
        a_frame(PODS, "MODIFIED", an_object("stays", 10, filler=FILLER)),
        a_frame(NODES, "MODIFIED", a_node("gpu-001", 11, beat=9), when=9),
        a_frame(EVENTS, "ADDED", an_event("second", 12), when=10),
        a_frame(PODS, "DELETED", an_object("goes", 13), when=11),
        a_frame(PODS, "ADDED", an_object("comes", 14), when=11),
        a_closed_stream(PODS, "410", when=12),
        a_list(
            PODS,
            20,
            an_object("stays", 15, filler=FILLER, more=1),
            an_object("comes", 14),
            when=13,
        ),
    ),
    (
        a_frame(
            LEASES,
            "MODIFIED",
            a_lease("gpu-001", 21, renewed=9),
            when=20,
        ),
        EpochBegan(observed_at=at(21), reason="a story"),
        a_list(NODES, 7, a_node("gpu-002", 7, ready="False"), when=22),
        a_list(PODS, 8, an_object("stays", 8, filler=FILLER), when=23),
        a_list(LEASES, 9, a_lease("gpu-001", 9, renewed=22), when=24),
        a_list(EVENTS, 9, an_event("third", 9), when=25),
        a_bookmark(PODS, 12, when=26),
    ),
)


class Script:
    """The source that plays it, from the resume point in the log."""

    finite = True

    async def run(self, sink: Sink, known: Known) -> None:
        """Put the rest, in chunks that match the batches."""
        done = int(known.resume_points().get("lines", "0"))
        number = 0
        for batch in BATCHES:
            chunk: list[Observation] = []
            for observation in batch:
                number += 1
                if number > done:
                    place = PlaceReached(
                        observed_at=observation.observed_at,
                        source=SCRIPT,
                        stream="lines",
                        place=str(number),
                    )
                    chunk += [observation, place]
            if chunk:
                await sink.put(chunk)
                await asyncio.sleep(0)


EXPECTED = [
    tuple(None if word == "-" else word for word in line.split())
    for line in """
        listed v1/pods 1
        listed v1/pods 2
        listed v1/pods 3
        listed v1/nodes 4
        listed coordination.k8s.io/v1/leases 5
        listed v1/events 6
        modified v1/pods 10
        added v1/events 12
        deleted v1/pods 13
        added v1/pods 14
        gap-opened v1/pods -
        listed v1/pods 15
        absent v1/pods -
        gap-closed v1/pods -
        epoch-began - -
        gap-opened coordination.k8s.io/v1/leases -
        gap-opened v1/events -
        gap-opened v1/nodes -
        gap-opened v1/pods -
        listed v1/nodes 7
        renewed coordination.k8s.io/v1/leases 21
        absent v1/nodes -
        gap-closed v1/nodes -
        listed v1/pods 8
        absent v1/pods -
        gap-closed v1/pods -
        listed coordination.k8s.io/v1/leases 9
        gap-closed coordination.k8s.io/v1/leases -
        listed v1/events 9
        absent v1/events -
        absent v1/events -
        gap-closed v1/events -
    """.strip().splitlines()
]
"""Operation, resource and version of each entry."""
