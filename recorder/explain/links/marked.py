"""Marked: what an intervention says in words that no rule knows.

Who takes a node out of service says so beside it: in an annotation, a label,
an Event. Words alone lead to nothing; they do where their author also took the
node out of service, or took them back once it was done. What for, they say
for sure only where what happened shows it too.
"""

from collections.abc import Callable

from recorder.explain.happened import GONE
from recorder.explain.links.because import is_recent
from recorder.explain.links.stated import Deed, Led
from recorder.explain.signals import (
    Signal,
    Topic,
    intents_of,
    is_order,
    is_same,
)
from recorder.explain.signals.requests import author_of
from recorder.explain.tracks.interventions import Intervention
from recorder.explain.tracks.transition import Transition
from recorder.model.facts import Appeared
from recorder.model.outcomes import Confidence, Decision, Happened

__all__ = ["MARKED"]

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


MARKED: tuple[Callable[[Deed], Led | None], ...] = (_meant, _ordered)
"""The rows of the table that go by words that no rule knows."""
