"""Recovery: when a gang ran again in full after it lost Pods."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, Self

from recorder.explain.pod_end import TOGETHER
from recorder.explain.thresholds import LIMITS
from recorder.facts.projections import Placement
from recorder.model.outcomes import Outcome


def came_with(pod: Placement, at: datetime) -> bool:
    """Whether the list that showed a hit also showed a Pod for the first time.

    After a gap, a list shows losses and their replacements at once.
    """
    return (
        pod.listed
        and pod.seen_at is not None
        and abs(pod.seen_at - at) <= LIMITS.astray
    )


def bound_at(
    pods: Iterable[Placement], at: datetime, lost: Iterable[Placement]
) -> list[Placement]:
    """Return the Pods of a workload on a node when it lost some of them."""
    keys = {p.key for p in lost}
    return [
        p
        for p in pods
        if p.bound_at is not None
        and p.bound_at <= at
        # The time of its creation is cut to the second.
        and (p.listed or p.seen_at is None or p.seen_at <= at)
        and (p.over_at is None or p.over_at >= at)
        and (
            p.key in keys or ((p.left_at or at) >= at and not came_with(p, at))
        )
    ]


class Loss(NamedTuple):
    """The Pods that a gang lost at a time, of all it ever had."""

    at: datetime
    gang: Sequence[Placement]
    """The Pods that it had then."""

    lost: Sequence[Placement]
    pods: Sequence[Placement]
    whole: bool
    """Whether it runs in full or not at all. If not, each Pod counts by
    itself, and Pods that it kept do not replace those that it lost."""

    @classmethod
    def of(
        cls,
        at: datetime,
        lost: Sequence[Placement],
        pods: Sequence[Placement],
        *,
        whole: bool,
    ) -> Self:
        """Return a loss, by the Pods lost until it ran in full again."""
        gang = bound_at(pods, at, lost)
        keys = {p.key for p in lost}
        if not whole:
            # A Pod that never ran was a replacement and was refused; if none
            # ran, each of those after the first is one.
            ran = [p for p in lost if p.running_at]
            gang = ran or [p for p in gang if p.key in keys]
        members = {p.key for p in gang}
        own = [p for p in lost if p.key in members]
        return cls(at, gang, own, pods, whole)

    def again(self) -> datetime | None:
        """Return when as many Pods ran as before."""
        return self.ends()[-1]

    def ends(self) -> list[datetime | None]:
        """Return when the gang ran in full again, or each of its Pods."""
        size = max(len(self.gang), 1)
        began = self._began()
        if not self.whole:
            starts = sorted(began.values())[:size]
            return [*starts, *[None] * (size - len(starts))]
        lost = {p.key for p in self.lost}
        changes = [(at, 1) for at in began.values()]
        running = 0
        for pod in self.pods:
            stayed = pod.key not in lost and pod.runs_at(self.at)
            running += stayed and pod.key not in began
            over = pod.ended_at
            # A Pod that succeeded has done its work.
            if over and over > self.at and pod.phase != "Succeeded":
                changes += [(over, -1)] * (stayed or pod.key in began)
        for at, change in sorted(changes):
            running += change
            if change > 0 and running >= size:
                return [at]
        return [None]

    def outcome(self, again: datetime) -> Outcome:
        """Return how a gang came to run in full again."""
        began = {key for key, at in self._began().items() if at <= again}
        came = [p for p in self.pods if p.key in began]
        lost = {p.key for p in self.lost}
        # Other Pods of the gang may have started again beside them.
        begun = began | {
            p.key
            for p in self.pods
            if p.key not in lost
            and (at := p.back_at(self.at)) is not None
            and at <= again + TOGETHER
        }
        whole = len(begun) >= len(self.gang) > len(self.lost)
        nodes = Counter(p.node for p in came)
        same = Counter(p.node for p in self.lost) <= nodes
        return Outcome.RESTARTED if whole or same else Outcome.RESCHEDULED

    def _began(self) -> dict[str, datetime]:
        """Return when Pods started after it, the lost ones in their places."""
        lost = {p.key for p in self.lost}
        found: dict[str, datetime] = {}
        for pod in self.pods:
            at = pod.running_at
            if pod.key in lost:
                at, over = pod.back_at(self.at), pod.ended_at
                at = at if at is None or over is None or at < over else None
            elif at and at <= self.at and not came_with(pod, self.at):
                continue
            if at is not None:
                found[pod.key] = at
        return found
