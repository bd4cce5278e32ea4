"""Stretches: each time within an episode in which a node was away.

An episode may hold several: a kubelet that starts anew while the node is
drained, a machine that boots twice before it is back in service. None is
swallowed by another.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from recorder.explain.signals import Signal, Topic
from recorder.explain.thresholds import LIMITS

__all__ = ["Stretch", "stretches_of"]

_STARTS = frozenset({Topic.KUBELET, Topic.REBOOTED, Topic.SET_UP})
"""What a kubelet says when it starts."""


class Stretch:
    """One time in which a node was away."""

    def __init__(self, first: Signal) -> None:
        self.signals = [first]
        self.ended_at: datetime | None = None
        """When the node was Ready again, by our own clock."""

    def of(self, topic: Topic) -> list[Signal]:
        """Return its signals of a topic."""
        return [s for s in self.signals if s.topic is topic]

    def holds(self, signal: Signal) -> bool:
        """Whether it has a signal."""
        return any(signal is one for one in self.signals)


def stretches_of(
    signals: Iterable[Signal],
    shown: Mapping[int, datetime],
    alive: Iterable[datetime] = (),
) -> list[Stretch]:
    """Return the stretches in signals.

    Args:
        signals: in the order of the log.
        shown: when the Node was last shown before an entry about it.
        alive: when the node itself was heard of.
    """
    found: list[Stretch] = []
    for signal in signals:
        last = found[-1] if found else None
        if signal.topic is Topic.READY and signal.over:
            if last is not None and last.ended_at is None:
                last.ended_at = signal.stored.observed_at
        elif not _is_of_one(signal):
            continue
        elif last is not None and _belongs(signal, last, shown, alive):
            last.signals.append(signal)
        else:
            found.append(Stretch(signal))
    return found


def _is_of_one(signal: Signal) -> bool:
    if signal.topic is Topic.READY:
        return signal.status == "Unknown"
    return signal.topic in _STARTS | {Topic.BOOT, Topic.IDENTITY}


def _belongs(
    signal: Signal,
    last: Stretch,
    shown: Mapping[int, datetime],
    alive: Iterable[datetime],
) -> bool:
    """Whether a signal is of the stretch before it."""
    if signal.topic in {Topic.BOOT, Topic.IDENTITY}:
        if signal.topic is Topic.BOOT and last.of(Topic.BOOT):
            return False  # no two boots are one
        before = shown.get(signal.position)
        newest = max(s.stored.at for s in last.signals)
        if before is not None and before <= newest:
            return True  # it may be older than it is seen
    if signal.topic in _STARTS:
        return _is_near(signal, last) and not _starts_again(signal, last)
    if _runs_on(signal, last, alive):
        return False
    return last.ended_at is None and _is_near(signal, last)


def _runs_on(signal: Signal, last: Stretch, alive: Iterable[datetime]) -> bool:
    """Whether a kubelet that had only started was heard of before a loss.

    By our own clock: that of the node may be wrong, and nobody knows.
    """
    if any(s.topic not in _STARTS for s in last.signals):
        return False
    started = max(s.stored.observed_at for s in last.signals)
    running = started + LIMITS.asynchronous
    return any(running < at < signal.stored.at for at in alive)


def _starts_again(signal: Signal, last: Stretch) -> bool:
    """Whether a kubelet starts that had started and been Ready before.

    One start has two records: its Event, and its request for its Node.
    """
    began = last.of(signal.topic)
    if not began or last.ended_at is None:
        return False
    before, now = began[-1].stored, signal.stored
    apart = now.at - before.at
    if before.fact.kind is not now.fact.kind:
        return apart > LIMITS.same_write and now.at > last.ended_at
    return apart > LIMITS.asynchronous and now.at > last.ended_at


def _is_near(signal: Signal, last: Stretch) -> bool:
    """Whether the node was not back for a while when it came about."""
    if last.ended_at is not None:
        return signal.stored.at <= last.ended_at + LIMITS.linger
    lost = any(s.topic not in _STARTS for s in last.signals)
    newest = max(s.stored.at for s in last.signals)
    return lost or signal.stored.at - newest <= LIMITS.moment
