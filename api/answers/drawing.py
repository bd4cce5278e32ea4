"""A timeline in types: spans, Pods, the node before and after."""

from collections.abc import Awaitable, Callable

import strawberry

from api.types.timeline import (
    BootSpan,
    ConditionSpan,
    CordonSpan,
    Placement,
    ServiceSpan,
    TaintSpan,
    Timeline,
)
from api.types.words import ServiceState
from recorder.answers.facts import shown_node
from recorder.answers.timeline import Timeline as Answered
from recorder.answers.timeline import is_fault, service
from recorder.knowledge import Knowledge
from recorder.projections import Placement as KnownPlacement
from recorder.projections import Workload
from recorder.projections.lanes import (
    BOOT,
    CONDITION,
    CORDON,
    SERVICE,
    TAINT,
    Lanes,
    Span,
)

__all__ = ["placement_of", "timeline_of"]

FACTS_MAX = 5000
"""Of one timeline; a day of one node has a few hundred."""


Placed = Callable[[], Awaitable[list[Placement]]]


def timeline_of(
    answer: Answered, knowledge: Knowledge, placed: Placed
) -> Timeline:
    """Return a timeline as the schema shows it."""
    coverage = answer.coverage
    lanes = answer.lanes
    return Timeline(
        node=answer.node,
        window=answer.window,
        before=shown_node(answer.base, service(answer.base, knowledge)),
        after=shown_node(answer.state, service(answer.state, knowledge)),
        service=_service(lanes),
        conditions=_conditions(lanes, knowledge),
        boots=[
            BootSpan(
                from_=span.since,
                to=span.to,
                boot_id=span.value,
                entry=_entry(span),
            )
            for span in lanes.spans(BOOT)
        ],
        taints=list(map(_taint, lanes.spans(TAINT))),
        cordons=[
            CordonSpan(
                from_=span.since,
                to=span.to,
                actor=_actor(span),
                entry=_entry(span),
            )
            for span in lanes.spans(CORDON)
        ],
        placed=placed,
        facts=[*answer.facts[:FACTS_MAX]],
        more_facts=max(len(answer.facts) - FACTS_MAX, 0),
        gaps=[*coverage.gaps],
        coverage=coverage,
    )


def _entry(span: Span) -> strawberry.ID | None:
    began = span.began
    return None if began is None else strawberry.ID(str(began.entry))


def _actor(span: Span) -> str | None:
    return None if span.began is None else span.began.fact.actor


def _service(lanes: Lanes) -> list[ServiceSpan]:
    return [
        ServiceSpan(
            from_=span.since,
            to=span.to,
            state=ServiceState(span.value),
            entry=_entry(span),
        )
        for span in lanes.spans(SERVICE)
    ]


def _conditions(lanes: Lanes, knowledge: Knowledge) -> list[ConditionSpan]:
    return [
        ConditionSpan(
            type=span.of,
            from_=span.since,
            to=span.to,
            status=str(span.value[0]),
            reason=span.value[1],
            message=span.value[2],
            is_fault=is_fault(span.of, span.value[0], knowledge),
            entry=_entry(span),
        )
        for span in lanes.spans(CONDITION)
    ]


def _taint(span: Span) -> TaintSpan:
    key, _, effect = span.of.rpartition(":")
    return TaintSpan(
        key=key,
        effect=effect,
        value=span.value,
        from_=span.since,
        to=span.to,
        actor=_actor(span),
        entry=_entry(span),
    )


def placement_of(
    placement: KnownPlacement, workload: Workload | None
) -> Placement:
    """Return a Pod's time on a node as the schema shows it."""
    return Placement(
        namespace=placement.pod.namespace,
        pod=placement.pod.name,
        uid=placement.pod.uid,
        node=placement.node,
        workload=workload,
        gpus=placement.gpus,
        bound_at=placement.bound_at,
        running_at=placement.running_at,
        deleting_at=placement.deleting_at,
        ended_at=placement.ended_at,
        restarted_at=placement.restarted_at,
        phase=placement.phase,
        disruption=placement.disruption,
        exit_codes=list(placement.exit_codes),
        entries=[strawberry.ID(entry) for entry in placement.entries],
    )
