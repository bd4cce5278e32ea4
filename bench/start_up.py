"""How soon the command responds to ``--help``."""

import subprocess
import sys
import time

from bench.measuring import Number

__all__ = ["bench"]

TRIES = 15


def bench(runs: int) -> list[Number]:
    return [
        Number(
            name="recorder --help",
            unit="s",
            values=[_fastest() for _ in range(runs)],
            target="< 0.15",
        )
    ]


def _fastest() -> float:
    """Return the fastest of several: disturbances only make it slower."""
    return min(_once() for _ in range(TRIES))


def _once() -> float:
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "recorder", "--help"],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - began
