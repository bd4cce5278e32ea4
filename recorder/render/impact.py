"""What failures hit and what it cost, as lines for people."""

from collections.abc import Iterable, Sequence

from recorder.documents.impact import Totals
from recorder.documents.sentences import counted
from recorder.explain.hit import Hit
from recorder.explain.verdict import Verdict
from recorder.render.text import plain

__all__ = ["cost", "failure_lines"]


def cost(hits: Sequence[Hit]) -> str:
    """Say what was hit and what it cost."""
    total = Totals.of(hits)
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


def failure_lines(failures: Iterable[Verdict]) -> list[str]:
    """Say what happened, with the day of each."""
    return [
        plain(f"{verdict.effect.stored.at:%Y-%m-%d}  {verdict.sentence}")
        for verdict in failures
    ]
