"""Whatever is killed, frozen, cut or rewound, the log is true.

Two schedules are played at a time: they mostly wait. Each commit plays
another two; ``make scenarios`` plays all.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.sampling import sampled
from tests.survival.faults import FAULTS
from tests.survival.playing import CHOSEN, Schedule

PLAYED = sampled("survival", CHOSEN, 2)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "schedules",
    [PLAYED[first : first + 2] for first in range(0, len(PLAYED), 2)],
)
async def test_the_log_survives(
    schedules: Sequence[Schedule], tmp_path: Path
) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(schedule.run(keep_in=tmp_path, say=print))
            for schedule in schedules
        ]

    for outcome in [task.result() for task in tasks]:
        assert outcome.wrong == [], f"{outcome.struck}, kept: {outcome.kept}"


def test_the_chosen_schedules_hold_every_kind_of_fault() -> None:
    struck = {
        one for chosen in CHOSEN for step in chosen.steps for one in step
    }

    assert {one.name for one in struck} == {one.name for one in FAULTS}


def test_a_schedule_depends_on_its_seed_alone() -> None:
    assert Schedule.of_seed(7) == Schedule.of_seed(7)
    assert Schedule.of_seed(7) != Schedule.of_seed(8)
