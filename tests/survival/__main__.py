"""``python -m tests.survival soak``: many schedules, and a table of them.

``reach`` counts what absences leave of the history instead.
"""

import argparse
import asyncio
import random
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.cluster.binaries import built
from tests.support.postgres import debian_binaries
from tests.survival.flapping import Counted, flap
from tests.survival.reach import Reached, reach
from tests.survival.schedule import Outcome, Schedule
from tests.survival.table import table

SCHEDULES = 20


def main() -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.survival")
    commands = parser.add_subparsers(dest="command", required=True)
    soak = commands.add_parser("soak", help="play schedules of faults")
    soak.add_argument("--schedules", type=int, default=SCHEDULES, metavar="N")
    soak.add_argument(
        "--seed", type=int, help="of the first; the others count on from it"
    )
    soak.add_argument(
        "--keep", type=Path, help="folder of what is kept of failures"
    )
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
        return _flapped(given.seed, given.reach_back)
    if given.command == "reach":
        asyncio.run(reach(given.seed, say=_told))
        return 0
    first = given.seed
    if first is None:
        first = random.SystemRandom().randrange(1_000_000)
    keep_in = given.keep or Path(tempfile.gettempdir()) / "recorder-soak"
    # Whoever ends it finds nothing left running, and a table so far.
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, signal.default_int_handler)
    outcomes: list[Outcome] = []
    with suppress(KeyboardInterrupt):
        for seed in range(first, first + given.schedules):
            outcomes.append(  # noqa: PERF401 - kept if it is interrupted
                _played(seed, keep_in)
            )
    print()
    print("\n".join(table(outcomes)))
    failed = [outcome for outcome in outcomes if outcome.wrong]
    for outcome in failed:
        again = f"soak --schedules 1 --seed {outcome.seed}"
        print(f"{outcome.kept}: again with python -m tests.survival {again}")
    return 1 if failed or len(outcomes) < given.schedules else 0


def _told(reached: Reached) -> None:
    share = 100 * reached.held / max(1, reached.versions)
    print(
        f"{reached.absence}: {share:.2f} % of {reached.versions} versions,"
        f" {reached.forgotten} forgotten, missing: {dict(reached.missing)}",
        flush=True,
    )


def _flapped(seed: int, reach_back: str | None) -> int:
    wrong = 0

    def count(found: Counted) -> None:
        nonlocal wrong
        wrong += found.unreported + found.doubled
        share = 100 * found.reported / max(1, found.versions)
        print(
            f"{found.after:.0f} s after the last kill: {share:.2f} % of"
            f" {found.versions} versions in reported gaps, {found.missing}"
            f" missing, {found.unreported} unreported, {found.doubled}"
            f" doubled, not live: {dict(found.behind)}, load {found.load:.1f}",
            flush=True,
        )

    told = asyncio.run(flap(seed, reach_back=reach_back, counted=count))
    slowest = sorted(told.live.items(), key=lambda pair: -pair[1])
    print(
        f"{told.kills} kills; live after {dict(slowest)} s; one list of each"
        f" takes {told.listed:.2f} s; API servers used"
        f" {told.server_seconds:.1f} s"
    )
    return 1 if wrong else 0


def _played(seed: int, keep_in: Path) -> Outcome:
    schedule = Schedule.of_seed(seed)
    where = "PostgreSQL 15, a standby" if schedule.shared else "embedded"
    print(f"seed {seed}: {where}", flush=True)
    outcome = asyncio.run(
        schedule.run(keep_in=keep_in, say=lambda line: print(line, flush=True))
    )
    for wrong in outcome.wrong[:20]:
        print(f"  WRONG {wrong}", flush=True)
    result = "failed" if outcome.wrong else "ok"
    print(
        f"  {result}: {outcome.entries} entries in {outcome.seconds:.0f} s",
        flush=True,
    )
    return outcome


if __name__ == "__main__":
    sys.exit(main())
