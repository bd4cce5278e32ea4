"""Bounds: between which proofs a transition lies, and what names a boot.

Also how a record of a node begins: what its first facts show.

Only a lost node itself proves its old state: what others write about it
proves nothing, nor does a list.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from recorder.explain.signals.signal import LOSSES, Signal, Subject, Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.transition import Transition, latest
from recorder.facts.classify.times import moment
from recorder.facts.projections import NodeState
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import Appeared, EventOccurred
from recorder.model.moment import LAST
from recorder.model.outcomes import Happened, Role

_BOOT = re.compile(r"boot id: (\S+)")


def boot_named(rebooted: StoredFact) -> str | None:
    """Return the boot id that an Event `Rebooted` names."""
    event = rebooted.fact.detail
    said = event.message if isinstance(event, EventOccurred) else None
    found = _BOOT.search(said or "")
    return None if found is None else found[1]


def boots_reported(facts: Iterable[StoredFact]) -> dict[str, datetime]:
    """Return when a kubelet first reported each boot, by its id."""
    found: dict[str, datetime] = {}
    for said in facts:
        if boot := boot_named(said):
            at = min(said.at + LIMITS.asynchronous, said.observed_at)
            found.setdefault(boot, at)
    return found


def is_explained(rebooted: Signal, boots: Mapping[str, datetime]) -> bool:
    """Return whether an Event `Rebooted` is about a known boot of the Node."""
    at, named = rebooted.at, boot_named(rebooted.stored)
    if named is None:
        return any(abs(at - seen) <= LIMITS.moment for seen in boots.values())
    seen = boots.get(named)
    return seen is not None and at - LIMITS.moment <= seen


def counted(words: Iterable[Signal], lost: datetime) -> bool | None:
    """Return whether a kubelet continues its count from before a loss.

    A kubelet counts the Events that it sends about its node for as long as it
    runs. None if no Event shows it: they may be lost.
    """
    for word in words:
        event = word.detail
        assert isinstance(event, EventOccurred), "words are Events"
        first = moment(event.first)
        if word.seen < lost or first is None:
            continue
        if first < lost - LIMITS.moment:
            return True
        if first >= lost - LIMITS.astray:
            return False
    return None


def is_first(rebooted: Signal, boots: Mapping[str, datetime]) -> bool:
    """Return whether a kubelet reports a boot before any other was recorded.

    It is the first recorded boot of the Node, or an earlier one: only the
    kubelet knew the previous boot.
    """
    named, at = boot_named(rebooted.stored), rebooted.at
    first = next(iter(boots), None)
    if named is None or first is None:
        return named is not None
    seen = boots[first]
    if seen == LAST:
        return False
    if named != first:
        return at < seen - LIMITS.moment
    after = (other for other in boots.values() if seen < other <= at)
    return at <= seen + LIMITS.moment and not any(after)


STARTS = frozenset({Topic.KUBELET, Topic.REBOOTED})
"""Topics of the first Events of a kubelet."""

_OF_THE_NEW = STARTS | {Topic.SET_UP, Topic.WORD}
"""Topics at the start of a kubelet, which do not show the old state."""


def not_before(transition: Transition) -> datetime | None:
    """Return the last proof of the old state; None if there is none.

    Without a start of its kubelet, a proof just before the new state may be
    of either. A proof just before the node was declared lost is of the new
    state: the node was silent by then.
    """
    if not transition.was_lost:
        return _shown_before(transition)
    sure = [s.at for s in _starts(transition)]
    new = min([*sure, transition.effect.at, transition.effect.seen])
    if not sure and transition.happened == Happened.REBOOT:
        new -= LIMITS.astray
    given_up = [
        s.at
        for s in transition.episode.of(Topic.READY)
        if s.status == "Unknown" and transition.precedes(s)
    ]
    proofs = [
        at
        for at in transition.episode.alive
        if at < new
        and not any(
            timedelta() <= lost - at <= LIMITS.barely for lost in given_up
        )
    ]
    return max(proofs, default=_shown_before(transition))


def not_after(transition: Transition) -> datetime:
    """Return the first proof of the new state.

    A claim in whole seconds is an upper bound only as the end of its second.
    """
    proofs = [transition.effect]
    if transition.happened == Happened.REBOOT:
        proofs += _starts(transition)
    return min(transition.effect.seen, *map(latest, proofs))


def last_sign(
    transition: Transition, alive: datetime | None, decided: Signal | None
) -> Signal | None:
    """Return the last sign of life, if a node was lost after it.

    The last one before a decision does not show when the old state ended.
    """
    proof = None if alive is None else transition.episode.proofs.get(alive)
    if proof is None or alive is None or not _is_lost_before(transition):
        return None
    if decided is not None and alive < decided.at:
        return None
    return Signal(Role.EFFECT, Subject(Topic.LIFE), proof)


def _is_lost_before(transition: Transition) -> bool:
    """Return whether the loss of a node was observed before the effect."""
    if not transition.was_lost or transition.effect.topic in LOSSES:
        return False
    lost = (s for t in LOSSES for s in transition.episode.of(t))
    return any(transition.precedes(s) for s in lost)


def heard_again(transition: Transition) -> datetime | None:
    """Return the first proof of life after a loss, if there is one."""
    effect = transition.effect
    if effect.topic is not Topic.READY:
        return not_after(transition)
    ready = [
        s.seen
        for s in transition.episode.signals
        if s.topic is Topic.READY and s.over and s.position > effect.position
    ]
    lost = effect.seen
    alive = [at for at in transition.episode.alive if at > lost]
    return min([*ready[:1], *alive[:1]], default=None)


def _starts(transition: Transition) -> list[Signal]:
    """Return the starts that a kubelet reported within a transition.

    Its requests begin a little before the one that shows its start.
    """
    times = transition.effect.at, transition.effect.seen
    return [
        s
        for s in transition.episode.signals
        if s.topic in STARTS
        and s.kind is FactKind.EVENT
        and any(abs(s.at - at) <= LIMITS.moment for at in times)
        and not any(s is other for other in transition.apart)
    ]


def _shown_before(transition: Transition) -> datetime | None:
    """Return the last time the node was shown before the effect or a loss.

    A record of the loss proves nothing about the old state.
    """
    until = transition.effect.position
    if transition.was_lost:
        lost = (s for t in LOSSES for s in transition.episode.of(t))
        until = min([until, *(s.position for s in lost)])
    shown = [
        s.seen
        for s in transition.episode.signals
        if s.position < until
        and s.seen <= latest(transition.effect)
        and s.topic not in _OF_THE_NEW
    ]
    return max(shown, default=None)


NODE_CONTROLLER: Final = "node-controller"


def created_at(facts: Sequence[StoredFact]) -> datetime | None:
    """Return when the Node was created that is seen first; None if unknown.

    By its own time. If it is never seen, its first Events may show that it
    joined.
    """
    named: dict[str, datetime] = {}
    for stored in facts:
        fact = stored.fact
        if fact.about != "Node":
            continue
        if isinstance(fact.detail, Appeared):
            return moment(fact.detail.state.created_at)
        if isinstance(fact.detail, EventOccurred) and fact.detail.reason:
            named.setdefault(fact.detail.reason, stored.at)
    started, joined = named.get("Starting"), named.get("RegisteredNode")
    if started is None or joined is None or started != min(named.values()):
        return None
    return joined if joined - started <= LIMITS.moment else None


def is_loss(said: StoredFact, *, unseen: bool = True) -> bool:
    """Whether an Event alone shows that a Node was not ready.

    Args:
        said: the Event.
        unseen: whether its Node was not recorded yet; else the Event must have
            been seen late, because the Node would have shown it.
    """
    event = said.fact.detail
    return (
        isinstance(event, EventOccurred)
        and event.reason == "NodeNotReady"
        and said.fact.actor == NODE_CONTROLLER
        and (unseen or said.observed_at - said.at > LIMITS.first_lists)
    )


def is_first_sight(sign: Signal, before: NodeState) -> bool:
    """Whether a Node is listed for the first time: it did not join."""
    detail = sign.detail
    return (
        isinstance(detail, Appeared)
        and sign.topic is Topic.IDENTITY
        and before.uid is None
        and not detail.created
    )
