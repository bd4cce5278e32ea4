"""``python -m tests.survival soak``: many schedules on real clusters.

``reach`` counts what absences leave of the history instead.
"""

import argparse
import asyncio
import random
import signal
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.cluster.binaries import built
from tests.faults.schedule import Outcome
from tests.faults.soak import add_options, report
from tests.support.postgres import debian_binaries
from tests.survival.playing import Schedule
from tests.survival.reach import flap, reach

say = partial(print, flush=True)


def main() -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.survival")
    commands = parser.add_subparsers(dest="command", required=True)
    soak = commands.add_parser("soak", help="play schedules of faults")
    add_options(soak, schedules=20, first=None)
    reaching = commands.add_parser("reach", help="count what absences leave")
    reaching.add_argument("--seed", type=int, default=1, help="of the traffic")
    reaching.add_argument(
        "--flapping",
        action="store_true",
        help="kill API server and recorder every four seconds instead",
    )
    reaching.add_argument(
        "--reach-back",
        metavar="SPAN",
        help="the setting reach_back while it flaps; 0s to compare with",
    )
    given = parser.parse_args()
    built()
    debian_binaries()
    if given.command == "reach" and given.flapping:
        return asyncio.run(flap(given.seed, given.reach_back, say=say))
    if given.command == "reach":
        asyncio.run(reach(given.seed, say=say))
        return 0
    first = given.first
    if first is None:
        first = random.SystemRandom().randrange(1_000_000)
    keep_in = given.keep or Path(tempfile.gettempdir()) / "recorder-soak"
    # Interrupted, it leaves nothing running, and prints a table so far.
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    return report(
        _played(range(first, first + given.schedules), keep_in),
        given.schedules,
        lines=given.lines,
        again="python -m tests.survival soak --schedules 1 --seed",
    )


def _played(seeds: range, keep_in: Path) -> Iterator[Outcome]:
    for seed in seeds:
        schedule = Schedule.of_seed(seed)
        say(f"seed {seed}: {'shared' if schedule.shared else 'embedded'}")
        yield asyncio.run(schedule.run(keep_in=keep_in, say=say))


if __name__ == "__main__":
    sys.exit(main())
