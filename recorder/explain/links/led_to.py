"""Led to: which fault was answered, and which act led to a transition.

The class of a decision is a table of exclusive rows: what the words of an
intervention state by a rule, what it answers, what its steps show. Words that
no rule knows lead to nothing alone: they do where their author also took the
node out of service, or took them back once it was done, and say for sure what
for only where what happened shows it too.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from recorder.explain.causes import GONE, STAYING
from recorder.explain.signals import (
    RuledActor,
    Signal,
    Topic,
    intents_of,
    is_order,
    is_same,
)
from recorder.explain.signals.requests import author_of
from recorder.explain.thresholds import LIMITS, rank, weaker
from recorder.explain.tracks.interventions import TAKING, Intervention
from recorder.explain.tracks.transition import Transition
from recorder.model.fact import FactKind
from recorder.model.facts import Appeared
from recorder.model.outcomes import ActorKind, Confidence, Decision, Happened

__all__ = ["answers", "is_answered", "is_recent", "led_to"]

REGARDLESS = frozenset({Decision.OS_UPGRADE, Decision.DRIVER_UPGRADE})
"""What is decided for whole fleets, whatever is broken in a node."""


def answers(step: Signal, fault: Signal) -> bool:
    """Whether a step follows a fault so soon that it may answer it."""
    first = fault.position, fault.stored.at, fault.stored.index
    then = step.position, step.stored.at, step.stored.index
    return then > first and step.stored.at - fault.stored.at <= LIMITS.recent


def is_answered(transition: Transition, fault: Signal) -> bool:
    """Whether somebody decided or cordoned upon a fault, or said so."""
    said = [
        mark
        for mark in transition.episode.marks
        if is_order(mark)
        and transition.is_before(mark)
        and mark.actor is not None
        and mark.actor.is_program
    ]
    cordons = transition.episode.of(Topic.CORDON)
    steps = [*transition.decisions, *cordons, *said]
    return any(
        answers(step, fault)
        for step in steps
        if step.decision not in REGARDLESS
    )


def is_recent(transition: Transition, signal: Signal) -> bool:
    """Whether a signal is near enough to the loss to be its cause."""
    held = signal.topic is not Topic.EVENT
    within = LIMITS.recent if held else LIMITS.moment
    return transition.lost_at - signal.stored.at <= within


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


_REMOVING = (Topic.DELETION, Topic.IDENTITY)


def _meant(deed: Deed) -> Led | None:
    """No rule knows its author, but its words say what for."""
    t, one = deed.transition, deed.one
    emptied = one.of(Topic.CORDON) or one.of(Topic.EVICTION)
    took = t.happened in GONE and any(one.of(topic) for topic in _REMOVING)
    asked = t.was_lost and any(
        isinstance(mark.stored.fact.detail, Appeared)
        and mark.stored.fact.detail.created
        for mark in one.marks
    )
    if not (one.is_by_program and (emptied or took or asked)):
        return None
    if any(step.decision is not None for step in one.steps):
        return None  # a rule knows it, and says something else
    if not any(is_recent(t, step) for step in one.steps):
        return None
    said = [
        (_is_borne_out(deed, decision, step), decision, step)
        for decision, step in intents_of([*one.marks, *one.steps])
    ]
    if not said:
        return None
    sure, decision, step = max(said, key=lambda found: found[0])
    strength = Confidence.LIKELY if sure else Confidence.POSSIBLE
    return Led(decision, step, one.author, strength, 1)


def _is_borne_out(deed: Deed, decision: Decision, step: Signal) -> bool:
    """Whether what happened, or what the step is, shows what words say."""
    t = deed.transition
    match decision:
        case Decision.OS_UPGRADE:
            shown = t.episode.has(Topic.VERSION)
        case Decision.AUTO_REMEDIATION:
            shown = bool(t.faults) or t.lost_at < deed.one.first.stored.at
        case Decision.SCALE_DOWN | Decision.PREEMPTION:
            shown = t.happened in GONE
        case Decision.DRIVER_UPGRADE:
            shown = t.happened != Happened.REBOOT
        case _:
            shown = False
    return shown or step.topic is Topic.OBJECT


def _ordered(deed: Deed) -> Led | None:
    """It says that the node is rebooted: a person wants it, or a program."""
    t, one = deed.transition, deed.one
    if t.happened != Happened.REBOOT or any(s.decision for s in one.steps):
        return None
    if one.is_by_program and one.author is not None and one.author.known:
        return None  # a rule says what it does
    orders = [s for s in one.steps if is_order(s) and is_recent(t, s)]
    if not orders:
        return None
    done = (
        one.asked
        or one.of(Topic.CORDON)
        or one.of(Topic.EVICTION)
        or _had_emptied(t, one)
        or _is_taken_back(t, one, orders)
    )
    if not (done or _is_taken_up(t, orders)):
        return None
    decision, strength = _class(deed, orders[0])
    if not done:
        strength = Confidence.POSSIBLE  # it may have waited still
    return Led(decision, orders[0], one.author, strength, 2)


def _class(deed: Deed, order: Signal) -> tuple[Decision, Confidence]:
    author = deed.one.author
    if author is not None and not author.is_program:
        return Decision.ADMIN_REQUEST, Confidence.LIKELY
    if deed.faulted(order):
        return Decision.AUTO_REMEDIATION, Confidence.LIKELY
    if deed.transition.episode.has(Topic.VERSION):
        return Decision.OS_UPGRADE, Confidence.LIKELY
    return Decision.ADMIN_REQUEST, Confidence.POSSIBLE  # nobody says for whom


def _had_emptied(t: Transition, one: Intervention) -> bool:
    """Whether its author emptied the node for an order that holds still."""
    before = t.episode.before
    return any(
        s.topic in {Topic.CORDON, Topic.EVICTION}
        and is_same(author_of(s, before), one.author)
        for s in before
    )


def _is_taken_back(
    t: Transition, one: Intervention, orders: list[Signal]
) -> bool:
    """Whether an author went on with its marks once the effect was there."""
    return any(
        mark.position > t.effect.position
        and (
            is_same(t.author(mark), one.author)
            or any(mark.subject == order.subject for order in orders)
        )
        for mark in t.episode.marks
    )


def _is_taken_up(t: Transition, orders: list[Signal]) -> bool:
    """Whether an object by which somebody orders went on before the effect."""
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


def _worth(led: Led) -> tuple[int, int, int, str]:
    """Order by what it says, how sure, who was first; never by its row."""
    return led.weight, rank(led.strength), -led.step.position, led.decision


def _responded(deed: Deed) -> Led | None:
    """A controller took out of service what was broken."""
    t = deed.transition
    held = deed.one.of(Topic.CORDON) or [
        taint for taint in deed.one.of(Topic.TAINT) if taint is t.effect
    ]
    if not (held and deed.one.is_by_program and deed.faulted(held[0])):
        return None
    sure = is_recent(t, held[0]) or t.was_acted_upon or t.happened in STAYING
    if t.happened == Happened.REBOOT and t.episode.of(Topic.VERSION):
        sure = False  # what came back is another system: an upgrade, perhaps
    return Led(
        Decision.AUTO_REMEDIATION,
        held[0],
        deed.one.author,
        Confidence.PROVEN if sure else Confidence.POSSIBLE,
        2,
    )


def _changed(deed: Deed) -> Led | None:
    """Taken out of service, it came back as another system."""
    cordons, t = deed.one.of(Topic.CORDON), deed.transition
    if not cordons:
        return None
    cordon, author = cordons[0], deed.one.author
    anew = t.happened == Happened.REBOOT and not t.faults
    if anew and t.episode.of(Topic.VERSION):
        return Led(Decision.OS_UPGRADE, cordon, author, Confidence.LIKELY, 2)
    if cordon.decision is Decision.OS_UPGRADE and is_recent(t, cordon):
        return Led(Decision.OS_UPGRADE, cordon, author, Confidence.POSSIBLE, 1)
    return None


def _repaired(deed: Deed) -> Led | None:
    """What is taken away while it is broken is repaired by that."""
    t, broken = deed.transition, deed.transition.first_fault
    for step in deed.stated:
        if step.decision not in TAKING:
            continue
        actor = step.actor or t.author(step)
        if broken and step.stored.at - broken.stored.at >= LIMITS.patient:
            return Led(
                Decision.AUTO_REMEDIATION, step, actor, Confidence.LIKELY, 2
            )
        if step.vague and _was_unheard(t, step):
            return Led(
                Decision.AUTO_REMEDIATION, step, actor, Confidence.POSSIBLE, 2
            )
    return None


def _was_unheard(t: Transition, taken: Signal) -> bool:
    """Whether a node had been lost for long when somebody took it."""
    told = [
        s
        for s in t.episode.signals
        if s.topic is Topic.READY and s.position < taken.position
    ]
    return (
        bool(told)
        and not told[-1].over
        and taken.stored.at - told[-1].stored.at >= LIMITS.unheard
    )


def _drained(deed: Deed) -> Led | None:
    """A person emptied it, by a cordon or by a taint."""
    t, one = deed.transition, deed.one
    if one.is_by_program or t.happened in GONE:
        return None  # whoever deleted it decided
    hidden = one.author is not None and one.author.library
    for cordon in one.of(Topic.CORDON):
        if t.was_lost and cordon.stored.at > t.lost_at + LIMITS.together:
            return None  # it was lost before that, and by nothing of this
        if t.happened in STAYING:
            strength = Confidence.POSSIBLE if hidden else Confidence.PROVEN
            return Led(Decision.MANUAL_DRAIN, cordon, one.author, strength, 1)
        long_ago = t.lost_at - cordon.stored.at > LIMITS.set_aside
        waits = t.happened == Happened.REBOOT and not long_ago
        if not (waits or is_recent(t, cordon)):
            return None
        # Who takes a machine down empties it first, and not days before.
        near = is_recent(t, cordon) and _is_emptied_by_hand(deed)
        strength = (
            Confidence.LIKELY if near and not hidden else Confidence.POSSIBLE
        )
        return Led(
            Decision.MANUAL_DRAIN,
            cordon,
            one.author,
            strength,
            1 if near else 0,
        )
    return _tainted(deed)


def _is_emptied_by_hand(deed: Deed) -> bool:
    """Whether its author evicted Pods, or somebody else in person."""
    t = deed.transition
    authors = [t.author(s) for s in t.episode.of(Topic.EVICTION)]
    return bool(deed.one.of(Topic.EVICTION)) or any(
        author is not None and not author.is_program for author in authors
    )


def _tainted(deed: Deed) -> Led | None:
    """A taint by hand drives Pods away as well, and bars the node."""
    t, one = deed.transition, deed.one
    if t.happened not in {Happened.REBOOT, Happened.DRAINED}:
        return None
    for taint in one.of(Topic.TAINT):
        if taint is t.effect:
            return Led(
                Decision.MANUAL_DRAIN, taint, one.author, Confidence.PROVEN, 1
            )
        if one.author is not None and is_recent(t, taint):
            driven = t.first(Topic.TAINT_EVICTION)
            near = driven is not None and driven.stored.at < t.lost_at
            strength = Confidence.LIKELY if near else Confidence.POSSIBLE
            return Led(Decision.MANUAL_DRAIN, taint, one.author, strength, 1)
    return None


def _deleted(deed: Deed) -> Led | None:
    """Somebody deleted the Node."""
    t = deed.transition
    if t.happened not in GONE:
        return None
    for step in _deletions(deed.one):
        inferred = step.is_inferred
        named = deed.one.author is None or t.author(step) is not None
        strength = (
            Confidence.PROVEN if named and not inferred else Confidence.LIKELY
        )
        hints = [s for s in deed.one.steps if s.decision is not None]
        if not hints and _was_broken(deed) and deed.one.is_by_program:
            strength = Confidence.POSSIBLE  # it may repair what was broken
        if hints and all(s.vague for s in hints):
            # It was meant to go, and nothing says what for; unless a person
            # is on record who asked for it.
            by_hand = deed.one.author is not None and deed.one.is_by_hand
            strength = strength if by_hand else Confidence.POSSIBLE
        return Led(Decision.NODE_DELETION, step, deed.one.author, strength, 1)
    return None


def _was_broken(deed: Deed) -> bool:
    """Whether the node was in trouble when the order was given."""
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
    _responded,
    _changed,
    _repaired,
    _meant,
    _ordered,
    _drained,
    _deleted,
)
"""What its words say comes before what its steps show; each row is asked of
one intervention, so that none stands before another author's."""
