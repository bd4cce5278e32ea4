"""Who ended a workload, what preempted it, and the missing evidence."""

import re
from collections.abc import AsyncIterator, Container, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from recorder.answers.naming import Reference
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    FactListQuery,
    FactQuery,
    PodsOn,
    Purpose,
    Stay,
)
from recorder.answers.references import find_objects
from recorder.answers.slurm_names import slurm_names
from recorder.explain.ending import Ending, Preemptor
from recorder.explain.knowledge import Knowledge
from recorder.explain.pod_end import BY_KUBELET
from recorder.explain.signals.actor import Actor, actor_of
from recorder.explain.verdict import Missing
from recorder.facts import NO_EVICTORS, displacement
from recorder.facts.projections import (
    Placement,
    Placements,
    Workload,
    Workloads,
)
from recorder.facts.slurm import BY_REQUEUE, SLURM_GROUP
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import (
    ConditionChanged,
    Ended,
    EventOccurred,
    Requested,
)
from recorder.model.moment import shifted
from recorder.model.observation import AUDIT
from recorder.model.outcomes import Confidence, EndedBy

ASKED_BEFORE = timedelta(minutes=1)
"""How long before its observation a deletion may have been requested."""

REPORTED_WITHIN = timedelta(seconds=10)
"""Of an eviction, who evicts reports it."""

JOB = "scheduler.slinky.slurm.net/slurm-jobid"
"""A label of Pods, by slurm-bridge: the job of Slurm that was made for it."""

AT_ONCE = timedelta(seconds=2)
"""Between the end of a run of Slurm and the beginning of what takes its
place."""

MOMENT = timedelta(seconds=1)

DELETES = re.compile(
    r"^(?!.*\b(?:not|cannot|fail\w*|error|unable|wait\w*)\b)"
    r"(?=.*\bpod\b).*\bdelet(e[sd]?|ing)\b",
    re.IGNORECASE | re.DOTALL,
)
"""What its reporter says when it deletes the Pod, and not why it cannot."""

NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?")
UID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")

OUTPUT = "output of the job"
"""What a program of Slurm says of its end."""


async def with_author(
    reading: Reading, ending: Ending, knowledge: Knowledge
) -> Ending:
    """Add the author, if anything shows it, and the missing evidence."""
    audited = any(stream.source == AUDIT for stream in reading.streams)
    drainer = drained_by(ending)
    if drainer is not None:
        ending = replace(ending, actor=drainer)
    elif ending.ended_by in {EndedBy.DRAIN, EndedBy.EVICTION}:
        evictor = await _evictor(reading, ending, knowledge, audited=audited)
        ending = replace(ending, actor=evictor)
    if ending.ended_by is EndedBy.PREEMPTION:
        found = await _preemptor(reading, ending, knowledge)
        actor = await _displacer(reading, ending, knowledge)
        ending = replace(ending, preemptor=found, actor=actor)
    ending = await _by_slurm(reading, ending, knowledge)
    if ending.ended_by in {EndedBy.DELETION, EndedBy.SUSPENSION}:
        actor = await _canceller(reading, ending, knowledge, audited=audited)
        ending = replace(ending, actor=actor)
        if ending.actor is None:
            ending = replace(ending, missing=[_lack_of_author(ending)])
    if (
        ending.ended_by is EndedBy.CONTAINER_EXIT
        and ending.confidence is Confidence.PROVEN
    ):
        logs = OUTPUT if _is_of_slurm(ending) else "container logs"
        lack = Missing(evidence=logs, would_tell="why the program ended")
        ending = replace(ending, missing=[lack])
    return ending


def drained_by(ending: Ending) -> Actor | None:
    """Return who decided on the drain that ended a workload, if it was one.

    Who acted only later found an empty node.
    """
    decision = None if ending.verdict is None else ending.verdict.decision
    if ending.ended_by is not EndedBy.DRAIN or decision is None:
        return None
    begun = decision.began <= shifted(ending.at, MOMENT)
    return decision.actor if begun else None


def _lack_of_author(ending: Ending) -> Missing:
    """Return what would show who deleted or suspended a workload."""
    if _is_of_slurm(ending):
        return Missing(
            evidence="accounting of Slurm", would_tell="who cancelled it"
        )
    verb = "deleted" if ending.ended_by == "deletion" else "suspended"
    return Missing(evidence="audit", would_tell=f"who {verb} it")


def _is_of_slurm(ending: Ending) -> bool:
    things = (one.stored.fact.object for one in ending.evidence[:1])
    return any(thing and thing.group == SLURM_GROUP for thing in things)


async def _by_slurm(
    reading: Reading, ending: Ending, knowledge: Knowledge
) -> Ending:
    """Add what took the place of a run of Slurm, or what would show it.

    Slurm's own log names it. Without that it is what began on the nodes of
    the run in the moment in which that ended as preempted.
    """
    if not _is_of_slurm(ending):
        return ending
    if ending.ended_by is EndedBy.PREEMPTION and ending.preemptor is None:
        found = await _successor(reading, ending, knowledge, None)
        lack = Missing(
            evidence="the log of slurmctld",
            would_tell="which job it was preempted for",
        )
        return replace(
            ending,
            preemptor=found,
            confidence=Confidence.LIKELY if found else ending.confidence,
            missing=[lack],
        )
    if ending.ended_by is EndedBy.UNRECORDED and ending.pods:
        lack = Missing(
            evidence="accounting of Slurm (slurmdbd)",
            would_tell="whether it was requeued, preempted or lost a node",
        )
        return replace(ending, missing=[lack])
    return ending


async def _actor(
    reading: Reading, ending: Ending, knowledge: Knowledge
) -> Actor | None:
    """Return who requested an eviction or a suspension."""
    first = ending.evidence[0].stored
    if ending.ended_by is EndedBy.SUSPENSION:
        verbs = {"patch", "update"}
        return await requested_by(reading, first, verbs, None, knowledge)
    verbs = {"create"}
    return await requested_by(reading, first, verbs, "eviction", knowledge)


async def _canceller(
    reading: Reading,
    ending: Ending,
    knowledge: Knowledge,
    *,
    audited: bool,
) -> Actor | None:
    """Return who deleted or suspended a workload, or deleted a Pod of it."""
    if ending.ended_by is EndedBy.DELETION:
        change = ending.evidence[0].stored
        return await deleter_of(reading, change, knowledge)
    return await _actor(reading, ending, knowledge) if audited else None


async def deleter_of(
    reading: Reading, change: StoredFact, knowledge: Knowledge
) -> Actor | None:
    """Return who deleted an object: by audit; a Pod, also by an Event."""
    if any(stream.source == AUDIT for stream in reading.streams):
        verbs = {"delete", "deletecollection"}
        found = await requested_by(reading, change, verbs, None, knowledge)
        if found is not None:
            return found
    thing = change.fact.object
    if thing is None or thing.kind != "Pod":
        return None  # others have Events about what they delete
    async for stored in _events(reading, change):
        reporter = stored.fact.actor
        says = DELETES.search(_said_by(stored))
        if says and reporter and reporter not in NO_EVICTORS:
            return actor_of(reporter, knowledge)
    return None


async def requested_by(
    reading: Reading,
    change: StoredFact,
    verbs: Container[str],
    part: str | None,
    knowledge: Knowledge,
) -> Actor | None:
    """Return who requested a change of an object, if audit shows it.

    Args:
        reading: the log.
        change: what was observed of the object.
        verbs: of the requests that may have caused it.
        part: their subresource.
        knowledge: the rules, which know authors.
    """
    thing = change.fact.object
    if thing is None:
        return None
    asked = await reading.facts(
        FactQuery(
            purpose=Purpose.REQUESTS,
            objects=[(thing.group, thing.namespace, thing.name)],
            since=shifted(change.observed_at, -ASKED_BEFORE),
            until=shifted(change.observed_at, MOMENT),
        )
    )
    for stored in reversed(asked):
        detail = stored.fact.detail
        if (
            isinstance(detail, Requested)
            and detail.verb in verbs
            and not detail.is_refused
            and (detail.subresource or None) == part
        ):
            return actor_of(stored.fact.actor, knowledge, audited=True)
    return None


def _kubelet(ending: Ending, knowledge: Knowledge) -> Actor | None:
    """Return the kubelet, if it evicted or refused a Pod itself."""
    detail = ending.evidence[0].stored.fact.detail
    match detail:
        case ConditionChanged(new=new) if (
            new is not None and new.reason == BY_KUBELET
        ):
            return actor_of("kubelet", knowledge)
        case Ended(reason=str(reason)) if reason != BY_REQUEUE:
            return actor_of("kubelet", knowledge)
        case _:
            return None


async def _evictor(
    reading: Reading,
    ending: Ending,
    knowledge: Knowledge,
    *,
    audited: bool,
) -> Actor | None:
    """Return who evicted a Pod: by the Pod, by audit, or by an Event."""
    found = _kubelet(ending, knowledge)
    if found is None and audited:
        found = await _actor(reading, ending, knowledge)
    return found or await _displacer(reading, ending, knowledge)


async def _displacer(
    reading: Reading, ending: Ending, knowledge: Knowledge
) -> Actor | None:
    """Return who says in an Event about a Pod that it displaces it."""
    preempted = ending.ended_by is EndedBy.PREEMPTION
    async for stored in _events(reading, ending.evidence[0].stored):
        reporter = stored.fact.actor
        if preempted and displacement(stored.fact) is None:
            continue
        if reporter and reporter not in NO_EVICTORS:
            return actor_of(reporter, knowledge)
    return None


async def _events(
    reading: Reading, first: StoredFact
) -> AsyncIterator[StoredFact]:
    """Yield the Events about an object, around a change of it."""
    thing = first.fact.object
    if thing is None:
        return
    name = Reference(thing.kind, thing.namespace, thing.name)
    found = await find_objects(reading, name)
    selection = Selection(
        objects=found.numbers,
        kinds=(FactKind.EVENT,),
        since=shifted(first.observed_at, -REPORTED_WITHIN),
        until=shifted(first.observed_at, REPORTED_WITHIN),
    )
    async for page in reading.pages(FactListQuery(selection), after=0):
        for stored in page:
            yield stored


async def _preemptor(
    reading: Reading, ending: Ending, knowledge: Knowledge
) -> Preemptor | None:
    """Return the workload that took the place of another.

    An Event about the Pod names the Pod that did, a condition or an Event of
    a queue the workload, both by UID. Another scheduler may name the workload
    alone, by its name; then a Pod of it was bound to the same node.
    """
    own = {
        record.stored.fact.object.uid
        for record in ending.evidence
        if record.stored.fact.object is not None
    }
    said = [_said_by(record.stored) for record in ending.evidence]
    change = ending.evidence[0].stored
    said += [_said_by(stored) async for stored in _events(reading, change)]
    first = change.fact.object
    uid = None if first is None or ending.pods else first.uid
    if ending.hit is not None:
        uid = ending.hit.workload.uid
    if uid is not None:
        own.add(uid)
        said += await _said_by_queue(reading, uid, ending.at)
    named = dict.fromkeys(uid for text in said for uid in UID.findall(text))
    asked = [uid for uid in named if uid not in own]
    if not asked:
        words = {word for text in said for word in NAME.findall(text)}
        return await _successor(reading, ending, knowledge, words)
    facts = await reading.facts(
        FactQuery(purpose=Purpose.FAMILIES, uids=asked)
    )
    workloads = Workloads(facts)
    pods = [(pod, workloads.of(pod)) for pod in Placements(facts)]
    # A queue names its own object first, and the Pod or the job behind it.
    for uid in asked:
        for pod, above in pods:
            if above is None or uid not in {pod.pod.uid, above.uid}:
                continue
            return Preemptor(
                kind=above.kind,
                namespace=above.namespace,
                name=above.name,
                pod=pod.pod.name if uid == pod.pod.uid else None,
                actor=await _creator(reading, above, facts, knowledge),
            )
    return None


async def _successor(
    reading: Reading,
    ending: Ending,
    knowledge: Knowledge,
    words: Container[str] | None,
) -> Preemptor | None:
    """Return the workload with one of these names that was bound next.

    Without names, the one that was bound in the same moment to one of the
    nodes.
    """
    at, nodes = ending.at, [ending.node] if ending.node else []
    since, until = at, shifted(at, ASKED_BEFORE)
    if _is_of_slurm(ending):
        nodes, since = list(ending.nodes), shifted(at, -AT_ONCE)
    if words is None:
        until = shifted(at, AT_ONCE)
    if not nodes:
        return None
    stays = [Stay(node, since, until) for node in nodes]
    # Of all Pods that were there, Kubernetes bound few then.
    uids = await (
        reading.names(PodsOn(stays))
        if words is None
        else _bound(reading, stays)
    )
    if not uids:
        return None
    facts = await reading.facts(FactQuery(purpose=Purpose.FAMILIES, uids=uids))
    workloads = Workloads(facts)
    pods = [*Placements(facts)]
    filed = _filed(pods, workloads, facts, words)
    # A Pod that Slurm has as a job says more than that job.
    pods.sort(key=lambda p: JOB not in p.labels and p.pod.name not in filed)
    for pod in pods:
        above = workloads.of(pod)
        if (
            above is not None
            and (
                words is None
                or above.name in words
                or pod.labels.get(JOB) in words
                or pod.pod.name in filed
            )
            and pod.node in nodes
            and pod.bound_at is not None
            and since <= pod.bound_at <= until
        ):
            return Preemptor(
                kind=above.kind,
                namespace=above.namespace,
                name=above.name,
                pod=pod.pod.name,
                actor=await _creator(reading, above, facts, knowledge),
            )
    return None


def _filed(
    pods: Sequence[Placement],
    workloads: Workloads,
    facts: Sequence[StoredFact],
    words: Container[str] | None,
) -> set[str | None]:
    """Return the names of jobs of Slurm: of all, or of those with these ids.

    SUNK makes a placeholder job for each Pod that Slurm places.
    """
    above = (workloads.of(pod) for pod in pods)
    return {
        names.name
        for job in above
        if job is not None and (words is None or job.name in words)
        if (names := slurm_names(job, facts)) is not None
    }


async def _bound(reading: Reading, stays: Sequence[Stay]) -> list[str]:
    """Return the UIDs of the Pods that were bound to nodes during stays."""
    there = await reading.facts(
        FactQuery(
            purpose=Purpose.ALL,
            nodes=[stay.node for stay in stays],
            since=min(stay.since for stay in stays),
            until=max(shifted(stay.until, MOMENT) for stay in stays),
        )
    )
    return [
        pod.pod.uid
        for pod in Placements(there)
        if pod.pod.uid is not None and pod.bound_at is not None
    ]


def _said_by(stored: StoredFact) -> str:
    """Return the message of an Event or a condition."""
    match stored.fact.detail:
        case EventOccurred(message=str(message)):
            return message
        case ConditionChanged(new=new) if new is not None:
            return new.message or ""
        case _:
            return ""


async def _said_by_queue(
    reading: Reading, uid: str, at: datetime
) -> list[str]:
    """Return what the queue of a workload says about its preemption."""
    facts = await reading.facts(
        FactQuery(
            purpose=Purpose.FAMILY,
            uids=[uid],
            since=shifted(at, -ASKED_BEFORE),
            until=shifted(at, ASKED_BEFORE),
        )
    )
    return [
        _said_by(stored)
        for stored in facts
        if stored.fact.object is not None
        and stored.fact.object.kind == "Workload"
    ]


async def _creator(
    reading: Reading,
    workload: Workload,
    facts: Sequence[StoredFact],
    knowledge: Knowledge,
) -> Actor | None:
    """Return who created a workload, where audit says so."""
    appeared = next(
        (
            stored
            for stored in facts
            if stored.fact.object is not None
            and stored.fact.object.uid == workload.uid
        ),
        None,
    )
    if appeared is None or appeared.fact.object is None:
        return None
    thing = appeared.fact.object
    asked = await reading.facts(
        FactQuery(
            purpose=Purpose.REQUESTS,
            objects=[(thing.group, thing.namespace, thing.name)],
            since=shifted(appeared.observed_at, -ASKED_BEFORE),
            until=shifted(appeared.observed_at, ASKED_BEFORE),
        )
    )
    for stored in asked:
        detail = stored.fact.detail
        if (
            isinstance(detail, Requested)
            and detail.verb == "create"
            and not detail.subresource
            and not detail.is_refused
        ):
            return actor_of(stored.fact.actor, knowledge, audited=True)
    return None
