"""Charging: what each transition is charged with of a loss that it shares.

A gang that three nodes of a rack stop is hit by all of them; its loss is
counted once. It belongs to the transition that began it, shared evenly where
several did in one second, and each end of a Pod to one transition.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

from recorder.explain.hit import Charge, Failure, Hit
from recorder.explain.losses import order
from recorder.facts.projections import Placement

__all__ = ["charged", "given_up"]

ONE_SECOND: Final = timedelta(seconds=1)

DIGITS: Final = 4
"""Of GPU-hours: a ten-thousandth is a third of a second."""


def charged(
    lost: Iterable[tuple[Failure, Placement]], gpu_hours: float
) -> list[Charge]:
    """Return what each failure is charged with, in the order of verdicts.

    Args:
        lost: failures, and the Pods that each may have taken.
        gpu_hours: the whole loss.
    """
    taken: dict[str, tuple[Failure, Placement]] = {}
    for failure, pod in sorted(lost, key=lambda pair: order(*pair)):
        taken.setdefault(pod.key, (failure, pod))
    pairs = sorted(taken.values(), key=lambda pair: order(*pair))
    began = order(*pairs[0])[0]
    beginning = {
        f.verdict.id for f, p in pairs if order(f, p)[0] - began <= ONE_SECOND
    }
    shares = _shares(gpu_hours, len(beginning))
    found = []
    verdicts = {f.verdict.id: f.verdict for f, _ in pairs}
    for name, verdict in verdicts.items():
        pods = [p.pod.name for f, p in pairs if f.verdict.id == name]
        hours = shares.pop() if name in beginning else 0.0
        found.append(
            Charge(
                node=verdict.node,
                verdict=name,
                pods=sorted(pods),
                gpu_hours=hours,
            )
        )
    return found


def given_up(pods: Sequence[Placement], hit: Hit) -> list[Charge]:
    """Return what the nodes are charged with on which Pods made room."""
    nodes = sorted({pod.node for pod in pods if pod.node is not None})
    shares = _shares(hit.gpu_hours_lost, len(nodes))
    return [
        Charge(
            node=node,
            verdict=None,
            pods=sorted(p.pod.name for p in pods if p.node == node),
            gpu_hours=shares.pop(),
        )
        for node in nodes
    ]


def _shares(whole: float, parts: int) -> list[float]:
    """Return even parts that add up to the whole, to the last digit."""
    if not parts:
        return []
    one = round(whole / parts, DIGITS)
    return [*[one] * (parts - 1), round(whole - one * (parts - 1), DIGITS)]
