"""An ending that is not told yet: what it takes, and how a workload ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from recorder.explain.hit import Hit
from recorder.explain.losses import TOGETHER
from recorder.explain.pod_end import BY_ITSELF, PodEnd
from recorder.explain.verdict import Judged
from recorder.facts.projections import Placement, Workload, phase_ended
from recorder.model.fact import StoredFact
from recorder.model.facts import (
    ConditionChanged,
    DeletionRequested,
    Vanished,
)
from recorder.model.outcomes import EndedBy

__all__ = ["A_MOMENT", "Draft", "Life", "conclude", "own_ends"]

FAILURES: Final = frozenset({"Failed", "FailureTarget"})
DONE: Final = frozenset({"Complete", "Completed", "Succeeded"})
OWN_FAILURE: Final = frozenset(
    {
        "BackoffLimitExceeded",
        "FailedIndexes",
        "FailedJobs",
        "MaxFailedIndexesExceeded",
        "PodFailurePolicy",
    }
)
"""Reasons of a failure that only say that too many Pods failed."""

A_MOMENT: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A workload, its Pods, and the record of all of them."""

    workload: Workload
    pods: Sequence[Placement]
    facts: Mapping[str, Sequence[StoredFact]]
    """By the UID of the object, in the order of the log."""

    is_over: bool = False
    """Whether it completed, failed or is gone."""

    def own(self) -> Sequence[StoredFact]:
        """Return the facts about the workload itself."""
        return self.facts.get(self.workload.uid or "", ())


@dataclass(slots=True, kw_only=True)
class Draft:
    """An ending that still takes ends of Pods."""

    by: EndedBy
    at: datetime
    again: datetime | None = None
    hit: Hit | None = None
    of_workload: bool = False
    ends: list[PodEnd] = field(default_factory=list)
    stopped: list[PodEnd] = field(default_factory=list)
    evidence: list[StoredFact] = field(default_factory=list)
    failed: bool = False
    routine: bool = False
    verdict: Judged | None = None
    """Of the node that failed, where no hit tells it."""

    def holds(self, at: datetime) -> bool:
        """Return whether the workload had not gone on at a time."""
        return self.at - A_MOMENT <= at and (
            self.again is None or at <= self.again
        )

    def covers(self, end: PodEnd) -> bool:
        """Return whether it ended a Pod directly."""
        hit = self.hit
        if hit is None or end.pod.name not in hit.pods_hit:
            return False
        if self.again is None or end.at <= self.again:
            # A container is seen to end before its Pod is.
            early = TOGETHER if end.lasting else timedelta()
            return end.at >= hit.hit_at - early
        return end.lasting and end.by not in BY_ITSELF

    def stops(self, end: PodEnd) -> bool:
        """Return whether a gang lost a Pod because it had lost another.

        Where a node failed under one, the others fail with it.
        """
        if end.by in {EndedBy.DELETION, EndedBy.UNRECORDED}:
            return self.holds(end.at)
        return (
            end.by is EndedBy.CONTAINER_EXIT
            and self.by is EndedBy.NODE_FAILURE
            and self.hit is not None
            and self.hit.workload.is_gang
            and abs(end.at - self.at) <= TOGETHER
            and (self.again is None or end.at <= self.again)
        )

    def repeats(self, end: PodEnd) -> bool:
        """Return whether a container failed once more as before.

        Or whether more Pods went the same way at about the same time.
        """
        if not self.ends or self.hit is not None or self.by is not end.by:
            return False
        last, new = self.ends[-1].container, end.container
        if end.by not in BY_ITSELF:
            near = end.at - self.ends[-1].at <= TOGETHER
            return near and self.verdict is None
        return (
            last is not None
            and new is not None
            and (last.container, last.exit_code, last.reason)
            == (new.container, new.exit_code, new.reason)
        )


def own_ends(life: Life) -> list[Draft]:
    """Return how the workload itself ended: at most once each way.

    Of a Pod that is its own workload, its end says it.
    """
    found: list[Draft] = []
    if life.workload.kind == "Pod":
        return found
    over = False
    for stored in life.own():
        by = _own_end(stored, over=over)
        if by is None:
            continue
        if by is EndedBy.SUSPENSION and not _ran(life, stored.observed_at):
            continue  # made so, to wait in a queue
        same = next((d for d in found if d.by is by), None)
        if same is not None:
            same.evidence.append(stored)
            continue
        over = over or by is not EndedBy.SUSPENSION
        draft = Draft(by=by, at=stored.observed_at, of_workload=True)
        draft.evidence.append(stored)
        found.append(draft)
    return found


def _ran(life: Life, at: datetime) -> bool:
    """Return whether any Pod ran before a time."""
    return any(p.running_at and p.running_at < at for p in life.pods)


def _own_end(stored: StoredFact, *, over: bool) -> EndedBy | None:
    detail = stored.fact.detail
    match detail:
        case ConditionChanged(new=new) if (
            new is not None and new.status == "True"
        ):
            if detail.type in DONE:
                return EndedBy.COMPLETION
            if detail.type in FAILURES:
                late = new.reason == "DeadlineExceeded"
                return EndedBy.DEADLINE if late else EndedBy.UNRECORDED
            if detail.type == "Suspended":
                return EndedBy.SUSPENSION
            return None
        case DeletionRequested() | Vanished() if not over:
            return EndedBy.DELETION
        case _:
            kind = stored.fact.object.kind if stored.fact.object else ""
            ended = phase_ended(kind, detail)
            by = EndedBy.COMPLETION if ended else EndedBy.UNRECORDED
            return None if ended is None else by


def conclude(drafts: Sequence[Draft], own: list[Draft]) -> None:
    """Let what a workload failed by be what failed it."""
    for end in list(own):
        if end.by is EndedBy.SUSPENSION:
            preempted = [d for d in drafts if d.by is EndedBy.PREEMPTION]
            if any(abs(d.at - end.at) <= TOGETHER for d in preempted):
                own.remove(end)
            continue
        if end.by is not EndedBy.UNRECORDED:
            continue
        before = [d for d in drafts if d.at <= end.at + TOGETHER]
        failing = [d for d in before if d.failed] or before[-1:]
        if failing and (_only_counts(end) or failing[-1].holds(end.at)):
            last = failing[-1]
            last.failed = True
            last.evidence += end.evidence
            last.stopped += end.stopped
            own.remove(end)


def _only_counts(end: Draft) -> bool:
    """Return whether a failure says no more than that Pods failed."""
    reasons = {
        stored.fact.detail.new.reason
        for stored in end.evidence
        if isinstance(stored.fact.detail, ConditionChanged)
        and stored.fact.detail.new is not None
    }
    return bool(reasons & OWN_FAILURE)
