"""What happened: each absence of a node, else the strongest effect."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from recorder.explain.causes import FAULTS
from recorder.explain.signals.signal import Signal, Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.bounds import STARTS, counted, is_first
from recorder.explain.tracks.episode import Episode
from recorder.model.fact import FactKind
from recorder.model.facts import (
    Appeared,
    BootChanged,
    Tainted,
    Untainted,
    Vanished,
)
from recorder.model.outcomes import Happened, Role
from recorder.model.state import Scalar

_STARTS = STARTS | {Topic.SET_UP}
"""Topics of the Events of a kubelet that starts."""


class Stretch:
    """One time in which a node was away."""

    def __init__(self, first: Signal) -> None:
        self.signals = [first]
        self.ended_at: datetime | None = None
        """When the node was Ready again, by our own clock."""

    def of(self, topic: Topic) -> list[Signal]:
        """Return the signals of a topic."""
        return [s for s in self.signals if s.topic is topic]


def stretches_of(episode: Episode) -> list[Stretch]:
    """Return the stretches of an episode, in the order of the log."""
    found: list[Stretch] = []
    for signal in episode.signals:
        last = found[-1] if found else None
        if signal.topic is Topic.READY and signal.over:
            if last is not None and last.ended_at is None:
                last.ended_at = signal.seen
        elif not _is_of_one(signal):
            continue
        elif last is not None and _belongs(signal, last, episode):
            last.signals.append(signal)
        else:
            found.append(Stretch(signal))
    return found


def _is_of_one(signal: Signal) -> bool:
    unknown = signal.topic is Topic.READY and signal.status == "Unknown"
    own = _STARTS | {Topic.BOOT, Topic.IDENTITY, Topic.REMOVING}
    return unknown or signal.topic in own


def _belongs(signal: Signal, last: Stretch, episode: Episode) -> bool:
    if signal.topic in {Topic.BOOT, Topic.IDENTITY}:
        if signal.topic is Topic.BOOT and last.of(Topic.BOOT):
            return False  # no two boots are one
        before = episode.shown.get(signal.position)
        newest = max(s.at for s in last.signals)
        if before is not None and before <= newest:
            return True  # it may be older than it is seen
    if signal.topic in _STARTS:
        return _is_near(signal, last) and not _starts_again(signal, last)
    if _runs_on(signal, last, episode.alive):
        return False
    return last.ended_at is None and _is_near(signal, last)


def _runs_on(signal: Signal, last: Stretch, alive: Iterable[datetime]) -> bool:
    """Whether a kubelet that had only started was heard from before a loss.

    By our own clock: that of the node may be wrong.
    """
    if any(s.topic not in _STARTS for s in last.signals):
        return False
    started = max(s.seen for s in last.signals)
    running = started + LIMITS.asynchronous
    return any(running < at < signal.at for at in alive)


def _starts_again(signal: Signal, last: Stretch) -> bool:
    """Whether a kubelet starts that had started and been Ready before.

    One start has two records: its Event, and its request for its Node.
    """
    began = last.of(signal.topic)
    if not began or last.ended_at is None:
        return False
    before, now = began[-1].stored, signal.stored
    same = before.fact.kind is now.fact.kind
    least = LIMITS.asynchronous if same else LIMITS.same_write
    return now.at - before.at > least and now.at > last.ended_at


def _is_near(signal: Signal, last: Stretch) -> bool:
    """Whether the node was not back for a while when it came about."""
    if last.ended_at is not None:
        return signal.at <= last.ended_at + LIMITS.linger
    lost = any(s.topic not in _STARTS for s in last.signals)
    newest = max(s.at for s in last.signals)
    return lost or signal.at - newest <= LIMITS.moment


MACHINE = ("machine_id", "system_uuid", "provider_id")


def happenings(
    episode: Episode,
) -> list[tuple[Happened, Signal, Sequence[Signal]]]:
    """Return all that happened in an episode, in the order of the log.

    Each time in which the node was away is one, with its first sign and the
    signals of the others. If it never was, the strongest effect names it.
    """
    away = [
        (named, stretch)
        for stretch in stretches_of(episode)
        if (named := _away(stretch, episode)) is not None
    ]
    if all(named[0] is Happened.JOINED for named, _ in away):
        stayed = _cordon(episode) or _degraded(episode) or _joined(episode)
        return [] if stayed is None else [(*stayed, ())]
    found = [
        (*named, [s for _, o in away if o is not stretch for s in o.signals])
        for named, stretch in away
    ]
    return sorted(found, key=lambda one: one[1].position)


def _away(
    stretch: Stretch, episode: Episode
) -> tuple[Happened, Signal] | None:
    reports = [
        s for s in stretch.of(Topic.REBOOTED) if is_first(s, episode.boots)
    ]
    boots = stretch.of(Topic.BOOT) or reports
    lost = stretch.of(Topic.READY)
    started = [
        s
        for s in _started(stretch, episode)
        if not lost or s.position > lost[0].position
    ]
    gone = _identity(stretch, episode)
    if gone is not None:
        return gone
    if boots:
        turned, known = boots[0].detail, episode.machines
        if isinstance(turned, BootChanged) and are_two(
            known.get(turned.old or "", {}), known.get(turned.new or "", {})
        ):
            return Happened.REPLACED, boots[0]
        return Happened.REBOOT, boots[0]
    # What a kubelet counts after a later boot shows no earlier start.
    words = () if episode.has(Topic.BOOT) else episode.of(Topic.WORD)
    if started or (lost and counted(words, lost[0].at) is False):
        return Happened.KUBELET_RESTART, (lost or started)[0]
    if lost:
        return Happened.UNREACHABLE, lost[0]
    came = stretch.of(Topic.IDENTITY)
    return (Happened.JOINED, came[0]) if came and not came[0].over else None


def are_two(then: Mapping[str, Scalar], now: Mapping[str, Scalar]) -> bool:
    """Return whether fields of a Node are of two machines: no ID is the same.

    A new system keeps that of the machine, and a new board that of the disk.
    """
    pairs = [
        (then.get(one), now.get(one)) for one in ("machine_id", "system_uuid")
    ]
    return all(a and b and a != b for a, b in pairs)


def _identity(
    stretch: Stretch, episode: Episode
) -> tuple[Happened, Signal] | None:
    before, signs = episode.baseline, stretch.of(Topic.IDENTITY)
    came = [s for s in signs if not s.over and _uid(s) != before.uid]
    went = [s for s in signs if s.over]
    if came and before.uid is None:
        return None  # it joined
    if came:
        shown = came[-1].detail
        assert isinstance(shown, Appeared | Vanished), "identities"
        then, now = before.fields, shown.state.fields
        known = [f for f in MACHINE if then.get(f) and now.get(f)]
        same = bool(known) and all(then[f] == now[f] for f in known)
        happened = Happened.REJOINED if same else Happened.REPLACED
        first = min([*went[:1], *came[:1]], key=lambda s: s.position)
        return happened, first
    if went and not episode.state.present:
        return Happened.REMOVED, went[0]
    said = stretch.of(Topic.REMOVING) if before.uid is None else ()
    uid = episode.state.uid
    if said and (uid is None or _uid(said[0]) != uid):
        return Happened.REMOVED, said[0]  # Events alone are recorded of it
    return None


def _uid(sign: Signal) -> str | None:
    thing = sign.stored.fact.object
    return thing.uid if thing is not None else None


_SHOWING_A_START = (Topic.KUBELET, Topic.REBOOTED, Topic.SET_UP)
"""The first that an episode has counts: others may be repeated later."""


def _started(stretch: Stretch, episode: Episode) -> Sequence[Signal]:
    """Return the starts of the kubelet, except the first.

    Only a kubelet that has started says Rebooted.
    """
    shown = (t for t in _SHOWING_A_START if episode.of(t))
    found = stretch.of(next(shown, Topic.KUBELET))
    came = episode.of(Topic.IDENTITY)
    if episode.baseline.uid is not None or not came:
        return found
    # The kubelet that joined started before it created its Node.
    return [s for s in found if s.at > came[0].seen + LIMITS.first_lists]


def _cordon(chain: Episode) -> tuple[Happened, Signal] | None:
    cordons = [s for s in chain.of(Topic.CORDON) if not s.listed]
    if not cordons:
        return _driven(chain)
    decided = [s for s in chain.signals if s.role is Role.DECISION]
    since = min(s.seen for s in [cordons[0], *decided]) - LIMITS.astray
    evicted = any(s.seen >= since for s in chain.of(Topic.EVICTION))
    name = Happened.DRAINED if evicted else Happened.CORDONED
    return name, cordons[0]


def _driven(chain: Episode) -> tuple[Happened, Signal] | None:
    """Find a taint that evicts: it empties even a healthy node."""
    evicted = chain.of(Topic.TAINT_EVICTION)
    taints = [
        s
        for s in chain.of(Topic.TAINT)
        if isinstance(s.detail, Tainted | Untainted)
        and s.detail.effect == "NoExecute"
        and not s.is_derived
    ]
    return (Happened.DRAINED, taints[0]) if taints and evicted else None


def _degraded(chain: Episode) -> tuple[Happened, Signal] | None:
    unready = chain.of(Topic.READY)
    for sign in chain.signals:
        if sign.role is not Role.FAULT or sign.over or chain.is_carried(sign):
            continue
        if not unready or (sign.fault and FAULTS[sign.fault].explains_loss):
            return Happened.DEGRADED, sign
    return (Happened.DEGRADED, unready[0]) if unready else None


def _joined(chain: Episode) -> tuple[Happened, Signal] | None:
    came = (s for s in chain.of(Topic.IDENTITY) if s.kind is FactKind.APPEARED)
    return next(((Happened.JOINED, sign) for sign in came), None)
