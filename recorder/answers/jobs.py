"""Answers of `recorder jobs`: workloads, their states, and what ended them.

Which workloads there are is read without their facts (`WorkloadLives`). Those
of a page are then judged as `recorder why` judges one.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from msgspec import UNSET, UnsetType

from recorder.answers.checkpoints import lost_since_checkpoint
from recorder.answers.creators import creators_of, name_of
from recorder.answers.families import (
    Candidate,
    Family,
    candidates_of,
    described,
    families_of,
    judge_families,
)
from recorder.answers.job_order import UNJUDGED, JobOrder, rank_of
from recorder.answers.job_questions import JobFilter, JobsQuestion
from recorder.answers.loading.nodes import account_of_work
from recorder.answers.loading.places import selected
from recorder.answers.places import Labels
from recorder.answers.ports import Reading
from recorder.answers.queries import ActiveNodes, WorkloadLives
from recorder.answers.slurm_names import SlurmNames
from recorder.explain.ending import Ending
from recorder.explain.knowledge import Knowledge
from recorder.facts.coverage.account import Account
from recorder.facts.coverage.coverage import Coverage, cover
from recorder.facts.projections import Workload
from recorder.model.document import Document
from recorder.model.errors import ConfigError
from recorder.model.moment import shifted
from recorder.model.outcomes import EndedBy, WorkloadState
from recorder.model.window import Window

JUDGED_MAX: Final = 500
"""Workloads that are judged at once: some tens of megabytes of facts."""

MOMENT: Final = timedelta(microseconds=1)

MAY_BE_DOWN: Final = frozenset(
    {WorkloadState.RUNNING, WorkloadState.PENDING, WorkloadState.UNKNOWN}
)
"""States that do not say yet whether a workload runs in full."""


class JobsSubject(Document, frozen=True, kw_only=True):
    """Which log, and when."""

    cluster: str
    since: datetime | None
    until: datetime | None
    at: datetime | None


class ListedWorkload(Document, frozen=True, kw_only=True):
    """A workload, its state, and what ended it."""

    kind: str
    namespace: str
    name: str
    uid: str | None
    cluster: str
    gang_size: int
    """The members wanted, if its kind states them; else the most Pods."""

    gpus: int
    """The most GPUs that it had at the same time."""

    state: WorkloadState
    began_at: datetime
    """When the first of its Pods was created; without Pods, when it was."""

    waiting_since: datetime | None
    """Since when it is queued or suspended, or waits for its first Pod."""

    ended_at: datetime | None
    """When it completed, failed or was deleted; at the latest, if a list
    showed that and the object states no time."""

    restarts: int
    """How often it ran again after an ending."""

    endings: int
    """How often it ended, or lost Pods, in the window."""

    last_ending: Ending | None
    """The newest of these that the filter selects."""

    gpu_hours_lost: float
    """Lower bound; work since the last checkpoint is not known."""

    gpu_hours_since_checkpoint: float | None
    """What its GPUs had computed since the last checkpoint before each
    ending, by claims of type `job.checkpoint`; lost in addition. Null without
    a checkpoint."""

    hours_wanted: float
    """From the first binding of a Pod to its end, without suspensions."""

    hours_in_full: float
    """Those of the wanted hours in which all its Pods ran."""

    slurm: SlurmNames | UnsetType = UNSET
    """Of a job of Slurm: whose it is."""


class JobTotals(Document, frozen=True, kw_only=True):
    """Sums over all workloads that match."""

    workloads: int | None
    """Null if too many were not judged to know how many match."""

    gpus: int | None
    endings: int | None
    gpu_hours_lost: float | None
    """Lower bound. These three are null unless all were judged."""


class Jobs(Document, frozen=True, kw_only=True):
    """Workloads, the first begun first."""

    question: JobsSubject
    workloads: Sequence[ListedWorkload]
    totals: JobTotals
    coverage: Coverage


class Disruption(Document, frozen=True, kw_only=True):
    """The end of a run of a workload, or the loss of Pods."""

    workload: Workload
    ending: Ending
    cluster: str


class Disruptions(Document, frozen=True, kw_only=True):
    """What ended workloads, or Pods of them, in order of time."""

    disruptions: Sequence[Disruption]
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class Span:
    """The time of a question: a window, or a moment."""

    window: Window
    at: datetime | None = None

    @property
    def seen(self) -> Window:
        """When workloads must have had Pods."""
        if self.at is None:
            return self.window
        return Window(self.at, shifted(self.at, MOMENT))

    @property
    def reported(self) -> Window:
        """The time whose endings are listed."""
        return (
            self.window if self.at is None else Window(None, self.seen.until)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Reads and judges the workloads of one log that a filter selects."""

    reading: Reading
    wanted: JobFilter
    span: Span
    knowledge: Knowledge
    now: datetime
    order: JobOrder | None = None

    async def candidates(self, *, disrupted: bool = False) -> list[Candidate]:
        """Return the workloads of the time, by name or the first begun first.

        The filter by state and by ending needs facts and is not applied. With
        ``disrupted``, or if the filter selects endings, workloads that cannot
        have lost Pods in the window are left out.
        """
        wanted, seen = self.wanted, self.span.seen
        struck = None
        if self.span.at is None and (disrupted or wanted.ended_by):
            active = ActiveNodes(
                since=seen.since, until=seen.until, observed_since=None
            )
            struck = await self.reading.names(active)
        lives = await self.reading.names(
            WorkloadLives(
                since=seen.since,
                until=seen.until,
                nodes=await self._nodes(),
                struck=struck,
            )
        )
        spaces, kinds = wanted.namespaces, wanted.kinds
        if spaces:
            lives = [life for life in lives if life.top.namespace in spaces]
        found = await candidates_of(self.reading, lives)
        chosen = [
            one
            for one in found
            if (not kinds or any(one.is_called(kind) for kind in kinds))
            and _has(one, wanted.words)
        ]
        return sorted(chosen, key=self.place_of)

    def place_of(self, one: Candidate) -> tuple[int, int]:
        """Return the place of a workload before it is judged."""
        rank = rank_of(
            JobOrder.NAME if self.order is JobOrder.NAME else JobOrder.BEGAN,
            name=one.full_name,
            began_at=one.began_at,
            ended_at=None,
            gpu_hours_lost=None,
            gpus=0,
        )
        return rank, one.position

    def in_order(self, families: Iterable[Family]) -> list[tuple[int, Family]]:
        """Return judged workloads with their sort keys, in the order."""
        ranked: list[tuple[int, Family]] = []
        for family in families:
            chosen = self._chosen(family)
            rank = rank_of(
                self.order or JobOrder.BEGAN,
                name=family.candidate.full_name,
                began_at=family.candidate.began_at,
                ended_at=chosen[-1].at if chosen else None,
                gpu_hours_lost=hours_lost(family.endings),
                gpus=family.gpus,
            )
            ranked.append((rank, family))
        return sorted(
            ranked, key=lambda one: (one[0], one[1].candidate.position)
        )

    def _chosen(self, family: Family) -> list[Ending]:
        """Return the endings of a workload that the filter selects."""
        wanted = self.wanted
        return [o for o in family.endings if wanted.is_wanted(o.ended_by)]

    async def _nodes(self) -> set[str] | None:
        """Return the nodes that the filter selects; None if it selects none.

        A node is in a rack if it was at any time of the window.
        """
        wanted, seen = self.wanted, self.span.seen
        found = None if wanted.node is None else {wanted.node}
        chosen = Labels(wanted.rack, place=wanted.place)
        if chosen != Labels():
            behind = await selected(self.reading, chosen, self.knowledge)
            there = {*await behind.nodes(self.reading, seen.since, seen.until)}
            found = there if found is None else found & there
        return found

    async def judged(
        self,
        candidates: Sequence[Candidate],
        *,
        at_once: int = JUDGED_MAX,
        newest_first: bool = False,
    ) -> AsyncIterator[list[Family]]:
        """Yield the workloads that the filter selects, judged, part by part.

        Args:
            candidates: the workloads, in the order of their places.
            at_once: how many are judged at once, at most `JUDGED_MAX`.
            newest_first: whether parts come from the end of the list.
        """
        size, count = min(at_once, JUDGED_MAX), len(candidates)
        parts = [(start, start + size) for start in range(0, count, size)]
        if newest_first:
            parts = [(max(n - size, 0), n) for n in range(count, 0, -size)]
        for start, end in parts:
            families = await families_of(
                self.reading, candidates[start:end], self.span.seen.until
            )
            if self.wanted.users:
                users = await self.creators(families)
                families = [
                    one
                    for one in families
                    if users.get(name_of(one)) in self.wanted.users
                ]
            families = [one for one in families if self._may_be(one)]
            await judge_families(
                self.reading,
                families,
                self.span.reported,
                self.knowledge,
                now=self.now,
            )
            yield [one for one in families if self._is_wanted(one)]

    async def creators(
        self, families: Sequence[Family]
    ) -> Mapping[str, str | None]:
        """Return who created each workload, by its name."""
        return await creators_of(self.reading, families, self.knowledge)

    def _may_be(self, family: Family) -> bool:
        states, wanted = self.wanted.states, self.wanted
        return (
            (not wanted.queues or family.queue in wanted.queues)
            and (not wanted.priorities or family.priority in wanted.priorities)
            and (
                not states
                or family.state in states
                or family.state in MAY_BE_DOWN
            )
        )

    def _is_wanted(self, family: Family) -> bool:
        wanted, since = self.wanted, self.span.seen.since
        gone = family.ended_at
        if not family.candidate.has_pods and gone and since and gone < since:
            return False
        return (not wanted.states or family.state in wanted.states) and (
            not wanted.ended_by
            or any(wanted.is_wanted(one.ended_by) for one in family.endings)
        )

    def judges_all(self, candidates: Sequence[Candidate]) -> bool:
        """Return whether the order needs all workloads judged.

        Raises:
            ConfigError: they are more than are judged at once.
        """
        count, order = len(candidates), self.order
        if order is None or order in UNJUDGED:
            return False
        if count > JUDGED_MAX:
            msg = (
                f"cannot sort {count:,} workloads by {order}: at most"
                f" {JUDGED_MAX} are judged for it"
            )
            raise ConfigError(
                msg,
                advice="narrow by namespace, kind, node or what ended them,"
                " or ask for a shorter time",
                code="question.too_many_to_order",
            )
        return True

    async def account(self) -> Account:
        """Return what the log records about the time."""
        return await account_of_work(
            self.reading, self.span.seen, now=self.now
        )

    async def row(self, family: Family, account: Account) -> ListedWorkload:
        """Return a judged workload as a list shows it."""
        workload, endings = family.workload, family.endings
        last = None
        if chosen := self._chosen(family):
            last = await self.described(family, chosen[-1])
        end = account.counted_until or account.now
        hours, full = family.hours(self.span.reported, end)
        again = [one for one in endings if one.running_again_at is not None]
        return ListedWorkload(
            kind=workload.kind,
            namespace=workload.namespace,
            name=workload.name,
            uid=workload.uid,
            cluster=self.reading.log.cluster_name,
            gang_size=family.gang_size,
            gpus=family.gpus,
            state=family.state,
            began_at=family.began_at,
            waiting_since=family.waiting_since,
            ended_at=family.ended_at,
            restarts=sum(one.count for one in again),
            endings=len(endings),
            last_ending=last,
            gpu_hours_lost=hours_lost(endings),
            gpu_hours_since_checkpoint=await lost_since_checkpoint(
                self.reading, (one.hit for one in endings)
            ),
            hours_wanted=round(hours, 4),
            hours_in_full=round(full, 4),
            slurm=family.slurm or UNSET,
        )

    async def described(self, family: Family, ending: Ending) -> Ending:
        """Return an ending with its author and its sentence."""
        return await described(self.reading, family, ending, self.knowledge)

    async def disruptions(self) -> list[tuple[int, Family, Ending]]:
        """Return what ended workloads, in the order, with the sort keys.

        Completions only if the filter names them.
        """
        candidates = await self.candidates(disrupted=True)
        wanted = self.wanted
        order = self.order or JobOrder.LAST_ENDING
        found = [
            (_rank(order, family, one), family, one)
            async for families in self.judged(candidates)
            for family in families
            for one in family.endings
            if wanted.is_wanted(one.ended_by)
            and (wanted.ended_by or one.ended_by is not EndedBy.COMPLETION)
        ]
        return sorted(found, key=lambda one: (one[0], one[2].id))

    async def disruption(self, family: Family, ending: Ending) -> Disruption:
        """Return an ending with the workload that it ended."""
        return Disruption(
            workload=family.ended[ending.id],
            ending=await self.described(family, ending),
            cluster=self.reading.log.cluster_name,
        )


def _rank(order: JobOrder, family: Family, ending: Ending) -> int:
    """Return the sort key of what ended a workload."""
    return rank_of(
        order,
        name=family.candidate.full_name,
        began_at=family.candidate.began_at,
        ended_at=ending.at,
        gpu_hours_lost=ending.gpu_hours_lost,
        gpus=family.gpus,
    )


def _has(one: Candidate, words: Sequence[str]) -> bool:
    """Return whether the name of a workload contains each word."""
    name = f"{one.kind}/{one.namespace}/{one.name}".lower()
    return all(word in name for word in words)


async def ask_jobs(
    reading: Reading,
    question: JobsQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Jobs:
    """List the workloads of a window or a moment."""
    span, limit = Span(question.window, question.at), question.limit
    survey = Survey(
        reading=reading,
        wanted=question.wanted,
        span=span,
        knowledge=knowledge,
        now=now,
        order=question.order,
    )
    await reading.reach(span.seen.since, span.seen.until)
    account = await survey.account()
    candidates = await survey.candidates()
    found: list[Family] = []
    size = min(limit or JUDGED_MAX, JUDGED_MAX)
    if survey.judges_all(candidates):
        size = JUDGED_MAX
    judged = 0
    async for part in survey.judged(
        candidates, at_once=size, newest_first=True
    ):
        found = [*part, *found]
        judged += size
        if limit is not None and len(found) >= limit:
            break
    exhausted = judged >= len(candidates)
    shown = [one for _, one in survey.in_order(found)]
    if limit is not None:
        shown = shown[-limit:]
    rows = [await survey.row(one, account) for one in shown]
    return Jobs(
        question=JobsSubject(
            cluster=reading.log.cluster_name,
            since=question.window.since,
            until=question.window.until,
            at=question.at,
        ),
        workloads=rows,
        totals=totals_of(
            found,
            None if question.wanted.judges else len(candidates),
            exhausted=exhausted,
        ),
        coverage=covered(account, shown),
    )


def covered(account: Account, families: Iterable[Family]) -> Coverage:
    """Return what may be missing from judged workloads."""
    times = [one.at for family in families for one in family.endings]
    return cover(account, times=times)


def hours_lost(endings: Iterable[Ending]) -> float:
    """Return the GPU-hours that endings cost."""
    return round(sum((one.gpu_hours_lost or 0.0 for one in endings), 0.0), 4)


def totals_of(
    families: Sequence[Family],
    count: int | None,
    *,
    exhausted: bool,
    endings: Sequence[Ending] | None = None,
) -> JobTotals:
    """Return the sums over workloads, if they are all that match.

    Args:
        families: the judged workloads.
        count: how many match, if not all were judged but that is known.
        exhausted: whether all that match were judged.
        endings: those to count; by default all of the window.
    """
    if not exhausted:
        return JobTotals(
            workloads=count, gpus=None, endings=None, gpu_hours_lost=None
        )
    if endings is None:
        endings = [one for family in families for one in family.endings]
    return JobTotals(
        workloads=len(families),
        gpus=sum(one.gpus for one in families),
        endings=len(endings),
        gpu_hours_lost=hours_lost(endings),
    )


async def ask_disruptions(
    reading: Reading,
    question: JobsQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Disruptions:
    """List what ended workloads of a window, in order of time."""
    span = Span(question.window, question.at)
    survey = Survey(
        reading=reading,
        wanted=question.wanted,
        span=span,
        knowledge=knowledge,
        now=now,
        order=question.order,
    )
    await reading.reach(span.seen.since, span.seen.until)
    account = await survey.account()
    found = await survey.disruptions()
    return Disruptions(
        disruptions=[
            await survey.disruption(family, one) for _, family, one in found
        ],
        coverage=covered(account, (family for _, family, _ in found)),
    )
