"""What happened, counted, in words and as columns for people."""

from collections.abc import Sequence
from datetime import timedelta

from recorder.explain.sentences import lasted
from recorder.questions.sentences import counted
from recorder.questions.stats import Count, GroupBy, Stats
from recorder.render.table import Cell, Column

__all__ = ["count_cells", "count_columns", "totals_line"]


def totals_line(stats: Stats) -> str:
    """Say what happened in a window as a whole."""
    total = stats.totals
    nodes = counted(total.nodes, "node")
    parts = [
        f"{counted(total.incidents, 'incident')} on {nodes}",
        counted(total.reboots, "reboot"),
    ]
    for kind, mean, longest in (
        ("down", total.mean_down_seconds, total.longest_down_seconds),
        ("away", total.mean_away_seconds, total.longest_away_seconds),
    ):
        if mean is not None and longest is not None:
            parts.append(
                f"{kind} {_duration(mean)} on average and"
                f" {_duration(longest)} at most"
            )
    if total.not_back:
        parts.append(f"{counted(total.not_back, 'node')} not back in service")
    parts.append(f"at least {total.gpu_hours_lost:.2f} GPU-hours lost")
    if stats.vouched is not None:
        # Cut, not rounded: 100 % is said of what is complete.
        share = int(stats.vouched * 10000) / 100
        parts.append(f"{share:g} % of the time vouched for")
    return f"{stats.question.cluster}: {', '.join(parts)}"


def count_columns(by: GroupBy) -> Sequence[Column]:
    """Return the columns of counts by something."""
    return (
        Column(by.value.upper()),
        Column("INCIDENTS"),
        Column("NODES", rank=2),
        Column("REBOOTS", rank=1),
        Column("WORKLOADS", rank=3),
        Column("GPU-HOURS"),
        Column("MEAN DOWN", rank=4),
        Column("LONGEST DOWN", rank=5),
        Column("MEAN AWAY", rank=4),
        Column("LONGEST AWAY", rank=5),
        Column("NOT BACK", rank=6),
    )


def count_cells(count: Count) -> Sequence[Cell]:
    """Return a count as the cells of a table."""
    return (
        count.key,
        count.incidents,
        count.nodes,
        count.reboots,
        count.workloads,
        count.gpu_hours_lost,
        _duration(count.mean_down_seconds),
        _duration(count.longest_down_seconds),
        _duration(count.mean_away_seconds),
        _duration(count.longest_away_seconds),
        count.not_back,
    )


def _duration(seconds: float | None) -> str | None:
    return None if seconds is None else lasted(timedelta(seconds=seconds))
