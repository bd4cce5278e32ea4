"""That the verification of a log finds what is wrong with it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.crash.checking import Snapshot, problems, snapshot
from tests.crash.test_rederiving import record
from tests.support.postgres import Database, connected

Rows = list[dict[str, Any]]


def drop(rows: Rows, place: int) -> None:
    del rows[place]


def put(rows: Rows, place: int, **values: Any) -> None:
    rows[place].update(values)


def damage_gap(log: Snapshot) -> None:
    row = next(row for row in log.entries if row["operation"] == 101)
    row["operation"] = 1


DAMAGES: dict[str, Callable[[Any], None]] = {
    "an entry is missing": lambda log: drop(log.entries, 3),
    "a name is missing": lambda log: put(log.entries, 3, nameless=True),
    "a batch is missing": lambda log: drop(log.batches, 0),
    "a term decreases": lambda log: put(log.batches, 0, term=9),
    "a document is damaged": lambda log: put(log.entries, 0, payload=b"!"),
    "a keyframe is missing": lambda log: put(
        log.entries, 0, encoding=2, base_distance=5
    ),
    "an epoch is wrong": lambda log: put(log.entries, 0, epoch=2),
    "a gap was not opened": damage_gap,
    "a resume point is behind": lambda log: put(
        log.points, 0, entries=log.points[0]["entries"] - 1
    ),
    "a resume point is missing": lambda log: drop(log.points, 0),
    "a head is missing": lambda log: drop(log.heads, 0),
    "a head is at another entry": lambda log: put(log.heads, 0, position=1000),
    "a partition is missing": lambda log: log.partitions.clear(),
    "a fact has no entry": lambda log: put(log.facts, 0, position=1000),
    "a fact is there twice": lambda log: log.facts.insert(0, log.facts[0]),
    "a fact was recorded at another time": lambda log: put(
        log.facts, 0, recorded_at=None
    ),
    "a fact is behind the end": lambda log: put(log.facts, 0, built_to=0),
    "an object has two numbers": lambda log: setattr(log, "alike", 1),
}


@pytest.fixture
async def log(database: Database) -> Snapshot:
    await record(database)
    async with connected(database.dsn("reader")) as connection:
        found = await snapshot(connection)
    assert found is not None
    for name in (
        "batches",
        "entries",
        "points",
        "heads",
        "partitions",
        "facts",
    ):
        setattr(found, name, [dict(row) for row in getattr(found, name)])
    return found


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found(log: Snapshot, damage: str) -> None:
    DAMAGES[damage](log)

    assert list(problems(log))


def test_a_whole_log_is_whole(log: Snapshot) -> None:
    assert list(problems(log)) == []
