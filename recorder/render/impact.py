"""What failures hit and what it cost, as lines for people."""

from collections.abc import Iterable, Sequence

from recorder.explain.hit import Hit, Totals
from recorder.questions.impact import NodeFailure
from recorder.questions.sentences import counted
from recorder.render.table import Cell, Column, Kind
from recorder.render.text import plain

__all__ = ["COLUMNS", "cells", "cost", "failure_lines"]

COLUMNS = (
    Column("HIT AT", Kind.TIME, rank=3),
    Column("AGE", Kind.AGE, rank=1),
    Column("WORKLOAD"),
    Column("HIT BY"),
    Column("FIRST NODE", rank=2),
    Column("PODS", rank=6),
    Column("GANG", rank=7),
    Column("GPUS", rank=5),
    Column("OUTCOME"),
    Column("RUNNING AGAIN", Kind.TIME, rank=4),
    Column("GPU-HOURS"),
)


def cells(hit: Hit) -> Sequence[Cell]:
    """Return a hit as the cells of a table."""
    return (
        hit.hit_at,
        hit.hit_at,
        str(hit.workload),
        hit.hit_by,
        hit.first_node,
        len(hit.pods_hit),
        hit.gang_size,
        hit.gpus,
        hit.outcome,
        hit.running_again_at,
        hit.gpu_hours_lost,
    )


def cost(total: Totals) -> str:
    """Say what was hit and what it cost."""
    parts = [
        counted(total.workloads, "workload"),
        counted(total.pods, "Pod"),
        counted(total.gpus, "GPU"),
    ]
    return (
        f"affected: {', '.join(parts)}; lost: at least"
        f" {total.gpu_hours_lost:.2f} GPU-hours, plus any work since the"
        " last checkpoint (not recorded)"
    )


def failure_lines(failures: Iterable[NodeFailure]) -> list[str]:
    """Say what happened, with the day of each."""
    return [
        plain(f"{failure.at:%Y-%m-%d}  {failure.sentence}")
        for failure in failures
    ]
