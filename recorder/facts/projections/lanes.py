"""Lanes: the state of a node over time, as spans to be drawn.

Folded from the initial state of the node and the facts after it: a span ends
where its value changes, and at the end of the fold it is left open.
"""

from collections.abc import Callable, Hashable, Iterator
from datetime import datetime
from typing import Any

import msgspec

from recorder.facts.projections.node import NodeState
from recorder.model.fact import StoredFact
from recorder.model.state import Condition

SERVICE = "service"
CONDITION = "condition"
BOOT = "boot"
TAINT = "taint"
CORDON = "cordon"

Lane = tuple[str, str]
"""Which of the five, and of what: a condition's type, ``KEY:EFFECT``."""


class Span(msgspec.Struct, gc=False):
    """One value of one lane, from one change to the next."""

    lane: str
    of: str
    value: Any
    since: datetime | None = None
    """None if it began before the fold did."""

    to: datetime | None = None
    """None while it lasts."""

    began: StoredFact | None = None
    """The fact that began it."""


class Lanes:
    """Spans of one node."""

    def __init__(
        self, base: NodeState, service: Callable[[NodeState], Hashable]
    ) -> None:
        """Begin with the state of a node."""
        self._service = service
        self._open: dict[Lane, Span] = {}
        self._closed: list[Span] = []
        self._change(base, None)

    def take(self, stored: StoredFact, after: NodeState) -> None:
        """Take a fact, and the node after it."""
        self._change(after, stored)

    def spans(self, lane: str) -> list[Span]:
        """Return the spans of one lane, by what they are of, then by time."""
        found = [
            span
            for span in (*self._closed, *self._open.values())
            if span.lane == lane
        ]
        return sorted(found, key=_order)

    def _change(self, state: NodeState, stored: StoredFact | None) -> None:
        # Of a node that was never seen nothing is known, not even its absence.
        known = state.present or stored is not None
        values = dict(self._values(state)) if known else {}
        at = None if stored is None else stored.at
        for place, span in list(self._open.items()):
            if place not in values or values[place] != span.value:
                span.to = at
                self._closed.append(self._open.pop(place))
        for place, value in values.items():
            if place not in self._open:
                self._open[place] = Span(
                    lane=place[0],
                    of=place[1],
                    value=value,
                    since=at,
                    began=stored,
                )

    def _values(self, state: NodeState) -> Iterator[tuple[Lane, Any]]:
        yield (SERVICE, ""), self._service(state)
        if not state.present:
            return
        if state.boot_id is not None:
            yield (BOOT, ""), state.boot_id
        if state.cordoned:
            yield (CORDON, ""), True
        for name, value in state.taints.items():
            yield (TAINT, name), value
        for name, condition in state.conditions.items():
            yield (CONDITION, name), _condition_value(condition)


def _condition_value(
    condition: Condition,
) -> tuple[str | None, str | None, str | None]:
    return condition.status, condition.reason, condition.message


def _order(span: Span) -> tuple[str, bool, float]:
    since = span.since
    return span.of, since is not None, since.timestamp() if since else 0.0
