"""The timeline of a node, as it is drawn."""

from api.answers.drawing import placement_of, timeline_of
from api.context import RequestContext
from api.types.timeline import Placement, Timeline
from recorder.answers.placements import ask_placements
from recorder.answers.ports import Reading
from recorder.answers.timeline import ask_timeline
from recorder.model import window as spans

__all__ = ["timeline"]


async def timeline(
    asked: RequestContext, reading: Reading, node: str, span: spans.Window
) -> Timeline:
    """Ask for all that is drawn of a node."""
    found = await ask_timeline(
        reading, node, span, asked.knowledge, now=asked.now
    )

    async def placed() -> list[Placement]:
        pods = await ask_placements(reading, node, span)
        return [placement_of(*one) for one in pods]

    return timeline_of(found, asked.knowledge, placed)
