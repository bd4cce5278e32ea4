"""Led to: the act that led to a transition.

A table of exclusive rows classifies a decision: by what an intervention
states by a rule, what it responds to, and what its steps show. Words without
a rule do not lead to anything alone: their author must also have taken the
node out of service, or have removed them once it was done.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from recorder.explain.causes import GONE, STAYING
from recorder.explain.links.purposes import (
    Deed,
    purpose_of,
)
from recorder.explain.signals import (
    RuledActor,
    Signal,
    Topic,
    is_made,
    is_order,
    is_same,
)
from recorder.explain.signals.requests import author_of
from recorder.explain.thresholds import LIMITS, rank, weaker
from recorder.explain.tracks.interventions import TAKING, Intervention
from recorder.explain.tracks.transition import Transition
from recorder.model.fact import FactKind
from recorder.model.outcomes import ActorKind, Confidence, Decision, Happened

__all__ = ["OTHERS", "Led", "led_to", "ordered"]

OTHERS = frozenset(
    {
        Decision.PREEMPTION,
        Decision.HOST_MAINTENANCE,
        Decision.SCALE_DOWN,
        Decision.OS_UPGRADE,
        Decision.DRIVER_UPGRADE,
    }
)
"""Decisions that are stated, independent of faults."""


ANNOUNCED = 3
"""The weight of an intervention that states its purpose."""


class Led(NamedTuple):
    """An intervention that led to a transition."""

    decision: Decision
    step: Signal
    """The step that shows it best."""

    actor: RuledActor | None
    strength: Confidence
    weight: int
    """What it states: 3 its purpose, 2 that it responds to a fault, 1 that its
    steps can cause the transition, 0 hardly anything."""

    @property
    def takes(self) -> bool:
        """Whether it states the removal of the Node: a drain does not."""
        return self.decision in TAKING and self.weight == ANNOUNCED


def _announced(deed: Deed) -> Led | None:
    """It states its purpose, and needs no fault."""
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
        t = deed.transition
        silent = not t.faults and t.was_gone(step, LIMITS.unheard)
        if silent and t.happened == Happened.REBOOT:
            strength = Confidence.POSSIBLE  # what broke it came before
        return Led(decision, step, _who(deed, step), strength, ANNOUNCED)
    return None


def _scaled(deed: Deed, _: Signal) -> Confidence | None:
    t = deed.transition
    if t.faults and not any(s.topic is Topic.EVENT for s in deed.stated):
        return None  # a broken node with only the taint is repaired
    # Capacity that is not needed stays away.
    back = t.is_back and t.episode.state.ready == "True"
    return Confidence.POSSIBLE if back else Confidence.PROVEN


def _upgraded(deed: Deed, step: Signal) -> Confidence | None:
    t = deed.transition
    if step.topic is Topic.CORDON:
        return None  # the versions show more than the cordon
    begun = (
        t.episode.baseline.cordoned
        or t.was_shut_down
        or t.episode.has(Topic.VERSION)
        or t.first(Topic.CORDON)
        or t.first(Topic.EVICTION)
    )
    # It waits for its turn; the holder of the lock empties the node first.
    waits = step.topic is Topic.LOCK and not begun
    return Confidence.POSSIBLE if waits else Confidence.PROVEN


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
    """It states a repair, by a controller or for a person."""
    step = deed.first(Decision.AUTO_REMEDIATION, vague=True)
    if step is None:
        return None
    t = deed.transition
    strength = t.strength(Decision.AUTO_REMEDIATION)
    if deed.one.author is not None and deed.one.author.kind is ActorKind.USER:
        return Led(Decision.ADMIN_REQUEST, step, deed.one.author, strength, 3)
    if t.was_lost:
        # An author who only cordons, or announces in an Event, may wait.
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
    if not holds and t.is_ordered:
        strength = Confidence.LIKELY  # another was to reboot it
    weight = 4 if holds else 3
    return Led(Decision.AUTO_REMEDIATION, step, actor, strength, weight)


def _requested(deed: Deed) -> Led | None:
    """It is a request: of a controller because of a fault, or of a person."""
    step = deed.first(Decision.ADMIN_REQUEST, vague=True)
    if step is None:
        return None
    t, author = deed.transition, deed.one.author
    strength = t.strength(Decision.ADMIN_REQUEST)
    by_person = author is not None and author.kind is ActorKind.USER
    if deed.faulted(step) and not by_person:
        sure = t.is_recent(step) or t.was_acted_upon or t.happened in STAYING
        strength = Confidence.PROVEN if sure else Confidence.POSSIBLE
        return Led(Decision.AUTO_REMEDIATION, step, author, strength, 3)
    if step.vague and t.was_acted_upon:
        strength = Confidence.LIKELY  # what was to be done later was done
    if author is None or author.name is None:
        strength = weaker(Confidence.LIKELY, strength)
    elif author.is_program and author.known:
        # It acted for an author who is not recorded.
        strength = Confidence.POSSIBLE
    return Led(Decision.ADMIN_REQUEST, step, author, strength, 3)


def _who(deed: Deed, step: Signal) -> RuledActor | None:
    return deed.transition.author(step) or deed.one.author


def _ordered(deed: Deed) -> Led | None:
    """Its order says that the node is rebooted."""
    t, one = deed.transition, deed.one
    if t.happened != Happened.REBOOT or any(s.decision for s in one.steps):
        return None
    if one.is_by_program and one.author is not None and one.author.known:
        return None  # a rule defines what it does
    orders = [
        s
        for s in one.steps
        if is_order(s, later=not s.ruled) and t.is_recent(s)
    ]
    if not orders:
        return None
    done = (
        one.asked
        or one.of(Topic.CORDON)
        or one.of(Topic.EVICTION)
        or _had_emptied(t, one)
        or _is_taken_back(t, one, orders)
    )
    carried = _is_taken_up(t, orders)
    if not (done or carried or _still_holds(t, one, orders)):
        return None
    found = None if one.is_by_hand else purpose_of(deed, orders[0])
    if found is not None:
        decision, strength, _ = found
    else:
        decision = Decision.ADMIN_REQUEST
        strength = (
            Confidence.LIKELY
            if one.is_by_hand
            else Confidence.POSSIBLE  # the requester is not recorded
        )
    if not (done or carried):
        strength = Confidence.POSSIBLE  # it may still have waited
    weight = 4 if carried else 2
    return Led(decision, orders[0], one.author, strength, weight)


def _acted(deed: Deed) -> Led | None:
    """Its author has no rule, and took the node out of service, or away."""
    t, one = deed.transition, deed.one
    if any(s.decision and not s.vague for s in one.steps):
        return None  # a rule defines something else
    gone = t.happened in GONE
    done = [
        *one.of(Topic.CORDON),
        *(s for s in one.of(Topic.TAINT) if s is t.effect or gone),
        *one.of(Topic.EVICTION),
        *(s for s in one.steps if gone and s.topic in _REMOVING),
        *(s for s in one.marks if t.was_lost and is_made(s)),
    ]
    if not (done and any(t.is_recent(step) for step in one.steps)):
        return None
    found = purpose_of(deed, done[0])
    if found is None:
        return None
    decision, strength, step = found
    weight = 1 if strength is Confidence.POSSIBLE else 2
    return Led(decision, step, one.author, strength, weight)


_REMOVING = (Topic.DELETION, Topic.IDENTITY)


def _had_emptied(t: Transition, one: Intervention) -> bool:
    """Whether its author emptied the node for an order that still holds."""
    before = t.episode.before
    return any(
        s.topic in {Topic.CORDON, Topic.EVICTION}
        and is_same(author_of(s, before), one.author)
        for s in before
    )


def _is_taken_back(
    t: Transition, one: Intervention, orders: list[Signal]
) -> bool:
    """Whether an author continued with its marks after the effect."""
    return any(
        mark.position > t.effect.position
        and (
            is_same(t.author(mark), one.author)
            or any(mark.subject == order.subject for order in orders)
        )
        for mark in t.episode.marks
    )


def _still_holds(
    t: Transition, one: Intervention, orders: list[Signal]
) -> bool:
    """Whether the order of a person was not taken back, but by a program."""
    if not one.is_by_hand or t.faults:
        return False
    last = orders[-1]
    return t.lost_at - last.stored.at <= LIMITS.patience and not any(
        mark.subject == last.subject
        and mark.position > last.position
        and t.precedes(mark)
        and not is_order(mark)
        and not (
            (author := t.author(mark)) is not None
            and author.is_program
            and t.lost_at - mark.stored.at <= LIMITS.moment
        )
        for mark in t.episode.marks
    )


def _is_taken_up(t: Transition, orders: list[Signal]) -> bool:
    """Whether an object with an order made progress before the effect."""
    return any(
        mark.topic is Topic.OBJECT
        and mark.subject == order.subject
        and order.position < mark.position < t.effect.position
        for mark in t.episode.marks
        for order in orders
    )


def led_to(transition: Transition, one: Intervention) -> Led | None:
    """Return what an intervention decided and how it led to a transition."""
    stated = [
        s for s in transition.decisions if any(s is o for o in one.steps)
    ]
    deed = Deed(transition, one, stated)
    found = [led for row in ROWS if (led := row(deed)) is not None]
    return max(found, key=_worth, default=None)


_KEPT = frozenset(
    {Decision.HOST_MAINTENANCE, Decision.OS_UPGRADE, Decision.DRIVER_UPGRADE}
)
"""Purposes that a person may have as well as a program."""


def ordered(one: Intervention, carried: Led) -> Led:
    """Return what the person decided for whom a program acted."""
    if any(
        s.stored.fact.kind is FactKind.DELETION_REQUESTED for s in one.steps
    ):
        decision = Decision.NODE_DELETION
    elif carried.decision in _KEPT:
        decision = carried.decision
    else:
        decision = Decision.ADMIN_REQUEST
    weight = carried.weight + 1
    return Led(decision, one.first, one.author, carried.strength, weight)


def _worth(led: Led) -> tuple[int, int, int, str]:
    """Return the sort key: what it states, confidence, time; never its row."""
    return led.weight, rank(led.strength), -led.step.position, led.decision


def _drained(deed: Deed) -> Led | None:
    """A person emptied it, by a cordon, by evictions or by a taint."""
    t, one = deed.transition, deed.one
    if one.is_by_program or t.happened in GONE:
        return None  # the author of the deletion decided
    hidden = one.author is not None and one.author.library
    for step in one.of(Topic.CORDON) or one.of(Topic.EVICTION):
        if t.was_lost and step.stored.at > t.lost_at + LIMITS.together:
            return None  # it was lost before that, by another cause
        if t.happened in STAYING:
            strength = Confidence.POSSIBLE if hidden else Confidence.PROVEN
            return Led(Decision.MANUAL_DRAIN, step, one.author, strength, 1)
        long_ago = t.lost_at - step.stored.at > LIMITS.set_aside
        waits = t.happened == Happened.REBOOT and not long_ago
        if not (waits or t.is_recent(step)):
            return None
        # A machine is emptied shortly before it is taken down.
        near = t.is_recent(step) and bool(one.of(Topic.EVICTION))
        # Without a record of the author, it may be a program with an order.
        sure = near and one.author is not None and not hidden
        strength = Confidence.LIKELY if sure else Confidence.POSSIBLE
        weight = 1 if near else 0
        return Led(Decision.MANUAL_DRAIN, step, one.author, strength, weight)
    return _tainted(deed)


def _tainted(deed: Deed) -> Led | None:
    """A taint by hand evicts Pods as well, and closes the node."""
    t, one = deed.transition, deed.one
    if t.happened not in {Happened.REBOOT, Happened.DRAINED}:
        return None
    for taint in one.of(Topic.TAINT):
        driven = t.first(Topic.TAINT_EVICTION)
        if taint is t.effect:
            strength = Confidence.PROVEN
        elif one.author is None or not t.is_recent(taint):
            continue
        elif driven is not None and driven.stored.at < t.lost_at:
            strength = Confidence.LIKELY
        else:
            strength = Confidence.POSSIBLE
        return Led(Decision.MANUAL_DRAIN, taint, one.author, strength, 1)
    return None


def _deleted(deed: Deed) -> Led | None:
    """The Node was deleted on request."""
    t, one = deed.transition, deed.one
    step = next(_deletions(one), None)
    if t.happened not in GONE or step is None:
        return None
    hints = [s for s in one.steps if s.decision is not None]
    if not one.is_by_hand and hints and t.was_gone(step, LIMITS.unheard):
        repair, actor = Decision.AUTO_REMEDIATION, hints[0].actor or one.author
        return Led(repair, hints[0], actor, Confidence.POSSIBLE, 2)
    named = one.author is None or t.author(step) is not None
    sure = named and not step.is_inferred
    strength = Confidence.PROVEN if sure else Confidence.LIKELY
    stated = any(s.decision is Decision.NODE_DELETION for s in hints)
    if one.is_by_program and not stated and _was_broken(deed):
        strength = Confidence.POSSIBLE  # it may repair what was broken
    if one.author is None and t.episode.baseline.blocked_by:
        strength = Confidence.POSSIBLE  # another had set it aside
    by_hand = one.author is not None and one.is_by_hand
    if hints and all(s.vague for s in hints) and not by_hand:
        strength = Confidence.POSSIBLE  # for a purpose that is not known
    return Led(Decision.NODE_DELETION, step, one.author, strength, 1)


def _was_broken(deed: Deed) -> bool:
    """Whether the node had a fault at the time of the order."""
    t = deed.transition
    return bool(
        t.faults
        or t.episode.baseline.ready in {"False", "Unknown"}
        or (t.was_lost and t.lost_at < deed.one.first.stored.at)
    )


def _deletions(one: Intervention) -> Iterator[Signal]:
    yield from one.of(Topic.DELETION)
    yield from one.of(Topic.IDENTITY)
    yield from (s for s in one.steps if s.decision is Decision.NODE_DELETION)


ROWS: tuple[Callable[[Deed], Led | None], ...] = (
    _announced,
    _remediated,
    _requested,
    _ordered,
    _acted,
    _drained,
    _deleted,
)
"""The rows: statements precede what steps show. Each row is tried on one
intervention, so no row precedes that of another author."""
