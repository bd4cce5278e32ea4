"""Spans of batches whose rows are checked, each by one process at a time."""

from collections.abc import Sequence
from datetime import datetime

import asyncpg
import msgspec

from recorder.admin.workers import Tell
from recorder.integrity.chain import Problem
from recorder.store.checking import check_batches
from recorder.store.long_work import connect_to
from recorder.store.read_batches import LogEnd
from recorder.store.read_marks import entries_mark
from recorder.store.translate import translate_errors

__all__ = ["Span", "check_span", "check_spans", "spans_of"]

ENTRIES = 50_000
"""Of a span: a second's work, and what an interruption costs."""

SPANS = """
    select min(batch) - 1, max(batch), sum(entries)::int8 from (
      select batch, entries,
        (sum(entries) over (order by batch) - 1) / $5 as span
      from recorder.batch
      where log_id = $1 and batch <= $2 and batch > $6
        and ($3::timestamptz is null or observed_max >= $3)
        and ($4::timestamptz is null or observed_min < $4)) b
    group by span order by 1
"""


class Span(msgspec.Struct):
    """Batches that follow one another, and what is wrong with them."""

    after: int
    until: int
    entries: int
    problems: list[Problem] = []
    mark: str = ""
    """Of its rows before they were read, by which a change is seen later."""


async def spans_of(
    connection: asyncpg.Connection,
    end: LogEnd,
    since: datetime | None,
    until: datetime | None,
) -> Sequence[Span]:
    """Return the batches of a window, divided into spans."""
    rows = await connection.fetch(
        SPANS,
        end.log,
        end.batches,
        since,
        until,
        ENTRIES,
        end.pruned_batches,
    )
    return [Span(*row) for row in rows]


async def check_spans(
    dsn: str, end: LogEnd, spans: Sequence[Span], *, tell: Tell
) -> None:
    """Check spans in a process of its own; tell each when it is done."""
    with translate_errors("verify a part of the log"):
        connection = await connect_to(dsn)
        try:
            for span in spans:
                await check_span(connection, end, span)
                tell(span)
        finally:
            connection.terminate()


async def check_span(
    connection: asyncpg.Connection, end: LogEnd, span: Span
) -> None:
    """Check the rows of a span, and add what is wrong to it."""
    span.mark = await entries_mark(connection, end, span.after, span.until)
    checked = check_batches(
        connection, end, after=span.after, until=span.until
    )
    async for batch in checked:
        span.problems.extend(batch.problems)
