"""Placements: which Pod was on which node, from when to when."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from recorder.facts.bearing import displacement
from recorder.facts.classify.times import moment
from recorder.facts.over import ended_before
from recorder.model.fact import StoredFact
from recorder.model.facts import (
    Appeared,
    Bound,
    ConditionChanged,
    ContainerEnded,
    DeletionRequested,
    Detail,
    Ended,
    EventOccurred,
    Requested,
    Started,
    Vanished,
)
from recorder.model.reference import ObjectIdentity
from recorder.model.state import Owner

SECOND = timedelta(seconds=1)
"""Recovered versions are dated by times in whole seconds."""

ANNOUNCED_BEFORE = timedelta(seconds=10)
ANNOUNCED_AFTER = timedelta(seconds=2)
"""How far from a deletion an Event may be seen that says what it is for."""

OVER = frozenset({"Succeeded", "Failed"})

GROUP_SIZES = (
    "leaderworkerset.sigs.k8s.io/size",
    "kueue.x-k8s.io/pod-group-total-count",
)
"""Annotations by which a Pod says how many Pods its group has."""

EVICTIONS = frozenset(
    {
        "EvictionByEvictionAPI",
        "DeletionByTaintManager",
        "DeletionByDeviceTaintManager",
        "TerminationByKubelet",
    }
)
"""Reasons of the condition DisruptionTarget of a Pod that was evicted."""

PREEMPTING = "Preempting"
"""The reason of a Pod that its kubelet ended to admit a critical one."""

UNKNOWN_ENDS = frozenset({"ContainerStatusUnknown", "Unknown"})
"""Reasons by which a kubelet says that it does not know how one ended."""


class Placement(msgspec.Struct, gc=False):
    """One Pod, from its binding to its end."""

    pod: ObjectIdentity
    node: str | None = None
    owners: list[Owner] = []
    labels: Mapping[str, str] = {}
    gpus: int = 0
    group_size: int | None = None
    """How many Pods its group has, as its controller wrote it on it."""

    seen_at: datetime | None = None
    listed: bool = False
    """Whether a list showed it first, so that it may be older than that."""

    bound_at: datetime | None = None
    running_at: datetime | None = None
    ended_at: datetime | None = None
    """When it was over, failed or gone."""

    ended_before: datetime | None = None
    """When its containers had ended, if a list showed it over already."""

    finished_at: datetime | None = None
    """When the last of its containers ended, by the clock of its node."""

    stopped_at: datetime | None = None
    """When it was observed that one of its containers ended."""

    by_itself: bool = True
    """Whether its containers ended by themselves, as far as is recorded."""

    gone_at: datetime | None = None
    unseen: bool = False
    """Whether its end is known by its absence alone."""

    phase: str | None = None
    deleting_at: datetime | None = None
    deleting_by: str | None = None
    """Who asked for its deletion, if that is recorded."""

    disrupted_at: datetime | None = None
    disruption: str | None = None
    """The reason of its condition DisruptionTarget, or the one that an Event
    stands for."""

    announced: tuple[datetime, str, str] | None = None
    """When an Event said that it has to go, for what, and its entry."""

    displaced_by: str | None = None
    """The entry of that Event, if it alone says why the Pod was deleted."""

    refusal: str | None = None
    """The reason in its status, by which a kubelet ended it or refused it."""

    restarts: list[datetime] = []
    """When its containers that had ended restarted."""

    counts: dict[str, int] = {}
    """How often each of its containers had restarted."""

    exit_codes: list[int] = []
    entries: list[str] = []
    """Names of the entries about its end."""

    @property
    def key(self) -> str:
        """Identifies it."""
        return self.pod.key

    @property
    def restarted_at(self) -> datetime | None:
        """When a container of it last restarted."""
        return self.restarts[-1] if self.restarts else None

    def back_at(self, at: datetime) -> datetime | None:
        """Return when it restarted in its place, from a time on."""
        return next((again for again in self.restarts if again >= at), None)

    @property
    def over_at(self) -> datetime | None:
        """When it was over: by its node, which may report it late."""
        if self.ended_at is None or self.phase != "Succeeded":
            return self.ended_at
        return min(self.ended_at, self.finished_at or self.ended_at)

    @property
    def left_at(self) -> datetime | None:
        """When it had to go or was over: from then on another may replace it.

        It may stay for minutes, as on a machine that died.
        """
        ends = (self.disrupted_at, self.deleting_at, self.ended_at)
        return min((at for at in ends if at is not None), default=None)

    @property
    def failed_at(self) -> datetime | None:
        """When it failed by itself, whatever is written on it afterwards."""
        at = self.stopped_at
        ends = (self.disrupted_at, self.deleting_at)
        if at is None or not self.by_itself or self.phase != "Failed":
            return None
        return None if any(t and t <= at for t in ends) else at

    @property
    def deleted_at(self) -> datetime | None:
        """When it was deleted while it ran; None if it was not.

        One that is deleted by force is only seen to be gone.
        """
        at = self.deleting_at or (None if self.unseen else self.gone_at)
        if at is None or self.running_at is None or self.failed_at:
            return None
        ran = self.running_at <= at <= (self.ended_at or at)
        return at if ran else None

    def was_on(self, since: datetime, until: datetime) -> bool:
        """Return whether it was on its node at any time of a span."""
        over = self.failed_at or self.over_at
        return (
            self.bound_at is not None
            and self.bound_at <= until
            and (over is None or over >= since)
        )

    def runs_at(self, at: datetime) -> bool:
        """Return whether it was running at a time."""
        return (
            self.running_at is not None
            and self.running_at <= at
            and (self.over_at is None or self.over_at > at)
        )


class Placements:
    """All placements, folded from facts about Pods.

    What was read of the time before the first list shows that a Pod ran, but
    not since when: it counts from the earliest time that the Pod states, so
    that a loss does not last until the list.
    """

    def __init__(
        self,
        facts: Iterable[StoredFact] = (),
        *,
        began: datetime | None = None,
    ) -> None:
        """Fold facts, in the order of the log."""
        self._by_pod: dict[str, Placement] = {}
        self._began = began
        for stored in facts:
            self.take(stored)

    def __iter__(self) -> Iterator[Placement]:
        """Yield every placement, in the order in which they were seen."""
        return iter(self._by_pod.values())

    def take(self, stored: StoredFact) -> None:
        """Take the next fact, in the order of the log."""
        fact = stored.fact
        thing = fact.object
        if thing is None or thing.kind != "Pod":
            return
        why = displacement(fact)
        if why is None and isinstance(fact.detail, EventOccurred | Requested):
            return
        key = thing.key
        placement = self._by_pod.get(key)
        if placement is None:
            placement = self._by_pod[key] = Placement(
                pod=thing, seen_at=stored.observed_at
            )
        step = _STEPS.get(type(fact.detail))
        if why is not None:
            placement.announced = stored.observed_at, why, str(stored.entry)
            _displaced(placement)
        elif step is not None:
            step(placement, stored, fact.detail)
        began = self._began
        if began is not None and stored.observed_at <= began + SECOND:
            _bound_by_past(placement, stored)


def _bound_by_past(p: Placement, stored: StoredFact) -> None:
    """Let a Pod run from the earliest time that a version of it states."""
    detail, began = stored.fact.detail, None
    if isinstance(detail, Started) and not detail.restarts:
        began = stored.fact.occurred_at
    elif isinstance(detail, Appeared) and p.running_at is not None:
        began = moment(str(detail.state.fields.get("start_time")))
    if began is None or p.running_at is None:
        return
    p.running_at = min(p.running_at, began)
    if p.bound_at is not None:
        p.bound_at = min(p.bound_at, p.running_at)


def _appeared(p: Placement, stored: StoredFact, detail: Appeared) -> None:
    state = detail.state
    phase = state.fields.get("phase")
    p.owners = state.owners
    p.labels = state.labels
    p.gpus = state.gpus
    p.group_size = next(
        (
            int(size)
            for key in GROUP_SIZES
            if (size := state.annotations.get(key, "")).isdecimal()
        ),
        None,
    )
    p.node = state.node
    p.phase = None if phase is None else str(phase)
    p.listed = not detail.created
    p.counts = {name: end.restarts for name, end in state.ends.items()}
    at = stored.observed_at if p.listed else stored.at
    if p.node is not None:
        p.bound_at = at
    if p.phase == "Running":
        p.running_at = at
    if p.phase in OVER:
        p.ended_at, p.ended_before = at, ended_before(detail)
    if state.deletion:
        p.deleting_at = at


def _bound(p: Placement, stored: StoredFact, detail: Bound) -> None:
    p.node = detail.node
    p.bound_at = stored.observed_at


def _started(p: Placement, stored: StoredFact, detail: Started) -> None:
    if detail.restarts:
        _began_again(p, stored, detail)
        return
    p.phase = "Running"
    if p.running_at is None:
        p.running_at = stored.observed_at


def _ended(p: Placement, stored: StoredFact, detail: Ended) -> None:
    p.phase = detail.phase
    # A kubelet gives a reason where it ended or refused the Pod itself.
    p.by_itself &= detail.reason is None
    p.refusal = p.refusal or detail.reason
    p.ended_at = p.ended_at or stored.observed_at
    p.entries = [*p.entries, str(stored.entry)]


def _vanished(p: Placement, stored: StoredFact, detail: Vanished) -> None:
    p.gone_at = stored.observed_at
    p.unseen = detail.inferred and p.ended_at is None
    p.ended_at = p.ended_at or stored.observed_at
    p.entries = [*p.entries, str(stored.entry)]


def _deleting(p: Placement, stored: StoredFact, _: DeletionRequested) -> None:
    if p.deleting_at is None:
        p.deleting_at, p.deleting_by = stored.observed_at, stored.fact.actor
    p.entries = [*p.entries, str(stored.entry)]
    _displaced(p)


def _displaced(p: Placement) -> None:
    """Let a deletion be for what an Event near it says.

    A condition of the Pod says it better.
    """
    if p.announced is None or p.deleting_at is None or p.disruption:
        return
    if p.ended_at is not None:
        return
    at, why, entry = p.announced
    early = p.deleting_at - at
    if -ANNOUNCED_AFTER <= early <= ANNOUNCED_BEFORE and p.running_at:
        p.disruption, p.disrupted_at = why, p.deleting_at
        p.displaced_by = entry
        p.entries = [*p.entries, entry]


def _condition(
    p: Placement, stored: StoredFact, detail: ConditionChanged
) -> None:
    new = detail.new
    if detail.type != "DisruptionTarget" or new is None:
        return
    if new.status != "True":
        return
    # Who ends a Pod writes its end and why in one version.
    at_once = (
        p.ended_at == stored.observed_at and str(stored.entry) in p.entries
    )
    known = p.disruption is not None and p.displaced_by is None
    if (p.ended_at is None or at_once) and not known:
        p.disruption, p.displaced_by = new.reason, None
        p.disrupted_at = stored.observed_at
        p.entries = [*dict.fromkeys([*p.entries, str(stored.entry)])]


def _container(
    p: Placement, stored: StoredFact, detail: ContainerEnded
) -> None:
    if detail.init:
        return
    code = detail.exit_code
    if code is not None:
        p.exit_codes = [*p.exit_codes, code]
    p.by_itself &= detail.reason not in UNKNOWN_ENDS
    p.stopped_at = stored.observed_at
    ended = [t for t in (p.finished_at, stored.fact.occurred_at) if t]
    p.finished_at = max(ended, default=None)
    _began_again(p, stored, detail)
    p.entries = [*p.entries, str(stored.entry)]


def _began_again(
    p: Placement, stored: StoredFact, detail: Started | ContainerEnded
) -> None:
    """Note whether a container that ended runs once more."""
    name, count = detail.container or "", detail.restarts
    if count > p.counts.get(name, 0):
        p.counts = {**p.counts, name: count}
        p.restarts = [*p.restarts, stored.observed_at]


_STEPS: Mapping[type[Detail], Callable[[Placement, StoredFact, Any], None]] = {
    Appeared: _appeared,
    Bound: _bound,
    Started: _started,
    Ended: _ended,
    Vanished: _vanished,
    DeletionRequested: _deleting,
    ConditionChanged: _condition,
    ContainerEnded: _container,
}
