"""Questions about one object: its versions, itself at a time, differences."""

from datetime import datetime

from msgspec.structs import replace

from api.answers.paging import Page, Pages, read_page
from api.context import RequestContext
from api.cursors import INDEX_MAX
from api.scalars import Json
from api.types.objects import (
    ObjectAt,
    VersionConnection,
    VersionEdge,
)
from api.types.who import Who
from recorder.questions.diff import (
    Difference,
    DifferenceQuestion,
    End,
    ask_difference,
)
from recorder.questions.history import (
    HistoryQuestion,
    ShownVersion,
    ask_history,
)
from recorder.questions.ports import Reading, Selection
from recorder.questions.queries import EntryQuery
from recorder.questions.references import Reference
from recorder.questions.show import ObjectQuestion, ask_object
from recorder.questions.who import WhoQuestion, ask_who

__all__ = ["authors", "difference", "page", "shown"]


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


async def shown(
    asked: RequestContext,
    reading: Reading,
    reference: Reference,
    at: datetime | None,
) -> ObjectAt:
    """Return an object as it was.

    Raises:
        NotFoundError: there was no such object then.
    """
    found = await ask_object(
        reading, ObjectQuestion(object=reference, at=at), now=asked.now
    )
    return ObjectAt(
        entry=found.line,
        document=Json(found.object),
        heartbeats=found.heartbeats,
        coverage=found.coverage,
    )


async def authors(
    asked: RequestContext,
    reading: Reading,
    reference: Reference,
    at: datetime | None,
) -> Who:
    """Return who changed each field of an object last.

    Raises:
        NotFoundError: there was no such object yet.
    """
    question = WhoQuestion(object=reference, at=at)
    return await ask_who(reading, question, now=asked.now)


async def difference(
    asked: RequestContext,
    reading: Reading,
    reference: Reference,
    *,
    ends: tuple[str, str | None],
    all_fields: bool,
) -> Difference:
    """Compare an object at two ends.

    Raises:
        ConfigError: an end is none, or they are the wrong way round.
    """
    before = End.parse(ends[0], now=asked.now, name="from")
    after = End()
    if ends[1] is not None:
        after = End.parse(ends[1], now=asked.now, name="to")
    question = DifferenceQuestion(
        object=reference, before=before, after=after, all_fields=all_fields
    )
    return await ask_difference(reading, question, now=asked.now)
