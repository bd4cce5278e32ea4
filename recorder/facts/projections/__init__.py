"""Folds: facts to a state, step by step.

Every fold can stop anywhere and continue from there, and can be repeated from
the facts at any time.
"""

from recorder.facts.projections.node import NodeState, advance, shown
from recorder.facts.projections.placement import (
    UNKNOWN_ENDS,
    Placement,
    Placements,
)
from recorder.facts.projections.workloads import (
    GANGS,
    REPLACED,
    SERVERS,
    Workload,
    Workloads,
    phase_ended,
)

__all__ = [
    "REPLACED",
    "GANGS",
    "SERVERS",
    "UNKNOWN_ENDS",
    "NodeState",
    "Placement",
    "Placements",
    "Workload",
    "Workloads",
    "advance",
    "phase_ended",
    "shown",
]
