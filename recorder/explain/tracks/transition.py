"""A transition of a node, and the evidence at the time.

Links read evidence from it, never from facts. The order is that of the log,
by our own clock; a time that a cluster claims is an interval, as most of its
clocks have whole seconds.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from recorder.explain.causes import FAULTS, GONE, LOST
from recorder.explain.signals.actor import Actor, is_same
from recorder.explain.signals.marks import (
    is_bad,
    is_called_off,
    is_made,
    is_order,
    is_report,
    is_trouble,
)
from recorder.explain.signals.requests import author_of
from recorder.explain.signals.signal import LOSSES, Signal, Subject, Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.episode import Episode
from recorder.explain.tracks.fleet import Fleet
from recorder.model.fact import FactKind
from recorder.model.facts import ConditionChanged
from recorder.model.outcomes import Confidence, Decision, Fault, Happened, Role

QUOTE_MIN = 8
"""The length of a literal from which it is not quoted by chance."""

_HOLDING = (Topic.CORDON, Topic.TAINT)
"""Topics of acts that hold until they are undone."""


def follows(
    act: Signal, mark: Signal, within: timedelta = LIMITS.recent
) -> bool:
    """Return whether an act followed a mark so soon that it may answer it."""
    first = mark.position, mark.at, mark.stored.index
    then = act.position, act.at, act.stored.index
    return then > first and act.at - mark.at <= within


def _names(act: Signal, mark: Signal) -> bool:
    """Whether another author named or quoted a condition that changed."""
    words = [mark.subject.name]
    new = mark.condition
    if new is not None:
        words += [new.reason or "", new.message or ""]
    return (
        act.position > mark.position
        and act.subject != mark.subject
        and not is_same(act.actor, mark.actor)
        and any(word in act.says for word in words if len(word) >= QUOTE_MIN)
    )


def held_for(mark: Signal, episode: Episode) -> Iterator[Signal]:
    """Yield the acts that held a node for as long as a condition lasted.

    They came right after the condition changed, and were undone right after
    it changed back.
    """
    over = next((m for m in episode.marks if _is_over(m, mark)), None)
    if over is None:
        return
    undone = {
        s.subject
        for s in episode.signals
        if s.over and follows(s, over, LIMITS.together)
    }
    for topic in _HOLDING:
        for act in episode.of(topic):
            author = act.actor
            if (
                act.subject in undone
                and author is not None
                and author.is_program
                and not is_same(author, mark.actor)
                and not act.is_derived
                and follows(act, mark, LIMITS.together)
            ):
                yield act


def _is_over(later: Signal, mark: Signal) -> bool:
    turned, was = later.detail, mark.detail
    return (
        isinstance(turned, ConditionChanged)
        and isinstance(was, ConditionChanged)
        and later.position > mark.position
        and later.subject == mark.subject
        and turned.new is not None
        and was.old is not None
        and turned.new.status == was.old.status
    )


_WRITTEN = frozenset(
    {
        Topic.CORDON,
        Topic.EVICTION,
        Topic.DELETION,
        Topic.TAINT,
        Topic.METADATA,
    }
)
"""Topics of what is written by those who act, not by those who report."""


def latest(signal: Signal) -> datetime:
    """Return the latest time at which a signal can have happened.

    A claim in whole seconds is within that second.
    """
    at = signal.at
    claimed = signal.stored.fact.occurred_at
    if claimed is not None and not claimed.microsecond:
        return max(at, min(at + LIMITS.asynchronous, signal.seen))
    return at


def _when(signal: Signal) -> datetime:
    return signal.at


DONE = frozenset({Role.ACT, Role.DECISION})
"""Roles of acts."""


@dataclass(frozen=True)
class Transition:
    """What happened to a node, in the episode that it belongs to."""

    episode: Episode
    happened: Happened
    effect: Signal
    fleet: Fleet
    absent: Collection[str] = ()
    """Sources and resources that were never recorded."""

    apart: Collection[Signal] = ()
    """Signals of other transitions of the same episode."""

    spent: int = 0
    """The position of the boot before in the same episode: an order that it
    carried out is spent."""

    def precedes(self, signal: Signal) -> bool:
        """Whether a signal came before the effect.

        A list shows both in any order: then their own times count.
        """
        dated = self.effect.stored.fact.occurred_at
        said, late = signal.stored.fact.occurred_at, latest(self.effect)
        if dated and said and said > late + LIMITS.astray:
            return False
        return (
            signal.position < self.effect.position
            or latest(signal) < self.effect.at
        )

    def is_before(self, step: Signal) -> bool:
        """Whether a step came before the effect, or is it, and is unspent."""
        return step is self.effect or (
            self.precedes(step) and step.position > self.spent
        )

    def is_dated_by_owner(self, step: Signal) -> bool:
        """Whether only a field manager shows that a step came before.

        A list shows it later, or shows a cordon as an act.
        """
        return step.listed and (
            step.topic is Topic.CORDON or step.position > self.effect.position
        )

    @cached_property
    def lost_at(self) -> datetime:
        """The last renewal, the loss or the effect, whichever was first.

        A kubelet that reports itself as not ready, and is heard from
        afterwards, still runs: its loss is a later one.
        """
        times = [self.effect.at]
        for topic in LOSSES:
            gone = (
                s.at
                for s in self.episode.of(topic)
                if not self._was_heard_after(s)
            )
            times += [*gone][:1]
        return min(times)

    def _was_heard_after(self, unready: Signal) -> bool:
        """Whether a kubelet ran on for long after it reported not ready."""
        said = unready.at + LIMITS.together
        return unready.status == "False" and any(
            said < at < self.effect.at - LIMITS.astray
            for at in self.episode.alive
        )

    @property
    def was_lost(self) -> bool:
        """Whether the node went away, for a moment or for good."""
        return self.happened in LOST

    @property
    def is_back(self) -> bool:
        """Whether it is the same Node that came back."""
        return self.episode.state.present and self.happened in LOST - GONE

    @cached_property
    def shutdown(self) -> Signal | None:
        """The record that the system went down in order, if there is one."""
        said = [
            s
            for s in self.episode.signals
            if s.topic is Topic.SHUTDOWN and self.precedes(s)
        ]
        return None if not said or said[-1].over else said[-1]

    def first(self, topic: Topic) -> Signal | None:
        """Return the first signal of a topic before the effect."""
        return next(
            (
                s
                for s in self.episode.of(topic)
                if s is self.effect or self.precedes(s)
            ),
            None,
        )

    def is_recent(self, signal: Signal) -> bool:
        """Whether a signal is near enough to the loss to be its cause."""
        held = signal.topic not in {Topic.EVENT, Topic.CLAIM}
        within = LIMITS.recent if held else LIMITS.moment
        return self.lost_at - signal.at <= within

    def was_gone(self, taken: Signal, least: timedelta) -> bool:
        """Whether a node had been lost for long before it was taken away."""
        lost = [
            s
            for s in self.episode.of(Topic.READY)
            if s.position < taken.position
        ]
        return bool(lost) and (
            self.lost_at <= min(lost[-1].at, taken.at - least)
        )

    def author(self, signal: Signal) -> Actor | None:
        """Return who made a change: by audit, its manager, or its reporter."""
        at, asked = signal.at, self._requests
        first = bisect_left(asked, at - LIMITS.same_write, key=_when)
        last = bisect_right(asked, at + LIMITS.same_write, key=_when)
        found = author_of(signal, asked[first:last])
        if found is None or found.name or not found.is_program:
            return found
        key, within = signal.subject.name, LIMITS.same_write
        said = [m for m in self.episode.marks if m.topic is Topic.EVENT]
        by = {
            m.actor.key: m.actor
            for m in said
            if m.actor and key in m.says and abs(m.at - at) <= within
        }
        named = len(by) == 1 and len(key) >= QUOTE_MIN
        return next(iter(by.values())) if named else found

    @cached_property
    def _requests(self) -> Sequence[Signal]:
        """The audit records of the episode, in order of time."""
        signals = self.episode.signals
        return sorted(
            (s for s in signals if s.topic is Topic.REQUEST), key=_when
        )

    def acts(self, author: Actor | None) -> bool:
        """Whether an author acts on the node: the others only report.

        A person acts, and so does a program that also writes the spec, the
        taints, the labels or the annotations of a Node, or removes Pods.
        """
        return author is not None and (
            not author.is_program or author.key in self._acting
        )

    @cached_property
    def _acting(self) -> dict[str, int]:
        """The keys of the authors who act on the node, and since where."""
        done = [s for s in self.episode.written if s.topic in _WRITTEN]
        by = [(one.key, s.position) for s in done if (one := self.author(s))]
        return {key: at for key, at in sorted(by, reverse=True) if key}

    @cached_property
    def decisions(self) -> list[Signal]:
        """Records of decisions before the effect, earliest first."""
        found = [
            signal
            for signal in self.episode.signals
            if signal.decision is not None
            and signal.role is not Role.RECOVERY
            and not signal.over
            and self.is_before(signal)
            and signal.subject not in self.called_off
            and not self._is_withdrawn(signal)
            and (
                signal.due is None
                or signal.due - LIMITS.recent <= self.lost_at
            )
        ]
        return sorted(found, key=lambda s: (s.at, s.position))

    @cached_property
    def called_off(self) -> set[Subject]:
        """Objects whose order was not carried out, or taken back.

        They said so before the loss, or were made and deleted before it.
        """
        made = {m.subject for m in self.episode.marks if is_made(m)}
        deleted = FactKind.DELETION_REQUESTED
        return {
            signal.subject
            for signal in self.episode.written
            if signal.topic is Topic.OBJECT
            and latest(signal) < self.lost_at
            and (
                is_called_off(signal)
                or (signal.subject in made and signal.kind is deleted)
            )
        }

    def _is_withdrawn(self, decision: Signal) -> bool:
        """Whether a decision was withdrawn before the effect.

        A lock and a taint hold until they are carried out; a condition may
        be removed by the program that carries it out, as its other acts
        show. A list after a gap shows times, but no order.
        """
        strict = decision.topic in {Topic.LOCK, Topic.TAINT}
        obeyed = not strict and self.was_acted_upon
        spared = LIMITS.recent if obeyed else timedelta(0)
        return any(
            self._calls_off(signal, decision)
            or (
                decision.position < signal.position <= self.effect.position
                and signal.over
                and signal.subject == decision.subject
                and min(signal.at, signal.seen) + spared < self.lost_at
            )
            for signal in self.episode.signals
        )

    def _calls_off(self, signal: Signal, decision: Signal) -> bool:
        """Whether an Event says that a decision was not carried out.

        Its time counts: a list after a gap may show it with the loss.
        """
        return (
            signal.role is Role.RECOVERY
            and signal.decision is decision.decision
            and decision.at <= signal.at < self.lost_at
        )

    @cached_property
    def faults(self) -> list[Signal]:
        """Faults that still held at the effect, the most relevant first.

        A fault that a later act names precedes all others, as the act
        responds to it; then the latest.
        """
        held: dict[Subject, Signal] = {}
        for signal in self.episode.signals:
            if not (signal is self.effect or self.precedes(signal)):
                continue
            at_once = signal.position == self.effect.position
            if signal.over and at_once and signal.at >= self.lost_at:
                continue  # a list after a gap shows times, but no order
            if signal.over:
                held.pop(signal.subject, None)
            elif (
                signal.fault
                and FAULTS[signal.fault].explains_loss
                and not self._has_only_started(signal)
            ):
                held.setdefault(signal.subject, signal)
        found = [*held.values()]
        if all(s.topic is Topic.READY for s in found):
            found += self.named_faults
        return sorted(
            found,
            key=lambda s: (
                self.is_named(s),
                s.topic is not Topic.READY,
                s.topic is not Topic.EVENT,
                s.at,
                s.position,
            ),
            reverse=True,
        )

    def _has_only_started(self, unready: Signal) -> bool:
        """Whether a kubelet that is not ready started shortly before."""
        return unready.topic is Topic.READY and any(
            timedelta() <= unready.at - s.at <= LIMITS.moment
            for topic in (Topic.BOOT, Topic.KUBELET)
            for s in self.episode.of(topic)
        )

    def is_named(self, fault: Signal) -> bool:
        """Whether an act of another author names a fault before it."""
        done = [s for s in self.episode.signals if s.role in DONE]
        return any(
            self.is_before(act) and _names(act, fault)
            for act in [*done, *self.episode.marks]
            if act.topic is not Topic.REQUEST
        )

    @cached_property
    def named_faults(self) -> list[Signal]:
        """Conditions without a rule that a later act responds to.

        The act names them, or it came right after them, and perhaps was
        undone right after their end.
        """
        acts = [
            s
            for s in self.episode.written
            if self.is_before(s)
            and s.topic is not Topic.REQUEST
            and s.subject not in self.called_off
        ]
        found = []
        for mark in self.episode.marks:
            if not (is_trouble(mark) and self.is_before(mark)):
                continue
            if self.acts(self.author(mark)):
                continue
            named = any(_names(act, mark) for act in acts)
            if (
                named
                or any(map(self.is_before, held_for(mark, self.episode)))
                or self._is_followed(mark)
            ):
                fault = mark._replace(role=Role.FAULT, fault=Fault.OTHER)
                found.append(fault._replace(vague=not named))
        return found

    def _is_followed(self, mark: Signal) -> bool:
        """Whether another soon took out a node that something broke."""
        return is_bad(mark) and any(
            self.is_before(act)
            and (author := self.author(act)) is not None
            and follows(
                act,
                mark,
                LIMITS.moment if author.is_program else LIMITS.patience,
            )
            and not is_same(author, mark.actor)
            for act in self.episode.of(Topic.CORDON)
        )

    @cached_property
    def reported(self) -> list[Signal]:
        """What was reported before, is not taken back, and has no rule.

        An Event of an author who acted before is about its acts, and one that
        names a condition with a rule is about that.
        """
        held: dict[Subject, Signal] = {}
        ruled = {s.subject.name for s in self.episode.of(Topic.CONDITION)}
        for mark in self.episode.marks:
            own = mark.actor.key if mark.actor else ""
            known = self._acting.get(own, mark.position) < mark.position
            known |= any(f" {name} " in mark.says for name in ruled)
            if not self.precedes(mark) or (
                mark.topic is Topic.EVENT and known
            ):
                continue
            began = held.pop(mark.subject, None)
            if is_report(mark) or (is_trouble(mark) and began is None):
                held[mark.subject] = mark
        return [*held.values()]

    def certainty(self, fault: Signal) -> Confidence:
        """Return how sure it is that an act responded to a fault.

        A fault without a rule that no act names is known by time alone, or by
        the time for which the node was held.
        """
        if fault.ruled or not fault.vague:
            return Confidence.PROVEN
        held = any(held_for(fault, self.episode))
        return Confidence.LIKELY if held else Confidence.POSSIBLE

    @cached_property
    def was_acted_upon(self) -> bool:
        """Whether there was an act on the node shortly before the effect."""
        return any(
            signal.role is Role.ACT
            and not signal.over
            and self.precedes(signal)
            and self.is_recent(signal)
            and signal.topic is not Topic.REQUEST
            and not signal.is_derived
            for signal in self.episode.signals
        )

    @cached_property
    def announced(self) -> list[Signal]:
        """What planned a reboot for then, or for later, and still held."""
        return [
            mark
            for mark in self.episode.marks
            if self.happened == Happened.REBOOT
            and is_order(mark, later=True)
            and not is_order(mark)
            and self.precedes(mark)
            and self.is_recent(mark)
            and not self.taken_back(mark)
            and mark.subject not in self.called_off
        ]

    def taken_back(self, order: Signal) -> int:
        """Return the position at which an order ended before the effect."""
        ends = (
            mark.position
            for mark in self.episode.written
            if mark.subject == order.subject
            and mark.position > order.position
            and not is_order(mark)
            and self.is_before(mark)
        )
        return min(ends, default=0)

    @property
    def was_cordoned(self) -> bool:
        """Whether the node was cordoned at the effect, but not for weeks."""
        turns = [*filter(self.precedes, self.episode.of(Topic.CORDON))]
        if not turns:
            return self.episode.baseline.cordoned
        return self.lost_at - turns[-1].at <= LIMITS.set_aside

    def strength(self, decision: Decision) -> Confidence:
        """Return how sure it is that a decision on record led to the effect.

        An old decision without an act may still wait, or be forgotten, unless
        its time was announced.
        """
        said = [s for s in self.decisions if s.decision is decision]
        if all(s.vague or self._is_overdue(s) for s in said):
            return Confidence.POSSIBLE
        since = self.lost_at - LIMITS.recent
        if self.was_acted_upon or any(s.at >= since for s in said):
            return Confidence.PROVEN
        return (
            Confidence.LIKELY
            if any(s.due for s in said)
            else Confidence.POSSIBLE
        )

    def _is_overdue(self, signal: Signal) -> bool:
        """Whether the announced time of an action passed long before."""
        return (
            signal.due is not None
            and self.lost_at - signal.due > LIMITS.recent
        )
