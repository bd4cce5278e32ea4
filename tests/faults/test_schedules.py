"""Whatever is cut, stalled, killed or rewound, the log is true.

`python -m tests.faults --first SEED --schedules 1 --keep FOLDER` plays one
again, and keeps its log, its oracle and its story. Each commit plays another
third of sixty; ``make scenarios`` plays all.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest

from tests.support.sampling import sampled

THIRDS = (range(20), range(20, 40), range(40, 60))
SEEDS = [seed for third in sampled("faults", THIRDS, 1) for seed in third]

Said = dict[str, list[str]]


class Played:
    """The schedules, played ahead of the tests that ask for them."""

    def __init__(self, lines: IO[str]) -> None:
        self._lines = lines
        self._ended: dict[int, Said] = {}

    def result(self, seed: int) -> Said:
        while seed not in self._ended:
            line = self._lines.readline()
            assert line, f"nothing is reported of seed {seed}"
            said = json.loads(line)
            self._ended[said["seed"]] = said
        return self._ended[seed]


@contextmanager
def playing(first: int, count: int) -> Iterator[Played]:
    arguments = ["--lines", "--first", str(first), "--schedules", str(count)]
    command = [sys.executable, "-m", "tests.faults", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        try:
            yield Played(run.stdout)
        finally:
            run.terminate()


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> Iterator[Played]:
    """Those that were chosen are played two at a time."""
    seeds = [
        int(str(item.callspec.params["seed"]))
        for item in request.session.items
        if isinstance(item, pytest.Function)
        and item.function is test_nothing_is_lost_doubled_or_unreported
    ]
    first, last = min(seeds), max(seeds)
    with playing(first, last - first + 1) as schedules:
        yield schedules


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost_doubled_or_unreported(
    seed: int, played: Played
) -> None:
    said = played.result(seed)

    assert said["wrong"] == [], "\n".join([f"seed {seed}", *said["struck"]])


@pytest.mark.parametrize("seed", [122, 1005, 1052, 1080])
def test_a_schedule_that_failed_once_passes(seed: int) -> None:
    """A walk that found what it could not put, a clock set back under a
    list, one set forward unseen, and Events that came and went by hand in one
    absence."""
    with playing(seed, 1) as schedules:
        said = schedules.result(seed)

    assert said["wrong"] == [], "\n".join(said["struck"])
