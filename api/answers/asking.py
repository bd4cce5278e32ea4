"""Questions about nodes: why, what it hit, the timeline, the report."""

from datetime import datetime

from api.answers.drawing import placement_of, timeline_of
from api.answers.windows import window
from api.context import RequestContext
from api.types.endings import WhyWorkload
from api.types.impact import Impact
from api.types.postmortem import Postmortem
from api.types.timeline import Placement, Timeline
from api.types.verdicts import Why
from recorder.model import window as spans
from recorder.questions.impact import ImpactQuestion, ask_impact
from recorder.questions.placements import ask_placements
from recorder.questions.ports import Reading
from recorder.questions.postmortem import PostmortemQuestion, ask_postmortem
from recorder.questions.references import Reference, node_name
from recorder.questions.timeline import ask_timeline
from recorder.questions.why import WhyQuestion, ask_why
from recorder.questions.why_workload import (
    WhyWorkloadQuestion,
    ask_why_workload,
)

__all__ = ["impact", "postmortem", "timeline", "why", "why_workload"]


async def why(
    asked: RequestContext,
    reading: Reading,
    node: str,
    *,
    at: datetime | None,
    span: tuple[datetime | None, datetime | None],
) -> Why:
    """Ask what happened to a node.

    Raises:
        ConfigError: a moment and a window are named, or no node.
    """
    question = WhyQuestion(node=node_name(node), window=window(*span), at=at)
    return await ask_why(reading, question, asked.knowledge, now=asked.now)


async def why_workload(
    asked: RequestContext,
    reading: Reading,
    reference: Reference,
    *,
    at: datetime | None,
    span: tuple[datetime | None, datetime | None],
) -> WhyWorkload:
    """Ask what ended a workload or a Pod.

    Raises:
        ConfigError: a moment and a window are named.
        NotFoundError: there is no such object, or it had no Pods.
    """
    question = WhyWorkloadQuestion(
        object=reference, window=window(*span), at=at
    )
    return await ask_why_workload(
        reading, question, asked.knowledge, now=asked.now
    )


async def impact(
    asked: RequestContext,
    reading: Reading,
    question: ImpactQuestion,
) -> Impact:
    """Ask which workloads failures of nodes hit."""
    return await ask_impact(reading, question, asked.knowledge, now=asked.now)


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


async def postmortem(
    asked: RequestContext,
    reading: Reading,
    subject: str | None,
    span: spans.Window,
    *,
    rack: str | None = None,
) -> Postmortem:
    """Ask for the report of a node, a rack, a workload or an incident."""
    question = PostmortemQuestion.about(subject, rack, window=span)
    return await ask_postmortem(
        reading, question, asked.knowledge, now=asked.now
    )
