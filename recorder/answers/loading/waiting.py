"""Why a workload does not start: what its own objects say about it.

Conditions and Events of the workload, of what it owns and of its queue: an
exceeded quota, a refusal by an admission webhook, a suspension, a queue that
does not admit it, Pods that fit on no node. Of each, the newest.
"""

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final

from msgspec.structs import replace

from recorder.answers.loading.authors import requested_by
from recorder.answers.naming import Reference
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import FactListQuery
from recorder.answers.references import find_objects
from recorder.explain.ending import RecordedFact
from recorder.explain.knowledge import Knowledge
from recorder.explain.signals.actor import Actor, actor_of
from recorder.facts import says_with_object
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import (
    Appeared,
    ConditionChanged,
    Detail,
    EventOccurred,
    FieldChanged,
)
from recorder.model.reference import ObjectIdentity

OBSTACLES_MAX: Final = 8
"""Obstacles that an answer lists; a gang may own hundreds of objects."""

OBJECTS_MAX: Final = 10
"""Objects whose Events are read: the newest of the workload."""

HOLDS: Final = frozenset(
    {
        "Evicted",
        "Failed",
        "FailureTarget",
        "ReplicaFailure",
        "Suspended",
        "Unschedulable",
    }
)
"""Conditions that keep a workload from starting if they are true."""

NEEDS: Final = frozenset(
    {"Admitted", "Inadmissible", "PodScheduled", "QuotaReserved", "Scheduled"}
)
"""Conditions that keep a workload from starting if they are false."""

WARNING: Final = "Warning"
SUSPEND: Final = "suspend"


class Obstacle(RecordedFact, frozen=True, kw_only=True):
    """What keeps a workload from starting."""

    actor: Actor | None
    """Who suspended it, where audit says so; of an Event and a condition, who
    reported it."""


async def obstacles_to(
    reading: Reading,
    facts: Sequence[StoredFact],
    until: datetime | None,
    knowledge: Knowledge,
) -> list[Obstacle]:
    """Return what keeps a workload from starting, in the order of the log."""
    found: dict[object, StoredFact] = {}
    for stored in facts:
        for key, holds, one in _stated(stored):
            found.pop(key, None)
            if holds:
                found[key] = one
    async for stored in _warnings(reading, facts, until):
        thing, detail = stored.fact.object, stored.fact.detail
        assert thing is not None
        assert isinstance(detail, EventOccurred)
        found[thing.key, detail.reason] = stored
    newest = sorted(found.values(), key=lambda s: (s.entry, s.index))
    return [
        Obstacle(
            entry=stored.entry,
            occurred_at=stored.fact.occurred_at,
            observed_at=stored.observed_at,
            says=says_with_object(stored.fact),
            stored=stored,
            actor=await _author(reading, stored, knowledge),
        )
        for stored in newest[-OBSTACLES_MAX:]
    ]


def _stated(
    stored: StoredFact,
) -> Iterator[tuple[object, bool, StoredFact]]:
    """Yield what a fact states of an obstacle: its key, whether it holds.

    Of many Pods that are alike, one is enough.
    """
    thing, detail = stored.fact.object, stored.fact.detail
    if thing is None:
        return
    about = thing.kind if thing.kind == "Pod" else thing.key
    changes: list[Detail] = [detail]
    if isinstance(detail, Appeared):
        state = detail.state
        changes = [
            ConditionChanged(type=name, old=None, new=condition)
            for name, condition in state.conditions.items()
        ]
        changes.append(
            FieldChanged(field=SUSPEND, old=None, new=state.fields[SUSPEND])
            if SUSPEND in state.fields
            else detail
        )
    for change in changes:
        one = replace(stored, fact=replace(stored.fact, detail=change))
        match change:
            case ConditionChanged(type=name, new=new):
                status = None if new is None else new.status
                holds = (name in HOLDS and status == "True") or (
                    name in NEEDS and status == "False"
                )
                yield (about, name), holds, one
            case FieldChanged(field=field, new=new) if field == SUSPEND:
                yield (about, SUSPEND), new is True, one
            case _:
                pass


async def _warnings(
    reading: Reading, facts: Iterable[StoredFact], until: datetime | None
) -> AsyncIterator[StoredFact]:
    """Yield the warnings about a workload and what it owns besides Pods."""
    things: dict[str, ObjectIdentity] = {}
    for stored in facts:
        thing = stored.fact.object
        if thing is not None and thing.kind != "Pod":
            things[thing.key] = thing
    for thing in [*things.values()][-OBJECTS_MAX:]:
        word = f"{thing.kind}.{thing.group}" if thing.group else thing.kind
        known = await find_objects(
            reading, Reference(word, thing.namespace, thing.name)
        )
        selection = Selection(
            objects=known.numbers, kinds=(FactKind.EVENT,), until=until
        )
        async for page in reading.pages(FactListQuery(selection), after=0):
            for stored in page:
                detail = stored.fact.detail
                if isinstance(detail, EventOccurred) and (
                    detail.type == WARNING
                ):
                    yield stored


async def _author(
    reading: Reading, stored: StoredFact, knowledge: Knowledge
) -> Actor | None:
    if isinstance(stored.fact.detail, FieldChanged) and (
        stored.fact.actor is None  # Slurm's log names who held a job
    ):
        verbs = {"create", "patch", "update"}
        return await requested_by(reading, stored, verbs, None, knowledge)
    return actor_of(stored.fact.actor, knowledge)
