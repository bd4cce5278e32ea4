"""When a gang ran in full again, and with which Pods."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from recorder.explain.losses import TOGETHER, came_with
from recorder.facts.projections import Placement
from recorder.model.outcomes import Outcome

__all__ = ["Loss"]


class Loss(NamedTuple):
    """What a gang lost at a time, of all the Pods that it ever had."""

    at: datetime
    gang: Sequence[Placement]
    """Those that it had then."""

    lost: Sequence[Placement]
    pods: Sequence[Placement]
    whole: bool
    """Whether it runs in full or not at all: else each Pod counts by itself,
    and those that it kept stand in for none that it lost."""

    def again(self) -> datetime | None:
        """Return when as many Pods ran as before."""
        return self._ran(len(self.gang))

    def ends(self) -> list[datetime | None]:
        """Return when as many ran as before, or one more each time."""
        if self.whole:
            return [self.again()]
        return [self._ran(place + 1) for place in range(len(self.gang))]

    def _ran(self, enough: int) -> datetime | None:
        stayed = self._others() if self.whole else []
        running = sum(
            p.runs_at(self.at) and not came_with(p, self.at) for p in stayed
        )
        changes = [change for pod in self.pods for change in self._of(pod)]
        for at, change in sorted(changes):
            running += change
            if running >= enough and change > 0:
                return at
        return None

    def outcome(self, again: datetime) -> Outcome:
        """Say how a gang came to run in full again."""
        new = [p for p in self._others() if self._is_new(p, again)]
        back = [
            p
            for p in self.lost
            if (at := self._back_at(p)) is not None and at <= again
        ]
        begun = {p.key for p in [*new, *back]} | {
            p.key for p in self._others() if self._begins_anew(p, again)
        }
        whole = len(begun) >= len(self.gang) > len(self.lost)
        # Others of the gang may have begun anew beside them.
        came = Counter(p.node for p in [*new, *back])
        same = Counter(p.node for p in self.lost) <= came
        return Outcome.RESTARTED if whole or same else Outcome.RESCHEDULED

    def _others(self) -> list[Placement]:
        lost = {p.key for p in self.lost}
        return [p for p in self.pods if p.key not in lost]

    def _back_at(self, pod: Placement) -> datetime | None:
        """Return when a lost Pod ran again in its own place."""
        at = pod.back_at(self.at)
        over = pod.ended_at
        return at if at is None or over is None or at < over else None

    def _of(self, pod: Placement) -> Iterator[tuple[datetime, int]]:
        """Yield when a Pod ran, and when it did no more."""
        if any(pod.key == lost.key for lost in self.lost):
            began = self._back_at(pod)
        else:
            began = pod.running_at
        if began is None:
            return
        if began > self.at or came_with(pod, self.at):
            yield began, 1
        elif not self.whole:
            return
        # What ended well is work that is done.
        over = pod.ended_at
        if over is not None and over > self.at and pod.phase != "Succeeded":
            yield over, -1

    def _is_new(self, pod: Placement, again: datetime) -> bool:
        return (
            pod.running_at is not None
            and pod.running_at <= again
            and (pod.running_at > self.at or came_with(pod, self.at))
        )

    def _begins_anew(self, pod: Placement, again: datetime) -> bool:
        """Return whether a Pod that stayed began again with the others."""
        at = pod.back_at(self.at)
        return at is not None and at <= again + TOGETHER
