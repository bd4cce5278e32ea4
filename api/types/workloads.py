"""One workload: its gang over nodes and time."""

from api.publishing import publish
from api.types.impact import Hit, Workload
from api.types.timeline import PlacedPod
from recorder.answers.workload import WorkloadHistory

__all__ = ["Hit", "PlacedPod", "Workload", "WorkloadHistory"]

publish(WorkloadHistory, name="WorkloadStory")
