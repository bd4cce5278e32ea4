"""Gap entries: the documents that state what we cannot vouch for.

A gap starts at the last committed proof of completeness and ends at the first
complete list after it. Opening and closing are two entries; the second states
what the list proved and what is still possible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from recorder.intake.state import OpenGap
from recorder.model.entry import Draft, Operation
from recorder.model.moment import written
from recorder.model.reference import EntryName

RELISTED = "relisted"
"""Reason of a gap that a list found without a known reason."""

CAME_AND_WENT = "an object that was created and deleted in between"


@dataclass(slots=True)
class Relist:
    """What a list showed, compared with what the log held."""

    unchanged: int = 0
    changed: int = 0
    new: int = 0
    absent: int = 0

    def proved(self, version: str) -> str:
        """Describe it."""
        return (
            f"the list at version {version} shows"
            f" {counted(self.unchanged)} unchanged, {self.changed} changed,"
            f" {self.new} new and {self.absent} absent"
        )

    def possible(self) -> list[str]:
        """Describe what may be missing."""
        left = [CAME_AND_WENT]
        if self.changed:
            left.append(
                f"versions of {counted(self.changed)} before the listed one"
            )
        if self.new:
            left.append(
                f"earlier versions of {counted(self.new, 'new object')}"
            )
        if self.absent:
            were = "it was" if self.absent == 1 else "they were"
            left.append(
                f"the last versions of {counted(self.absent)}, and when and"
                f" by whom {were} deleted"
            )
        return left


def counted(number: int, noun: str = "object") -> str:
    """Return a number of things as text."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class Outcome(NamedTuple):
    """What is known of a gap when it closes."""

    proved: str
    """As text."""

    possible: Sequence[str]
    """What may still be missing, as text."""

    walked: Mapping[str, str | bool] | None = None
    """The version from which the past was read, what that proved, and whether
    the stream continues after it without a list."""

    until: datetime | None = None
    """When it ended; None for now."""


def _moment(at: datetime | None) -> str | None:
    return None if at is None else written(at)


def own_draft(
    operation: Operation,
    at: datetime,
    source: str,
    resource: str | None,
    document: dict[str, Any],
) -> Draft:
    """Make the draft of an entry by the recorder itself."""
    return Draft(
        source=source,
        operation=operation,
        observed_at=at,
        resource=resource,
        raw=orjson.dumps(document),
    )


def opened(gap: OpenGap, *, at: datetime, source: str, resource: str) -> Draft:
    """Make the entry that opens a gap."""
    return own_draft(
        Operation.GAP_OPENED,
        at,
        source,
        resource,
        {
            "from": _moment(gap.since),
            "reason": gap.reason,
            "resource_version_before": gap.resource_version,
        },
    )


def closed(
    gap: OpenGap,
    *,
    at: datetime,
    name: EntryName,
    key: tuple[str, str],
    version: str | None,
    outcome: Outcome,
) -> Draft:
    """Make the entry that closes a gap.

    If nothing is possible any more the gap is healed: it does not affect any
    answer.
    """
    source, resource = key
    walked = {"walked": outcome.walked} if outcome.walked else {}
    return own_draft(
        Operation.GAP_CLOSED,
        at,
        source,
        resource,
        {
            "opened": str(name),
            "from": _moment(gap.since),
            "to": written(outcome.until or at),
            "reason": gap.reason,
            "resource_version_before": gap.resource_version,
            "resource_version_after": version,
            "proved": outcome.proved,
            "possible": outcome.possible,
            **walked,
        },
    )
