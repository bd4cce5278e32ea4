"""The database and the log in it, checked one thing after the other.

Checks that depend on one that failed are reported as skipped.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol, TypeVar

from recorder.doctor.check import Check, untried, within
from recorder.doctor.clock import ClockReading
from recorder.doctor.log import (
    ARCHIVE,
    AUDIT_LOG,
    CLAIM_TYPES,
    EVENT_TTL,
    FACTS,
    LEASE,
    PARTITIONS,
    ArchiveFacts,
    EventLives,
    LeaseFacts,
    PartitionFacts,
    judge_archive,
    judge_audit,
    judge_claim_types,
    judge_event_ttl,
    judge_facts,
    judge_lease,
    judge_partitions,
)
from recorder.doctor.schema import (
    CATALOG,
    GUARDS,
    SCHEMA,
    TABLES,
    GuardFacts,
    SchemaFacts,
    judge_catalog,
    judge_guards,
    judge_schema,
    judge_table_rights,
)
from recorder.doctor.server import (
    ROLE,
    SERVER,
    ServerFacts,
    judge_server,
    judge_unavailable,
)
from recorder.explain.knowledge import KnowledgeError, load
from recorder.facts.coverage.audit_state import AuditReading
from recorder.facts.coverage.ports import FactsEnd
from recorder.model.errors import RecorderError
from recorder.model.settings import Settings

DATABASE = "database"
ASK = timedelta(seconds=15)

RIGHTS = (TABLES, GUARDS, CATALOG)

Found = TypeVar("Found")


class DatabaseProbe(Protocol):
    """A database, with the queries that are judged here, one at a time.

    Queries about a cluster read its log, or every log if the cluster is None.
    """

    async def server(self) -> tuple[ServerFacts, ClockReading]:
        """Return the facts of the server and of our role, and its time."""

    async def schema(self) -> SchemaFacts:
        """Return the revision of the schema."""

    async def guards(self) -> GuardFacts:
        """Return this role's privileges, and how the tables are guarded."""

    async def partitions(self) -> PartitionFacts:
        """Return how far ahead partitions are made."""

    async def leases(self, cluster: str | None) -> Sequence[LeaseFacts]:
        """Return the writers."""

    async def event_lives(self, cluster: str | None) -> EventLives:
        """Return how long Events live."""

    async def claim_types(self, cluster: str | None) -> Mapping[str, int]:
        """Return how many of the newest claims are of each type."""

    async def facts_ends(self, cluster: str | None) -> Sequence[FactsEnd]:
        """Return where facts end before their log does."""

    async def audits(self, cluster: str | None) -> Sequence[AuditReading]:
        """Return what arrives of the audit log."""

    async def archive(self) -> ArchiveFacts:
        """Return whether archived days are there."""

    async def redaction_keys(self, cluster: str | None) -> frozenset[str]:
        """Return the ids of the keys that were used."""


@dataclass(slots=True, kw_only=True)
class DatabaseFindings:
    """What was found."""

    checks: list[Check] = field(default_factory=list)
    keys: frozenset[str] | None = None
    """Ids of the keys that the log was redacted with, if known."""


async def look_at_database(
    settings: Settings,
    database: Callable[[], AbstractAsyncContextManager[DatabaseProbe] | None],
    cluster: str | None,
    *,
    because: str | None,
) -> DatabaseFindings:
    """Check the database in the settings.

    Args:
        settings: which database.
        database: opens it; None if there is none yet.
        cluster: UID of the cluster whose log matters; None for every log.
        because: the failed check that leaves no database to check.
    """
    findings = DatabaseFindings()
    if because is not None:
        findings.checks.append(untried(DATABASE, because))
        _give_up(findings, *SERVER, ROLE, SCHEMA)
        return findings
    opened = database()
    if opened is None:
        says = f'none yet in "{settings.data_dir}"; `recorder up` creates it'
        findings.checks.append(Check(name=DATABASE, ok=True, says=says))
        findings.keys = frozenset()
        return findings
    embedded = settings.database_url is None
    try:
        async with opened as probe:
            server, clock = await within(
                ASK, "reach the database", probe.server()
            )
            says = f'responds to role "{server.role}"'
            findings.checks += [
                Check(name=DATABASE, ok=True, says=says),
                *judge_server(server, clock),
            ]
            await _Checkup(settings, probe, findings, cluster).at_schema(
                server
            )
    except RecorderError as exc:
        failed = judge_unavailable(
            DATABASE, exc.code, str(exc), embedded=embedded
        )
        findings.checks.append(failed)
        _give_up(findings, *SERVER, ROLE, SCHEMA)
    return findings


def _give_up(findings: DatabaseFindings, *names: str) -> None:
    """Report all remaining checks as skipped."""
    because = next(c.name for c in reversed(findings.checks) if not c.ok)
    left = [*names, *RIGHTS, PARTITIONS, LEASE, EVENT_TTL, FACTS]
    findings.checks.extend(untried(name, because) for name in left)


@dataclass(frozen=True, slots=True)
class _Checkup:
    """Checks the contents of the database."""

    settings: Settings
    probe: DatabaseProbe
    findings: DatabaseFindings
    cluster: str | None

    async def at_schema(self, server: ServerFacts) -> None:
        """Check the schema, and the log if it is this release's."""
        schema = await self._ask(SCHEMA, self.probe.schema())
        if schema is None:
            return _give_up(self.findings)
        embedded = self.settings.database_url is None
        check = judge_schema(SCHEMA, schema, embedded=embedded)
        self.findings.checks.append(check)
        if check.ok and schema.found != schema.wanted:
            return None
        if not check.ok:
            return _give_up(self.findings)
        await self._at_rights(server)
        await self._at_log(server)
        return None

    async def _at_rights(self, server: ServerFacts) -> None:
        if not (server.writes or server.reads or server.owns):
            self._add(*(untried(name, ROLE) for name in RIGHTS))
            return
        guards = await self._ask(TABLES, self.probe.guards())
        if guards is None:
            self._add(untried(GUARDS, TABLES), untried(CATALOG, TABLES))
            return
        if server.writes:
            self._add(judge_table_rights(TABLES, guards, server.role))
        else:
            self._add(untried(TABLES, ROLE))
        self._add(judge_guards(GUARDS, guards))
        self._add(judge_catalog(CATALOG, guards))

    async def _at_log(self, server: ServerFacts) -> None:
        if not (server.writes or server.reads or server.owns):
            self._add(
                *(
                    untried(n, ROLE)
                    for n in (PARTITIONS, LEASE, EVENT_TTL, FACTS)
                )
            )
            return
        partitions = await self._ask(PARTITIONS, self.probe.partitions())
        if partitions is not None:
            self._add(judge_partitions(PARTITIONS, partitions))
        leases = await self._ask(LEASE, self.probe.leases(self.cluster))
        if leases is not None:
            self._add(*judge_lease(LEASE, leases))
        lives = await self._ask(
            EVENT_TTL, self.probe.event_lives(self.cluster)
        )
        if lives is not None:
            ttl = self.settings.event_ttl
            self._add(judge_event_ttl(EVENT_TTL, ttl, lives))
        ends = await self._ask(FACTS, self.probe.facts_ends(self.cluster))
        if ends is not None:
            self._add(judge_facts(FACTS, ends))
        audits = await self._ask(AUDIT_LOG, self.probe.audits(self.cluster))
        if audits is not None:
            self._add(*judge_audit(AUDIT_LOG, audits))
        await self._at_claims()
        archive = await self._ask(ARCHIVE, self.probe.archive())
        if archive is not None:
            self._add(*judge_archive(ARCHIVE, archive))
        self.findings.keys = await self._ask(
            "redaction key of the log",
            self.probe.redaction_keys(self.cluster),
        )

    async def _at_claims(self) -> None:
        """List the types of claims without rules, unless these are wrong."""
        try:
            known = load(self.settings.knowledge).types
        except KnowledgeError:
            return
        claims = await self._ask(
            CLAIM_TYPES, self.probe.claim_types(self.cluster)
        )
        if claims is not None:
            self._add(*judge_claim_types(CLAIM_TYPES, claims, known))

    def _add(self, *checks: Check) -> None:
        self.findings.checks.extend(checks)

    async def _ask(self, name: str, look: Awaitable[Found]) -> Found | None:
        """Query one thing; a failure is a failed check of that name."""
        try:
            return await within(ASK, f'check "{name}"', look)
        except RecorderError as exc:
            embedded = self.settings.database_url is None
            self._add(
                judge_unavailable(name, exc.code, str(exc), embedded=embedded)
            )
            return None
