"""Questions about one object: its versions, itself at a time, differences."""

from dataclasses import replace
from datetime import datetime

from api.answers.paging import Page, Pages, read_page
from api.context import RequestContext
from api.cursors import INDEX_MAX
from api.scalars import Json
from api.types.entries import Change
from api.types.objects import (
    Difference,
    Heartbeats,
    ObjectAt,
    Version,
    VersionConnection,
    VersionEdge,
)
from api.types.who import Who
from recorder.questions.diff import Difference as Differing
from recorder.questions.diff import DifferenceQuestion, End, ask_difference
from recorder.questions.history import HistoryQuestion, ask_history
from recorder.questions.history import Version as KnownVersion
from recorder.questions.ports import Heartbeats as Counted
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
    pages: Pages[KnownVersion] = Pages(
        read=lambda log, after, limit: replace(history, after=after).pages(
            log, limit=limit
        ),
        newest=lambda log, n: log.skip_to_newest(EntryQuery(selection), n),
        place=lambda version: (version.line.entry.position, INDEX_MAX),
    )
    found = await read_page(reading, page, pages)
    nodes = [Version.of(version) for version in found.items]
    return VersionConnection(
        edges=found.edges(VersionEdge, nodes),
        nodes=nodes,
        page_info=found.info,
        heartbeats=_heartbeats(history.heartbeats),
        coverage=history.coverage,
    )


def _heartbeats(counted: Counted | None) -> Heartbeats | None:
    if counted is None:
        return None
    return Heartbeats(count=counted.count, last_at=counted.last_at)


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
        heartbeats=_heartbeats(found.heartbeats),
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
    return _difference(await ask_difference(reading, question, now=asked.now))


def _difference(found: Differing) -> Difference:
    identity = found.newest.identity
    assert identity is not None, "a version is of an object"
    return Difference(
        object=identity,
        outcome=found.outcome,
        from_=found.before.line,
        to=found.after.line,
        changed=[
            Change.of(change, found.author(change)) for change in found.changed
        ],
        writers=[*found.managers],
        coverage=found.coverage,
    )
