"""Links: what led to a transition, what it was for, and what it answers.

A table of rows classifies the decision of an intervention: by what it states
by a rule, what it responds to, and what its steps show. An act that no rule
knows repairs what broke before it, or renews the system of a node that comes
back as another, or is for what its author says. Words alone lead to nothing:
their author must have taken the node out of service as well, or have removed
them once it was done.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from recorder.explain.causes import DECISIONS, GONE, STAYING
from recorder.explain.signals.actor import Actor, is_same
from recorder.explain.signals.marks import (
    intents_of,
    is_later,
    is_made,
    is_order,
    is_undone,
)
from recorder.explain.signals.requests import author_of
from recorder.explain.signals.signal import Signal, Topic
from recorder.explain.thresholds import LIMITS, rank, weaker
from recorder.explain.tracks.interventions import Intervention
from recorder.explain.tracks.transition import Transition, follows
from recorder.model.fact import FactKind
from recorder.model.facts import FieldChanged
from recorder.model.outcomes import ActorKind, Confidence, Decision, Happened

STATED = 3
"""The weight of an intervention that states its purpose."""


class Led(NamedTuple):
    """An intervention that led to a transition."""

    decision: Decision
    step: Signal
    """The step that shows it best."""

    actor: Actor | None
    strength: Confidence
    weight: int
    """What it states: 3 its purpose, 2 that it responds to a fault, 1 that its
    steps can cause the transition, 0 hardly anything."""

    @property
    def takes(self) -> bool:
        """Whether it states the removal of the Node: a drain does not."""
        return DECISIONS[self.decision].takes and self.weight == STATED


def is_answered(transition: Transition, fault: Signal) -> bool:
    """Whether a decision or a cordon followed a fault, or named it."""
    said = [
        mark
        for mark in transition.episode.marks
        if is_order(mark)
        and transition.is_before(mark)
        and mark.actor is not None
        and mark.actor.is_program
    ]
    cordons = transition.episode.of(Topic.CORDON)
    return any(
        follows(step, fault)
        for step in (*transition.decisions, *cordons, *said)
        if step.decision is None or not DECISIONS[step.decision].fleetwide
    )


def _stated(t: Transition, one: Intervention) -> Iterator[Led]:
    """Its steps state their purpose, by a rule."""
    for step in t.decisions:
        stated = step.decision
        if stated is None or not any(step is own for own in one.steps):
            continue
        found = _meant(t, one, step, stated)
        if found is None:
            continue
        decision, most = found
        strength = weaker(most, t.strength(stated))
        # Who only announces a repair in an Event may wait.
        holds = (
            decision is stated is Decision.AUTO_REMEDIATION
            and not step.vague
            and step.kind is not FactKind.EVENT
        )
        own = DECISIONS[decision].stated or holds
        if not own and _is_taken_over(t, one):
            strength = weaker(Confidence.LIKELY, strength)
        who = t.author(step) or one.author
        yield Led(decision, step, who, strength, STATED + holds)


def _meant(
    t: Transition, one: Intervention, step: Signal, stated: Decision
) -> tuple[Decision, Confidence] | None:
    """Return what a stated decision was, and how sure it led to the effect."""
    if stated in {Decision.AUTO_REMEDIATION, Decision.ADMIN_REQUEST}:
        return _requested(t, one, step)
    if not DECISIONS[stated].stated:
        return None
    if step.vague:
        # What its author says of a node that stays is all that is known.
        said = t.happened in STAYING and step is not t.effect
        return (stated, Confidence.POSSIBLE) if said else None
    doubtful = _is_doubtful(t, step)
    return stated, Confidence.POSSIBLE if doubtful else Confidence.PROVEN


def _is_doubtful(t: Transition, step: Signal) -> bool:
    """Whether a decision may not have led to what happened."""
    emptied = t.first(Topic.CORDON) or t.was_cordoned
    emptied = emptied or t.episode.has(Topic.VERSION)
    return (
        # A lock waits for its turn; its holder empties the node first.
        (step.topic is Topic.LOCK and not emptied)
        or t.happened in _APART.get(step.decision, ())
        # What broke a silent node came before.
        or (
            t.happened == Happened.REBOOT
            and not t.faults
            and t.was_gone(step, LIMITS.unheard)
        )
    )


def _requested(
    t: Transition, one: Intervention, step: Signal
) -> tuple[Decision, Confidence]:
    """Return what a request or a repair was, of a person or of a program."""
    author = one.author
    if author is not None and author.kind is ActorKind.USER:
        return Decision.ADMIN_REQUEST, Confidence.PROVEN
    answers = any(follows(step, fault) for fault in t.faults)
    if step.decision is Decision.AUTO_REMEDIATION or answers:
        return Decision.AUTO_REMEDIATION, Confidence.PROVEN
    if author is None or author.name is None:
        return Decision.ADMIN_REQUEST, Confidence.LIKELY
    # A program acted for an author who is not recorded.
    by_program = author.is_program and author.known
    most = Confidence.POSSIBLE if by_program else Confidence.PROVEN
    return Decision.ADMIN_REQUEST, most


_ANEW = frozenset({Happened.REBOOT, Happened.KUBELET_RESTART})
"""After what a node may run another system, or another kubelet."""

_APART: dict[Decision | None, frozenset[Happened]] = {
    # Capacity that is not needed stays away.
    Decision.SCALE_DOWN: _ANEW,
    Decision.DRIVER_UPGRADE: frozenset({Happened.REBOOT}),
}
"""What a decision does not do, and may only come with it."""


def _ordered(t: Transition, one: Intervention) -> Led | None:
    """Its order says that the node is rebooted."""
    orders = [
        s
        for s in one.steps
        if is_order(s, later=not s.ruled) and t.is_recent(s)
    ]
    if t.happened != Happened.REBOOT or not orders:
        return None
    holds = not one.is_by_hand or not t.taken_back(orders[-1])
    done = one.asked or (
        holds
        and (
            any(s.topic in _CLEARING for s in one.steps)
            or _had_emptied(t, one)
            or _is_taken_back(t, one, orders)
        )
    )
    carried = _is_taken_up(t, orders)
    if not (done or carried or (holds and one.is_by_hand)):
        return None
    found = None if one.is_by_hand else purpose_of(t, one, orders[0])
    if found is None:
        # A program did what it had said first; who asked it is not recorded.
        first = orders[0]
        own = is_order(first, stops=True) and not _is_asked_for(t, first)
        likely = one.is_by_hand or (own and is_given_back(t, one))
        sure = Confidence.LIKELY if likely else Confidence.POSSIBLE
        found = _for(Decision.ADMIN_REQUEST, sure, orders[0], one)
    if not (done or carried):
        found = found._replace(strength=Confidence.POSSIBLE)  # it may wait
    weight = 4 if carried else 2
    return found._replace(step=orders[0], weight=weight)


def _reboots_said(t: Transition) -> Iterator[Signal]:
    """Yield the marks that say the node is rebooted, and that still hold."""
    for mark in t.episode.marks:
        if is_order(mark, stops=True) and mark.subject not in t.called_off:
            yield mark


def _is_asked_for(t: Transition, order: Signal) -> bool:
    """Whether one whose name is not recorded had said so before."""
    return any(
        mark.position < order.position
        and ((author := t.author(mark)) is None or author.name is None)
        for mark in _reboots_said(t)
    )


def _acted(t: Transition, one: Intervention) -> Led | None:
    """Its author has no rule, and took the node out of service, or away."""
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
    found = purpose_of(t, one, done[0])
    if found is None or not _is_taken_over(t, one):
        return found
    return found._replace(strength=Confidence.POSSIBLE)


def _is_taken_over(t: Transition, one: Intervention) -> bool:
    """Whether another, not asked by it, then said to reboot the node."""
    # By its rules it makes no such object: another program may make its own.
    ruled = one.is_by_program and one.author is not None and one.author.known
    return t.happened == Happened.REBOOT and any(
        mark.position > one.steps[-1].position
        and t.is_before(mark)
        and (t.author(mark) or (ruled and mark.topic is Topic.OBJECT))
        and not any(
            is_same(t.author(mark), a) for a in (one.author, *one.asked)
        )
        for mark in _reboots_said(t)
    )


_CLEARING = frozenset({Topic.CORDON, Topic.EVICTION, Topic.TAINT})
"""Topics of acts that take a node out of service."""

_REMOVING = (Topic.DELETION, Topic.IDENTITY)


def _had_emptied(t: Transition, one: Intervention) -> bool:
    """Whether its author emptied the node for an order that still holds."""
    before = t.episode.before
    return any(
        s.topic in _CLEARING and is_same(author_of(s, before), one.author)
        for s in before
    )


def is_given_back(
    t: Transition, one: Intervention, step: Signal | None = None
) -> bool:
    """Whether the author who cordoned a node undid its own acts afterwards.

    Or one of them. Then the effect is one of the steps of what it did.
    """
    steps = (*one.steps, *one.marks) if step is None else (step,)
    own = {step.subject for step in steps}
    return (
        t.is_back
        and bool(one.of(Topic.CORDON) or one.of(Topic.TAINT))
        and any(
            s.position > t.effect.position
            and s.subject in own
            and is_undone(s)
            and is_same(t.author(s), one.author)
            for s in t.episode.written
        )
    )


def _is_taken_back(
    t: Transition, one: Intervention, orders: list[Signal]
) -> bool:
    """Whether an author continued with its marks after the effect."""
    own = {order.subject for order in orders}
    return any(
        mark.position > t.effect.position
        and (mark.subject in own or is_same(t.author(mark), one.author))
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
    t = transition
    said = max(_stated(t, one), key=lambda led: _worth(led)[:2], default=None)
    found = [led for led in (said, *(row(t, one) for row in ROWS)) if led]
    found = [
        led._replace(strength=weaker(Confidence.LIKELY, led.strength))
        if t.is_dated_by_owner(led.step)
        else led
        for led in found
    ]
    return max(found, key=_worth, default=None)


def ordered(one: Intervention, carried: Led) -> Led:
    """Return what the person decided for whom a program acted."""
    if any(s.kind is FactKind.DELETION_REQUESTED for s in one.steps):
        decision = Decision.NODE_DELETION
    elif DECISIONS[carried.decision].stated and not (
        DECISIONS[carried.decision].gives_up
    ):
        decision = carried.decision  # a person may have it as well
    else:
        decision = Decision.ADMIN_REQUEST
    weight = carried.weight + 1
    return Led(decision, one.first, one.author, carried.strength, weight)


def _worth(led: Led) -> tuple[int, int, int, str]:
    """Return the sort key: what it states, confidence, time; never its row."""
    return led.weight, rank(led.strength), -led.step.position, led.decision


def _drained(t: Transition, one: Intervention) -> Led | None:
    """A person emptied it, by a cordon, by evictions or by a taint."""
    evictions = one.of(Topic.EVICTION)
    acts = one.of(Topic.CORDON) or evictions
    if t.happened in {Happened.REBOOT, Happened.DRAINED}:
        acts = acts or one.of(Topic.TAINT)
    if one.is_by_program or t.happened in GONE or not acts:
        return None  # the author of the deletion decided
    step = acts[0]
    if step.topic is Topic.EVICTION and not (one.author or t.was_cordoned):
        return None  # a drain keeps Pods away first; these moved alone
    if t.was_lost and step.at > t.lost_at + LIMITS.together:
        return None  # it was lost before that, by another cause
    hidden = one.author is not None and one.author.library
    driven = step.topic is Topic.TAINT and t.first(Topic.TAINT_EVICTION)
    if t.happened in STAYING:
        strength = Confidence.POSSIBLE if hidden else Confidence.PROVEN
        if step.topic is Topic.TAINT and step is not t.effect:
            # It may only have come before what another did.
            most = Confidence.LIKELY if driven else Confidence.POSSIBLE
            strength = weaker(strength, most)
        who = _emptied_by(t, one)
        most = strength if who is one.author else Confidence.LIKELY
        return Led(Decision.MANUAL_DRAIN, step, who, weaker(most, strength), 1)
    long_ago = t.lost_at - step.at > LIMITS.set_aside
    waits = t.happened == Happened.REBOOT and not long_ago
    # A machine is emptied shortly before it is taken down.
    near = t.is_recent(step) and bool(evictions or driven)
    if not (waits or t.is_recent(step)) or (
        step.listed and not near  # it may be older, for something else
    ):
        return None
    # Without a record of the author, it may be a program with an order.
    known = one.author is not None and not hidden
    sure = near and known and not _is_taken_over(t, one)
    strength = Confidence.LIKELY if sure else Confidence.POSSIBLE
    weight = 1 if near else 0
    return Led(Decision.MANUAL_DRAIN, step, one.author, strength, weight)


def _emptied_by(t: Transition, one: Intervention) -> Actor | None:
    """Return who cordoned a node, or the person who then emptied it."""
    by = [*map(t.author, t.episode.of(Topic.EVICTION))]
    persons = all(a and a.kind is ActorKind.USER for a in by)
    own = not persons or any(is_same(a, one.author) for a in by)
    return one.author if own or not by else by[-1]


def _deleted(t: Transition, one: Intervention) -> Led | None:
    """The Node was deleted on request."""
    hints = [s for s in one.steps if s.decision is not None]
    announced = [s for s in hints if s.decision is Decision.NODE_DELETION]
    done = [*one.of(Topic.DELETION), *one.of(Topic.IDENTITY), *announced]
    if t.happened not in GONE or not done:
        return None
    step = done[0]
    if hints and t.was_gone(step, LIMITS.unheard):
        repair = Decision.AUTO_REMEDIATION
        return Led(repair, hints[0], one.author, Confidence.POSSIBLE, 2)
    named = one.author is None or t.author(step) is not None
    sure = named and not step.is_inferred
    strength = Confidence.PROVEN if sure else Confidence.LIKELY
    if one.is_by_program and not announced and _was_broken(t, one):
        strength = Confidence.POSSIBLE  # it may repair what was broken
    if one.author is None and t.episode.baseline.blocked_by:
        strength = Confidence.POSSIBLE  # another had set it aside
    if hints and all(s.vague for s in hints) and not one.is_by_hand:
        strength = Confidence.POSSIBLE  # for a purpose that is not known
    return Led(Decision.NODE_DELETION, step, one.author, strength, 1)


def _was_broken(t: Transition, one: Intervention) -> bool:
    return bool(
        t.faults
        or t.episode.baseline.ready in {"False", "Unknown"}
        or (t.was_lost and t.lost_at < one.first.at)
    )


def _for(
    decision: Decision, sure: Confidence, step: Signal, one: Intervention
) -> Led:
    """Return what an act was for, without a rule."""
    weight = 1 if sure is Confidence.POSSIBLE else 2
    return Led(decision, step, one.author, sure, weight)


def purpose_of(t: Transition, one: Intervention, step: Signal) -> Led | None:
    """Return the purpose of an act that no rule knows, and what shows it."""
    said = [*_says(t, one, step)]
    found = [*said, *_responds(t, one, step), *_renews(t, one, step)]
    # What its author says precedes what its steps show, and is its rival.
    best = max(found, key=lambda led: rank(led.strength), default=None)
    own = max(said, key=lambda led: rank(led.strength), default=best)
    if best is None or own is None or best.decision is own.decision:
        return best
    return _for(own.decision, Confidence.POSSIBLE, own.step, one)


def _responds(t: Transition, one: Intervention, step: Signal) -> Iterator[Led]:
    """Yield the repair of what broke before a program, or anyone, acted."""
    known = [_answered(t, f, step) for f in t.faults if follows(step, f)]
    if not known and _is_finished(t, one, step):
        known = [Confidence.LIKELY]
    if one.is_by_hand or not known:
        return
    strength = max(known, key=rank)
    own = (s is t.effect or s.topic in _REMOVING for s in one.steps)
    said = any(is_order(s, stops=True) for s in one.steps)
    done = step.topic is Topic.CORDON and (said or is_given_back(t, one))
    if not (done or any(own)):
        strength = weaker(strength, Confidence.LIKELY)  # it may have waited
    sure = t.is_recent(step) or t.was_acted_upon or t.happened in STAYING
    # Perhaps it was only upgraded, or by a person who used a library.
    by_library = one.author is not None and one.author.library
    # An unrecorded author, or a program with rules, may remove a node for
    # another reason, whose record is lost.
    other = t.happened in GONE and (one.author is None or one.author.known)
    if not sure or by_library or other or _is_anew(t):
        strength = Confidence.POSSIBLE
    yield _for(Decision.AUTO_REMEDIATION, strength, step, one)


def _answered(t: Transition, fault: Signal, step: Signal) -> Confidence:
    """Return how sure it is that a step responds to a fault before it.

    If no act names the fault, an act long after it shows that by time alone.
    """
    soon = follows(step, fault, LIMITS.patience) or t.is_named(fault)
    most = Confidence.PROVEN if soon else Confidence.LIKELY
    return weaker(most, t.certainty(fault))


def _is_finished(t: Transition, one: Intervention, step: Signal) -> bool:
    """Whether a program let go of a lost node before that booted.

    Contact was lost, so it acted elsewhere, such as in a cloud; it had ended
    its work, and called nothing off.
    """
    return (
        one.is_by_program
        and t.happened == Happened.REBOOT
        and t.lost_at < step.at
        and any(
            s.over
            and s.subject == step.subject
            and step.position < s.position < t.effect.position
            and is_same(t.author(s) or one.author, one.author)
            for s in t.episode.signals
        )
    )


def _is_anew(t: Transition) -> bool:
    return t.happened in _ANEW and t.episode.has(Topic.VERSION)


def _renews(t: Transition, one: Intervention, step: Signal) -> Iterator[Led]:
    """Yield the upgrade, if the node came back as another system."""
    if _is_anew(t) and not t.faults:
        sure = one.is_by_program or bool(one.of(Topic.EVICTION))
        turned = (s.detail for s in t.episode.of(Topic.VERSION))
        kubelet = {"kubelet_version"}  # it is upgraded without a boot
        if t.happened == Happened.REBOOT and kubelet.issuperset(
            d.field for d in turned if isinstance(d, FieldChanged)
        ):
            sure = False
        if t.was_gone(one.first, LIMITS.unheard):
            sure = False  # a repair may bring another image as well
        strength = Confidence.LIKELY if sure else Confidence.POSSIBLE
        yield _for(Decision.OS_UPGRADE, strength, step, one)


def _says(t: Transition, one: Intervention, act: Signal) -> Iterator[Led]:
    """Yield what the words of a program say, sure if what happened confirms.

    Of an author who is not recorded nothing else counts.
    """
    if one.is_by_hand or any(s.decision for s in one.steps):
        return
    if one.serves:
        sure = is_given_back(t, one)
        strength = Confidence.LIKELY if sure else Confidence.POSSIBLE
        yield _for(Decision.ADMIN_REQUEST, strength, act, one)
    for decision, step in intents_of([*one.marks, *one.steps]):
        if _is_borne_out(t, one, decision, step):
            yield _for(decision, Confidence.LIKELY, step, one)
        elif one.author is not None:
            yield _for(decision, Confidence.POSSIBLE, step, one)


def _is_borne_out(
    t: Transition, one: Intervention, decision: Decision, step: Signal
) -> bool:
    """Whether what happened, or the step itself, confirms the words.

    They may describe the node, or what is planned: that it is gone confirms
    none, and that it is given back only what is taken back as well.
    """
    noted = step.topic is Topic.METADATA
    own = step if noted or is_later(step) else None
    match decision:
        case Decision.OS_UPGRADE:
            shown = t.episode.has(Topic.VERSION)
        case Decision.AUTO_REMEDIATION:
            shown = bool(t.faults) or t.lost_at < one.first.at
        case Decision.SCALE_DOWN | Decision.PREEMPTION:
            cleared = any(s.topic in _CLEARING for s in one.steps)
            shown = t.happened in GONE and own is None and cleared
        case _:
            shown = is_given_back(t, one, own)
    ordered = one.is_by_program and step.topic is Topic.OBJECT
    return shown or ordered


ROWS: tuple[Callable[[Transition, Intervention], Led | None], ...] = (
    _ordered,
    _acted,
    _drained,
    _deleted,
)
"""What its orders and its steps show. Each row is tried on one intervention,
so no row precedes that of another author."""
