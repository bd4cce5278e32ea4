"""What the writer reads of its log, from documents stored as deltas."""

import random
from collections.abc import Sequence

import pytest

from recorder.model.observation import WatchFrame
from recorder.store import lookback
from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer
from tests.support.builders import EVENTS, START, a_frame, an_event
from tests.support.postgres import Database, connected

NOTE = random.Random(0).randbytes(400).hex()
"""Makes an Event long enough to be kept as a delta."""


def versions_of(name: str, version: int, *types: str) -> Sequence[WatchFrame]:
    return [
        a_frame(
            EVENTS,
            type_,
            an_event(name, version + number, count=number + 1)
            | {"message": NOTE},
            when=version + number,
        )
        for number, type_ in enumerate(types)
    ]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookback, "EVENTS_AT_ONCE", 2)


async def test_events_that_are_deltas_are_known(
    any_database: Database,
) -> None:
    writer = Writer(any_database.dsn("writer"), SPEC, holder="a")
    teller = Observer(await writer.take_lease())
    stays = versions_of("stays", 10, "ADDED", "MODIFIED", "MODIFIED")
    goes = versions_of("goes", 20, "ADDED", "MODIFIED", "DELETED")
    await writer.append(teller.batch(*stays[:2], *goes[:2]))
    await writer.append(teller.batch(*stays[2:], *goes[2:]))

    alive = await writer.live_events(EVENTS, START)
    raws = await writer.documents(range(1, 7))
    await writer.close()

    assert {uid: event.resource_version for uid, event in alive.items()} == {
        "uid-stays": "12"
    }
    frames = [*stays[:2], *goes[:2], *stays[2:], *goes[2:]]
    assert [raws[place] for place in range(1, 7)] == [
        frame.object for frame in frames
    ]
    assert await deltas(any_database) == 4


async def deltas(database: Database) -> int:
    async with connected(database.dsn("reader")) as connection:
        found: int = await connection.fetchval(
            "select count(base_distance) from recorder.entry"
        )
    return found
