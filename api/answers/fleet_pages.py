"""Pages of what several logs tell, merged by time behind one cursor."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from api.answers.paging import Page
from api.fleet_cursors import BEGIN, FleetCursor, Kind, Spot
from api.types.pages import PageInfo

__all__ = ["FleetPage", "Item", "Part", "Turn", "merged"]

Node = TypeVar("Node")


class Item(NamedTuple, Generic[Node]):
    """Something of one log."""

    at: datetime
    """By which it is merged with what others tell."""

    spot: Spot
    node: Node


@dataclass(frozen=True, slots=True)
class Part(Generic[Node]):
    """What one log has of a page: as much as the page may have."""

    items: Sequence[Item[Node]]
    """In the order of the log."""

    more: bool
    """Whether it has more in this direction."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a log is to be read, exclusive; None where nothing bounds it."""

    after: Spot | None
    before: Spot | None


@dataclass(frozen=True, slots=True)
class FleetPage(Generic[Node]):
    """A page."""

    items: Sequence[tuple[str, Item[Node]]]
    """Each with its log."""

    cursors: Sequence[str]
    info: PageInfo


class Turn:
    """Which page is wanted of a fleet."""

    def __init__(self, kind: Kind, page: Page) -> None:
        """Read the cursors of a page.

        Raises:
            CursorError: the fleet never gave one of them.
        """
        self.kind: Kind = kind
        self.page = page
        self.after = _cursor(page.after, kind)
        self.before = _cursor(page.before, kind)

    def bounds(self, log: str) -> Bounds:
        """Return where a log is to be read.

        One that a cursor does not know was away, or not there: it is told
        from its beginning, or from its end.
        """
        after = self.after.spots.get(log) if self.after else None
        before = self.before.spots.get(log) if self.before else None
        if before is not None and self.before and self.before.own != log:
            # It was told up to there, and that is what is wanted.
            before = before[0], before[1] + 1
        return Bounds(None if after == BEGIN else after, before)


def merged(turn: Turn, parts: Mapping[str, Part[Node]]) -> FleetPage[Node]:
    """Return the page that some logs make, in order of time.

    What one log tells stays in its order. Logs that are not there keep the
    places that the cursors have of them.
    """
    page, forward = turn.page, turn.page.forward
    tagged = [
        [(log, item) for item in (p.items if forward else reversed(p.items))]
        for log, p in parts.items()
    ]
    order = heapq.merge(
        *tagged, key=lambda one: (one[1].at, one[0]), reverse=not forward
    )
    found = [one for _, one in zip(range(page.size), order, strict=False)]
    shown = found if forward else found[::-1]
    more = any(p.more for p in parts.values()) or len(shown) < sum(
        len(p.items) for p in parts.values()
    )
    cursors = _cursors(turn, parts, shown)
    return FleetPage(
        items=shown,
        cursors=cursors,
        info=PageInfo(
            has_next_page=more if forward else page.before is not None,
            has_previous_page=page.after is not None if forward else more,
            start_cursor=cursors[0] if cursors else None,
            end_cursor=cursors[-1] if cursors else page.after,
        ),
    )


def _cursors(
    turn: Turn,
    parts: Mapping[str, Part[Node]],
    shown: Sequence[tuple[str, Item[Node]]],
) -> list[str]:
    """Return the cursor behind each item: how far each log is told there."""
    spots: dict[str, Spot] = {}
    if turn.page.forward and turn.after:
        spots = {**turn.after.spots}
    elif turn.before:
        spots = {log: _told_to(turn.before, log) for log in turn.before.spots}
    for log, part in parts.items():
        spots[log] = _begun(turn, log, part, shown)
    cursors = []
    for log, item in shown:
        spots[log] = item.spot
        cursors.append(
            str(FleetCursor(kind=turn.kind, own=log, spots={**spots}))
        )
    return cursors


def _begun(
    turn: Turn,
    log: str,
    part: Part[Node],
    shown: Sequence[tuple[str, Item[Node]]],
) -> Spot:
    """Return how far a log is told where a page begins."""
    if turn.page.forward:
        return turn.after.spots.get(log, BEGIN) if turn.after else BEGIN
    first = next((item for of, item in shown if of == log), None)
    if first is not None:
        return _before(first.spot)
    if part.items:
        return part.items[-1].spot
    if turn.before is None or log not in turn.before.spots:
        return BEGIN
    return _told_to(turn.before, log)


def _told_to(before: FleetCursor, log: str) -> Spot:
    """Return behind what of a log lies what a page before a cursor leaves."""
    spot = before.spots[log]
    return _before(spot) if before.own == log else spot


def _before(spot: Spot) -> Spot:
    return spot[0], max(spot[1] - 1, 0)


def _cursor(text: str | None, kind: Kind) -> FleetCursor | None:
    return None if text is None else FleetCursor.parse(text, kind)
