"""The table of a soak, in Markdown."""

from collections import Counter
from collections.abc import Sequence

from tests.survival.schedule import Outcome

__all__ = ["table"]

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


def table(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the lines of it: a row for each schedule, and the totals."""
    rows = [_row(outcome) for outcome in outcomes]
    gaps: Counter[str] = Counter()
    for outcome in outcomes:
        gaps.update(outcome.gaps)
    takeovers = [one for outcome in outcomes for one in outcome.takeovers]
    failed = sum(bool(outcome.wrong) for outcome in outcomes)
    total = [
        "all",
        "",
        str(sum(len(outcome.struck) for outcome in outcomes)),
        f"{sum(outcome.entries for outcome in outcomes):,}",
        _gaps(gaps, sum(outcome.healed for outcome in outcomes)),
        _takeovers(takeovers),
        f"{sum(outcome.seconds for outcome in outcomes):.0f}",
        f"{failed} failed" if failed else "ok",
    ]
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows, total]
    return [f"| {' | '.join(line)} |" for line in lines]


def _row(outcome: Outcome) -> list[str]:
    return [
        str(outcome.seed),
        "15, standby" if outcome.shared else "embedded",
        ", ".join(outcome.struck),
        f"{outcome.entries:,}",
        _gaps(outcome.gaps, outcome.healed),
        _takeovers(outcome.takeovers),
        f"{outcome.seconds:.0f}",
        "failed" if outcome.wrong else "ok",
    ]


def _gaps(gaps: dict[str, int], healed: int) -> str:
    told = [f"{count} {reason}" for reason, count in sorted(gaps.items())]
    if healed:
        told.append(f"{healed} healed")
    return ", ".join(told) or "none"


def _takeovers(seconds: Sequence[float]) -> str:
    return ", ".join(f"{one:.1f} s" for one in seconds)
