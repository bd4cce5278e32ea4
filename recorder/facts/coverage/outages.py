"""Outages: gaps of several resources that have one reason and one time.

When a recorder is down, each of its resources has a gap that begins at its own
last proof. To people that is one outage; the gaps are its detail. This is the
only definition: answers, lists, the page and notifications use it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from msgspec import field
from msgspec.structs import replace

from recorder.facts.coverage.hole import Gap
from recorder.model.document import Document
from recorder.model.moment import LAST
from recorder.model.reference import EntryName


class OutageChange(Document, frozen=True, kw_only=True):
    """An object that is known to be another after an outage."""

    object: str
    """As kubectl writes it: `node/gpu-002`, `pod/train/llm-0`."""

    change: str
    """`new`, `changed` or `gone`."""

    entry: EntryName


class Outage(Document, frozen=True, kw_only=True):
    """A time span in which several resources may be incomplete."""

    since: datetime | None = field(name="from")
    """The earliest of the last proofs before it."""

    until: datetime | None = field(name="to")
    """The latest of the first proofs after it; null while it is open."""

    reason: str
    gaps: Sequence[EntryName]
    """Its gaps, one for each resource and time."""

    resources: Sequence[str]
    changed: Sequence[OutageChange] = ()
    """Nodes, Pods and workloads that are known to be new, changed or gone,
    the first 100."""

    more_changed: int = 0
    """How many more there are, of any kind."""

    possible: Sequence[str] = ()
    """What may be missing, by resource; empty if nothing can be."""

    @property
    def length(self) -> timedelta | None:
        """How long it was; None while it is open."""
        if self.since is None or self.until is None:
            return None
        return self.until - self.since


def outages_of(gaps: Iterable[Gap]) -> Sequence[Outage]:
    """Return the outages that gaps are of, oldest first.

    Gaps of one reason whose times overlap are one outage.
    """
    found: list[list[Gap]] = []
    newest: dict[str, list[Gap]] = {}
    for gap in sorted(gaps, key=lambda one: (one.begin, one.opened)):
        group = newest.get(gap.reason)
        if group is not None and gap.begin <= _end(group):
            group.append(gap)
        else:
            newest[gap.reason] = [gap]
            found.append(newest[gap.reason])
    return [_outage(group) for group in found]


def _end(gaps: Sequence[Gap]) -> datetime:
    return max(gap.until or LAST for gap in gaps)


def _outage(gaps: Sequence[Gap]) -> Outage:
    end = _end(gaps)
    return Outage(
        since=gaps[0].since,
        until=None if end == LAST else end,
        reason=gaps[0].reason,
        gaps=sorted(gap.opened for gap in gaps),
        resources=list(dict.fromkeys(gap.resource for gap in gaps)),
        possible=[
            f"{gap.resource}: {one}" for gap in gaps for one in gap.possible
        ],
    )


def with_changes(
    outage: Outage, changed: Sequence[OutageChange], more: int
) -> Outage:
    """Return an outage with what is known to have changed in it."""
    return replace(outage, changed=changed, more_changed=more)
