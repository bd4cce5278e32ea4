"""Where a chain ends: whether a sign is of it, or begins something new."""

from collections.abc import Sequence
from typing import Final

from recorder.explain.signals import Signal, Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.episode import Episode
from recorder.model.outcomes import Role

__all__ = ["begins_anew"]


LEAVING: Final = frozenset(
    {
        Topic.CORDON,
        Topic.READY,
        Topic.SHUTDOWN,
        Topic.IDENTITY,
        Topic.KUBELET,
    }
)
"""Subjects that begin something new when a node was back in service, though
what was said of it before may still hold."""


def begins_anew(chain: Episode, sign: Signal) -> bool:
    """Return whether a sign begins something new."""
    boots = chain.of(Topic.BOOT)
    if _is_before(sign, chain, boots):
        return False
    seen = sign.stored.observed_at
    if _leaves(sign) and chain.returned(seen):
        return True
    if sign.over:
        return False
    if sign.topic is Topic.READY and chain.is_up_again(seen):
        return True  # it is lost once more, in service or not
    if boots and sign.topic is Topic.BOOT:
        return chain.is_quiet or chain.state.ready == "True"
    return chain.is_quiet and chain.has_effect and _is_other(sign, chain)


def _is_before(sign: Signal, chain: Episode, boots: Sequence[Signal]) -> bool:
    """Return whether a sign is of what a chain tells already.

    It is dated before the boot; or a list after a gap tells of everything at
    once.
    """
    dated = bool(boots) and sign.stored.at < boots[-1].stored.at
    at_once = (
        bool(chain.signals) and chain.signals[-1].position == sign.position
    )
    return dated or at_once


def _leaves(sign: Signal) -> bool:
    return sign.topic in LEAVING and (
        not sign.over or sign.topic is Topic.IDENTITY
    )


def _is_other(sign: Signal, chain: Episode) -> bool:
    """Return whether a sign is of something else than what is over."""
    if sign.role in {Role.FAULT, Role.DECISION}:
        return True
    since = sign.stored.observed_at - chain.signals[-1].stored.observed_at
    if sign.topic is Topic.CORDON and since <= LIMITS.asynchronous:
        return False
    return sign.topic in {Topic.CORDON, Topic.SHUTDOWN} or (
        sign.topic in {Topic.READY, Topic.IDENTITY}
        and not chain.has(Topic.BOOT)
        and not chain.has(Topic.KUBELET)
    )
