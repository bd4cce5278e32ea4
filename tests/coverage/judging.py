"""The coverage of a log with fixed streams, gaps and jumps."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from recorder.answers.ports import Reading
from recorder.facts.coverage.account import everything
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import (
    Archived,
    ClockJump,
    Log,
    Reads,
    Stream,
)
from recorder.model.document import plain
from recorder.model.reference import EntryName
from recorder.model.window import Window
from tests.support.builders import at

__all__ = [
    "EVENTS",
    "LIVE",
    "NODES",
    "NOW",
    "PODS",
    "TAPE",
    "CoveredLog",
    "a_gap",
    "judged",
    "reasons",
]

LIVE = Log(
    id=1,
    kind="live",
    cluster_name="prod",
    cluster_uid="uid",
    kubernetes="v1.36.3",
    size=100,
    recorded_at=at(300),
    holder="holder",
    observed_at=at(305),
)
TAPE = replace(LIVE, kind="tape")

PODS = Stream(
    source="watch",
    resource="v1/pods",
    state="live",
    began_at=at(0),
    vouched_until=at(300),
)
NODES = replace(PODS, resource="v1/nodes")
EVENTS = replace(PODS, resource="v1/events")
NOW = at(310)


def a_gap(
    since: float | None, to: float | None, *, possible: str = "something"
) -> Gap:
    return Gap(
        opened=EntryName(1, 7),
        source="watch",
        resource="v1/pods",
        since=None if since is None else at(since),
        until=None if to is None else at(to),
        reason="watch expired (410)",
        resource_version_before="1",
        resource_version_after="2",
        proved="a list",
        possible=(possible,) if possible else (),
    )


class CoveredLog:
    """The part of a log that coverage reads."""

    def __init__(
        self,
        *streams: Stream,
        gaps: Sequence[Gap] = (),
        jumps: Sequence[ClockJump] = (),
        log: Log = LIVE,
    ) -> None:
        self.log = log
        self.streams = streams
        self._gaps = gaps
        self._jumps = jumps

    async def gaps(self, since: datetime | None) -> AsyncIterator[Gap]:
        del since
        for gap in self._gaps:
            yield gap

    async def archived(self, _: Window) -> Archived:
        return Archived()

    async def clock_jumps(self) -> AsyncIterator[ClockJump]:
        for jump in self._jumps:
            yield jump


async def judged(
    recorded: CoveredLog,
    since: float | None = None,
    until: float | None = None,
    *,
    now: datetime = NOW,
    reads: Reads = everything,
) -> Coverage:
    window = Window(
        None if since is None else at(since),
        None if until is None else at(until),
    )
    return await covered(
        cast("Reading", recorded), window, now=now, reads=reads
    )


def reasons(coverage: Coverage) -> list[str]:
    return [shown["reason"] for shown in plain(coverage)["gaps"]]
