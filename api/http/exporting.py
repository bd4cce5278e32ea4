"""The export: everything that a question selects, one line of JSON each.

The lines are those of `recorder log -o ndjson`. The export is read and sent
page by page, each page a request of its own to the workers, so that memory
does not grow with the export and other requests are answered meanwhile. The
last line holds the coverage: an export without it was cut off.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import StreamingResponse

from api.access import Principal
from api.http.graphql_http import BadRequestError
from api.ports import Logs
from api.resolvers.workers import Workers
from recorder.answers.entries import Entries, ask_entries
from recorder.answers.facts import ListedFact, listed_fact
from recorder.answers.lines import listed_entry
from recorder.answers.log_questions import EntryQuestion, object_named
from recorder.answers.ports import Reading
from recorder.model.document import json_bytes
from recorder.model.entry import Entry
from recorder.model.fact import StoredFact
from recorder.model.reference import LogNumber, written_log
from recorder.model.window import Window, parse_time

LINES = "application/x-ndjson"

PARAMETERS = (
    "node",
    "object",
    "namespace",
    "source",
    "reason",
    "actor",
    "code",
    "since",
    "until",
    "facts",
    "raw",
    "cluster",
    "log",
    "limit",
)

FULL = 1000
"""Facts of a page; its last entry may go on in the next."""

Item = Entry | StoredFact


class _Page(NamedTuple):
    """A part of an export."""

    lines: bytes
    last: int | None
    latest: datetime | None
    """The latest time of its lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export:
    """What is exported: the log as it was when the export was requested."""

    log: int
    size: int
    visible_size: int
    cluster: str
    question: EntryQuestion
    entries: Entries

    async def page(self, logs: Logs, after: int) -> "_Page":
        """Return the lines of a page, and its last position."""
        reading = (await logs.read(self.log)).as_of(self.size)
        items, last = await self._items(reading, after)
        lines = (json_bytes(self._line(item)) + b"\n" for item in items)
        return _Page(b"".join(lines), last, max(map(_at, items), default=None))

    async def _items(
        self, reading: Reading, after: int
    ) -> tuple[Sequence[Item], int | None]:
        found: list[Item] = []
        pages = self.entries.later(reading, self.entries.found, after=after)
        async for page in pages:
            found.extend(page)
            last = found[-1].entry.position
            if not self.question.facts:
                return found, last
            if len(page) < FULL:
                return found, None
            # The next page begins with an entry, not within one.
            whole = [item for item in found if item.entry.position < last]
            if whole:
                return whole, whole[-1].entry.position
        return found, None

    def _line(self, item: Item) -> ListedFact | Mapping[str, object]:
        if isinstance(item, StoredFact):
            return listed_fact(item)
        return listed_entry(
            item, cluster=self.cluster, with_document=self.question.documents
        )

    def end(self, latest: datetime | None) -> bytes:
        """Return the last line, given the latest time of the lines before."""
        coverage = self.entries.coverage
        if latest is not None:
            coverage = coverage.reaching(latest)
        return (
            json_bytes(
                {
                    "log": {
                        "id": written_log(self.log),
                        "position": self.visible_size,
                    },
                    "coverage": coverage,
                }
            )
            + b"\n"
        )


async def export(
    workers: Workers, request: Request, who: Principal, *, now: datetime
) -> StreamingResponse:
    """Export what the parameters of a request select.

    Raises:
        BadRequestError: a parameter is unknown or invalid.
        RecorderError: the log cannot be read; nothing was sent yet.
    """
    given = _parameters(request)
    question = _question(given, now)
    log = _log(given.get("log"))

    async def begin(logs: Logs) -> _Export:
        reading = await logs.read(log, cluster=given.get("cluster"))
        return _Export(
            log=reading.log.id,
            size=reading.log.size,
            visible_size=reading.log.visible_size,
            cluster=reading.log.cluster_name,
            question=question,
            entries=await ask_entries(reading, question, now=now),
        )

    begun = await workers.answer(who, begin)
    return StreamingResponse(
        _lines(workers, who, begun),
        media_type=LINES,
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _lines(
    workers: Workers, who: Principal, export: _Export
) -> AsyncIterator[bytes]:
    place: int | None = export.entries.after
    latest: datetime | None = None
    while place is not None:
        page = await workers.answer(who, partial(export.page, after=place))
        place = page.last
        latest = max(filter(None, (latest, page.latest)), default=None)
        if page.lines:
            yield page.lines
    yield export.end(latest)


def _at(item: Item) -> datetime:
    return item.at if isinstance(item, StoredFact) else item.observed_at


def _parameters(request: Request) -> Mapping[str, str]:
    """Return the parameters that are not empty."""
    for name in request.query_params:
        if name not in PARAMETERS:
            known = ", ".join(PARAMETERS)
            msg = f'there is no parameter "{name[:50]}": {known}'
            raise BadRequestError(msg)
    return {name: text for name, text in request.query_params.items() if text}


def _question(given: Mapping[str, str], now: datetime) -> EntryQuestion:
    def time(name: str) -> datetime | None:
        text = given.get(name)
        return parse_time(text, now=now, name=name) if text else None

    return EntryQuestion(
        window=Window.between(time("since"), time("until"), now=now),
        node=given.get("node"),
        object=object_named(given.get("object"), given.get("namespace")),
        source=given.get("source"),
        reason=given.get("reason"),
        actor=given.get("actor"),
        code=_number("code", given.get("code")),
        limit=_number("limit", given.get("limit")),
        documents=_switch("raw", given.get("raw")),
        facts=_switch("facts", given.get("facts")),
    )


def _switch(name: str, value: str | None) -> bool:
    if value in {None, "", "0", "false"}:
        return False
    if value in {"1", "true"}:
        return True
    msg = f"cannot use {name}={value}: write 1 or 0"
    raise BadRequestError(msg)


def _log(value: str | None) -> int | None:
    try:
        return LogNumber.parse(value) if value else None
    except ValueError as exc:
        raise BadRequestError(str(exc)) from exc


def _number(name: str, value: str | None) -> int | None:
    if not value:
        return None
    if not value.isdecimal() or not 0 < len(value) < 10 or int(value) < 1:  # noqa: PLR2004 - of an int4
        msg = f"cannot use {name}={value[:50]}: use a positive number"
        raise BadRequestError(msg)
    return int(value)
