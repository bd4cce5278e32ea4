"""Entries are read back as they were told: all of them, once, in order."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.errors import NotFoundError
from recorder.model.entry import Operation
from recorder.model.observation import Observation
from recorder.report.ports import Line, Selection
from recorder.store import read_entries
from recorder.store.encoding import DELTA
from recorder.store.engine import make_engine
from recorder.store.engine import reading as reading_of
from recorder.store.read import LogReading, list_logs
from recorder.store.tables import entry
from recorder.store.writer import Writer
from tests.report.told import (
    DEFINITIONS,
    LIVE,
    STORY,
    TAPE,
    a_definition,
    tell,
)
from tests.support.builders import (
    EVENTS,
    NODES,
    PODS,
    a_frame,
    a_list,
    a_node,
    an_event,
    an_object,
    at,
)
from tests.support.postgres import Database


@pytest.fixture
async def engine(any_database: Database) -> AsyncIterator[AsyncEngine]:
    engine = make_engine(any_database.dsn("reader"))
    yield engine
    await engine.dispose()


async def lines(
    reading: LogReading,
    selection: Selection | None = None,
    *,
    after: int = 0,
    documents: bool = False,
) -> list[Line]:
    found: list[Line] = []
    async for page in reading.lines(
        selection or Selection(), after=after, documents=documents
    ):
        found.extend(page)
    return found


def positions(found: Sequence[Line]) -> list[int]:
    return [line.entry.position for line in found]


def a_version(name: str, version: int, number: int) -> Observation:
    filler = {f"label-{n}": "value " * 9 for n in range(30)}
    document = an_object(
        name, version, spec={"nodeName": "n", "number": number}, filler=filler
    )
    return a_frame(PODS, "MODIFIED", document, when=version)


async def test_documents_come_back_byte_for_byte(
    any_database: Database, engine: AsyncEngine
) -> None:
    """Whole ones, deltas against keyframes of this page and of others."""
    told = [
        a_version(f"pod-{number % 7}", number + 10, number)
        for number in range(450)
    ]
    odd = an_object("odd", 999, text="ä\u2028 \\u0000 \U0001f600", n=1e-7)
    told.append(a_frame(PODS, "ADDED", odd))
    number = await tell(
        any_database.dsn("writer"),
        [told[start : start + 100] for start in range(0, len(told), 100)],
    )
    async with reading_of(engine, "count") as connection:
        deltas = await connection.scalar(
            select(func.count()).where(entry.c.encoding == DELTA)
        )
    assert deltas is not None
    assert deltas > 400

    reading = await LogReading.at_present(engine, number)
    found = await lines(reading, documents=True)

    assert [line.raw for line in found] == [
        frame.object  # type: ignore[union-attr]
        for frame in told
    ]


async def test_pages_join_without_a_seam(
    any_database: Database,
    engine: AsyncEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    number = await tell(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)
    whole = await lines(reading)

    for size in (1, 2, 5, 17, 18, 19):
        monkeypatch.setattr(read_entries, "PAGE", size)
        assert await lines(reading) == whole
    assert positions(whole) == list(range(1, 19))
    assert positions(await lines(reading, after=16)) == [17, 18]


SELECTIONS = [
    Selection(node="gpu-002"),
    Selection(node="nowhere"),
    Selection(reason="Started"),
    Selection(reason="Nothing"),
    Selection(actor="kubelet"),
    Selection(source="watch"),
    Selection(source="recorder"),
    Selection(since=at(60)),
    Selection(until=at(60)),
    Selection(since=at(61), until=at(62)),
    Selection(since=at(61), until=at(62), node="gpu-001"),
    Selection(since=at(60), reason="Started"),
    Selection(since=at(10_000)),
    Selection(until=at(0)),
]


def matches(line: Line, selection: Selection) -> bool:
    wanted = {
        "node": selection.node,
        "source": selection.source,
        "reason": selection.reason,
        "actor": selection.actor,
    }
    return (
        all(
            value is None or getattr(line, name) == value
            for name, value in wanted.items()
        )
        and (selection.since is None or line.observed_at >= selection.since)
        and (selection.until is None or line.observed_at < selection.until)
    )


async def test_a_selection_gives_what_matches_and_nothing_else(
    any_database: Database, engine: AsyncEngine
) -> None:
    number = await tell(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)
    whole = await lines(reading)

    for selection in SELECTIONS:
        wanted = [line for line in whole if matches(line, selection)]
        assert await lines(reading, selection) == wanted, selection

        for count in (1, 2, 100):
            after = await reading.skip_to_newest(selection, count)
            newest = await lines(reading, selection, after=after)
            assert newest == wanted[-count:]
            assert (after > 0) == (len(wanted) > count)


async def test_only_what_tells_something_brings_its_document(
    any_database: Database, engine: AsyncEngine
) -> None:
    number = await tell(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)

    for line in await lines(reading):
        told = line.resource == "v1/events" or line.operation in {
            Operation.GAP_OPENED,
            Operation.GAP_CLOSED,
        }
        assert (line.raw is not None) == told, line


async def test_two_logs_are_never_mixed(
    any_database: Database, engine: AsyncEngine
) -> None:
    dsn = any_database.dsn("writer")
    await tell(dsn, STORY)
    await tell(dsn, STORY[:1], spec=TAPE)

    logs = await list_logs(engine)

    assert [(log.id, log.kind, log.size) for log in logs] == [
        (1, "live", 18),
        (2, "tape", 8),
    ]
    tape = await LogReading.at_present(engine, 2)
    found = await lines(tape, Selection(node="gpu-002"), documents=True)
    assert [str(line.entry) for line in found] == ["2/2", "2/4"]
    assert {stream.vouched_until for stream in tape.streams} == {at(0)}


async def test_a_reading_stays_as_it_was(
    any_database: Database, engine: AsyncEngine
) -> None:
    dsn = any_database.dsn("writer")
    number = await tell(dsn, STORY[:1])
    reading = await LogReading.at_present(engine, number)
    await tell(dsn, STORY[1:])

    assert positions(await lines(reading)) == list(range(1, 9))
    assert positions(await lines(await reading.again(), after=8)) == list(
        range(9, 19)
    )


async def test_a_log_that_is_not_there_is_not_found(
    engine: AsyncEngine,
) -> None:
    with pytest.raises(NotFoundError, match="no log 7"):
        await LogReading.at_present(engine, 7)


async def test_an_empty_log_has_no_lines(
    any_database: Database, engine: AsyncEngine
) -> None:
    number = await tell(any_database.dsn("writer"), [])
    reading = await LogReading.at_present(engine, number)

    assert await lines(reading) == []
    assert await reading.skip_to_newest(Selection(), 5) == 0
    assert await reading.newest(Selection(objects=(1,))) is None
    assert reading.log.recorded_at is None


async def newest(
    reading: LogReading, name: str, when: float | None = None
) -> tuple[str, int] | None:
    things = await reading.things([("", "Pod")], namespace=None, name=name)
    line = await reading.newest(
        Selection(
            objects=tuple(thing.number for thing in things),
            until=None if when is None else at(when) + timedelta.resolution,
            versions=True,
        )
    )
    if line is None:
        return None
    document = orjson.loads(line.raw or b"")
    return line.operation.value, document.get("status", 0)


async def test_the_newest_version_at_a_time_is_found(
    any_database: Database, engine: AsyncEngine
) -> None:
    """Of whichever incarnation, and never an Event about it."""
    pod = an_object("p", 1, status=1)
    reborn = an_object("p", 5, uid="another", status=5)
    batches: list[list[Observation]] = [
        [a_list(PODS, 1, pod, when=0)],
        [a_frame(PODS, "MODIFIED", an_object("p", 2, status=2), when=10)],
        [a_list(EVENTS, 2, an_event("e", 2, pod="p"), when=11)],
        [a_frame(PODS, "DELETED", an_object("p", 4, status=4), when=20)],
        [a_frame(PODS, "ADDED", reborn, when=30)],
        [a_frame(EVENTS, "ADDED", an_event("f", 6, pod="p"), when=31)],
    ]
    number = await tell(any_database.dsn("writer"), batches)
    reading = await LogReading.at_present(engine, number)

    assert await newest(reading, "p", -1) is None
    assert await newest(reading, "p", 0) == ("listed", 1)
    assert await newest(reading, "p", 9.999999) == ("listed", 1)
    assert await newest(reading, "p", 10) == ("modified", 2)
    assert await newest(reading, "p", 25) == ("deleted", 4)
    assert await newest(reading, "p", 30) == ("added", 5)
    assert await newest(reading, "p") == ("added", 5)
    assert await newest(reading, "q") is None


async def test_after_a_clock_was_set_back_the_newest_is_the_last(
    any_database: Database, engine: AsyncEngine
) -> None:
    batches: list[list[Observation]] = [
        [a_frame(PODS, "ADDED", an_object("p", 1, status=1), when=100)],
        [a_frame(PODS, "MODIFIED", an_object("p", 2, status=2), when=50)],
    ]
    number = await tell(any_database.dsn("writer"), batches)
    reading = await LogReading.at_present(engine, number)

    assert await newest(reading, "p") == ("modified", 2)
    assert await newest(reading, "p", 200) == ("modified", 2)


async def test_heartbeats_are_told_of_live_objects(
    any_database: Database, engine: AsyncEngine
) -> None:
    beats: list[Observation] = [
        a_frame(NODES, "MODIFIED", a_node("n", v, beat=v), when=v)
        for v in range(2, 6)
    ]
    number = await tell(
        any_database.dsn("writer"), [[a_list(NODES, 1, a_node("n", 1))], beats]
    )
    reading = await LogReading.at_present(engine, number)
    (node,) = await reading.things([("", "Node")], namespace="", name="n")

    (found,) = (await reading.heartbeats([node.number])).values()

    assert (found.count, found.last_at) == (4, at(5))
    assert found.resource_version == "5"


async def test_gaps_are_read_back_as_they_were_told(
    any_database: Database, engine: AsyncEngine
) -> None:
    number = await tell(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)

    found = [gap async for gap in reading.gaps(None)]

    assert [
        (str(gap.opened), gap.resource, gap.since, gap.to, gap.healed)
        for gap in found
    ] == [
        ("1/12", "v1/pods", at(90), at(120), False),
        ("1/17", "v1/nodes", at(170), at(190), True),
    ]
    assert [g async for g in reading.gaps(at(120))] == found[1:]
    assert [g async for g in reading.gaps(at(190))] == []


async def test_an_open_gap_is_told_by_its_stream(
    any_database: Database, engine: AsyncEngine
) -> None:
    batches = [STORY[0], STORY[1], STORY[2][:2]]
    number = await tell(any_database.dsn("writer"), batches)
    reading = await LogReading.at_present(engine, number)

    gaps = [s.gap for s in reading.streams if s.gap is not None]

    (gap,) = gaps
    assert (str(gap.opened), gap.since, gap.to) == ("1/12", at(90), None)
    assert gap.reason == "watch expired (410)"
    assert [g async for g in reading.gaps(None)] == []


async def test_a_custom_kind_is_read_from_its_definition(
    any_database: Database, engine: AsyncEngine
) -> None:
    number = await tell(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)

    (widget,) = await reading.custom_kinds()

    assert (widget.group, widget.kind, widget.plural) == (
        "example.com",
        "Widget",
        "widgets",
    )
    assert widget.short_names == ("wd",)
    assert widget.namespaced


async def test_a_definition_that_is_gone_still_names_its_kind(
    any_database: Database, engine: AsyncEngine
) -> None:
    gone = a_frame(DEFINITIONS, "DELETED", a_definition(), when=400)
    number = await tell(any_database.dsn("writer"), [*STORY, [gone]])
    reading = await LogReading.at_present(engine, number)

    assert [kind.kind for kind in await reading.custom_kinds()] == ["Widget"]


async def test_who_writes_is_told_while_the_lease_lasts(
    any_database: Database, engine: AsyncEngine
) -> None:
    writer = Writer(any_database.dsn("writer"), LIVE, holder="me")
    await writer.take_lease()
    (held,) = await list_logs(engine)
    await writer.close()
    (free,) = await list_logs(engine)

    assert (held.holder, free.holder) == ("me", None)
    assert held == replace(free, holder="me")
