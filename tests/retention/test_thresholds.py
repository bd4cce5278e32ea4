"""The use of the size budget: what is reported, and what stops."""

import pytest

from recorder.keeping.budget import room_guard, stage_of
from recorder.model.settings import Settings
from recorder.store.writer import Writer
from recorder.wiring.live import LiveRecording
from tests.contract.test_log import SPEC
from tests.support.days import write_days
from tests.support.postgres import Database

MB = 1 << 20


@pytest.mark.parametrize(
    ("size", "stage"),
    [
        (0, "within"),
        (800, "within"),
        (801, "near"),
        (1000, "near"),
        (1001, "over"),
        (1099, "over"),
        (1100, "full"),
    ],
)
def test_a_budget_is_left_in_stages(size: int, stage: str) -> None:
    assert stage_of(size, 1000) == stage
    assert stage_of(size, None) is None


def test_a_recorder_waits_above_the_budget_and_goes_on_below_it() -> None:
    sizes = [1000 * MB, 1099 * MB, 1100 * MB, 1099 * MB, None]
    settings = Settings(
        database_url="postgresql://elsewhere", retention_budget="1000MB"
    )
    left = iter(sizes)
    guard = room_guard(settings, lambda: next(left))
    said = [guard() for _ in sizes]

    assert [one is None for one in said] == [True, True, False, True, True]
    assert "110% of retention_budget, 1000MB" in str(said[2])


@pytest.mark.parametrize("budget", ["auto", "none"])
def test_only_a_budget_that_is_a_number_stops_a_recorder(budget: str) -> None:
    """The disk has a threshold of its own."""
    settings = Settings(
        database_url="postgresql://elsewhere", retention_budget=budget
    )

    assert room_guard(settings, lambda: 1 << 60)() is None


async def test_who_waits_for_room_learns_of_it(database: Database) -> None:
    """And until when days are archived, by any process."""
    await write_days(database, 1)
    writer = Writer(database.dsn("writer"), SPEC, holder="b")
    await writer.take_lease()
    live = LiveRecording(writer=writer, budget=lambda _: MB)
    live.progress.wait_for("room")

    await live.measure()

    await writer.close()
    assert (live.progress.database_bytes or 0) > MB
    assert live.progress.budget_bytes == MB
    assert live.progress.archived_until is None
