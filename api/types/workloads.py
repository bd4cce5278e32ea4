"""One workload: its gang over nodes and time."""

from datetime import datetime

from api.describing import described
from api.types.coverage import Coverage, Window
from api.types.impact import Hit, Workload
from api.types.timeline import Placement

__all__ = ["WorkloadStory"]


@described
class WorkloadStory:
    """The Pods of a workload, where they ran, and their disruptions."""

    workload: Workload

    window: Window

    is_gang: bool
    """Whether it needs all of its Pods to run."""

    gpus: int
    """GPUs of the most Pods bound at the same time."""

    nodes: list[str]

    placements: list[Placement]
    """In order of their binding."""

    ran_in_full_at: datetime | None
    """When the maximum of running Pods was first reached."""

    failed_at: datetime | None
    """Its own terminal condition."""

    hits: list[Hit]

    coverage: Coverage
