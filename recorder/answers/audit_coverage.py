"""Answers of `recorder audit coverage`: which versions have an author.

If a version has no audit record, the audit policy leaves it out or records
were lost. If a record made a version that is no entry, the recorder does not
record the resource, or counted the version as a heartbeat.
"""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recorder.answers.joining import Request, read_requests
from recorder.answers.nouns import Part, Selection, is_about_events
from recorder.answers.ports import Reading
from recorder.answers.queries import EntryQuery
from recorder.answers.text.lines import Columns
from recorder.answers.text.shown import Text
from recorder.facts.coverage.coverage import Coverage, covered
from recorder.model.document import Document
from recorder.model.entry import Entry, Operation
from recorder.model.moment import written
from recorder.model.observation import AUDIT, WATCH
from recorder.model.window import Window

SINGLE_WRITES = (Operation.ADDED, Operation.MODIFIED, Operation.DELETED)
"""Operations delivered by a watch: each entry is one write."""

UNANSWERED = ("create/eviction", "create/binding", "delete")
"""Requests whose response does not have the version that they made."""

EVICTION_WRITES = 2
"""An eviction writes twice: it marks the Pod, then deletes it."""

DIGITS = 4
"""Of a share."""

Name = tuple[str, str, str]
"""API group, namespace and name."""


class AuditedResource(Document, frozen=True, kw_only=True):
    """How many versions of one resource have an author."""

    resource: str
    versions: int
    """Versions that a watch delivered one by one."""

    authored: int
    """Those with an audit record of the request that made them."""

    share: float | None


class AuditCoverage(Document, frozen=True, kw_only=True):
    """How many of the recorded changes have an audit record."""

    audited: bool
    """Whether audit records are in the log at all."""

    resources: Sequence[AuditedResource]
    records: int
    unmatched: int
    """Records that made a version that is no entry, such as heartbeats."""

    coverage: Coverage


async def ask_audit_coverage(
    reading: Reading, window: Window, *, now: datetime
) -> AuditCoverage:
    """Count the versions in a window that have an audit record."""
    await reading.reach(window.since, window.until)
    asked = _Counting()
    async for line in _lines(reading, window, AUDIT):
        asked.record(line)
    for verb in UNANSWERED:
        requests = Selection(
            source=AUDIT, reason=verb, since=window.since, until=window.until
        )
        async for page in reading.pages(
            EntryQuery(requests, Part.OPENED), after=0
        ):
            for request in read_requests(page):
                asked.request(request)
    async for line in _lines(reading, window, WATCH):
        asked.version(line)

    def reads(source: str, resource: str) -> bool:
        del resource
        return source == WATCH

    return AuditCoverage(
        audited=any(stream.source == AUDIT for stream in reading.streams),
        resources=[
            AuditedResource(
                resource=resource,
                versions=count,
                authored=asked.authored[resource],
                share=round(asked.authored[resource] / count, DIGITS),
            )
            for resource, count in sorted(asked.versions.items())
        ],
        records=asked.records,
        unmatched=len(asked.made),
        coverage=await covered(reading, window, now=now, reads=reads),
    )


async def _lines(
    reading: Reading, window: Window, source: str
) -> AsyncIterator[Entry]:
    selection = Selection(
        source=source, since=window.since, until=window.until
    )
    async for page in reading.pages(EntryQuery(selection), after=0):
        for line in page:
            yield line


@dataclass(slots=True)
class _Counting:
    """Versions that requests made, removed as their entries are read."""

    records: int = 0
    made: set[tuple[Name, str]] = field(default_factory=set)
    removed: set[Name] = field(default_factory=set)
    writes: Counter[Name] = field(default_factory=Counter)
    versions: Counter[str] = field(default_factory=Counter)
    authored: Counter[str] = field(default_factory=Counter)

    def record(self, line: Entry) -> None:
        self.records += 1
        name, version = _name(line), line.resource_version
        if name is not None and version is not None:
            self.made.add((name, version))

    def request(self, request: Request) -> None:
        name = _name(request.line)
        if name is None:
            return
        if request.removes:
            self.removed.add(name)
        if request.binds or request.record.verb == "delete":
            # Deleting a terminating Pod shortens its grace period first;
            # the response has the version before that.
            self.writes[name] += 1
        elif request.about.subresource == "eviction":
            self.writes[name] += EVICTION_WRITES

    def version(self, line: Entry) -> None:
        name, resource = _name(line), line.resource
        if (
            name is None
            or resource is None
            or line.operation not in SINGLE_WRITES
            or is_about_events(resource)
        ):
            return
        self.versions[resource] += 1
        self.authored[resource] += self._is_authored(line, name)

    def _is_authored(self, line: Entry, name: Name) -> bool:
        if line.operation is Operation.DELETED:
            return name in self.removed
        key = (name, line.resource_version or "")
        if key in self.made:
            self.made.discard(key)
            return True
        if self.writes[name]:
            self.writes[name] -= 1
            return True
        return False


def _name(line: Entry) -> Name | None:
    thing = line.identity
    return thing and (thing.group, thing.namespace, thing.name)


COLUMNS = ("RESOURCE", "VERSIONS", "WITH RECORD", "SHARE")


def audit_coverage_lines(found: AuditCoverage) -> list[str]:
    """Return a table: how many versions of each resource have a record."""
    columns = Columns(COLUMNS)
    rows = [_row(one) for one in found.resources]
    return [columns.header(rows), *columns.lines(rows)]


def _row(one: AuditedResource) -> list[str]:
    share = f"{one.authored / one.versions:.1%}"
    return [one.resource, f"{one.versions}", f"{one.authored}", share]


def audit_coverage_notes(found: AuditCoverage) -> Sequence[str]:
    """Return notes on the other records, and on versions without one."""
    if not found.audited:
        return ["no audit records in this log: see the setting audit_logs"]
    said = f"{found.records} audit records"
    if not found.records:
        said = "no audit records in this window"
    last = found.coverage.recorded_until
    if last and not (found.records or found.resources):
        said += f", and no versions; the last entry is of {written(last)}"
    if found.unmatched:
        said += (
            f"; {found.unmatched} made versions that are no entries:"
            " heartbeats, which are counted, and resources that are not"
            " recorded"
        )
    lacking = sum(one.versions - one.authored for one in found.resources)
    if not lacking:
        return [said]
    guessed = (
        f"{lacking} versions have no record: of these, history and who name"
        " the program that managedFields name, never a person"
    )
    return [said, guessed]


def shown(answer: AuditCoverage, question: Window, *, verbose: bool) -> Text:
    """Return an answer as `recorder audit coverage` prints it."""
    del question, verbose
    return Text(
        document=answer,
        lines=audit_coverage_lines(answer),
        notes=audit_coverage_notes(answer),
    )
