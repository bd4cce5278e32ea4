"""The metrics store: whether it answers, and which nodes it knows."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Final

from recorder.doctor.check import Check, within
from recorder.measuring.checking import Checked
from recorder.model.errors import RecorderError
from recorder.model.settings import Settings

NAME: Final = "metrics store"
LIMIT: Final = timedelta(seconds=60)


async def look_at_metrics(
    settings: Settings, ask: Callable[[], Awaitable[Sequence[Checked]]]
) -> list[Check]:
    """Check the metrics store, if the settings describe one."""
    if settings.metrics_file is None:
        return []
    remedy = (
        "correct the file of metrics_file; `recorder measure --check` lists"
        " what the store has of each metric"
    )
    try:
        found = await within(LIMIT, "ask the metrics store", ask())
    except RecorderError as exc:
        return [Check(name=NAME, ok=False, says=str(exc), remedy=remedy)]
    matched = [one for one in found if one.nodes]
    trouble = next((one.trouble for one in found if not one.nodes), "")
    says = (
        f"it has {len(matched)} of {len(found)} metrics, of up to"
        f" {max((one.nodes for one in found), default=0)} nodes asked about"
    )
    if not matched:
        says += f": {trouble}"
    return [Check(name=NAME, ok=bool(matched), says=says, remedy=remedy)]
