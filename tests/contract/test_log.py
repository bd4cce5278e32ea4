"""What every log must do, whichever way it is stored.

The log in memory that other tests use runs the same suite as the real one, so
that a fake that lies fails here instead of passing there.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Literal

import pytest

from recorder.intake.known_events import KnownEvent
from recorder.intake.ledger import Ledger
from recorder.intake.ports import Log
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.intake.state import Batch, Jump, Recovered
from recorder.model.errors import (
    LogUnavailableError,
    StandingByError,
    UnknownStateError,
)
from recorder.model.moment import written
from recorder.model.observation import (
    AUDIT,
    WATCH,
    AuditRecorded,
    ClockJumped,
    Observation,
    PlaceReached,
)
from recorder.store.writer import LogSpec, Writer
from tests.conftest import TEMPLATE
from tests.support.builders import (
    EVENTS,
    LEASES,
    NODES,
    PODS,
    START,
    a_closed_stream,
    a_frame,
    a_lease,
    a_list,
    a_node,
    an_event,
    an_object,
    at,
)
from tests.support.memory_log import MemoryLog, MemoryWriter
from tests.support.postgres import DatabaseServer, fresh_database

SPEC = LogSpec(
    cluster_name="test",
    cluster_uid="uid-of-kube-system",
    kubernetes="v1.36.3",
    redaction_key_id="key",
)

Opener = Callable[[str], Log]
"""Returns the port to the same log for the name of a holder."""


@pytest.fixture(params=["memory", "embedded_server", "debian_server"])
def server(request: pytest.FixtureRequest) -> DatabaseServer | None:
    if request.param == "memory":
        return None
    found: DatabaseServer = request.getfixturevalue(request.param)
    return found


@pytest.fixture
async def open_log(server: DatabaseServer | None) -> AsyncIterator[Opener]:
    if server is None:
        log = MemoryLog()
        yield lambda holder: MemoryWriter(log, holder=holder)
        return
    async with fresh_database(server, TEMPLATE) as database:
        writers: list[Writer] = []

        def opened(holder: str) -> Writer:
            writers.append(Writer(database.dsn("writer"), SPEC, holder=holder))
            return writers[-1]

        yield opened
        for writer in writers:
            await writer.close()


class Observer:
    """Adds observations to a ledger and seals them into batches."""

    def __init__(self, recovered: Recovered) -> None:
        self.ledger = Ledger(recovered)
        self._relisting = Relisting(self.ledger)
        self._sequencer = Sequencer(self.ledger, self._relisting)

    def know_events(self, events: Mapping[str, KnownEvent]) -> None:
        self._relisting.events.know(events)

    def batch(self, *observations: Observation) -> Batch:
        for observation in observations:
            self._sequencer.take(observation)
        return self._sequencer.seal()


async def begun(
    open_log: Opener, *observations: Observation
) -> tuple[Log, Observer]:
    """Return a log that holds observations, and who made its batches."""
    log = open_log("a")
    observer = Observer(await log.take_lease())
    if observations:
        await log.append(observer.batch(*observations))
    return log, observer


def a_place(
    stream: str,
    place: str,
    state: Literal["live", "backing-off", "ended", "gone"],
) -> PlaceReached:
    return PlaceReached(
        observed_at=START,
        source=AUDIT,
        stream=stream,
        place=place,
        state=state,
    )


def pods(first: int, count: int) -> list[Observation]:
    return [
        a_frame(PODS, "ADDED", an_object(f"p{n}", n))
        for n in range(first, first + count)
    ]


async def test_a_log_begins_empty(open_log: Opener) -> None:
    recovered = await open_log("a").take_lease()

    assert (recovered.size, recovered.epoch) == (0, 1)
    assert not recovered.heads
    assert not recovered.streams


async def test_what_was_appended_is_recovered(open_log: Opener) -> None:
    log, observer = await begun(
        open_log,
        a_list(PODS, 9, an_object("a", 3), an_object("gone", 4)),
        a_list(NODES, 9, a_node("gpu-001", 5)),
        a_list(LEASES, 9, a_lease("gpu-001", 6, renewed=0)),
        a_list(EVENTS, 9, an_event("e", 7)),
        a_frame(NODES, "MODIFIED", a_node("gpu-001", 10, beat=7)),
        a_frame(LEASES, "MODIFIED", a_lease("gpu-001", 11, renewed=9)),
        a_frame(PODS, "DELETED", an_object("gone", 12)),
        a_closed_stream(PODS, "410", when=30),
    )
    ledger = observer.ledger
    await log.close()

    recovered = await open_log("b").take_lease()
    again = Ledger(recovered)

    assert recovered.size == ledger.position - 1
    assert again.streams == ledger.streams
    assert sorted(again.versions, key=str) == sorted(ledger.versions, key=str)


async def test_a_stream_has_the_state_of_its_place_and_is_forgotten(
    open_log: Opener,
) -> None:
    log, observer = await begun(
        open_log,
        a_place("file:a", "9", "live"),
        a_place("file:b", "5", "ended"),
        a_place("audit.log", "a", "backing-off"),
    )
    await log.append(
        observer.batch(
            a_place("file:b", "", "gone"),
            a_place("file:c", "", "gone"),
            a_place("file:a", "", "gone"),
            a_place("file:a", "2", "ended"),
        )
    )
    await log.close()

    streams = (await open_log("b").take_lease()).streams
    found = {name: (p.state, p.completed) for (_, name), p in streams.items()}

    assert found == {
        "file:a": ("ended", "2"),
        "audit.log": ("backing-off", "a"),
    }


async def test_a_batch_is_appended_once_however_often_it_is_tried(
    open_log: Opener,
) -> None:
    log, observer = await begun(open_log)
    batch = observer.batch(*pods(1, 3))
    await log.append(batch)
    await log.append(batch)
    await log.append(observer.batch(*pods(4, 2)))
    await log.close()

    assert (await open_log("b").take_lease()).size == 5


async def test_documents_are_given_byte_for_byte(open_log: Opener) -> None:
    """Large and small, alike and not, first versions and later ones."""
    log, observer = await begun(open_log)
    frames = [
        a_frame(
            PODS,
            "MODIFIED",
            an_object("a", version, filler="x" * size, spot=version),
        )
        for version, size in enumerate([1, 900, 901, 5000, 900, 20], 10)
    ]
    await log.append(observer.batch(*frames[:3]))
    await log.append(observer.batch(*frames[3:]))

    found = await log.documents(range(1, 7))

    assert found == {n: f.object for n, f in enumerate(frames, 1)}


async def test_many_may_ask_at_once(open_log: Opener) -> None:
    log, observer = await begun(open_log)
    await log.append(
        observer.batch(a_list(EVENTS, 9, an_event("e", 7)), *pods(10, 3))
    )

    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(log.documents([1, 4])) for _ in range(5)]
        events = group.create_task(log.live_events(EVENTS, at(-9)))

    assert [sorted(task.result()) for task in asked] == [[1, 4]] * 5
    assert list(events.result()) == ["uid-e"]


async def test_only_one_holder_writes(open_log: Opener) -> None:
    await open_log("a").take_lease()

    with pytest.raises(StandingByError, match="a"):
        await open_log("b").take_lease()


async def test_a_lease_that_is_given_back_can_be_taken(
    open_log: Opener,
) -> None:
    first = open_log("a")
    await first.take_lease()
    await first.close()

    await open_log("b").take_lease()


async def test_a_writer_that_lost_its_lease_cannot_append(
    open_log: Opener,
) -> None:
    first, second = open_log("a"), open_log("a")
    observer = Observer(await first.take_lease())
    await second.take_lease()

    batch = observer.batch(*pods(1, 1))
    # The first answer may be that the connection has just been ended, after
    # which the same batch is to be tried again.
    with suppress(LogUnavailableError, UnknownStateError):
        await first.append(batch)
    with pytest.raises(UnknownStateError):
        await first.append(batch)

    assert (await open_log("a").take_lease()).size == 0


async def test_jumps_of_the_clock_are_recovered(open_log: Opener) -> None:
    log, observer = await begun(open_log)
    for when, seconds in ((10, 86400.0), (30, -1.5)):
        jumped = ClockJumped(observed_at=at(when), seconds=seconds)
        await log.append(observer.batch(*pods(int(when), 1), jumped))
    await log.close()

    recovered = await open_log("b").take_lease()

    assert recovered.jumps == [
        Jump(2, at(10), timedelta(days=1)),
        Jump(4, at(30), timedelta(seconds=-1.5)),
    ]


async def test_live_events_are_those_not_deleted_since(
    open_log: Opener,
) -> None:
    log, observer = await begun(
        open_log,
        a_list(EVENTS, 9, an_event("old", 1), when=-9000),
        a_list(EVENTS, 9, an_event("stays", 7), when=0),
        a_frame(EVENTS, "ADDED", an_event("goes", 10), when=1),
        a_frame(EVENTS, "MODIFIED", an_event("stays", 11), when=2),
        a_frame(EVENTS, "DELETED", an_event("goes", 12), when=3),
        a_closed_stream(EVENTS, "410", when=4),
    )
    observer.know_events(
        await log.live_events(EVENTS, at(0) - timedelta(hours=9))
    )
    await log.append(
        observer.batch(a_list(EVENTS, 20, an_event("stays", 11), when=5))
    )

    known = await log.live_events(EVENTS, at(0) - timedelta(hours=9))

    assert {
        uid: (event.resource_version, event.observed_at)
        for uid, event in known.items()
    } == {"uid-stays": ("11", at(2))}


async def test_versions_without_an_entry_are_reported(
    open_log: Opener,
) -> None:
    log, _ = await begun(
        open_log,
        a_list(EVENTS, 4, an_event("old", 3), when=-9000),
        a_frame(PODS, "ADDED", an_object("p", 5), when=0),
        a_frame(EVENTS, "ADDED", an_event("a", 7), when=1),
        a_frame(EVENTS, "MODIFIED", an_event("a", 9), when=2),
        a_frame(EVENTS, "DELETED", an_event("a", 10), when=3),
    )

    async def lacking(*versions: int, epoch: int = 1) -> Sequence[int]:
        return await log.lacking(
            EVENTS, versions, epoch=epoch, since=at(0) - timedelta(hours=1)
        )

    assert await lacking(10, 9, 8, 7, 5, 3) == [3, 5, 8]
    assert await lacking() == []
    assert await lacking(7, 2**63 - 1) == [2**63 - 1]
    assert await lacking(7, 9, epoch=2) == [7, 9]


async def test_the_versions_of_a_source_are_listed_by_resource(
    open_log: Opener,
) -> None:
    log, _ = await begun(
        open_log,
        a_list(EVENTS, 4, an_event("old", 3), when=-9000),
        a_list(PODS, 6, an_object("p", 5), when=0),
        a_frame(PODS, "DELETED", an_object("p", 9), when=1),
        a_frame(EVENTS, "ADDED", an_event("a", 7), when=2),
    )

    async def owned(
        source: str = WATCH, *, epoch: int = 1
    ) -> dict[str, list[int]]:
        since = at(0) - timedelta(hours=1)
        found = await log.owned(source, epoch=epoch, since=since)
        return {name: sorted(versions) for name, versions in found.items()}

    assert await owned() == {str(PODS): [5, 9], str(EVENTS): [7]}
    assert await owned(epoch=2) == {}
    assert await owned(AUDIT) == {}


async def test_audit_records_are_found_by_the_moment_of_their_request(
    open_log: Opener,
) -> None:
    log, observer = await begun(open_log)
    moment = at(0) + timedelta(microseconds=1)
    stamped = [
        b'{"auditID":"%d","verb":"get","requestReceivedTimestamp":"%s"}'
        % (number, written(when).encode())
        for number, when in enumerate([moment, moment, at(1)])
    ]
    await log.append(
        observer.batch(
            *(AuditRecorded(observed_at=at(2), event=one) for one in stamped),
            AuditRecorded(observed_at=at(2), event=b'{"verb":"get"}'),
            a_frame(PODS, "ADDED", an_object("p", 5), when=0),
        )
    )

    await log.close()
    recovered = await open_log("a").take_lease()
    assert recovered.newest_request == at(1)
    assert await log.requests([]) == []
    assert await log.requests([at(0)]) == []
    assert sorted(await log.requests([moment])) == stamped[:2]
    assert sorted(await log.requests([moment, at(1)])) == stamped
