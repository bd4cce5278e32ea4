"""Messages, and their subjects at one moment.

A subject is an incident, a gap, or what ended a workload.

A subject has everything that a message says, so that it can be stored and
posted again; its digest shows whether it has changed.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from urllib.parse import quote

import msgspec

from recorder.answers.coverage import few
from recorder.answers.growing import Trace, trace_of
from recorder.answers.incidents import Incident
from recorder.answers.jobs import Disruption
from recorder.answers.outages import changed_in, possible_of
from recorder.explain.signals.actor import Actor
from recorder.facts.coverage.coverage import Coverage
from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.outages import Outage
from recorder.facts.coverage.ports import Log
from recorder.model.document import json_bytes
from recorder.model.moment import FIRST, optional_time, written
from recorder.model.outcomes import Outcome

FOLLOWED = timedelta(days=7)
"""For how long an incident that is not over is followed."""

WORK_MAX = 20
"""Workloads named in a message; the others are counted."""

NODES_MAX = 50
HOLES_MAX = 5
TEXT_MAX = 1000
"""Characters of one text; a sentence may quote an Event."""


class Kind(StrEnum):
    """What a message is about."""

    INCIDENT = "incident"
    GAP = "gap"
    WORKLOAD = "workload"
    """What ended a workload, or Pods of it."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """A workload that was affected."""

    says: str
    namespace: str
    outcome: str


class Subject(Trace, frozen=True, kw_only=True):
    """An incident or a gap, as a message reports it."""

    kind: Kind
    cluster: str
    cluster_uid: str
    log: int
    is_tape: bool = False
    node: str = ""
    """The node that its sentence names; empty for a gap."""

    node_count: int = 0
    happened: str = ""
    cause: str = ""
    confidence: str = ""
    mode: str = ""
    decided_by: str = ""
    carried_out_by: str = ""
    group: str = ""
    resource: str = ""
    """The resources of a gap, with commas; empty for an incident."""

    workload: str = ""
    """The workload that ended, as commands take it; empty for others."""

    owner: str = ""
    """Who created it; empty if that is not recorded."""

    sentence: str
    withdrawn: str = ""
    """Why it is not reported any longer; empty while it is."""

    work: Sequence[Work] = ()
    work_count: int = 0
    gpu_hours_lost: float = 0.0
    incomplete: Sequence[str] = ()
    """Gaps in the record of that time; empty if it is complete."""

    @property
    def essence(self) -> Mapping[str, object]:
        """The fields that make it a changed one when they differ.

        Without the workloads, whose lost hours grow by the second, and
        without times.
        """
        return {
            "happened": self.happened,
            "cause": self.cause,
            "confidence": self.confidence,
            "mode": self.mode,
            "decided_by": self.decided_by,
            "carried_out_by": self.carried_out_by,
            "nodes": self.nodes,
            "node_count": self.node_count,
            "over": self.over_at is not None,
            "withdrawn": bool(self.withdrawn),
        }

    @property
    def digest(self) -> str:
        """SHA-256 of its essence, the first 16 hexadecimal digits."""
        return hashlib.sha256(json_bytes(self.essence)).hexdigest()[:16]

    @property
    def namespaces(self) -> frozenset[str]:
        """Namespaces of the workloads that are named."""
        return frozenset(one.namespace for one in self.work)

    @property
    def is_lasting(self) -> bool:
        """Whether it is neither over nor withdrawn."""
        return self.over_at is None and not self.withdrawn


class Stage(StrEnum):
    """Why a message is posted."""

    OPENED = "opened"
    CHANGED = "changed"
    RESOLVED = "resolved"
    WITHDRAWN = "withdrawn"


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message of one rule, posted once."""

    rule: str
    name: str
    """The id under which the subject was reported first; it never changes."""

    number: int
    """Counts the messages about the subject, from 1."""

    now: Subject
    was: Subject | None
    first_at: datetime
    """When the first message about the subject was written."""

    @property
    def key(self) -> str:
        """Idempotency key: the same for each attempt, unique per message."""
        now = self.now
        # The cluster UID of a tape may be any text.
        cluster = quote(now.cluster_uid, safe="")
        return (
            f"{cluster}/{now.log}/{self.rule}/{now.kind}/"
            f"{self.name}/{self.number}"
        )

    @property
    def stage(self) -> Stage:
        """Why it is posted."""
        if self.now.withdrawn:
            return Stage.WITHDRAWN
        if self.was is None:
            return Stage.OPENED
        over = self.now.over_at is not None
        if over and self.was.over_at is None:
            return Stage.RESOLVED
        return Stage.CHANGED

    @property
    def is_of_gap(self) -> bool:
        """Whether it is about a gap."""
        return self.now.kind is Kind.GAP

    @property
    def is_of_workload(self) -> bool:
        """Whether it is about what ended a workload."""
        return self.now.kind is Kind.WORKLOAD


class Reported(msgspec.Struct, frozen=True, kw_only=True):
    """The newest message of one rule about a subject."""

    name: str
    number: int
    position: int
    """Up to where the log was judged then."""

    first_at: datetime
    subject: Subject


def of_incident(incident: Incident, log: Log, coverage: Coverage) -> Subject:
    """Return the subject for an incident."""
    first = incident.first
    decided = first.decision
    trace = trace_of(incident.judged)
    began, over = trace.began_at, trace.over_at
    hits = incident.hits
    hours = sum(hit.gpu_hours_attributed for hit in hits)
    return Subject(
        kind=Kind.INCIDENT,
        id=trace.id,
        ids=trace.ids[:NODES_MAX],
        cluster=log.cluster_name,
        cluster_uid=log.cluster_uid,
        log=log.id,
        is_tape=log.is_tape,
        node=first.node,
        nodes=incident.nodes[:NODES_MAX],
        node_count=len(incident.nodes),
        happened=first.happened,
        cause=first.cause,
        confidence=first.confidence,
        mode=first.mode,
        decided_by=_named(None if decided is None else decided.actor),
        carried_out_by=_named(
            None if decided is None else decided.carried_out_by
        ),
        group=incident.group,
        sentence=_cut(incident.sentence),
        at=trace.at,
        began_at=began,
        over_at=over,
        work=[
            Work(
                says=_cut(str(hit.workload)),
                namespace=hit.workload.namespace,
                outcome=hit.outcome,
            )
            for hit in hits[:WORK_MAX]
        ],
        work_count=len(hits),
        gpu_hours_lost=round(hours, 2),
        incomplete=_lacking((*coverage.opened, *coverage.holes), began, over),
    )


GOES_ON = frozenset({Outcome.DOWN, Outcome.PREEMPTED})
"""Outcomes of a workload that may run again."""


def of_ending(
    disruption: Disruption,
    log: Log,
    coverage: Coverage,
    *,
    name: str,
    owner: str | None,
) -> Subject:
    """Return the subject for what ended a workload."""
    ending, workload = disruption.ending, disruption.workload
    verdict, preemptor = ending.verdict, ending.preemptor
    over = ending.running_again_at
    if over is None and ending.outcome not in GOES_ON:
        over = ending.at
    began = ending.first_at or ending.at
    decided = None if verdict is None else verdict.decision
    actor = ending.actor
    if actor is None and preemptor is not None:
        actor = preemptor.actor
    if actor is None and decided is not None:
        actor = decided.actor
    outcome = ending.outcome or ending.ended_by
    return Subject(
        kind=Kind.WORKLOAD,
        id=str(ending.id),
        ids=[str(ending.id)],
        cluster=log.cluster_name,
        cluster_uid=log.cluster_uid,
        log=log.id,
        is_tape=log.is_tape,
        node=ending.node or "",
        nodes=ending.nodes[:NODES_MAX],
        node_count=ending.node_count,
        happened=ending.ended_by,
        cause="" if verdict is None else verdict.cause,
        confidence=ending.confidence,
        mode="" if verdict is None else verdict.mode,
        decided_by=_named(actor),
        workload=name,
        owner=owner or "",
        sentence=_cut(ending.sentence),
        at=ending.at,
        began_at=began,
        over_at=over,
        work=[
            Work(
                says=_cut(str(workload)),
                namespace=workload.namespace,
                outcome=outcome,
            )
        ],
        work_count=1,
        gpu_hours_lost=round(ending.gpu_hours_lost or 0.0, 2),
        incomplete=_lacking((*coverage.opened, *coverage.holes), began, over),
    )


def of_outage(outage: Outage, log: Log) -> Subject:
    """Return the subject for an outage: its gaps are one message."""
    until = "" if outage.until is None else f" until {written(outage.until)}"
    possible = "; ".join(possible_of(outage))
    lacking = f"; may be missing: {possible}" if possible else ""
    known = changed_in(outage)
    changed = f"; known to differ: {known}" if known else ""
    since = optional_time(outage.since) or "the beginning"
    said = (
        f"{few(outage.resources)} not confirmed complete from"
        f" {since}{until}: {outage.reason}{changed}{lacking}"
    )
    names = [str(gap) for gap in outage.gaps]
    begin = FIRST if outage.since is None else outage.since
    return Subject(
        kind=Kind.GAP,
        id=names[0],
        ids=names,
        cluster=log.cluster_name,
        cluster_uid=log.cluster_uid,
        log=log.id,
        is_tape=log.is_tape,
        resource=", ".join(outage.resources),
        sentence=_cut(said),
        at=begin,
        began_at=begin,
        over_at=outage.until,
        incomplete=[_cut(said)],
    )


def _named(actor: Actor | None) -> str:
    if actor is None:
        return ""
    return actor.name or (f"someone using {actor.tool}" if actor.tool else "")


def _lacking(
    holes: Iterable[Hole], began: datetime, over: datetime | None
) -> Sequence[str]:
    found = [
        f"{hole.resource or 'everything'}: {hole.reason}"
        for hole in holes
        if hole.since is not None
        and (over is None or hole.begin <= over)
        and (hole.until is None or hole.until >= began)
    ]
    shown = [_cut(text) for text in dict.fromkeys(found)]
    more = len(shown) - HOLES_MAX
    return shown[:HOLES_MAX] + ([f"and {more} more"] if more > 0 else [])


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…"
