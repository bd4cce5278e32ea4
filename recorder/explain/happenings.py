"""What happened: the strongest effect of a chain names it."""

from datetime import timedelta
from typing import Final

from recorder.explain.boots import counted, is_first
from recorder.explain.chains import Chain
from recorder.explain.signs import Sign, Subject
from recorder.explain.verdict import Happened
from recorder.knowledge import Role
from recorder.model.fact import FactKind

__all__ = ["happening"]

ASTRAY: Final = timedelta(seconds=2)
"""How much a watch of Pods may be ahead of the watch of Nodes."""

FIRST: Final = timedelta(minutes=1)
"""Within which of a join a kubelet that starts is the one that joined."""

MACHINE = ("machine_id", "system_uuid", "provider_id")


def happening(chain: Chain) -> tuple[str, Sign] | None:
    """Return what happened and the first sign of it; None if nothing did."""
    for find in (
        _identity,
        _reboot,
        _lost,
        _kubelet,
        _cordon,
        _degraded,
        _joined,
    ):
        found = find(chain)
        if found is not None:
            return found
    return None


def _identity(chain: Chain) -> tuple[str, Sign] | None:
    if chain.baseline.uid is None:
        return None
    came = [
        sign
        for sign in chain.of(Subject.IDENTITY)
        if _uid(sign) != chain.baseline.uid
    ]
    went = [
        sign
        for sign in chain.signs
        if sign.subject == Subject.IDENTITY and sign.over
    ]
    if came:
        first = min([*went, *came], key=lambda sign: sign.position)
        now = came[-1].stored.fact.detail["state"].get("fields", {})
        before = chain.baseline.fields
        known = [f for f in MACHINE if before.get(f) and now.get(f)]
        same = bool(known) and all(before[f] == now[f] for f in known)
        return (Happened.REJOINED if same else Happened.REPLACED), first
    if went and not chain.state.present:
        return Happened.REMOVED, went[0]
    return None


def _uid(sign: Sign) -> str | None:
    thing = sign.stored.fact.object
    return thing.uid if thing is not None else None


def _reboot(chain: Chain) -> tuple[str, Sign] | None:
    boots = chain.of(Subject.BOOT)
    if boots:
        return Happened.REBOOT, boots[0]
    for told in chain.of(Subject.REBOOTED):
        if is_first(told, chain.boots):
            return Happened.REBOOT, told
    return None


def _lost(chain: Chain) -> tuple[str, Sign] | None:
    losses = [
        sign
        for sign in chain.of(Subject.READY)
        if (sign.stored.fact.detail["new"] or {}).get("status") == "Unknown"
    ]
    if not losses:
        return None
    started = [
        sign for sign in _started(chain) if sign.position > losses[0].position
    ]
    anew = counted(chain.of(Subject.WORD), losses[0].stored.at)
    if started or anew is False:
        return Happened.KUBELET_RESTART, losses[0]
    return Happened.UNREACHABLE, losses[0]


def _kubelet(chain: Chain) -> tuple[str, Sign] | None:
    started = _started(chain)
    return (Happened.KUBELET_RESTART, started[0]) if started else None


def _started(chain: Chain) -> list[Sign]:
    """Return the starts of the kubelet, but not its first.

    Only a kubelet that has started says Rebooted.
    """
    found = (
        chain.of(Subject.KUBELET)
        or chain.of(Subject.REBOOTED)
        or chain.of(Subject.SET_UP)
    )
    came = chain.of(Subject.IDENTITY)
    if chain.baseline.uid is not None or not came:
        return found
    joined = came[0].stored.observed_at
    return [sign for sign in found if sign.stored.at > joined + FIRST]


def _cordon(chain: Chain) -> tuple[str, Sign] | None:
    cordons = chain.of(Subject.CORDON)
    if not cordons:
        return None
    decided = [s for s in chain.signs if s.role is Role.DECISION]
    since = min(s.stored.observed_at for s in [cordons[0], *decided])
    evicted = [
        sign
        for sign in chain.of(Subject.EVICTION)
        if sign.stored.observed_at >= since - ASTRAY
    ]
    name = Happened.DRAINED if evicted else Happened.CORDONED
    return name, cordons[0]


def _degraded(chain: Chain) -> tuple[str, Sign] | None:
    for sign in chain.signs:
        told = sign.over or chain.is_carried(sign)
        if sign.role is Role.FAULT and not told:
            return Happened.DEGRADED, sign
    unready = chain.of(Subject.READY)
    return (Happened.DEGRADED, unready[0]) if unready else None


def _joined(chain: Chain) -> tuple[str, Sign] | None:
    for sign in chain.of(Subject.IDENTITY):
        if sign.stored.fact.kind is FactKind.APPEARED:
            return Happened.JOINED, sign
    return None
