"""A failure as workloads see it, and a workload that it hit."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.explain.verdict import Verdict
from recorder.projections import Workload

__all__ = ["Failure", "Hit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A happening of a node, as workloads see it."""

    verdict: Verdict
    since: datetime
    """The last proof that the node was well."""

    seen: datetime
    """The first proof that it was not."""

    until: datetime
    """Until when its Pods may be lost by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A workload that was hit."""

    workload: Workload
    hit_by: str
    first_node: str
    nodes: Sequence[str]
    pods_hit: Sequence[str]
    gang_size: int
    gpus: int
    outcome: str
    hit_at: datetime
    running_again_at: datetime | None
    gpu_hours_lost: float
    evidence: Sequence[str]
    says: str
