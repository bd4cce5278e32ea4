"""A window touches only the positions and partitions that it must."""

import itertools
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.store.engine import make_engine
from recorder.store.read_span import Span, find_span
from tests.support.many import DAYS, PER_DAY, filled
from tests.support.postgres import Database, DatabaseServer

MONDAY = datetime(2026, 11, 10, tzinfo=UTC)
SIZE = DAYS * PER_DAY
SECOND = timedelta(seconds=1)


@pytest.fixture
async def many(any_server: DatabaseServer) -> AsyncIterator[AsyncEngine]:
    async with filled(any_server) as database:
        engine = make_engine(database.dsn("reader"))
        yield engine
        await engine.dispose()


@pytest.fixture
async def engine(any_database: Database) -> AsyncIterator[AsyncEngine]:
    engine = make_engine(any_database.dsn("reader"))
    yield engine
    await engine.dispose()


async def span(
    engine: AsyncEngine,
    since: datetime | None = None,
    until: datetime | None = None,
    positions: tuple[int, int] = (1, SIZE),
) -> Span | None:
    return await find_span(engine, 1, positions, since=since, until=until)


async def test_a_window_becomes_the_batches_that_it_touches(
    many: AsyncEngine,
) -> None:
    # Observed a second before it was recorded, in batches of ten minutes.
    tuesday = MONDAY + timedelta(days=1)

    found = await span(many, tuesday + SECOND, tuesday + timedelta(minutes=30))

    assert found is not None
    assert (found.first, found.last) == (PER_DAY + 101, PER_DAY + 400)
    assert found.recorded_min == tuesday + timedelta(minutes=10)
    assert found.recorded_max == tuesday + timedelta(minutes=30)


async def test_a_window_may_begin_the_day_before_it_was_recorded(
    many: AsyncEngine,
) -> None:
    tuesday = MONDAY + timedelta(days=1)

    found = await span(many, tuesday - SECOND, tuesday)

    assert found is not None
    assert (found.first, found.last) == (PER_DAY + 1, PER_DAY + 100)


@pytest.mark.parametrize(
    ("since", "until"),
    [
        (MONDAY + timedelta(days=9), None),
        (None, MONDAY - SECOND),
        (MONDAY + timedelta(minutes=1), MONDAY + timedelta(minutes=2)),
    ],
)
async def test_a_window_that_nothing_lies_in_is_empty(
    many: AsyncEngine, since: datetime | None, until: datetime | None
) -> None:
    assert await span(many, since, until) is None


async def test_positions_alone_give_their_time_of_recording(
    many: AsyncEngine,
) -> None:

    found = await span(many, positions=(150, 250))

    assert found is not None
    assert (found.first, found.last) == (150, 250)
    assert found.recorded_min == MONDAY + timedelta(minutes=10)
    assert found.recorded_max == MONDAY + timedelta(minutes=20)


async def test_no_positions_are_no_span(engine: AsyncEngine) -> None:
    assert await span(engine, positions=(1, 0)) is None


async def test_any_order_of_observation_is_found(
    any_database: Database, engine: AsyncEngine
) -> None:
    """A tape, or a clock that was set, observes in any order."""
    chance = random.Random(7)
    batches = []
    recorded = MONDAY
    for number in range(1, 121):
        recorded += timedelta(minutes=chance.choice([0, 1, 90]))
        first = MONDAY + timedelta(minutes=chance.randrange(20_000))
        last = first + timedelta(minutes=chance.randrange(400))
        batches.append((number, recorded, first, last))
    await write(any_database, batches)

    for _ in range(40):
        since = MONDAY + timedelta(minutes=chance.randrange(-100, 20_000))
        until = since + timedelta(minutes=chance.randrange(1, 900))
        touched = [
            number
            for number, _, first, last in batches
            if last >= since and first < until
        ]
        found = await span(engine, since, until, (1, 1200))

        if not touched:
            assert found is None
            continue
        assert found is not None
        assert found.first == touched[0] * 10 - 9
        assert found.last == touched[-1] * 10


async def write(
    database: Database,
    batches: list[tuple[int, datetime, datetime, datetime]],
) -> None:
    connection = await asyncpg.connect(database.superuser_dsn())
    await connection.execute(
        "insert into recorder.log (kind, cluster_name, cluster_uid,"
        " kubernetes) values ('live', 'x', 'x', 'x')"
    )
    await connection.execute(
        "insert into recorder.log_head (log_id, batches, size)"
        " values (1, $1, $2)",
        len(batches),
        len(batches) * 10,
    )
    for number, recorded, first, last in batches:
        await connection.execute("select recorder.add_partition($1)", recorded)
        await connection.execute(
            "insert into recorder.batch values (1, $1, $2, 10, 1, $3, $4, $5)",
            number,
            number * 10 - 9,
            recorded,
            first,
            last,
        )
        await connection.execute(
            "update recorder.partition set"
            " observed_min = least(observed_min, $2),"
            " observed_max = greatest(observed_max, $3)"
            " where lower <= $1 and $1 < upper",
            recorded,
            first,
            last,
        )
    await connection.close()


@pytest.mark.parametrize("seed", range(20))
def test_parts_that_widen_are_the_whole_span_newest_first(seed: int) -> None:
    chance = random.Random(seed)
    length = timedelta(seconds=chance.randrange(1, 40 * 86_400))
    begin = MONDAY + timedelta(seconds=chance.randrange(86_400))
    whole = Span(
        log=1, first=1, last=9, recorded_min=begin, recorded_max=begin + length
    )

    parts = list(whole.widening())

    assert parts[0].recorded_max == whole.recorded_max
    assert parts[-1].recorded_min == whole.recorded_min
    for later, earlier in itertools.pairwise(parts):
        assert earlier.recorded_max + timedelta.resolution == (
            later.recorded_min
        )
    for place, part in enumerate(parts):
        assert len(part.days()) <= 2**place
        assert part is parts[-1] or len(part.days()) == 2**place
