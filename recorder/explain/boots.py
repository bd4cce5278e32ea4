"""Boots: what a kubelet says of a boot, and what the Node says.

The boot id on the Node is the record. A kubelet's Event `Rebooted` names one
too; where the Node never had it, somebody is wrong, and it is not for us to
say who.
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from recorder.explain.signs import Sign

__all__ = ["boot_named", "is_explained"]

NEAR: Final = timedelta(minutes=2)
"""Between a boot id on the Node and the Event about it."""

_BOOT = re.compile(r"boot id: (\S+)")


def boot_named(rebooted: Sign) -> str | None:
    """Give the boot id that an Event `Rebooted` names."""
    found = _BOOT.search(rebooted.stored.fact.detail.get("message") or "")
    return None if found is None else found[1]


def is_explained(rebooted: Sign, boots: Mapping[str, datetime]) -> bool:
    """Tell whether an Event `Rebooted` is about a boot of the Node.

    Args:
        rebooted: the Event.
        boots: when each boot of the Node was first seen.
    """
    at, named = rebooted.stored.at, boot_named(rebooted)
    if named is None:
        return any(abs(at - seen) <= NEAR for seen in boots.values())
    seen = boots.get(named)
    return seen is not None and at <= seen + NEAR
