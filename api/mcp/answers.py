"""The answers of tools.

Their shapes are those of the command line's JSON; a list that it prints page
by page is one bounded list here, with ``more`` if something was left out.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from msgspec import UNSET, structs

from api.mcp.arguments import OfClusters, OfLog
from api.ports import Logs
from api.resolvers.answers.windows import window
from recorder.answers.arguments import Asking
from recorder.answers.clusters import Away
from recorder.answers.entries import Entries
from recorder.answers.history import History, ShownVersion
from recorder.answers.incidents import Incident, Incidents
from recorder.answers.lines import says
from recorder.answers.naming import named
from recorder.answers.ports import Reading
from recorder.answers.registry import QUESTIONS
from recorder.explain.knowledge import Knowledge
from recorder.facts.coverage.coverage import Coverage
from recorder.model.document import Document
from recorder.model.entry import Entry
from recorder.model.errors import ConfigError
from recorder.model.reference import LogNumber, written_log

Shown = Callable[[Reading, Any, Any], Awaitable[Document]]
"""Makes a document of the log, the arguments of the tool, and the answer."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What all questions need: the logs, the knowledge, and the time."""

    logs: Logs
    knowledge: Knowledge
    now: datetime

    async def reading(self, given: OfLog) -> Reading:
        """Open the log that is meant.

        Raises:
            NotFoundError: there is no such log.
            ConfigError: several could be meant.
        """
        log = given.log
        if isinstance(log, str):
            try:
                log = LogNumber.parse(log)
            except ValueError as exc:
                raise ConfigError(str(exc), code="question.log") from exc
        return await self.logs.read(log, cluster=given.cluster)


class ClusterDocument(Document, frozen=True, kw_only=True):
    """A log of a cluster."""

    cluster: str
    uid: str
    log: int | str
    kind: str
    entries: int
    observed_until: datetime | None
    open_gaps: int


class ClustersDocument(Document, frozen=True, kw_only=True):
    """The recorded logs, and the clusters that are away."""

    clusters: Sequence[ClusterDocument]
    away: Sequence[Away] = ()


class NewestIncidentsDocument(Document, frozen=True, kw_only=True):
    """The newest incidents of a window, oldest first."""

    incidents: Sequence[Incident]
    more: bool
    coverage: Coverage


class HistoryDocument(Document, frozen=True, kw_only=True):
    """The newest versions of an object, oldest first."""

    object: str
    versions: Sequence[ShownVersion]
    more: bool
    coverage: Coverage


class SaidDocument(Document, frozen=True, kw_only=True):
    """An entry, and what it says in words."""

    entry: str
    operation: str
    source: str
    object: str | None
    node: str | None
    reason: str | None
    actor: str | None
    occurred_at: datetime | None
    observed_at: datetime
    says: str
    raw: Any = UNSET
    """The document, where it was asked for."""

    @classmethod
    def of(cls, line: Entry, *, with_document: bool) -> "SaidDocument":
        """Return the document of an entry."""
        identity = line.identity
        return cls(
            entry=str(line.entry),
            operation=line.operation,
            source=line.source,
            object=identity
            and named(
                identity.kind.lower(), identity.namespace, identity.name
            ),
            node=line.node,
            reason=line.reason,
            actor=line.actor,
            occurred_at=line.occurred_at,
            observed_at=line.observed_at,
            says=says(line),
            raw=orjson.Fragment(line.raw or b"null")
            if with_document
            else UNSET,
        )


class EntriesDocument(Document, frozen=True, kw_only=True):
    """The newest entries that match, in log order."""

    entries: Sequence[SaidDocument]
    more: bool
    notes: Sequence[str]
    coverage: Coverage


async def clusters(asked: Asked, given: OfClusters) -> ClustersDocument:
    """List the logs."""
    del given
    status = await asked.logs.status(None)
    return ClustersDocument(
        clusters=[
            ClusterDocument(
                cluster=one.log.cluster_name,
                uid=one.log.cluster_uid,
                log=written_log(one.log.id),
                kind=one.log.kind,
                entries=one.log.visible_size,
                observed_until=one.log.observed_at,
                open_gaps=sum(
                    stream.gap is not None for stream in one.streams
                ),
            )
            for one in status.logs
        ],
        away=status.away,
    )


def asking(
    name: str, shown: Shown
) -> Callable[[Asked, Any], Awaitable[Document]]:
    """Return a function that asks a question of the registry."""
    question = QUESTIONS[name]

    async def ask(asked: Asked, given: OfLog) -> Document:
        how = Asking(now=asked.now, window=window)
        fixed = {"words": True} if name == "entries" else {}
        put: Any = question.read(structs.asdict(given), how, **fixed)
        log: int | None = getattr(put, "log", None)
        if log is None:
            reading = await asked.reading(given)
        else:
            reading = await asked.logs.read(log)
        found = await question.answer(
            reading, put, asked.knowledge, now=asked.now
        )
        return await shown(reading, given, found)

    return ask


async def newest_incidents(
    reading: Reading, given: Any, found: Incidents
) -> NewestIncidentsDocument:
    """Return the newest incidents of all nodes."""
    del reading
    newest = found.incidents[-given.limit :]
    return NewestIncidentsDocument(
        incidents=newest,
        more=len(newest) < len(found.incidents),
        coverage=found.coverage,
    )


async def versions(
    reading: Reading, given: Any, found: History
) -> HistoryDocument:
    """Return the newest versions of an object."""
    versions = [one async for page in found.pages(reading) for one in page]
    return HistoryDocument(
        object=given.object,
        versions=versions[-given.limit :],
        more=found.more,
        coverage=found.coverage,
    )


async def entries(
    reading: Reading, given: Any, found: Entries
) -> EntriesDocument:
    """Return the newest entries."""
    lines = [
        line
        async for page in found.pages(reading)
        for line in page
        if isinstance(line, Entry)
    ][-given.limit :]
    return EntriesDocument(
        entries=[
            SaidDocument.of(line, with_document=given.documents)
            for line in lines
        ],
        more=found.more,
        notes=found.notes,
        coverage=found.coverage,
    )
