"""From the state before and an answer of Slurm to claims.

A pure function. A run is a job since its last submission: a requeue begins
another, so runs are keyed by job and time of submission. What a run had is
kept until it ends, because the answer after a requeue no longer says it: the
nodes are the widest set of the run, since they shrink while it completes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from recorder.facts.slurm import (
    HELD,
    RELEASED,
    REQUEUED,
    RUN,
    Member,
    SlurmRun,
)
from recorder.model.moment import written
from recorder.sources.slurm.nodes import NodeSeen, fold_nodes
from recorder.sources.slurm.shapes import FINAL, Job, Node

Place = Callable[[str], str | None]
"""Returns the Node of a node of Slurm."""

WAITS_MAX: Final = 3
"""Polls for which the end of a run waits until accounting knows it."""

REMEMBERED: Final = 3600
"""Seconds for which ended runs are remembered."""

GONE: Final = "UNKNOWN"
"""The state of a run that is gone, and that nothing says the end of."""


class Seen(msgspec.Struct):
    """A run, as it was claimed last."""

    submit: int
    state: str
    top: int
    nodes: list[str] = []
    started: int = 0
    restarts: int = 0
    gpus: int = 0
    held: bool = False
    waits: int = 0
    """Polls since it ended in a way that only accounting can say."""

    lost: str = ""
    """The node of it that was down when it ended."""


class State(msgspec.Struct):
    """What must be known for the next answer; it is committed with claims."""

    cluster: str = ""
    epoch: int = 0
    runs: dict[int, Seen] = {}
    worst: dict[int, str] = {}
    """Of arrays and het jobs that are there: the worst end of a part."""

    nodes: dict[str, NodeSeen] = {}
    ended: dict[str, int] = {}
    """When runs ended of the last minutes, so that accounting, which knows
    them too, adds none twice."""

    newest: int = 0
    """The highest id of a job, and when that was submitted: ids only grow."""

    newest_submit: int = 0
    at: int = 0
    """When the newest answer came."""


class Answer(msgspec.Struct):
    """What a poll answered."""

    at: int
    """By our clock, in seconds."""

    cluster: str
    jobs: Sequence[Job] = ()
    """Those that changed, or all."""

    ids: frozenset[int] | None = None
    """All jobs that there are; None if that is not known."""

    nodes: Sequence[Node] | None = None
    past: Mapping[int, Sequence[Job]] | None = None
    """The runs of jobs that accounting was asked for, also those that it does
    not know; None if there is no accounting."""

    recent: Sequence[Job] = ()
    """The runs of the last minutes by accounting."""

    preemptors: Mapping[int, str] = {}
    """The jobs that preempted jobs, by the log of slurmctld."""

    holders: Mapping[int, str] = {}
    """Who held or released jobs last, by the same log."""


class Folded(msgspec.Struct):
    """What follows from an answer."""

    state: State
    events: list[dict[str, Any]]
    unsettled: list[int]
    """Jobs to ask accounting about, before the next answer."""

    epoch_began: bool = False


def fold(state: State, answer: Answer, place: Place) -> Folded:
    """Return the state after an answer, and the claims that it gives."""
    return _Fold(state, answer, place).all()


class _Fold:
    def __init__(self, state: State, answer: Answer, place: Place) -> None:
        self._answer = answer
        self._place = place
        self._before = state
        self._after = State(
            cluster=answer.cluster or state.cluster,
            epoch=state.epoch,
            runs=dict(state.runs),
            worst=dict(state.worst),
            nodes=state.nodes,
            ended={
                name: at
                for name, at in state.ended.items()
                if at > answer.at - REMEMBERED
            },
            newest=state.newest,
            newest_submit=state.newest_submit,
            at=answer.at,
        )
        self._events: list[dict[str, Any]] = []
        self._unsettled: list[int] = []
        self._tops = _open_tops(state.runs.items())
        self._known = set(self._tops)

    def all(self) -> Folded:
        answer, after = self._answer, self._after
        if answer.nodes is not None:
            after.nodes, acts = fold_nodes(
                after.nodes,
                answer.nodes,
                cluster=after.cluster,
                place=self._place,
                at=answer.at,
            )
            self._events += acts
        down = {
            name
            for name, node in after.nodes.items()
            if "DOWN" in node.states or "FAIL" in node.states
        }
        if self._is_anew():
            self._begin_epoch()
        self._note_newest()
        self._expect_parts()
        for job in sorted(answer.jobs, key=lambda one: one.job):
            self._job(job, down)
        if answer.ids is not None:
            for number in sorted(after.runs.keys() - answer.ids):
                self._gone(number, down)
        for run in answer.recent:
            self._missed(run)
        self._forget_wholes()
        return Folded(
            after,
            self._events,
            self._unsettled,
            after.epoch != self._before.epoch,
        )

    def _expect_parts(self) -> None:
        """Note new parts: until each is claimed, its whole goes on."""
        for job in self._answer.jobs:
            if _is_group(job) and job.job not in self._after.runs:
                self._tops.setdefault(job.top, set()).add(job.job)

    def _forget_wholes(self) -> None:
        after = self._after
        if after.worst:
            there = {seen.top for seen in after.runs.values()}
            after.worst = {k: v for k, v in after.worst.items() if k in there}

    def _is_anew(self) -> bool:
        """Return whether ids are used again: slurmctld lost its state.

        A requeue counts a restart; another job under the same id has none,
        and was submitted after one with a higher id.
        """
        before = self._before
        return any(
            (seen := before.runs.get(job.job)) is not None
            and job.submit > seen.submit
            and job.restarts < max(seen.restarts, 1)
            for job in self._answer.jobs
        ) or any(
            job.job <= before.newest
            and job.submit > before.newest_submit + 1
            and not job.restarts
            and not _is_group(job)
            for job in self._answer.jobs
        )

    def _note_newest(self) -> None:
        """Remember the highest id; parts of a job get theirs later."""
        after = self._after
        for job in self._answer.jobs:
            if job.job > after.newest and not _is_group(job):
                after.newest, after.newest_submit = job.job, job.submit

    def _begin_epoch(self) -> None:
        """Claim that all runs are gone, and begin to count anew."""
        after = self._after
        for number, seen in sorted(after.runs.items()):
            if seen.state not in FINAL and seen.nodes:
                gone = Job(
                    job=number,
                    submit=seen.submit,
                    state=GONE,
                    restarts=seen.restarts,
                    end=self._answer.at,
                )
                self._claim(gone, seen, seen, [])
        after.epoch += 1
        after.runs, after.worst, self._tops = {}, {}, {}
        self._known = set()
        after.newest = after.newest_submit = 0

    def _missed(self, run: Job) -> None:
        """Claim a run that began and ended between two answers."""
        seen = self._after.runs.get(run.job)
        if (
            not run.state
            or not run.nodes
            or not run.end
            or _key(run.job, run.submit) in self._after.ended
            or (seen is not None and abs(seen.submit - run.submit) <= 1)
        ):
            return
        now = Seen(
            submit=run.submit,
            state=run.state,
            top=run.top,
            nodes=list(run.nodes),
            started=run.start or run.end,
            restarts=run.restarts,
            gpus=run.gpus,
        )
        if run.state == REQUEUED:
            run.reason = REQUEUED
        first = self._is_first(run.top)
        self._claim(
            run,
            now,
            None,
            run.nodes,
            first=first,
            requeued=run.state == REQUEUED or seen is not None,
        )

    def _job(self, job: Job, down: set[str]) -> None:
        seen = self._after.runs.get(job.job)
        if seen is not None and job.submit != seen.submit:
            if not self._settle(job.job, seen, job.submit, down):
                return  # what it does now is claimed once its end is known
            seen = None
        if job.state:
            if job.state == "NODE_FAIL" and not job.failed_node:
                # 22.05 names none.
                job = replace(job, failed_node=_lost(job.nodes, down))
            self._take(job, seen)

    def _take(self, job: Job, seen: Seen | None) -> None:
        """Claim what is new of a run."""
        over = job.state in FINAL
        ran = over or job.state in {"RUNNING", "SUSPENDED"}
        started = (job.start or 0) if ran and job.nodes else 0
        known = [] if seen is None else seen.nodes
        began = [one for one in job.nodes if one not in known] if ran else []
        nodes = [*known, *began]
        if seen is not None and (
            (seen.state, seen.held) == (job.state, job.held) and not began
        ):
            return
        if seen is not None and seen.state in FINAL:
            return
        now = Seen(
            submit=job.submit,
            state=job.state,
            top=job.top,
            nodes=nodes,
            started=started or (seen.started if seen else 0),
            restarts=job.restarts,
            gpus=job.gpus or (seen.gpus if seen else 0),
            held=job.held,
        )
        first = self._is_first(job.top)
        self._after.runs[job.job] = now
        self._tops.setdefault(job.top, set()).add(job.job)
        self._claim(job, now, seen, began, first=first)

    def _is_first(self, top: int) -> bool:
        """Return whether nothing of a whole was claimed before."""
        first = top not in self._known
        self._known.add(top)
        return first

    def _settle(
        self, number: int, seen: Seen, until: int, down: set[str]
    ) -> bool:
        """Claim the end of a run whose job goes on, or is gone.

        Returns whether its end is claimed. Only accounting knows it: it is
        asked, and the end waits for a few polls.
        """
        if seen.state in FINAL:
            return True
        known = self._past(number, seen.submit)
        past = self._answer.past
        if known is None and seen.nodes and past is not None:
            waits = seen.waits + (number in past)
            lost = _lost(seen.nodes, down)
            seen = replace(seen, waits=waits, lost=seen.lost or lost)
            self._after.runs[number] = seen
            self._unsettled.append(number)
            if waits < WAITS_MAX:
                return False
        job = self._end_of(number, seen, until, _lost(seen.nodes, down))
        if seen.nodes:
            ended = replace(seen, state=job.state)
            self._claim(job, ended, seen, [], requeued=bool(until))
        return True

    def _end_of(self, number: int, seen: Seen, until: int, lost: str) -> Job:
        """Return a run as it ended, as far as anything says it."""
        lost = seen.lost or lost
        known = self._past(number, seen.submit)
        if known is not None:
            job = replace(known, nodes=(), restarts=seen.restarts)
            if known.state == REQUEUED:
                job.reason = REQUEUED  # accounting says it
            return job
        job = Job(
            job=number,
            submit=seen.submit,
            state=REQUEUED if until else GONE,
            restarts=seen.restarts,
            end=until or self._answer.at,
            array=seen.top if seen.top != number else 0,
        )
        if until and number in self._answer.preemptors:
            job.state = "PREEMPTED"  # the log of slurmctld says it
        elif until and lost:
            job.state, job.failed_node = "NODE_FAIL", lost
            job.reason = "its node is down"
        return job

    def _gone(self, number: int, down: set[str]) -> None:
        seen = self._after.runs[number]
        if self._settle(number, seen, 0, down):
            del self._after.runs[number]
            self._leave(seen.top, number)
            self._unsettled = [n for n in self._unsettled if n != number]

    def _past(self, number: int, submit: int) -> Job | None:
        """Return a run as accounting knows it, if it has ended there."""
        for run in (self._answer.past or {}).get(number, ()):
            # A slurmctld that reads its state again may shift a second.
            if abs(run.submit - submit) <= 1 and (
                run.state in FINAL or run.state == REQUEUED
            ):
                return run
        return None

    def _claim(
        self,
        job: Job,
        now: Seen,
        seen: Seen | None,
        began: Sequence[str],
        *,
        first: bool = False,
        requeued: bool = False,
    ) -> None:
        ended = job.state in FINAL or job.state in {REQUEUED, GONE}
        over = ""
        if ended and not requeued:
            over = self._over(now, job)
        run = SlurmRun(
            cluster=self._after.cluster,
            job=job.job,
            submit=now.submit,
            state=job.state,
            was=None if seen is None else seen.state,
            epoch=self._after.epoch,
            top=now.top if now.top != job.job or _is_group(job) else 0,
            name=job.name,
            user=job.user,
            account=job.account,
            partition=job.partition,
            qos=job.qos,
            reason=job.reason if job.reason != "None" else "",
            restarts=job.restarts,
            started=now.started,
            ended=_ended(job, now) if ended else 0,
            exit_code=job.exit_code if ended else None,
            signal=job.signal if ended else None,
            failed_node=job.failed_node if ended else "",
            killed_by=job.killed_by if ended else "",
            preempted_by=(
                self._answer.preemptors.get(job.job, "")
                if job.state == "PREEMPTED"
                else ""
            ),
            size=job.size or len(now.nodes),
            gpus=now.gpus,
            first=first,
            **self._hold(job, now, seen),
            over=over,
            began=[self._member(name) for name in began],
            members=[self._member(name) for name in now.nodes],
        )
        if ended:
            self._after.ended[_key(job.job, now.submit)] = run.ended
        self._events.append(run_event(run))

    def _hold(self, job: Job, now: Seen, seen: Seen | None) -> dict[str, Any]:
        """Return whether a job was held or released, when and by whom."""
        was = seen is not None and seen.held
        if now.held == was or job.state in FINAL:
            return {}
        return {
            "hold": HELD if now.held else RELEASED,
            "hold_by": self._answer.holders.get(job.job, ""),
            "hold_at": self._answer.at,
        }

    def _member(self, name: str) -> Member:
        return Member(name, self._place(name))

    def _over(self, now: Seen, job: Job) -> str:
        """Return how the whole job ended, if no part of it is left."""
        top, worst = now.top, self._after.worst
        ends = [job.state, worst.get(top, "")]
        bad = [one for one in ends if one and one != "COMPLETED"]
        end = bad[0] if bad else "COMPLETED"
        if top != job.job or _is_group(job):
            worst[top] = end
        return "" if self._leave(top, job.job) else end

    def _leave(self, top: int, number: int) -> bool:
        """Take a part out of its whole; return whether others are left."""
        parts = self._tops.get(top, set())
        parts.discard(number)
        return bool(parts)


def _lost(nodes: Iterable[str], down: set[str]) -> str:
    return next((name for name in nodes if name in down), "")


def _key(number: int, submit: int) -> str:
    return f"{number}/{submit}"


def _is_group(job: Job) -> bool:
    return bool(job.array or job.het)


def _open_tops(runs: Iterable[tuple[int, Seen]]) -> dict[int, set[int]]:
    """Return the parts that have not ended, by the whole."""
    found: dict[int, set[int]] = {}
    for number, seen in runs:
        parts = found.setdefault(seen.top, set())
        if seen.state not in FINAL:
            parts.add(number)
    return found


def _ended(job: Job, now: Seen) -> int:
    """Return when a run ended; one that is to end later has a plan."""
    return max(job.end or 0, now.started, 1)


def run_event(run: SlurmRun, source: str | None = None) -> dict[str, Any]:
    """Return the event of a run; the same content has the same id."""
    data = msgspec.to_builtins(run)
    # Seen first by another process, it is the same.
    content = {k: v for k, v in data.items() if k not in {"was", "first"}}
    named = msgspec.json.encode(content, order="deterministic")
    at = run.ended or run.started or run.submit
    event: dict[str, Any] = {
        "source": source or f"slurm/{run.cluster}",
        "id": sha256(named).hexdigest()[:32],
        "type": RUN,
        "subject": f"slurmjob/{run.cluster}/{run.top or run.job}",
        "data": data,
    }
    if at:
        event["time"] = written(datetime.fromtimestamp(at, UTC))
    return event
