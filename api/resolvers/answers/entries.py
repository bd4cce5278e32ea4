"""Lists in the order of a log: entries, facts, and versions of an object."""

from collections.abc import Sequence
from dataclasses import replace

from msgspec import structs

from api.resolvers.answers.fleet import ask_each
from api.resolvers.answers.paging import (
    Item,
    Page,
    Pages,
    Part,
    Turn,
    merged,
    read_part,
)
from api.resolvers.context import RequestContext
from api.resolvers.cursors import INDEX_MAX, Order
from api.resolvers.types.coverage import Coverage
from api.resolvers.types.entries import EntryConnection, EntryEdge
from api.resolvers.types.facts import FactConnection, FactEdge
from api.resolvers.types.objects import VersionConnection, VersionEdge
from recorder.answers import nouns
from recorder.answers.entries import (
    entry_coverage,
    find_asked,
    find_beside,
    selection_of,
)
from recorder.answers.history import ShownVersion, ask_history
from recorder.answers.log_questions import EntryQuestion, HistoryQuestion
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import EntryQuery, FactListQuery
from recorder.answers.references import KnownObject
from recorder.model.entry import Entry
from recorder.model.fact import StoredFact
from recorder.model.window import Window

READ = {
    "resource": nouns.Part.RESOURCE,
    "node": nouns.Part.NODE,
    "object": nouns.Part.OBJECT,
    "reason": nouns.Part.WORDS,
    "actor": nouns.Part.WORDS,
    # The text of an Event includes its reason.
    "says": nouns.Part.SUMMARY | nouns.Part.RESOURCE | nouns.Part.WORDS,
}
"""The parts of an entry that each field needs."""

UNASKED = Coverage.of(Window())


async def facts(
    asked: RequestContext,
    reading: Reading,
    question: EntryQuestion,
    page: Page,
    fields: frozenset[str],
) -> FactConnection:
    """Return one page of facts, with what the fields need."""
    turn = Turn(Order.ENTRIES, page)
    question = replace(question, facts=True)
    found = await find_asked(reading, question)
    beside = await find_beside(reading, question)
    query = FactListQuery(selection_of(question, found, beside))
    pages: Pages[StoredFact] = Pages(
        read=lambda log, after, limit: log.pages(
            query, after=after, limit=limit
        ),
        newest=lambda log, n: log.skip_to_newest(query, n),
        item=lambda one: Item(
            one.observed_at, (one.entry.position, one.index), one
        ),
    )
    part = await read_part(reading, turn, pages)
    read = merged(turn, {str(reading.log.id): part})
    return FactConnection(
        edges=[FactEdge(cursor=at, node=one) for at, _, one in read.rows()]
        if "edges" in fields
        else [],
        nodes=read.nodes,
        page_info=read.info,
        coverage=await _coverage(asked, reading, question, found, fields),
    )


async def entries(
    asked: RequestContext,
    logs: Reading | Sequence[str],
    question: EntryQuestion,
    page: Page,
    fields: frozenset[str],
) -> EntryConnection:
    """Return one page of the entries of a log, or of several clusters.

    Only what the selected fields need is read.

    Raises:
        CursorError: these logs did not issue a cursor.
    """
    turn = Turn(Order.ENTRIES, page, fleet=isinstance(logs, Sequence))
    parts = nouns.Part(0)
    for field, part in READ.items():
        if field in fields:
            parts |= part

    async def ask(reading: Reading) -> tuple[Part[Entry], Coverage]:
        found = await find_asked(reading, question)
        beside = await find_beside(reading, question)
        query = EntryQuery(selection_of(question, found, beside), parts)
        pages: Pages[Entry] = Pages(
            read=lambda log, after, limit: log.pages(
                query, after=after, limit=limit
            ),
            newest=lambda log, n: log.skip_to_newest(query, n),
            item=lambda one: Item(
                one.observed_at, (one.entry.position, INDEX_MAX), one
            ),
        )
        part = await read_part(reading, turn, pages)
        return part, await _coverage(asked, reading, question, found, fields)

    each = await ask_each(asked, logs, ask)
    clusters = each.clusters
    read = merged(turn, {str(r.log.id): p for r, (p, _) in each.answers})
    window = question.window
    return EntryConnection(
        edges=[
            EntryEdge(cursor=at, node=one, cluster=clusters[log])
            for at, log, one in read.rows()
        ]
        if "edges" in fields
        else [],
        nodes=read.nodes,
        page_info=read.info,
        coverage=each.coverage(
            [coverage for _, (_, coverage) in each.answers],
            (window.since, window.until),
            now=asked.now,
        )
        if "coverage" in fields
        else UNASKED,
    )


async def _coverage(
    asked: RequestContext,
    reading: Reading,
    question: EntryQuestion,
    found: KnownObject | None,
    fields: frozenset[str],
) -> Coverage:
    if "coverage" not in fields:
        # Computing it takes as long as the page.
        return UNASKED
    return await entry_coverage(reading, question, found, now=asked.now)


async def versions(
    asked: RequestContext,
    reading: Reading,
    question: HistoryQuestion,
    page: Page,
) -> VersionConnection:
    """Return one page of the versions of an object.

    Raises:
        NotFoundError: the log has no such object.
    """
    turn = Turn(Order.ENTRIES, page)
    history = await ask_history(reading, question, now=asked.now)
    selection = Selection(
        objects=history.found.numbers,
        since=question.window.since,
        until=question.window.until,
        versions=True,
    )
    pages: Pages[ShownVersion] = Pages(
        read=lambda log, after, limit: structs.replace(
            history, after=after
        ).pages(log, limit=limit),
        newest=lambda log, n: log.skip_to_newest(EntryQuery(selection), n),
        item=lambda one: Item(
            one.observed_at, (one.entry.position, INDEX_MAX), one
        ),
    )
    part = await read_part(reading, turn, pages)
    read = merged(turn, {str(reading.log.id): part})
    return VersionConnection(
        edges=[VersionEdge(cursor=at, node=one) for at, _, one in read.rows()],
        nodes=read.nodes,
        page_info=read.info,
        heartbeats=history.heartbeats,
        coverage=history.coverage,
    )
