"""Boots: what a kubelet says of a boot, and what the Node says.

The boot id on the Node is the record. A kubelet's Event `Rebooted` names one
too; where the Node never had it, somebody is wrong, and it is not for us to
say who.
"""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from recorder.explain.signals import Signal
from recorder.facts.classify.times import moment
from recorder.model.facts import EventOccurred

__all__ = ["boot_named", "counted", "is_explained", "is_first"]

NEAR: Final = timedelta(minutes=2)
"""Between a boot id on the Node and the Event about it."""

SPAN: Final = timedelta(minutes=2)
"""At most, between the stop of a kubelet and the loss of its node."""

SKEW: Final = timedelta(seconds=2)
"""Between the clocks of a node and of the control plane."""

_BOOT = re.compile(r"boot id: (\S+)")


def boot_named(rebooted: Signal) -> str | None:
    """Return the boot id that an Event `Rebooted` names."""
    told = rebooted.stored.fact.detail
    said = told.message if isinstance(told, EventOccurred) else None
    found = _BOOT.search(said or "")
    return None if found is None else found[1]


def is_explained(rebooted: Signal, boots: Mapping[str, datetime]) -> bool:
    """Return whether an Event `Rebooted` is about a boot of the Node.

    Args:
        rebooted: the Event.
        boots: when each boot of the Node was first seen.
    """
    at, named = rebooted.stored.at, boot_named(rebooted)
    if named is None:
        return any(abs(at - seen) <= NEAR for seen in boots.values())
    seen = boots.get(named)
    return seen is not None and at <= seen + NEAR


def counted(words: Iterable[Signal], lost: datetime) -> bool | None:
    """Return whether a kubelet counts on from before its node was lost.

    A kubelet keeps count of the Events that it sends for as long as it runs.
    None where no Event tells: they may be lost.

    Args:
        words: Events of the kubelet about its node.
        lost: when the node was lost.
    """
    for word in words:
        told = word.stored.fact.detail
        assert isinstance(told, EventOccurred), "words are Events"
        first = moment(told.first)
        if word.stored.observed_at < lost or first is None:
            continue
        if first < lost - SPAN:
            return True
        if first >= lost - SKEW:
            return False
    return None


def is_first(rebooted: Signal, boots: Mapping[str, datetime]) -> bool:
    """Return whether a kubelet speaks of the boot that the Node had at first.

    Which one was before it, only the kubelet knew.
    """
    named = boot_named(rebooted)
    return (
        named is not None
        and next(iter(boots), None) == named
        and abs(boots[named] - rebooted.stored.at) <= NEAR
    )
