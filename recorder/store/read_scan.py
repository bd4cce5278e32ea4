"""Reading: the statements that find entries, and pages of them.

A page is found by position first and only then joined with the names that
stand for its numbers, so that the size of the dimension tables does not
matter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import CTE, ColumnElement, case, false, or_, select

from recorder.questions.ports import Part
from recorder.store.read_selection import Conditions, told_by_recorder
from recorder.store.read_span import Span
from recorder.store.tables import (
    Query,
    entry,
    kind,
    node,
    object_,
    resource,
    word,
)

__all__ = ["Scan", "newest_query", "page_query", "positions_query"]


@dataclass(frozen=True, slots=True)
class Scan:
    """The log, the window and the filters to read."""

    span: Span
    conditions: Conditions

    def parts(self) -> Sequence["Scan"]:
        """Return the spans to scan, one per statement, oldest first.

        A walk through the whole log would take longer than it may.
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
        """Look for entries that were found before."""
        named = replace(
            self.conditions,
            asked=(entry.c.position.in_(positions),),
            indexed=True,
        )
        return replace(self, conditions=named)


def page_query(scan: Scan, *, limit: int, parts: Part) -> Query:
    """Select one page of lines, with the names of what they refer to."""
    page = (
        select(
            *(column for column in entry.c if column.name != "payload"),
            _payload(scan, parts).label("payload"),
        )
        .where(scan.span.holds(), *scan.conditions.asked)
        .order_by(entry.c.position)
        .limit(limit)
        .subquery("page")
    )
    query = select(page).select_from(page)
    if Part.RESOURCE in parts:
        query = query.add_columns(resource.c.name.label("resource")).outerjoin(
            resource, resource.c.resource_id == page.c.resource_id
        )
    if Part.NODE in parts:
        query = query.add_columns(node.c.name.label("node")).outerjoin(
            node, node.c.node_id == page.c.node_id
        )
    if Part.WORDS in parts:
        reason, actor = word.alias("reason"), word.alias("actor")
        query = (
            query.add_columns(
                reason.c.text.label("reason"), actor.c.text.label("actor")
            )
            .outerjoin(reason, reason.c.word_id == page.c.reason_id)
            .outerjoin(actor, actor.c.word_id == page.c.actor_id)
        )
    if Part.OBJECT in parts:
        query = (
            query.add_columns(
                kind.c.api_group,
                kind.c.name.label("kind"),
                object_.c.namespace,
                object_.c.name,
                object_.c.uid,
            )
            .outerjoin(object_, object_.c.object_id == page.c.object_id)
            .outerjoin(kind, kind.c.kind_id == object_.c.kind_id)
        )
    return query.order_by(page.c.position)


def _payload(scan: Scan, parts: Part) -> ColumnElement[bytes]:
    if Part.DOCUMENT in parts:
        return entry.c.payload
    if Part.TOLD not in parts:
        return case((false(), entry.c.payload))
    # Of the others nobody needs the document to tell what they say.
    needed = or_(
        told_by_recorder(), entry.c.resource_id.in_(scan.conditions.events)
    )
    return case((needed, entry.c.payload))


def positions_query(scan: Scan, count: int) -> Query:
    """Select the newest positions of a selection, newest first.

    What is found is put in order afterwards, not looked for backwards by the
    position for a limit that may never be reached.
    """
    if not (scan.conditions.indexed or scan.conditions.narrows):
        return (
            select(entry.c.position)
            .where(scan.span.holds(), *scan.conditions.asked)
            .order_by(entry.c.position.desc())
            .limit(count)
        )
    matches = _matches(scan)
    return (
        select(matches.c.position)
        .order_by(matches.c.position.desc())
        .limit(count)
    )


def _matches(scan: Scan) -> CTE:
    return (
        select(entry.c.position)
        .where(scan.span.holds(), *scan.conditions.asked)
        .cte("matches")
        .prefix_with("materialized")
    )


def newest_query(scan: Scan) -> Query:
    """Select the newest position of a selection.

    The matches are materialized first: with a limit of one the planner would
    hope to meet one soon when it walks back through the whole log.
    """
    matches = _matches(scan)
    return (
        select(matches.c.position).order_by(matches.c.position.desc()).limit(1)
    )
