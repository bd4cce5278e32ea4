"""A whole recording: what stops it, and what it waits for."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import orjson
import pytest

from recorder.intake.committing import Policy
from recorder.intake.ports import HeldVersion, Known, Sink
from recorder.intake.receipts import Receipt
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.intake.state import Batch, StreamState
from recorder.model.entry import Operation
from recorder.model.errors import ClusterError, StandingByError
from recorder.model.observation import WATCH, Observation, StreamResumed
from tests.support import fake_time
from tests.support.builders import (
    EVENTS,
    PODS,
    a_closed_stream,
    a_frame,
    a_list,
    an_event,
    an_object,
    at,
)
from tests.support.memory_log import MemoryLog, MemoryWriter

STREAM = ("watch", "v1/pods")
REDACTION = Redaction(RedactionRules(), b"0" * 32)
POLICY = Policy(
    linger=timedelta(milliseconds=1),
    idle=timedelta(milliseconds=20),
    retry_min=timedelta(milliseconds=1),
    retry_max=timedelta(milliseconds=2),
)


class Scripted:
    """A source that puts observations, then ends or waits."""

    finite = True

    def __init__(
        self,
        *observations: Observation,
        stays: bool = False,
        fails: ClusterError | None = None,
    ) -> None:
        self._observations = observations
        self._stays = stays
        self._fails = fails
        self.known: Known | None = None
        self.done = asyncio.Event()

    async def run(self, sink: Sink, known: Known) -> None:
        self.known = known
        for observation in self._observations:
            await sink.put([observation])
        self.done.set()
        if self._fails is not None:
            raise self._fails
        if self._stays:
            await asyncio.Event().wait()


def recording(
    log: MemoryLog,
    *,
    has_room: Callable[[], str | None] = lambda: None,
    holder: str = "writer",
) -> Recording:
    return Recording(
        MemoryWriter(log, holder=holder),
        REDACTION,
        policy=POLICY,
        has_room=has_room,
    )


def pods(count: int) -> list[Observation]:
    return [
        a_frame(PODS, "ADDED", an_object(f"p{n}", n))
        for n in range(1, count + 1)
    ]


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - the log has no bell
            await asyncio.sleep(0.001)


async def test_a_source_that_ends_is_committed_whole() -> None:
    log = MemoryLog()
    await recording(log).run({WATCH: Scripted(*pods(5000))}, asyncio.Event())

    assert len(log.entries) == 5000
    assert log.holder is None


async def test_a_stop_commits_what_is_in_hand() -> None:
    log, stop = MemoryLog(), asyncio.Event()
    source = Scripted(a_list(PODS, 1), *pods(300), stays=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(recording(log).run({WATCH: source}, stop))
        await source.done.wait()
        stop.set()

    assert len(log.entries) == 300
    assert log.streams["watch", "v1/pods"].state is StreamState.STOPPED


async def test_what_came_before_a_failure_is_committed() -> None:
    log = MemoryLog()
    source = Scripted(*pods(3), fails=ClusterError("another cluster answers"))

    with pytest.raises(ClusterError, match="another cluster"):
        await recording(log).run({WATCH: source}, asyncio.Event())
    assert len(log.entries) == 3


async def test_a_stream_that_came_back_is_recorded_at_once() -> None:
    log = MemoryLog()
    await recording(log).run(
        {WATCH: Scripted(a_list(PODS, 1))}, asyncio.Event()
    )

    stop = asyncio.Event()
    source = Scripted(
        StreamResumed(observed_at=at(9), resource=PODS), stays=True
    )
    patient = Recording(
        MemoryWriter(log, holder="writer"),
        REDACTION,
        policy=replace(POLICY, idle=timedelta(hours=1)),
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(patient.run({WATCH: source}, stop))
        await until(lambda: log.streams[STREAM].state is StreamState.LIVE)
        stop.set()


def test_what_comes_during_a_commit_has_waited_already() -> None:
    """It waits for the rest of the linger, and not from the commit on."""
    policy = replace(POLICY, linger=timedelta(seconds=0.1))
    waits: list[float] = []

    class Slow(MemoryWriter):
        async def append(self, batch: Batch) -> None:
            await asyncio.sleep(0.08)
            await super().append(batch)

    class Steady(Scripted):
        async def run(self, sink: Sink, known: Known) -> None:
            del known
            clock = asyncio.get_running_loop().time
            async with asyncio.TaskGroup() as group:
                for pod in self._observations:
                    receipt = await sink.put([pod])
                    group.create_task(self._waited(receipt, clock()))
                    await asyncio.sleep(0.01)

        async def _waited(self, receipt: Receipt, since: float) -> None:
            await receipt.committed()
            waits.append(asyncio.get_running_loop().time() - since)

    async def played() -> None:
        made = Recording(Slow(MemoryLog()), REDACTION, policy=policy)
        await made.run({WATCH: Steady(*pods(100))}, asyncio.Event())

    fake_time.run(played)
    assert len(waits) == 100
    assert max(waits) < 0.1 + 0.08 + 0.01


async def test_a_log_that_is_held_is_refused() -> None:
    log = MemoryLog()
    await MemoryWriter(log, holder="other").take_lease()

    with pytest.raises(StandingByError):
        await recording(log).run({WATCH: Scripted()}, asyncio.Event())


async def test_a_full_disk_is_waited_for() -> None:
    log, stop = MemoryLog(), asyncio.Event()
    says: list[str | None] = ["the disk is full"]
    source = Scripted(*pods(3), stays=True)
    made = recording(log, has_room=lambda: says[0])
    async with asyncio.TaskGroup() as group:
        group.create_task(made.run({WATCH: source}, stop))
        await until(lambda: made.progress.waiting_for == "the disk is full")
        assert log.entries == []
        says[0] = None
        await until(lambda: len(log.entries) == 3)
        stop.set()

    assert made.progress.waiting_for is None


@pytest.mark.parametrize("fate", ["lost", "silent"])
async def test_a_log_that_is_away_is_waited_for(fate: str) -> None:
    log, stop = MemoryLog(), asyncio.Event()
    writer = MemoryWriter(log)
    writer.faults = [fate] * 5
    made = Recording(writer, REDACTION, policy=POLICY)
    source = Scripted(*pods(3), stays=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(made.run({WATCH: source}, stop))
        await until(lambda: len(log.entries) == 3)
        await until(lambda: made.progress.state == "recording")
        stop.set()

    assert made.progress.failed_commits == 5


async def test_secrets_do_not_pass_the_door() -> None:
    document = an_object(
        "p1", 1, spec={"env": [{"name": "API_TOKEN", "value": "hunter2"}]}
    )
    log, heard = MemoryLog(), Hearing()
    made = recording(log)
    made.tee_from_start(heard)
    source = Scripted(a_frame(PODS, "ADDED", document))
    await made.run({WATCH: source}, asyncio.Event())

    assert b"hunter2" not in log.drafts()[0].raw
    assert b"hunter2" not in repr(heard.observations).encode()
    assert heard.observations


class Hearing:
    def __init__(self) -> None:
        self.observations: list[Observation] = []

    def write(self, observations: Sequence[Observation]) -> None:
        self.observations += observations


async def test_a_source_may_ask_what_has_been_processed() -> None:
    """Its query waits for everything that it put before."""
    log, answers = MemoryLog(), list[object]()

    class Asking(Scripted):
        async def run(self, sink: Sink, known: Known) -> None:
            await super().run(sink, known)
            answers.append(await known.versions(PODS))
            answers.append(await known.lacking(EVENTS, [8, 9]))
            answers.append([o.name for o in await known.newest(2)])

    source = Asking(
        *pods(3),
        a_frame(EVENTS, "ADDED", an_event("e", 9)),
        a_closed_stream(PODS, "timeout"),
    )
    await recording(log).run({WATCH: source}, asyncio.Event())

    assert answers == [
        {
            f"uid-p{n}": HeldVersion("train", f"p{n}", str(n))
            for n in (1, 2, 3)
        },
        [8, 9],  # that Event is of 2026, and long past its TTL
        ["p3", "p2"],
    ]


async def test_a_restart_resumes_where_the_log_ends() -> None:
    log = MemoryLog()
    first = Scripted(
        a_list(PODS, 9), a_frame(PODS, "ADDED", an_object("a", 12))
    )
    await recording(log).run({WATCH: first}, asyncio.Event())
    second = Scripted()
    await recording(log).run({WATCH: second}, asyncio.Event())

    assert second.known is not None
    assert second.known.resume_points() == {"v1/pods": "9"}


async def test_a_clock_behind_that_of_the_last_process_is_recorded() -> None:
    """It was set back without a recorder that could see it jump."""
    log = MemoryLog()
    await recording(log).run({WATCH: Scripted(*pods(1))}, asyncio.Event())
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    log.streams[STREAM].vouched_until = tomorrow

    served = replace(POLICY, served=True)
    again = Recording(MemoryWriter(log), REDACTION, policy=served)
    await again.run({WATCH: Scripted()}, asyncio.Event())

    (jumped,) = log.drafts(Operation.CLOCK_JUMPED)
    assert orjson.loads(jumped.raw)["seconds"] < -86_000
    vouched = log.streams[STREAM].vouched_until
    assert vouched is not None
    assert vouched < tomorrow
