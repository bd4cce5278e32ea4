"""Who ended a workload, by audit, and the evidence that is missing."""

from datetime import timedelta

from msgspec.structs import replace

from recorder.answers.naming import Reference
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import FactListQuery, FactQuery, Purpose
from recorder.answers.references import find_objects
from recorder.explain.ending import EndingFound
from recorder.explain.knowledge import Knowledge
from recorder.explain.signals import Actor, actor_of
from recorder.explain.verdict import Missing
from recorder.facts import DAILY_REPORTERS
from recorder.model.fact import FactKind
from recorder.model.facts import Requested
from recorder.model.moment import shifted
from recorder.model.observation import AUDIT
from recorder.model.outcomes import Confidence, EndedBy

__all__ = ["with_author"]

ASKED_BEFORE = timedelta(minutes=1)
"""How long before its observation a deletion may have been requested."""

REPORTED_WITHIN = timedelta(seconds=10)
"""Of an eviction, who evicts reports it."""

NO_EVICTORS = DAILY_REPORTERS | {
    "node-controller",
    "taint-eviction-controller",
}
"""Who reports of Pods and evicts none."""

MOMENT = timedelta(seconds=1)


async def with_author(
    reading: Reading, ending: EndingFound, knowledge: Knowledge
) -> EndingFound:
    """Add the author, if audit shows it, and the missing evidence."""
    audited = any(stream.source == AUDIT for stream in reading.streams)
    if ending.ended_by is EndedBy.DRAIN and ending.verdict is None:
        evictor = await _actor(reading, ending, knowledge) if audited else None
        evictor = evictor or await _evictor(reading, ending, knowledge)
        ending = replace(ending, actor=evictor)
    if ending.ended_by in {EndedBy.DELETION, EndedBy.SUSPENSION}:
        if audited:
            actor = await _actor(reading, ending, knowledge)
            ending = replace(ending, actor=actor)
        if ending.actor is None:
            verb = "deleted" if ending.ended_by == "deletion" else "suspended"
            lack = Missing(evidence="audit", would_tell=f"who {verb} it")
            ending = replace(ending, missing=[lack])
    if (
        ending.ended_by is EndedBy.CONTAINER_EXIT
        and ending.confidence is Confidence.PROVEN
    ):
        lack = Missing(
            evidence="container logs", would_tell="why the program ended"
        )
        ending = replace(ending, missing=[lack])
    return ending


async def _actor(
    reading: Reading, ending: EndingFound, knowledge: Knowledge
) -> Actor | None:
    """Return who requested a deletion or a suspension."""
    first = ending.evidence[0].stored
    thing = first.fact.object
    if thing is None:
        return None
    verbs = {"delete", "deletecollection"}
    if ending.ended_by is EndedBy.SUSPENSION:
        verbs = {"patch", "update"}
    part = None
    if ending.ended_by is EndedBy.DRAIN:
        verbs, part = {"create"}, "eviction"
    asked = await reading.facts(
        FactQuery(
            purpose=Purpose.REQUESTS,
            objects=[(thing.group, thing.namespace, thing.name)],
            since=shifted(first.observed_at, -ASKED_BEFORE),
            until=shifted(first.observed_at, MOMENT),
        )
    )
    for stored in reversed(asked):
        detail = stored.fact.detail
        if (
            isinstance(detail, Requested)
            and detail.verb in verbs
            and (detail.code or 0) < 300  # noqa: PLR2004 - HTTP succeeds below
            and (detail.subresource or None) == part
        ):
            return actor_of(stored.fact.actor, knowledge, audited=True)
    return None


async def _evictor(
    reading: Reading, ending: EndingFound, knowledge: Knowledge
) -> Actor | None:
    """Return who reports, in an Event about the Pod, that it was evicted."""
    first = ending.evidence[0].stored
    thing = first.fact.object
    if thing is None or thing.kind != "Pod":
        return None
    name = Reference("pod", thing.namespace, thing.name)
    found = await find_objects(reading, name)
    selection = Selection(
        objects=found.numbers,
        kinds=(FactKind.EVENT,),
        since=shifted(first.observed_at, -REPORTED_WITHIN),
        until=shifted(first.observed_at, REPORTED_WITHIN),
    )
    async for page in reading.pages(FactListQuery(selection), after=0):
        for stored in page:
            reporter = stored.fact.actor
            if reporter and reporter not in NO_EVICTORS:
                return actor_of(reporter, knowledge)
    return None
