"""Objects, gaps and definitions are found as they were at a time."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.answers.nouns import Selection
from recorder.answers.queries import CustomKinds, HeartbeatsOf, Incarnations
from recorder.model.observation import Observation
from recorder.store.engine import make_engine
from recorder.store.read import LogReading, list_logs
from recorder.store.writer import Writer
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
from tests.support.fixed_log import (
    DEFINITIONS,
    LIVE,
    STORY,
    a_definition,
    write_log,
)
from tests.support.postgres import Database


@pytest.fixture
async def engine(any_database: Database) -> AsyncIterator[AsyncEngine]:
    engine = make_engine(any_database.dsn("reader"))
    yield engine
    await engine.dispose()


async def newest(
    reading: LogReading, name: str, when: float | None = None
) -> tuple[str, int] | None:
    incarnations = await reading.names(
        Incarnations(kinds=[("", "Pod")], namespace=None, name=name)
    )
    line = await reading.newest(
        Selection(
            objects=tuple(thing.number for thing in incarnations),
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
    number = await write_log(any_database.dsn("writer"), batches)
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
    number = await write_log(any_database.dsn("writer"), batches)
    reading = await LogReading.at_present(engine, number)

    assert await newest(reading, "p") == ("modified", 2)
    assert await newest(reading, "p", 200) == ("modified", 2)


async def test_heartbeats_are_read_of_live_objects(
    any_database: Database, engine: AsyncEngine
) -> None:
    beats: list[Observation] = [
        a_frame(NODES, "MODIFIED", a_node("n", v, beat=v), when=v)
        for v in range(2, 6)
    ]
    number = await write_log(
        any_database.dsn("writer"), [[a_list(NODES, 1, a_node("n", 1))], beats]
    )
    reading = await LogReading.at_present(engine, number)
    (node,) = await reading.names(
        Incarnations(kinds=[("", "Node")], namespace="", name="n")
    )
    counted = await reading.states(HeartbeatsOf([node.number]))

    (found,) = counted.values()

    assert (found.count, found.last_at) == (4, at(5))
    assert found.resource_version == "5"


async def test_gaps_are_read_back_as_they_were_written(
    any_database: Database, engine: AsyncEngine
) -> None:
    number = await write_log(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)

    found = [gap async for gap in reading.gaps(None)]

    assert [
        (str(gap.opened), gap.resource, gap.since, gap.until, gap.healed)
        for gap in found
    ] == [
        ("1/12", "v1/pods", at(90), at(120), False),
        ("1/17", "v1/nodes", at(170), at(190), True),
    ]
    assert [g async for g in reading.gaps(at(120))] == found[1:]
    assert [g async for g in reading.gaps(at(190))] == []


async def test_an_open_gap_is_read_from_its_stream(
    any_database: Database, engine: AsyncEngine
) -> None:
    batches = [STORY[0], STORY[1], STORY[2][:2]]
    number = await write_log(any_database.dsn("writer"), batches)
    reading = await LogReading.at_present(engine, number)

    gaps = [s.gap for s in reading.streams if s.gap is not None]

    (gap,) = gaps
    assert (str(gap.opened), gap.since, gap.until) == ("1/12", at(90), None)
    assert gap.reason == "watch expired (410)"
    assert [g async for g in reading.gaps(None)] == []


async def test_a_custom_kind_is_read_from_its_definition(
    any_database: Database, engine: AsyncEngine
) -> None:
    number = await write_log(any_database.dsn("writer"), STORY)
    reading = await LogReading.at_present(engine, number)

    (widget,) = await reading.names(CustomKinds())

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
    number = await write_log(any_database.dsn("writer"), [*STORY, [gone]])
    reading = await LogReading.at_present(engine, number)

    (widget,) = await reading.names(CustomKinds())

    assert widget.kind == "Widget"


async def test_the_writer_is_known_while_the_lease_lasts(
    any_database: Database, engine: AsyncEngine
) -> None:
    writer = Writer(any_database.dsn("writer"), LIVE, holder="me")
    await writer.take_lease()
    (held,) = await list_logs(engine)
    await writer.close()
    (free,) = await list_logs(engine)

    assert (held.holder, free.holder) == ("me", None)
    assert held == replace(free, holder="me")
