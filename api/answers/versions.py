"""Questions about one object: its versions, itself at a time, differences."""

from msgspec.structs import replace

from api.answers.paging import Page, Pages, read_page
from api.context import RequestContext
from api.cursors import INDEX_MAX
from api.types.objects import (
    VersionConnection,
    VersionEdge,
)
from recorder.answers.history import ShownVersion, ask_history
from recorder.answers.log_questions import HistoryQuestion
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import EntryQuery

__all__ = ["page"]


async def page(
    asked: RequestContext,
    reading: Reading,
    question: HistoryQuestion,
    page: Page,
) -> VersionConnection:
    """Return one page of versions.

    Raises:
        NotFoundError: the log has no such object.
    """
    history = await ask_history(reading, question, now=asked.now)
    selection = Selection(
        objects=history.found.numbers,
        since=question.window.since,
        until=question.window.until,
        versions=True,
    )
    pages: Pages[ShownVersion] = Pages(
        read=lambda log, after, limit: replace(history, after=after).pages(
            log, limit=limit
        ),
        newest=lambda log, n: log.skip_to_newest(EntryQuery(selection), n),
        place=lambda version: (version.entry.position, INDEX_MAX),
    )
    found = await read_page(reading, page, pages)
    nodes = [*found.items]
    return VersionConnection(
        edges=found.edges(VersionEdge, nodes),
        nodes=nodes,
        page_info=found.info,
        heartbeats=history.heartbeats,
        coverage=history.coverage,
    )
