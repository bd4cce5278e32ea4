"""Many schedules: the options of the commands, and a table of what became.

A schedule that failed is played again with its seed and one schedule.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests.faults.schedule import Outcome

__all__ = ["add_options", "report", "table"]

WRONG_SHOWN = 20
COLUMNS = (
    "seed",
    "database",
    "faults",
    "entries",
    "gaps by reason",
    "takeover",
    "seconds",
    "result",
)


def add_options(
    parser: argparse.ArgumentParser, *, schedules: int, first: int | None
) -> None:
    """Add the options of every command that plays schedules."""
    parser.add_argument(
        "--schedules", type=int, default=schedules, metavar="N"
    )
    parser.add_argument(
        "--first",
        "--seed",
        type=int,
        default=first,
        help="the first seed; the others count on from it",
    )
    parser.add_argument("--keep", type=Path, help="a folder for failures")
    parser.add_argument(
        "--lines", action="store_true", help="print a line of JSON for each"
    )


def report(
    outcomes: Iterable[Outcome], wanted: int, *, lines: bool, again: str
) -> int:
    """Print each outcome as it comes, then the table; return a status."""
    played = []
    try:
        for outcome in outcomes:
            played.append(outcome)
            if lines:
                print(json.dumps(vars(outcome)), flush=True)
            elif outcome.wrong:
                print("\n".join(_wrong(outcome)), flush=True)
    except KeyboardInterrupt:
        pass  # the table of those that were played
    failed = [outcome for outcome in played if outcome.wrong]
    if not lines:
        print("\n" + "\n".join(table(played)))
        for outcome in failed:
            print(f"{outcome.kept}: again with {again} {outcome.seed}")
    return 1 if failed or len(played) < wanted else 0


def _wrong(outcome: Outcome) -> Iterator[str]:
    yield f"seed {outcome.seed}:"
    yield from (f"  WRONG {why}" for why in outcome.wrong[:WRONG_SHOWN])
    if len(outcome.wrong) > WRONG_SHOWN:
        yield f"  and {len(outcome.wrong) - WRONG_SHOWN} more"


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """Return lines of Markdown: a row for each schedule, then the totals."""
    failed = sum(bool(outcome.wrong) for outcome in outcomes)
    rows = [
        _row(outcome, str(outcome.seed), outcome.database, bool(outcome.wrong))
        for outcome in outcomes
    ]
    total = Outcome(seed=0)
    for outcome in outcomes:
        total.faults.update(outcome.faults)
        total.gaps.update(outcome.gaps)
        total.healed += outcome.healed
        total.entries += outcome.entries
        total.takeovers += outcome.takeovers
        total.seconds += outcome.seconds
    rows.append(_row(total, "all", "", failed))
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
    faults = _counted(total.faults)
    return [*(f"| {' | '.join(line)} |" for line in lines), "", faults]


def _row(outcome: Outcome, seed: str, database: str, failed: int) -> list[str]:
    gaps = Counter({**outcome.gaps, "healed": outcome.healed})
    return [
        seed,
        database,
        str(sum(outcome.faults.values())),
        f"{outcome.entries:,}",
        _counted(gaps) or "none",
        ", ".join(f"{one:.1f} s" for one in outcome.takeovers),
        f"{outcome.seconds:.0f}",
        f"{failed} failed" if failed else "ok",
    ]


def _counted(counts: Counter[str]) -> str:
    return ", ".join(
        f"{count} {what}" for what, count in sorted(counts.items())
    )
