"""Answers of `recorder why` of a workload or a Pod: what ended it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from textwrap import wrap

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from recorder.answers.checkpoints import lost_since_checkpoint
from recorder.answers.loading.authors import with_author
from recorder.answers.loading.hits import hits_on
from recorder.answers.loading.nodes import (
    account_of_work,
    is_authored,
)
from recorder.answers.loading.waiting import Obstacle, obstacles_to
from recorder.answers.node_questions import WhyWorkloadQuestion
from recorder.answers.ports import Reading
from recorder.answers.references import KnownObject
from recorder.answers.sentences import counted, gpu_hours
from recorder.answers.slurm_names import SlurmNames, slurm_names, slurm_row
from recorder.answers.text.lines import plain
from recorder.answers.text.shown import Text
from recorder.answers.why import WIDTH, cut, path_lines, row_lines
from recorder.answers.workload_named import (
    find_workload,
    workload_of,
)
from recorder.explain.ending import Ending, Preemptor
from recorder.explain.ending_sentences import ending_sentence, state_sentence
from recorder.explain.endings import Life, endings_of, facts_by_object
from recorder.explain.knowledge import Knowledge
from recorder.explain.signals.around import is_listed
from recorder.explain.verdict import Verdict
from recorder.explain.workload_state import state_after, state_of
from recorder.facts.coverage.coverage import Coverage, cover
from recorder.facts.projections import (
    Placement,
    Placements,
    Workload,
    Workloads,
)
from recorder.model.document import Document
from recorder.model.fact import StoredFact
from recorder.model.moment import shifted, written
from recorder.model.outcomes import EndedBy, WorkloadState
from recorder.model.window import Window

SOON = timedelta(minutes=5)
"""How long after the time of a question an ending may be, and be meant."""

MOMENT = timedelta(seconds=1)

WAITS = frozenset(
    {WorkloadState.PENDING, WorkloadState.QUEUED, WorkloadState.SUSPENDED}
)
"""States in which something may keep a workload from starting."""

OVER = frozenset({WorkloadState.COMPLETED, WorkloadState.FAILED})
ENDED = OVER | {WorkloadState.DELETED}


class WhyWorkloadSubject(Document, frozen=True, kw_only=True):
    """Which object, and when."""

    cluster: str
    object: str
    since: datetime | None
    until: datetime | None
    at: datetime | UnsetType = UNSET


class WhyWorkload(Document, frozen=True, kw_only=True):
    """What ended a workload or a Pod, and how it was last seen."""

    question: WhyWorkloadSubject
    note: str | None
    """That the workload is of another kind than asked, in words."""

    workload: Workload

    pod: str | None
    """The Pod that was asked about, if it was one."""

    slurm: SlurmNames | UnsetType = UNSET
    """Of a job of Slurm: whose it is."""

    state: WorkloadState
    """The last one known in the record, whatever time is asked about."""

    since: datetime | None
    """Since when it is in this state, if known."""

    sentence: str

    endings: Sequence[Ending]
    """In order of time; empty if nothing recorded ended it."""

    gpu_hours_since_checkpoint: float | None
    """What its GPUs had computed since the last checkpoint before each of
    these endings; lost in addition. Null without a checkpoint."""

    obstacles: Sequence[Obstacle]
    """What keeps it from starting, the newest last; empty if it started."""

    coverage: Coverage


async def ask_why_workload(
    reading: Reading,
    question: WhyWorkloadQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> WhyWorkload:
    """Find what ended a workload or a Pod.

    Raises:
        NotFoundError: the log has no such object, or it had no Pods.
    """
    window = question.window
    await reading.reach(window.since, window.until)
    named = await find_workload(reading, question.object, until=window.until)
    found = named.found
    subject = await _subject(reading, question, found)
    workload, workloads = subject.workload, Workloads(subject.facts)
    pod, own = subject.pod, subject.own
    state, since = subject.state(workloads)
    endings = await _endings(reading, question, subject, knowledge, now=now)
    chosen = _asked(endings, question, own, pod is not None)
    if len(subject.groups) > 1:
        workload = replace(workload, group=UNSET)
    lasting = [ending for ending in endings if not ending.routine]
    state = state_after(state, lasting, own)
    obstacles: Sequence[Obstacle] = ()
    if state in WAITS and pod is None:
        obstacles = await obstacles_to(
            reading, subject.facts, window.until, knowledge
        )
    said = subject.says(state, since)
    if question.at is not None and state not in ENDED:
        said += ", as of the end of the record"
    said += _held(obstacles)
    said += "" if chosen or obstacles else "; nothing recorded ended it"
    if workloads.may_be_part(workload):
        said += "; what owns it is not recorded"
    return WhyWorkload(
        question=WhyWorkloadSubject(
            cluster=reading.log.cluster_name,
            object=str(question.object),
            since=window.since,
            until=window.until,
            at=question.at or UNSET,
        ),
        note=named.note,
        workload=workload,
        pod=pod,
        slurm=slurm_names(workload, subject.facts) or UNSET,
        state=state,
        since=since,
        sentence=f"{said.removesuffix('.')}.",
        endings=[ending.bounded() for ending in chosen],
        gpu_hours_since_checkpoint=await lost_since_checkpoint(
            reading, (one.hit for one in chosen)
        ),
        obstacles=obstacles,
        coverage=await _covered(
            reading, question, subject.pods, chosen, now=now
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """A workload with its Pods, or one Pod of it."""

    workload: Workload
    facts: Sequence[StoredFact]
    """About the workload and all of its Pods."""

    groups: Mapping[Workload, Sequence[Placement]]
    """The Pods by group; one without Pods if it has none."""

    own: Sequence[Placement]
    """The Pods in question."""

    pod: str | None
    """The Pod that was asked about, if it was one."""

    @property
    def pods(self) -> Sequence[Placement]:
        """The Pods of all groups."""
        return [pod for group in self.groups.values() for pod in group]

    def state(
        self, workloads: Workloads
    ) -> tuple[WorkloadState, datetime | None]:
        """Return the last known state, and since when."""
        is_pod = self.pod is not None
        return state_of(
            self.own, self.workload, workloads, self.facts, is_pod=is_pod
        )

    def says(self, state: WorkloadState, since: datetime | None) -> str:
        """Return the sentence for its state; without groups, of them all."""
        workload = self.workload
        if len(self.groups) > 1:
            workload = replace(workload, group=UNSET)
        listed = state in OVER and any(
            is_listed(stored) and stored.observed_at == since
            for stored in self.facts
        )
        name = _named(workload, self.pod)
        return state_sentence(name, state, since, workload.part, listed=listed)


async def _subject(
    reading: Reading, question: WhyWorkloadQuestion, found: KnownObject
) -> _Subject:
    facts, workload = await workload_of(
        reading, question.object, found, until=question.window.until
    )
    is_pod = found.kind.kind == "Pod"
    groups = _groups(facts, Workloads(facts), workload, alone=is_pod)
    pods = [pod for group in groups.values() for pod in group]
    own = [p for p in pods if not is_pod or p.pod.uid in found.uids]
    return _Subject(
        workload=workload,
        facts=facts,
        groups=groups or {workload: []},
        own=own,
        pod=own[-1].pod.name if is_pod else None,
    )


async def _endings(
    reading: Reading,
    question: WhyWorkloadQuestion,
    subject: _Subject,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> list[Ending]:
    """Return what ended the groups of a workload, in order of time."""
    window, facts, pods = question.window, subject.facts, subject.pods
    begun = [p.bound_at for p in pods if p.bound_at is not None]
    await reading.reach(min(begun, default=window.since), window.until)
    hits, verdicts = await hits_on(
        reading, facts, pods, window.until, knowledge, now=now
    )
    workloads, by_object = Workloads(facts), facts_by_object(facts)
    endings: list[Ending] = []
    for one, members in subject.groups.items():
        life = Life(one, members, by_object, workloads)
        for ending in endings_of(life, hits, verdicts):
            authored = await with_author(reading, ending, knowledge)
            said = ending_sentence(one, authored, subject.pod)
            endings.append(replace(authored, sentence=said))
    return sorted(endings, key=lambda ending: ending.at)


def _held(obstacles: Sequence[Obstacle]) -> str:
    """Return the newest obstacle in words."""
    if not obstacles:
        return ""
    last = obstacles[-1]
    by = last.actor.name if last.actor is not None else None
    return f": {last.says}{f' (by {by})' if by else ''}"


def _named(workload: Workload, pod: str | None) -> str:
    if pod is None or workload.kind == "Pod":
        return str(workload)
    part = workload.part.capitalize()
    return f"{part} {workload.namespace}/{pod} of {workload}"


def _groups(
    facts: Sequence[StoredFact],
    workloads: Workloads,
    workload: Workload,
    *,
    alone: bool,
) -> dict[Workload, list[Placement]]:
    """Return the Pods of a workload, by group.

    Args:
        facts: facts about all Pods.
        workloads: from the same facts.
        workload: the one in question, or one group of it.
        alone: whether to return only this group.
    """
    found: dict[Workload, list[Placement]] = {}
    for pod in Placements(facts):
        owner = workloads.of(pod)
        if owner is None and pod.pod.uid == workload.uid:
            owner = workload  # it belongs to its node
        if owner is None or owner.uid != workload.uid:
            continue
        if owner == workload or not (alone or owner.uid is None):
            found.setdefault(owner, []).append(pod)
    return found


def _asked(
    endings: Sequence[Ending],
    question: WhyWorkloadQuestion,
    own: Sequence[Placement],
    is_pod: bool,  # noqa: FBT001 - a property of the object
) -> Sequence[Ending]:
    """Return the endings that the question selects."""
    if is_pod:
        names = {p.pod.name for p in own}
        endings = [e for e in endings if names & {*e.pods, *e.stopped}]
    else:
        endings = [e for e in endings if not e.routine]
    window, at = question.window, question.at
    if at is not None:
        before = [e for e in endings if e.at <= at]
        soon = [e for e in endings if at < e.at <= shifted(at, SOON)]
        return before[-1:] or soon[:1]
    return [
        e
        for e in endings
        if (window.since is None or e.at >= window.since)
        and (window.until is None or e.at < window.until)
    ]


async def _covered(
    reading: Reading,
    question: WhyWorkloadQuestion,
    pods: Sequence[Placement],
    endings: Sequence[Ending],
    *,
    now: datetime,
) -> Coverage:
    """Return the coverage of the window, or of the life of the Pods."""
    since, until = question.window.since, question.window.until
    if since is None and not any(p.listed for p in pods):
        since = min((p.seen_at for p in pods if p.seen_at), default=None)
    account = await account_of_work(reading, Window(since, until), now=now)
    observed = [s.observed_at for e in endings for s in e.evidence]
    ends = [p.gone_at or p.ended_at for p in pods]
    over = [at for at in ends if at is not None]
    proven = account.proven_until
    if until is None and proven and ends and len(over) == len(ends):
        # What happened after the last Pod ended is not in question.
        end = shifted(max([*over, *observed]), MOMENT)
        if end < proven:
            account = await account_of_work(
                reading, Window(since, end), now=now
            )
    return cover(
        account,
        times=[*(ending.at for ending in endings), *observed],
        authored=is_authored,
    )


NAMES_SHOWN = 10
"""Pods or nodes named in a line; a gang may have thousands."""

RECORDS_SHOWN = 8
"""Records shown of one ending without ``-v``."""


def why_workload_lines(
    answer: WhyWorkload, *, verbose: bool = False
) -> Iterator[str]:
    """Yield the last state, then the endings, the newest in full.

    ``verbose`` shows all of them in full.
    """
    if not _repeats_state(answer):
        yield from wrap(plain(answer.sentence), WIDTH)
        yield from _obstacles(answer.obstacles)
        yield from [""] * bool(answer.endings)
    if answer.gpu_hours_since_checkpoint is not None:
        hours = gpu_hours(answer.gpu_hours_since_checkpoint)
        yield from row_lines("redone", f"{hours} since the last checkpoint")
    if isinstance(answer.slurm, SlurmNames):
        yield from row_lines("slurm", slurm_row(answer.slurm))
        yield from [""] * bool(answer.endings)
    for place, ending in enumerate(reversed(answer.endings)):
        if place:
            yield ""
        if place and not verbose:
            date = f"{ending.at:%Y-%m-%d}"
            yield from row_lines("before", f"{date} {ending.sentence}")
        else:
            yield from _ending(ending, verbose=verbose)


def _obstacles(obstacles: Sequence[Obstacle]) -> Iterator[str]:
    """Yield what keeps a workload from starting, the newest last."""
    if obstacles:
        yield ""
    for one in obstacles:
        yield from row_lines(str(one.entry), f"{written(one.at)} {one.says}")


def _repeats_state(answer: WhyWorkload) -> bool:
    """Return whether the newest ending is that of the workload itself.

    Its sentence then says the state, and who brought it about.
    """
    last = answer.endings[-1] if answer.endings else None
    return (
        last is not None
        and not last.pods
        and last.ended_by in {EndedBy.COMPLETION, EndedBy.DELETION}
        and answer.since is not None
        and abs(last.at - answer.since) <= MOMENT
    )


def _ending(ending: Ending, *, verbose: bool) -> Iterator[str]:
    yield from wrap(plain(ending.sentence), WIDTH)
    yield ""
    for name, value in ending_rows(ending, verbose=verbose):
        yield from row_lines(name, value)
    if ending.evidence:
        yield ""
        yield from _records(ending, verbose=verbose)
    if ending.verdicts:
        yield ""
        yield from _nodes(ending, verbose=verbose)
    if ending.missing:
        yield ""
    for one in ending.missing:
        yield from row_lines(
            "missing", f"{one.evidence}: would show {one.would_tell}"
        )


def ending_rows(
    ending: Ending, *, verbose: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield what is known of an ending, as names and values.

    ``verbose`` names all Pods and nodes.
    """
    yield "ended by", f"{ending.ended_by} ({ending.confidence})"
    if ending.outcome is not None:
        yield "outcome", ending.outcome
    yield "at", written(ending.at)
    if ending.running_again_at is not None:
        yield "again", written(ending.running_again_at)
    for name, names, count in (
        (
            "nodes",
            ending.nodes if ending.node_count > 1 else (),
            ending.node_count,
        ),
        (f"{ending.part.lower()}s", ending.pods, ending.pod_count),
        ("stopped", ending.stopped, len(ending.stopped)),
    ):
        if names:
            yield name, _few(names, count, verbose=verbose)
    yield from _origin_of(ending)
    if ending.gpu_hours_lost:
        yield "lost", f"at least {gpu_hours(ending.gpu_hours_lost)}"


def _origin_of(ending: Ending) -> Iterator[tuple[str, str]]:
    """Yield the first member that was lost, and what or who ended it."""
    members, container = ending.members, ending.container
    if len(members) > 1:
        first = members[0]
        on = "" if first.node is None else f" on {first.node}"
        yield "first", f"{first.pod}{on} ({first.entry})"
    if container is not None and container.message:
        yield "said", f"{container.name}: {cut(container.message)}"
    if ending.preemptor is not None:
        yield "for", _preemptor(ending.preemptor)
    if ending.actor is not None and ending.actor.name:
        yield "author", ending.actor.name


def _preemptor(one: Preemptor) -> str:
    """Return the workload that took the place, its Pod and its author."""
    place = f"{one.namespace}/{one.name}" if one.namespace else one.name
    pod = f", Pod {one.pod}" if one.pod and one.pod != one.name else ""
    by = f", created by {one.actor.name}" if one.actor else ""
    return f"{one.kind} {place}{pod}{by}"


def _nodes(ending: Ending, *, verbose: bool) -> Iterator[str]:
    """Yield the verdicts on nodes that caused an ending, equal ones once.

    The first has its steps, each the command that shows more. Nodes whose
    verdicts are not listed are counted.
    """
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in ending.verdicts:
        happened = f"{verdict.happened}, {verdict.mode}"
        cause = f"{verdict.cause} ({verdict.confidence})"
        groups.setdefault((happened, cause), []).append(verdict)
    for place, ((happened, cause), alike) in enumerate(groups.items()):
        nodes = [one.node for one in alike]
        names = _few(nodes, len(nodes), verbose=verbose)
        yield from row_lines("node", f"{names}: {happened}; {cause}")
        if not place:
            yield from path_lines(alike[0], dated=ending.at)
        at = written(alike[0].not_after)
        command = f"recorder why node/{alike[0].node} --at {at}"
        yield from row_lines("more", command)
    for more in ending.more_verdicts:
        rest = counted(more.nodes, "more node")
        yield from row_lines("and", f"{rest}: {more.happened}; {more.cause}")


def _few(names: Sequence[str], count: int, *, verbose: bool) -> str:
    shown = names if verbose else names[:NAMES_SHOWN]
    more = count - len(shown)
    rest = f" and {more} more" if more else ""
    return f"{', '.join(shown)}{rest}"


def _records(ending: Ending, *, verbose: bool) -> Iterator[str]:
    shown = sorted(ending.evidence, key=lambda record: record.at)
    if not verbose:
        shown = shown[:RECORDS_SHOWN]
    width = max(len(str(record.entry)) for record in shown)
    day = None
    for record in shown:
        if record.at.date() != day:
            day = record.at.date()
            yield f"  {day:%Y-%m-%d}"
        entry = str(record.entry).ljust(width)
        yield f"  {record.at:%H:%M:%S}  {entry}  {cut(record.says)}"
    if more := len(ending.evidence) - len(shown):
        yield from row_lines("...", f"{counted(more, 'more record')}: see -v")


def shown(
    answer: WhyWorkload, question: WhyWorkloadQuestion, *, verbose: bool
) -> Text:
    """Return an answer as `recorder why` prints it."""
    del question
    lines = why_workload_lines(answer, verbose=verbose)
    notes = [] if answer.note is None else [answer.note]
    return Text(document=answer, lines=[*lines], notes=notes, judged=True)
