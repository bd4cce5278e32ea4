"""Answers of `recorder postmortem`: everything about one incident.

It names the position up to which the log was read, so that anyone can repeat
the command later and get the same bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from msgspec import field, structs

from recorder.answers.entry import facts_of
from recorder.answers.facts import ListedFact, listed_fact
from recorder.answers.impact import Impact, ImpactSubject, ask_impact
from recorder.answers.incident import NoIncidentError, ask_incident
from recorder.answers.lessons import action_items, factors, summary
from recorder.answers.loading.fleet import LOOKBACK
from recorder.answers.metrics import (
    KeptMetrics,
    bearing_on,
    kept_metrics,
    peers_last,
)
from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    ImpactQuestion,
    PostmortemQuestion,
    WhyQuestion,
    WhyWorkloadQuestion,
)
from recorder.answers.phases import Phase, phases, phases_of_endings
from recorder.answers.ports import Reading
from recorder.answers.queries import NodeNames
from recorder.answers.references import object_named
from recorder.answers.why import ask_why
from recorder.answers.why_workload import WhyWorkload, ask_why_workload
from recorder.explain.ending import Ending
from recorder.explain.hit import Totals
from recorder.explain.knowledge import Knowledge
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.explain.verdict import Evidence, Verdict
from recorder.facts.coverage.coverage import Coverage
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import Log
from recorder.model.document import Document
from recorder.model.errors import NotFoundError
from recorder.model.fact import StoredFact
from recorder.model.moment import shifted, written
from recorder.model.outcomes import EndedBy, Role
from recorder.model.reference import EntryName
from recorder.model.window import Window

NODES_MAX = 64
"""Nodes in one report; an incident of more nodes is one of the control
plane."""


class LogPosition(Document, frozen=True, kw_only=True):
    """What a report rests on: a log up to an entry."""

    id: int
    position: int


class PostmortemSubject(Document, frozen=True, kw_only=True):
    """What it is about."""

    cluster: str
    subject: str
    """As the command line takes it."""

    node: str | None
    """Null for a report of several nodes."""

    nodes: Sequence[str]
    since: datetime | None
    until: datetime | None


class Postmortem(Document, frozen=True, kw_only=True):
    """Summary, impact, phases, verdicts, evidence and gaps."""

    question: PostmortemSubject
    """With the window that the report is of."""

    subject: str = field(name="_subject")
    """What it is about, in words."""

    summary: Sequence[str]
    """What happened and why, the cost, and the confidence."""

    phases: Sequence[Phase]
    factors: Sequence[str]
    """What contributed, by the links of the verdicts."""

    action_items: Sequence[str]
    """What the evidence suggests to do."""

    timeline: Sequence[ListedFact]
    endings: Sequence[Ending]
    """What ended the workload, if it is about one."""

    verdicts: Sequence[Verdict]
    impact: Impact
    metrics: Sequence[KeptMetrics]
    """What a metrics store knew of the nodes, of the metrics that speak for
    or against their faults."""

    coverage: Coverage
    verdict_gaps: Sequence[Gap]
    """Those that a verdict rests on, also where they lie before the
    window."""

    log: LogPosition

    @property
    def position(self) -> EntryName:
        """The entry up to which the log was read."""
        return EntryName(self.log.id, self.log.position)

    @property
    def evidence(self) -> Sequence[Evidence]:
        """The evidence of all verdicts, each once, in order of events.

        Without verdicts, the records of what ended the workload.
        """
        return _evidence(self.verdicts) or _records(self.endings)

    @property
    def began_at(self) -> datetime | None:
        """When what it is about began; None if nothing is recorded."""
        begun = [verdict.began_at for verdict in self.verdicts]
        begun += [ending.at for ending in self.endings]
        return min(begun, default=None)

    @property
    def command(self) -> str:
        """The command that repeats this report."""
        asked = self.question
        words = ["recorder postmortem", asked.subject]
        if asked.since is not None:
            words.append(f"--since {written(asked.since)}")
        if asked.until is not None:
            words.append(f"--until {written(asked.until)}")
        return " ".join([*words, f"--as-of {self.position}"])

    @property
    def origin(self) -> str:
        """The log, its cluster, the position and the window, in words."""
        window = self.coverage.window
        begin = "the beginning"
        if window.since is not None:
            begin = written(window.since)
        end = "" if window.until is None else f" to {written(window.until)}"
        return (
            f"From log {self.log.id} of cluster {self.question.cluster} up to"
            f" entry {self.position}, from {begin}{end}"
        )


async def ask_postmortem(
    reading: Reading,
    question: PostmortemQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Postmortem:
    """Return the report on an incident.

    Raises:
        NotFoundError: the log has no such node, rack, workload, incident or
            ending.
        ConfigError: several workloads have the name.
    """
    reading = await reading.pinned(reading.log.size)
    asked = await _resolved(reading, question, knowledge, now=now)
    window, workload = asked.question.window, asked.workload
    if workload is not None and not asked.nodes:
        impact = _no_impact(reading.log, window, workload)
    else:
        selected = ImpactQuestion(
            nodes=() if asked.question.is_of_place else asked.nodes,
            rack=asked.question.rack,
            place=asked.question.place,
            labels=(),
            window=window,
        )
        impact = await ask_impact(reading, selected, knowledge, now=now)
    struck = dict.fromkeys(failure.node for failure in impact.failures)
    nodes = asked.nodes or tuple(struck)[:NODES_MAX]
    whys = [
        await ask_why(
            reading,
            WhyQuestion(node=node, window=window),
            knowledge,
            now=now,
        )
        for node in nodes
    ]
    verdicts = sorted(
        (verdict for why in whys for verdict in why.verdicts),
        key=lambda v: (v.at, v.effect.position),
    )
    gaps = await _gaps(reading, verdicts, impact.coverage)
    found = _report(reading.log, asked, nodes, verdicts, impact, gaps)
    faults = {one.fault.fault for one in verdicts if one.fault is not None}
    kept = await kept_metrics(
        reading,
        {one.node for one in verdicts},
        window,
        knowledge,
        bearing_on(knowledge, faults),
    )
    return structs.replace(found, metrics=peers_last(kept))


def _no_impact(log: Log, window: Window, workload: WhyWorkload) -> Impact:
    """Return the impact of no node, with the coverage of a workload."""
    return Impact(
        question=ImpactSubject(
            cluster=log.cluster_name,
            nodes=(),
            since=window.since,
            until=window.until,
        ),
        failures=(),
        workloads=(),
        totals=Totals.of(()),
        coverage=workload.coverage,
    )


def _report(
    log: Log,
    asked: "_Resolved",
    nodes: Sequence[str],
    verdicts: Sequence[Verdict],
    impact: Impact,
    gaps: Sequence[Gap],
) -> Postmortem:
    hits, question, endings = impact.workloads, asked.question, asked.endings
    subject = question.subject or ", ".join(nodes)
    if asked.workload is not None:
        subject = str(asked.workload.workload)
    return Postmortem(
        question=PostmortemSubject(
            cluster=log.cluster_name,
            subject=question.words,
            node=nodes[0] if len(nodes) == 1 else None,
            nodes=nodes,
            since=question.window.since,
            until=question.window.until,
        ),
        subject=subject,
        summary=summary(subject, verdicts, endings, impact, gaps),
        phases=phases(verdicts, hits) or phases_of_endings(endings),
        factors=factors(verdicts),
        action_items=action_items(verdicts, endings, hits, gaps),
        timeline=[
            listed_fact(one.sign.stored, role=one.role)
            for one in _evidence(verdicts)
        ]
        or [listed_fact(one, role=Role.EFFECT) for one in _facts(endings)],
        endings=endings,
        verdicts=verdicts,
        impact=impact,
        metrics=(),
        coverage=impact.coverage,
        verdict_gaps=gaps,
        log=LogPosition(id=log.id, position=log.visible_size),
    )


def _facts(endings: Sequence[Ending]) -> Sequence[StoredFact]:
    """Return the facts that record endings, in order of events."""
    facts = [record.stored for one in endings for record in one.evidence]
    return sorted(facts, key=order_of(facts))


def _records(endings: Sequence[Ending]) -> Sequence[Evidence]:
    about, role = Subject(Topic.CONTAINER), Role.EFFECT
    signs = [Signal(role, about, stored) for stored in _facts(endings)]
    return [Evidence.of(role, sign) for sign in signs]


def _evidence(verdicts: Sequence[Verdict]) -> Sequence[Evidence]:
    found: dict[tuple[int, int], Evidence] = {}
    for verdict in verdicts:
        for one in verdict.evidence:
            stored = one.sign.stored
            found.setdefault((stored.entry.position, stored.index), one)
    place = order_of(one.sign.stored for one in found.values())
    return sorted(found.values(), key=lambda one: place(one.sign.stored))


@dataclass(frozen=True, slots=True)
class _Resolved:
    """The nodes, none for a rack, and the question with its window."""

    nodes: tuple[str, ...]
    question: PostmortemQuestion
    workload: WhyWorkload | None = None
    """The answer about the workload, if it is about one."""

    endings: Sequence[Ending] = ()
    """What ended it."""


async def _resolved(
    reading: Reading,
    question: PostmortemQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> _Resolved:
    """Return the nodes and the window of a report.

    The window is that of the latest incident of the subject by default.
    """
    question = await _with_node(reading, question)
    if question.ending is not None:
        return await _ending(reading, question.ending, knowledge, now=now)
    if question.incident is not None:
        name = question.incident
        try:
            return await _incident(reading, name, knowledge, now=now)
        except NoIncidentError:
            return await _ending(reading, name, knowledge, now=now)
    if question.workload is not None:
        return await _workload(reading, question, knowledge, now=now)
    if question.is_of_place:
        return await _of_place(reading, question, knowledge, now=now)
    assert question.node is not None, "the question has one of the five"
    window = question.window
    if window == Window():
        asked = WhyQuestion(node=question.node, window=window)
        why = await ask_why(reading, asked, knowledge, now=now)
        if why.verdicts:
            window = _around(why.verdicts[-1:])
    return _Resolved((question.node,), replace(question, window=window))


async def _with_node(
    reading: Reading, question: PostmortemQuestion
) -> PostmortemQuestion:
    """Return the question about the node that a bare name means, if any."""
    named = question.workload
    if named is None or named.word:
        return question
    nodes = await reading.names(NodeNames([named.name]))
    if named.name not in nodes:
        return question
    return replace(question, workload=None, node=named.name)


async def _workload(
    reading: Reading,
    question: PostmortemQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> _Resolved:
    """Return the endings of a workload, and the nodes behind them.

    Without a window, the last ending that is no completion.
    """
    named, window = question.workload, question.window
    assert named is not None, "a workload is named"
    asked = WhyWorkloadQuestion(object=named, window=window)
    why = await ask_why_workload(reading, asked, knowledge, now=now)
    if window == Window() and (endings := _disruptions(why)):
        window = Window(_begin(endings[-1]), None)
        asked = WhyWorkloadQuestion(object=named, window=window)
        why = await ask_why_workload(reading, asked, knowledge, now=now)
    question = replace(question, window=window)
    return _of_endings(question, why, _disruptions(why))


def _disruptions(why: WhyWorkload) -> Sequence[Ending]:
    """Return endings without completions, if there are others."""
    some = [e for e in why.endings if e.ended_by is not EndedBy.COMPLETION]
    return some or why.endings


def _begin(ending: Ending) -> datetime:
    """Return when an ending began, or what happened to its nodes."""
    begun = [verdict.began_at for verdict in ending.every_verdict]
    return min([ending.first_at or ending.at, *begun])


def _of_endings(
    question: PostmortemQuestion,
    why: WhyWorkload,
    endings: Sequence[Ending],
) -> _Resolved:
    nodes = dict.fromkeys(v.node for e in endings for v in e.every_verdict)
    return _Resolved(tuple(nodes)[:NODES_MAX], question, why, endings)


async def _ending(
    reading: Reading, name: EntryName, knowledge: Knowledge, *, now: datetime
) -> _Resolved:
    """Return one ending of a workload, by its id.

    Raises:
        NotFoundError: there is no such ending.
    """
    for stored in await facts_of(reading, name):
        thing = stored.fact.object
        if thing is None:
            continue
        named = Reference.parse(object_named(thing))
        asked = WhyWorkloadQuestion(object=named, window=Window())
        try:
            why = await ask_why_workload(reading, asked, knowledge, now=now)
        except NotFoundError:
            continue
        found = [one for one in why.endings if one.id == name]
        if found:
            window = Window(_begin(found[0]), None)
            question = PostmortemQuestion(ending=name, window=window)
            return _of_endings(question, why, found)
    msg = f"there is no incident or ending {name} in {reading.log.named}"
    advice = "`recorder incidents -o json` lists the ids of incidents"
    raise NoIncidentError(msg, advice=advice)


async def _of_place(
    reading: Reading,
    question: PostmortemQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> _Resolved:
    """Return the window of the question, or of the latest incident."""
    window = question.window
    if window == Window():
        selected = ImpactQuestion(
            rack=question.rack, place=question.place, window=window
        )
        found = await ask_impact(reading, selected, knowledge, now=now)
        if found.failures:
            last = found.failures[-1].verdict
            one = await _incident(reading, last, knowledge, now=now)
            window = one.question.window
    return _Resolved((), replace(question, window=window))


async def _incident(
    reading: Reading, name: EntryName, knowledge: Knowledge, *, now: datetime
) -> _Resolved:
    """Return the nodes and the window of an incident."""
    (one,) = (await ask_incident(reading, name, knowledge, now=now)).incidents
    nodes = tuple(one.nodes[:NODES_MAX])
    window = _around(one.judged)
    if len(nodes) == 1:
        return _Resolved(
            nodes, PostmortemQuestion(node=nodes[0], window=window)
        )
    return _Resolved(nodes, PostmortemQuestion(incident=name, window=window))


async def _gaps(
    reading: Reading, verdicts: Sequence[Verdict], coverage: Coverage
) -> Sequence[Gap]:
    """Return the gaps that verdicts name, in log order."""
    named = {gap for verdict in verdicts for gap in verdict.gaps}
    found = {gap.opened: gap for gap in coverage.opened}
    since = coverage.window.since
    if since is not None and named - found.keys():
        async for gap in reading.gaps(shifted(since, -LOOKBACK)):
            found.setdefault(gap.opened, gap)
    return [found[name] for name in sorted(named & found.keys())]


def _around(verdicts: Sequence[Verdict]) -> Window:
    """Return the window from the begin of verdicts to the end of the log."""
    return Window(min(verdict.began_at for verdict in verdicts), None)


Place = tuple[datetime, int, int]

REST = timedelta(seconds=1) - timedelta(microseconds=1)
NONE = timedelta()


def order_of(facts: Iterable[StoredFact]) -> Callable[[StoredFact], Place]:
    """Return the sort key of facts in order of events.

    Kubernetes truncates most times to the second, so a fact happened some time
    in that second. Within it the time of observation decides, then the place
    in the log, which has the versions of an object in order. The clock of the
    cluster may be ahead of ours, at least by as much as facts were observed
    before the time that they state.
    """
    ahead = max(
        (
            stored.fact.occurred_at - stored.observed_at
            for stored in facts
            if stored.fact.occurred_at is not None
        ),
        default=NONE,
    )

    def place(stored: StoredFact) -> Place:
        at = stored.at
        if stored.fact.occurred_at is not None and at.microsecond == 0:
            seen = shifted(stored.observed_at, max(ahead, NONE))
            at = min(max(at, seen), shifted(at, REST))
        return at, stored.entry.position, stored.index

    return place
