"""Builds the statements that find entries, and pages of them.

A page is found by position first, and then joined with the names of its
numbers, so that the size of the dimension tables does not matter.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from recorder.answers.nouns import Part
from recorder.model.columns import OBJECT, STORED, Column, Holds
from recorder.store.read_selection import BY_RECORDER, Conditions
from recorder.store.read_span import Span
from recorder.store.statement import Condition, Statement, conjoined, question

Asked: TypeAlias = tuple[Statement, Mapping[str, object]]
"""A statement with its values."""

PARTS: Mapping[str, Part] = {
    "resource": Part.RESOURCE,
    "node": Part.NODE,
    "word": Part.WORDS,
    "object": Part.OBJECT,
}
"""Parts of an entry, by the table of names that they need."""

TEXTS: Mapping[str, str] = {"resource": "name", "node": "name", "word": "text"}
"""The column that has the names of a table."""

OBJECT_JOINED = (
    "p.object_id, k.api_group, k.name, o.namespace, o.name, o.uid",
    """left join recorder.object o on o.object_id = p.object_id
    left join recorder.kind k on k.kind_id = o.kind_id""",
)

READ = tuple(column for column in STORED if column.name != "log_id")
PLAIN = tuple(one.name for one in READ if one.holds is not Holds.NUMBER)
NUMBERED = tuple(one for one in READ if one.holds is Holds.NUMBER)

SELECTED = (
    *PLAIN,
    *chain.from_iterable(
        ("object_id", *OBJECT) if one.names == "object" else (one.field,)
        for one in NUMBERED
    ),
)
"""The columns of a page: those of entries, with names for numbers."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The log, the window and the filters to read."""

    span: Span
    conditions: Conditions

    def parts(self) -> Sequence["Scan"]:
        """Return the spans to scan, one per statement, oldest first.

        A scan of the whole log would take too long.
        """
        if self.conditions.indexed:
            return [self]
        return [replace(self, span=day) for day in self.span.days()]

    def newest_first(self) -> Iterator["Scan"]:
        """Yield the spans to scan for the newest, one per statement."""
        if self.conditions.indexed:
            spans = self.span.widening()
        else:
            spans = reversed(self.span.days())
        for span in spans:
            yield replace(self, span=span)

    def of(self, positions: Sequence[int]) -> "Scan":
        """Return the scan of entries at positions."""
        named: Condition = (
            "e.position = any (:positions::int8[])",
            {"positions": list(positions)},
        )
        conditions = replace(self.conditions, asked=(named,), indexed=True)
        return replace(self, conditions=conditions)

    @property
    def goes_by_position(self) -> bool:
        """Whether the plan is by position, whatever the values."""
        return not (self.conditions.indexed or self.conditions.narrows)

    def where(self) -> Condition:
        """Return the condition that it selects an entry ``e``."""
        held = (
            self.span.holds_on_its_days()
            if self.goes_by_position
            else self.span.holds()
        )
        return conjoined([held, *self.conditions.asked])


def page_statement(
    scan: Scan, *, limit: int, parts: Part, events: Sequence[int] = ()
) -> Asked:
    """Select one page of lines, with the names of what they refer to.

    ``events`` are the resources of Kubernetes Events, whose documents have
    their messages.
    """
    where, values = scan.where()
    payload = "null::bytea"
    if Part.DOCUMENT in parts:
        payload = "e.payload"
    elif Part.SUMMARY in parts:
        # Other entries need no document for their message.
        payload = f"""case when {BY_RECORDER}
          or e.resource_id = any (:said::int2[]) then e.payload end"""
        values = {**values, "said": list(events)}
    names, joins = [], []
    for column in NUMBERED:
        named, join = _joined(column)
        if PARTS[column.names] in parts:
            names.append(named)
            joins.append(join)
        else:
            names.append(", ".join(["null"] * (1 + named.count(","))))
    own = ", ".join(
        f"{payload} as payload" if one.name == "payload" else f"e.{one.name}"
        for one in READ
    )
    statement = question(f"""
    select {", ".join(f"p.{name}" for name in PLAIN)}, {", ".join(names)}
    from (
      select {own} from recorder.entry e where {where}
      order by e.position limit {limit}) p
    {" ".join(joins)}
    order by p.position
    """)
    return statement, values


def _joined(column: Column) -> tuple[str, str]:
    """Return the names for a column of numbers, and the join for them."""
    if column.names == "object":
        return OBJECT_JOINED
    field, names = column.field, column.names
    key = f"{names}_id"
    on = f"{field}.{key} = p.{column.name}"
    named = f"{field}.{TEXTS[names]}"
    return named, f"left join recorder.{names} {field} on {on}"


def positions_statement(scan: Scan, count: int) -> Asked:
    """Select the newest positions of a selection, newest first.

    Matches are sorted afterwards: a backward scan by position might never
    reach the limit.
    """
    where, values = scan.where()
    if not scan.goes_by_position:
        return _matching(where, values, count)
    statement = question(f"""
    select e.position from recorder.entry e where {where}
    order by e.position desc limit {count}
    """)
    return statement, values


def newest_statement(scan: Scan) -> Asked:
    """Select the newest position of a selection.

    The matches are materialized first: with a limit of one the planner would
    expect to find one soon by scanning the log backwards.
    """
    return _matching(*scan.where(), 1)


def _matching(where: str, values: Mapping[str, object], count: int) -> Asked:
    statement = question(f"""
    with matches as materialized (
      select e.position from recorder.entry e where {where})
    select position from matches order by position desc limit {count}
    """)
    return statement, values
