"""Whatever is cut, stalled, killed or rewound, the log tells the truth."""

from pathlib import Path

import pytest

from tests.faults.schedule import Schedule


@pytest.mark.parametrize("seed", range(20))
async def test_nothing_is_lost_doubled_or_untold(
    seed: int, tmp_path: Path
) -> None:
    schedule = Schedule(seed, tmp_path)

    assert await schedule.run() == [], schedule.happened
