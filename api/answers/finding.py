"""Finding things by their names: entries, workloads, whatever is searched."""

from api.context import Asked
from api.types.entries import EntryDetail
from api.types.search import SearchAnswer
from api.types.workloads import WorkloadStory
from recorder.report.references import Reference
from recorder.report.window import Window
from recorder.wiring.reading import LogReading

__all__ = [
    "entry",
    "log_of",
    "node_names",
    "reference",
    "search",
    "workload",
]


def reference(name: str | None) -> Reference | None:
    """Read the name of an object."""
    return None if name is None else Reference.parse(name)


async def log_of(
    asked: Asked, subject: str, cluster: str | None, log: str | None
) -> LogReading:
    """Open the log that an entry names, or else that the arguments mean."""
    raise NotImplementedError


async def node_names(
    reading: LogReading, prefix: str, first: int | None
) -> list[str]:
    """Give names of nodes, in order."""
    raise NotImplementedError


async def search(
    asked: Asked, reading: LogReading, text: str, first: int | None
) -> SearchAnswer:
    """Find nodes, objects and entries by their names."""
    raise NotImplementedError


async def entry(asked: Asked, name: str, *, all_fields: bool) -> EntryDetail:
    """Open one entry."""
    raise NotImplementedError


async def workload(
    asked: Asked,
    reading: LogReading,
    name: tuple[str, str | None],
    span: Window,
) -> WorkloadStory:
    """Tell of one workload."""
    raise NotImplementedError
