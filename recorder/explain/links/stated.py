"""Stated: what an intervention says itself that it is for."""

from collections.abc import Callable
from typing import NamedTuple

from recorder.explain.happened import STAYING
from recorder.explain.links.because import answers, is_recent
from recorder.explain.signals import RuledActor, Signal, Topic
from recorder.explain.strength import weaker
from recorder.explain.tracks.interventions import TAKING, Intervention
from recorder.explain.tracks.transition import Transition
from recorder.model.fact import FactKind
from recorder.model.outcomes import ActorKind, Confidence, Decision, Happened

__all__ = ["STATED", "Deed", "Led"]

OTHERS = frozenset(
    {
        Decision.PREEMPTION,
        Decision.HOST_MAINTENANCE,
        Decision.SCALE_DOWN,
        Decision.OS_UPGRADE,
        Decision.DRIVER_UPGRADE,
    }
)
"""What is decided in its own words, whatever is broken."""


ANNOUNCED = 3
"""The weight of what its own words say that it was meant."""


class Led(NamedTuple):
    """An intervention that a transition came of."""

    decision: Decision
    step: Signal
    """What shows it best."""

    actor: RuledActor | None
    strength: Confidence
    weight: int
    """How much its own words say of it: 3 that it was meant, 2 that it
    answers a fault, 1 that its steps can cause it, 0 hardly anything."""

    @property
    def takes(self) -> bool:
        """Whether it says that the Node is to go: a drain removes none."""
        return self.decision in TAKING and self.weight == ANNOUNCED


class Deed(NamedTuple):
    """An intervention and what it states that still counts."""

    transition: Transition
    one: Intervention
    stated: list[Signal]

    def first(
        self, *decisions: Decision, vague: bool = False
    ) -> Signal | None:
        """Return the first that states one of some decisions."""
        return next(
            (
                s
                for s in self.stated
                if s.decision in decisions and (vague or not s.vague)
            ),
            None,
        )

    def faulted(self, step: Signal) -> bool:
        """Whether a step follows a fault that still held."""
        return any(answers(step, f) for f in self.transition.faults)


def _announced(deed: Deed) -> Led | None:
    """Its own words say what for, and no fault is needed."""
    for step in deed.stated:
        decision = step.decision
        if decision not in OTHERS or step.vague:
            continue
        strength = deed.transition.strength(decision)
        limit = _LIMITED.get(decision)
        if limit is not None:
            limited = limit(deed, step)
            if limited is None:
                continue
            strength = weaker(strength, limited)
        return Led(decision, step, _who(deed, step), strength, ANNOUNCED)
    return None


def _scaled(deed: Deed, _: Signal) -> Confidence | None:
    t = deed.transition
    said = any(s.topic is Topic.EVENT for s in deed.stated)
    if t.faults and not said:
        # A broken node that only has the taint is repaired, not spared.
        return None
    back = t.is_back and t.episode.state.ready == "True"
    return (
        Confidence.POSSIBLE if back else Confidence.PROVEN
    )  # what is not needed stays away


def _upgraded(deed: Deed, step: Signal) -> Confidence | None:
    t = deed.transition
    begun = (
        t.episode.baseline.cordoned
        or t.was_shut_down
        or bool(t.episode.of(Topic.VERSION))
        or any(
            t.first(topic) is not None
            for topic in (Topic.CORDON, Topic.EVICTION)
        )
    )
    if step.topic is Topic.CORDON:
        return None  # what only the cordon says, the versions say better
    # It waits for its turn; who has the lock empties the node first.
    return (
        Confidence.POSSIBLE
        if step.topic is Topic.LOCK and not begun
        else Confidence.PROVEN
    )


def _driver(deed: Deed, _: Signal) -> Confidence | None:
    # An upgrade of a driver reboots nothing.
    rebooted = deed.transition.happened == Happened.REBOOT
    return Confidence.POSSIBLE if rebooted else Confidence.PROVEN


_LIMITED: dict[Decision, Callable[[Deed, Signal], Confidence | None]] = {
    Decision.SCALE_DOWN: _scaled,
    Decision.OS_UPGRADE: _upgraded,
    Decision.DRIVER_UPGRADE: _driver,
}


def _remediated(deed: Deed) -> Led | None:
    """It says that it repairs: a controller did, or a person had it done."""
    step = deed.first(Decision.AUTO_REMEDIATION, vague=True)
    if step is None:
        return None
    t = deed.transition
    strength = t.strength(Decision.AUTO_REMEDIATION)
    if deed.one.author is not None and deed.one.author.kind is ActorKind.USER:
        return Led(Decision.ADMIN_REQUEST, step, deed.one.author, strength, 3)
    if t.was_lost:
        # Who only cordons, or says in an Event what will be done, may wait.
        step = next(
            (
                s
                for s in deed.stated
                if s.decision is Decision.AUTO_REMEDIATION
                and not s.vague
                and s.stored.fact.kind is not FactKind.EVENT
            ),
            step,
        )
    actor = deed.one.author if deed.one.asked else None
    actor = actor or step.actor or t.author(step)
    holds = step.stored.fact.kind is not FactKind.EVENT and not step.vague
    weight = 4 if holds else 3
    return Led(Decision.AUTO_REMEDIATION, step, actor, strength, weight)


def _requested(deed: Deed) -> Led | None:
    """Somebody asked: a controller because of a fault, or a person."""
    step = deed.first(Decision.ADMIN_REQUEST, vague=True)
    if step is None:
        return None
    t, author = deed.transition, deed.one.author
    strength = t.strength(Decision.ADMIN_REQUEST)
    if deed.faulted(step) and (
        author is None or author.kind is not ActorKind.USER
    ):
        sure = is_recent(t, step) or t.was_acted_upon or t.happened in STAYING
        return Led(
            Decision.AUTO_REMEDIATION,
            step,
            author,
            Confidence.PROVEN if sure else Confidence.POSSIBLE,
            3,
        )
    if step.vague and t.was_acted_upon:
        strength = Confidence.LIKELY  # what may be done some day was done
    if author is None or author.name is None:
        strength = weaker(Confidence.LIKELY, strength)
    elif author.is_program and author.known:
        strength = (
            Confidence.POSSIBLE
        )  # it asks for somebody; nobody says for whom
    return Led(Decision.ADMIN_REQUEST, step, author, strength, 3)


def _who(deed: Deed, step: Signal) -> RuledActor | None:
    return deed.transition.author(step) or deed.one.author


STATED: tuple[Callable[[Deed], Led | None], ...] = (
    _announced,
    _remediated,
    _requested,
)
"""The rows of the table that go by words."""
