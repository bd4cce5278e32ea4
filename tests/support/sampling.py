"""Which variations one run of the tests takes: some, and others each commit.

``RECORDER_TEST_VARIATIONS`` is a seed, to take the same ones again, or
``all``. Unless it is set, the commit is the seed.
"""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import TypeVar

__all__ = ["HOW_TO_REPEAT", "sampled"]

T = TypeVar("T")

VARIABLE = "RECORDER_TEST_VARIATIONS"
ALL = "all"


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "no commit"


SEED = os.environ.get(VARIABLE) or _commit()
HOW_TO_REPEAT = f"variations: {VARIABLE}={SEED}"


def sampled(
    family: str, cases: Iterable[T], count: int, *, seed: str = SEED
) -> list[T]:
    """Return as many of the cases, in their order; or all, if asked to.

    Each family of tests draws for itself.
    """
    every = list(cases)
    if seed == ALL:
        return every
    chance = Random(f"{seed} {family}")
    places = chance.sample(range(len(every)), min(count, len(every)))
    return [every[place] for place in sorted(places)]
