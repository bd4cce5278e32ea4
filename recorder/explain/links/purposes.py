"""Purposes: what an act was for, by the fault it answers and by its words.

An act that no rule knows repairs what broke before it, or renews the system
of a node that comes back as another, or is for what its author says. Words
are sure only if what happened shows it too.
"""

from collections.abc import Iterator
from typing import NamedTuple

from recorder.explain.causes import GONE, STAYING
from recorder.explain.signals import (
    Signal,
    Topic,
    intents_of,
    is_order,
    is_same,
)
from recorder.explain.thresholds import LIMITS, rank, weaker
from recorder.explain.tracks.interventions import Intervention
from recorder.explain.tracks.transition import Transition, follows
from recorder.model.outcomes import Confidence, Decision, Happened

__all__ = [
    "Deed",
    "is_answered",
    "purpose_of",
]

REGARDLESS = frozenset({Decision.OS_UPGRADE, Decision.DRIVER_UPGRADE})
"""Decisions for whole fleets, independent of faults of a node."""


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
    steps = [*transition.decisions, *cordons, *said]
    return any(
        follows(step, fault)
        for step in steps
        if step.decision not in REGARDLESS
    )


Purpose = tuple[Decision, Confidence, Signal]
"""What an act was for, how sure that is, and the step that shows it."""


class Deed(NamedTuple):
    """An intervention and its statements that still count."""

    transition: Transition
    one: Intervention
    stated: list[Signal]

    def first(
        self, *decisions: Decision, vague: bool = False
    ) -> Signal | None:
        """Return the first step that states one of the decisions."""
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
        return any(follows(step, f) for f in self.transition.faults)


def purpose_of(deed: Deed, step: Signal) -> Purpose | None:
    """Return the purpose of an act that no rule knows, and what shows it."""
    said = [*_says(deed)]
    found = [*said, *_responds(deed, step), *_renews(deed, step)]
    # What its author says precedes what its steps show, and is its rival.
    best = max(found, key=_sure, default=None)
    own = max(said, key=_sure, default=best)
    if best is None or own is None or best[0] is own[0]:
        return best
    return own[0], Confidence.POSSIBLE, own[2]


def _sure(purpose: Purpose) -> int:
    return rank(purpose[1])


def _responds(deed: Deed, step: Signal) -> Iterator[Purpose]:
    """Yield the repair of what broke before a program, or anyone, acted."""
    t, one = deed.transition, deed.one
    known = [t.certainty(f) for f in t.faults if follows(step, f)]
    if not known and _is_finished(deed, step):
        known = [Confidence.LIKELY]
    if one.is_by_hand or not known:
        return
    strength = max(known, key=rank)
    if step.topic is not Topic.CORDON and step is not t.effect:
        strength = weaker(strength, Confidence.LIKELY)
    sure = t.is_recent(step) or t.was_acted_upon or t.happened in STAYING
    # Perhaps it was only upgraded, or by a person who used a library.
    by_library = one.author is not None and one.author.library
    # An unrecorded author, or a program with rules, may remove a node for
    # another reason, whose record is lost.
    other = t.happened in GONE and (one.author is None or one.author.known)
    if not sure or by_library or other or _is_anew(t):
        strength = Confidence.POSSIBLE
    yield Decision.AUTO_REMEDIATION, strength, step


def _is_finished(deed: Deed, step: Signal) -> bool:
    """Whether a program let go of a lost node before that booted.

    Contact was lost, so it acted elsewhere, such as in a cloud; it had ended
    its work, and called nothing off.
    """
    t, one = deed.transition, deed.one
    return (
        one.is_by_program
        and t.happened == Happened.REBOOT
        and t.lost_at < step.stored.at
        and any(
            s.over
            and s.subject == step.subject
            and step.position < s.position < t.effect.position
            and is_same(t.author(s) or one.author, one.author)
            for s in t.episode.signals
        )
    )


def _is_anew(t: Transition) -> bool:
    return t.happened == Happened.REBOOT and t.episode.has(Topic.VERSION)


def _renews(deed: Deed, step: Signal) -> Iterator[Purpose]:
    """Yield the upgrade, if the node came back as another system."""
    t, one = deed.transition, deed.one
    if _is_anew(t) and not t.faults:
        sure = one.is_by_program or bool(one.of(Topic.EVICTION))
        if t.was_gone(one.first, LIMITS.unheard):
            sure = False  # a repair may bring another image as well
        strength = Confidence.LIKELY if sure else Confidence.POSSIBLE
        yield Decision.OS_UPGRADE, strength, step


def _says(deed: Deed) -> Iterator[Purpose]:
    """Yield what the words of a program say, sure if what happened confirms.

    Of an author who is not recorded nothing else counts.
    """
    one = deed.one
    if one.is_by_hand or any(s.decision for s in one.steps):
        return
    for decision, step in intents_of([*one.marks, *one.steps]):
        if _is_borne_out(deed, decision, step):
            yield decision, Confidence.LIKELY, step
        elif one.author is not None:
            yield decision, Confidence.POSSIBLE, step


def _is_borne_out(deed: Deed, decision: Decision, step: Signal) -> bool:
    """Whether what happened, or the step itself, confirms the words."""
    t = deed.transition
    match decision:
        case Decision.OS_UPGRADE:
            shown = t.episode.has(Topic.VERSION)
        case Decision.AUTO_REMEDIATION:
            shown = bool(t.faults) or t.lost_at < deed.one.first.stored.at
        case Decision.SCALE_DOWN | Decision.PREEMPTION:
            shown = t.happened in GONE
        case _:
            shown = False
    ordered = deed.one.is_by_program and step.topic is Topic.OBJECT
    return shown or ordered
