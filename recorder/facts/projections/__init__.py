"""Folds: facts to a state, step by step.

Every fold can stop anywhere and continue from there, and can be repeated from
the facts at any time.
"""

from recorder.facts.projections.node import (
    NodeState,
    advance,
    provider_of,
    shown,
)
from recorder.facts.projections.placement import (
    EVICTIONS,
    PREEMPTING,
    UNKNOWN_ENDS,
    Placement,
    Placements,
)
from recorder.facts.projections.running import (
    Time,
    full_spans,
    most_at_once,
    total,
)
from recorder.facts.projections.wanted import Wanted
from recorder.facts.projections.workloads import (
    EVICTED,
    GANGS,
    REPLACED,
    SERVERS,
    Workload,
    Workloads,
)

__all__ = [
    "EVICTIONS",
    "PREEMPTING",
    "REPLACED",
    "GANGS",
    "EVICTED",
    "SERVERS",
    "UNKNOWN_ENDS",
    "NodeState",
    "Placement",
    "Placements",
    "Time",
    "Wanted",
    "Workload",
    "Workloads",
    "advance",
    "provider_of",
    "full_spans",
    "most_at_once",
    "shown",
    "total",
]
