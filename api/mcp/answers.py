"""The answers that tools give, asked of a log.

Shapes are those of the command line's JSON; what it lists page by page is
one bounded list here, with ``more`` where something was left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from msgspec import UNSET

from api.errors import LogNumberError
from api.mcp.arguments import (
    OfClusters,
    OfEntries,
    OfHistory,
    OfImpact,
    OfIncidents,
    OfLog,
    OfWho,
    OfWhy,
    OfWhyWorkload,
    Windowed,
)
from api.ports import LogReading, Logs
from recorder.documents.coverage import CoverageDocument, GapsDocument
from recorder.documents.entries import says
from recorder.documents.impact import ImpactDocument
from recorder.documents.incidents import IncidentDocument
from recorder.documents.verdict import WhyDocument
from recorder.documents.versions import VersionDocument
from recorder.documents.who import WhoDocument
from recorder.documents.why_workload import WhyWorkloadDocument
from recorder.knowledge import Knowledge
from recorder.model.document import Document
from recorder.model.reference import LogNumber, told_log
from recorder.questions.entries import (
    EntryQuestion,
    ask_entries,
    named_object,
)
from recorder.questions.entry import entry_name
from recorder.questions.gaps import ask_gaps
from recorder.questions.history import HistoryQuestion, ask_history
from recorder.questions.impact import ImpactQuestion, ask_impact
from recorder.questions.incidents import IncidentsQuestion, ask_incidents
from recorder.questions.ports import Line
from recorder.questions.references import Reference, named, node_name
from recorder.questions.who import WhoQuestion, ask_who
from recorder.questions.why import WhyQuestion, ask_why
from recorder.questions.why_workload import (
    WhyWorkloadQuestion,
    ask_why_workload,
)

__all__ = [
    "Asked",
    "ClustersDocument",
    "EntriesDocument",
    "HistoryDocument",
    "NewestIncidentsDocument",
    "clusters",
    "entries",
    "gaps",
    "history",
    "impact",
    "incidents",
    "who",
    "why",
    "why_workload",
]


@dataclass(frozen=True, slots=True)
class Asked:
    """Of what is asked, and when."""

    logs: Logs
    knowledge: Knowledge
    now: datetime

    async def reading(self, given: OfLog) -> LogReading:
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
                raise LogNumberError(str(exc)) from exc
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


class AwayDocument(Document, frozen=True, kw_only=True):
    """A cluster of which nothing can be read now."""

    cluster: str
    why: str


class ClustersDocument(Document, frozen=True, kw_only=True):
    """The logs that can be asked."""

    clusters: Sequence[ClusterDocument]
    away: Sequence[AwayDocument] = ()


class NewestIncidentsDocument(Document, frozen=True, kw_only=True):
    """The newest incidents of a window, oldest first."""

    incidents: Sequence[IncidentDocument]
    more: bool
    coverage: CoverageDocument


class HistoryDocument(Document, frozen=True, kw_only=True):
    """The newest versions of an object, oldest first."""

    object: str
    versions: Sequence[VersionDocument]
    more: bool
    coverage: CoverageDocument


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
    def of(cls, line: Line, *, with_document: bool) -> "SaidDocument":
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
    coverage: CoverageDocument


async def clusters(asked: Asked, given: OfClusters) -> ClustersDocument:
    """List the logs."""
    del given
    status = await asked.logs.status(None)
    return ClustersDocument(
        clusters=[
            ClusterDocument(
                cluster=one.log.cluster_name,
                uid=one.log.cluster_uid,
                log=told_log(one.log.id),
                kind=one.log.kind,
                entries=one.log.told_size,
                observed_until=one.log.observed_at,
                open_gaps=sum(
                    stream.gap is not None for stream in one.streams
                ),
            )
            for one in status.logs
        ],
        away=[
            AwayDocument(cluster=one.cluster, why=one.why)
            for one in status.away
        ],
    )


async def why(asked: Asked, given: OfWhy) -> WhyDocument:
    """Ask what happened to a node."""
    question = WhyQuestion(
        node=node_name(given.node),
        window=given.window(asked.now),
        at=given.moment(asked.now),
    )
    reading = await asked.reading(given)
    found = await ask_why(reading, question, asked.knowledge, now=asked.now)
    return WhyDocument.of(found)


async def why_workload(
    asked: Asked, given: OfWhyWorkload
) -> WhyWorkloadDocument:
    """Ask what ended a workload or a Pod."""
    question = WhyWorkloadQuestion(
        object=Reference.parse(given.object, None),
        window=given.window(asked.now),
        at=given.moment(asked.now),
    )
    reading = await asked.reading(given)
    return WhyWorkloadDocument.of(
        await ask_why_workload(
            reading, question, asked.knowledge, now=asked.now
        )
    )


async def impact(asked: Asked, given: OfImpact) -> ImpactDocument:
    """Ask which workloads failures of nodes hit."""
    question = ImpactQuestion.selecting(
        given.nodes,
        rack=given.rack,
        labels=given.labels,
        window=given.window(asked.now),
    )
    reading = await asked.reading(given)
    return ImpactDocument.of(
        await ask_impact(reading, question, asked.knowledge, now=asked.now)
    )


async def incidents(
    asked: Asked, given: OfIncidents
) -> NewestIncidentsDocument:
    """Ask what happened to any node."""
    question = IncidentsQuestion(window=given.window(asked.now))
    reading = await asked.reading(given)
    found = await ask_incidents(
        reading, question, asked.knowledge, now=asked.now
    )
    newest = found.incidents[-given.limit :]
    return NewestIncidentsDocument(
        incidents=[IncidentDocument.of(one) for one in newest],
        more=len(newest) < len(found.incidents),
        coverage=CoverageDocument.of(found.coverage),
    )


async def history(asked: Asked, given: OfHistory) -> HistoryDocument:
    """Ask for the versions of an object."""
    question = HistoryQuestion(
        object=Reference.parse(given.object, None),
        window=given.window(asked.now),
        limit=given.limit,
    )
    reading = await asked.reading(given)
    found = await ask_history(reading, question, now=asked.now)
    versions = [one async for page in found.pages(reading) for one in page]
    return HistoryDocument(
        object=given.object,
        versions=[VersionDocument.of(one) for one in versions[-given.limit :]],
        more=found.more,
        coverage=CoverageDocument.of(found.coverage),
    )


async def who(asked: Asked, given: OfWho) -> WhoDocument:
    """Ask who changed each field of an object last."""
    question = WhoQuestion(
        object=Reference.parse(given.object, None),
        at=given.moment(asked.now),
    )
    reading = await asked.reading(given)
    return WhoDocument.of(await ask_who(reading, question, now=asked.now))


async def gaps(asked: Asked, given: Windowed) -> GapsDocument:
    """Ask what may be missing of a window."""
    span = given.window(asked.now)
    reading = await asked.reading(given)
    return GapsDocument.of(await ask_gaps(reading, span, now=asked.now))


async def entries(asked: Asked, given: OfEntries) -> EntriesDocument:
    """Ask for entries."""
    entry = None if given.entry is None else entry_name(given.entry)
    question = EntryQuestion(
        window=given.window(asked.now),
        entry=entry,
        node=given.node and node_name(given.node),
        object=named_object(given.object, None),
        source=given.source,
        reason=given.reason,
        actor=given.actor,
        code=given.code,
        limit=given.limit,
        documents=given.documents,
        words=True,
    )
    if entry is None:
        reading = await asked.reading(given)
    else:
        reading = await asked.logs.read(entry.log)
    found = await ask_entries(reading, question, now=asked.now)
    lines = [
        line
        async for page in found.pages(reading)
        for line in page
        if isinstance(line, Line)
    ][-given.limit :]
    return EntriesDocument(
        entries=[
            SaidDocument.of(line, with_document=given.documents)
            for line in lines
        ],
        more=found.more,
        notes=found.notes,
        coverage=CoverageDocument.of(found.coverage),
    )
