"""The database and the log in it, for `recorder doctor`."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.embedded.server import EmbeddedServer, ServerOptions
from recorder.errors import RecorderError
from recorder.report.checks import Check, untried
from recorder.report.checks.clocks import judge_clock
from recorder.report.checks.cluster import judge_event_ttl
from recorder.report.checks.database import (
    ServerFacts,
    judge_durability,
    judge_encoding,
    judge_guards,
    judge_lease,
    judge_partitions,
    judge_role,
    judge_schema,
    judge_table_rights,
    judge_unavailable,
    judge_version,
    judge_writable,
)
from recorder.report.checks.facts import judge_facts
from recorder.settings import Settings
from recorder.store.engine import make_engine
from recorder.store.read_checks import (
    read_event_lives,
    read_facts_ends,
    read_guards,
    read_leases,
    read_partitions,
    read_redaction_keys,
    read_schema,
    read_server,
)
from recorder.wiring.bounded import within
from recorder.wiring.database import roles_sql
from recorder.wiring.reading import is_used

__all__ = ["DatabaseFindings", "look_at_database"]

DATABASE, ROLE, SCHEMA = "database", "database rights", "schema"
TABLES, GUARDS = "table rights", "log guards"
PARTITIONS, LEASE, EVENT_TTL = "partitions", "lease", "event ttl"
FACTS = "facts"
SERVER = (
    "database version",
    "database encoding",
    "database writable",
    "database durability",
    "database clock",
)

START = timedelta(seconds=60)
"""An embedded server recovers 6 GB in 10 s; it goes on when we give up."""

ASK = timedelta(seconds=15)

Found = TypeVar("Found")


@dataclass(slots=True, kw_only=True)
class DatabaseFindings:
    """What was found."""

    checks: list[Check] = field(default_factory=list)
    keys: frozenset[str] | None = None
    """Ids of the keys that the log was redacted with, if it could tell."""


async def look_at_database(
    settings: Settings,
    cluster: str | None,
    *,
    because: str | None,
    on_wait: Callable[[str], None] | None,
) -> DatabaseFindings:
    """Look at the database that the settings mean.

    Args:
        settings: which database.
        cluster: UID of the cluster whose log matters; None for every log.
        because: what failed that leaves no database to look at.
        on_wait: gets a line when there is something to wait for.
    """
    findings = DatabaseFindings()
    if because is not None:
        findings.checks.append(untried(DATABASE, because))
        _give_up(findings, *SERVER, ROLE, SCHEMA)
        return findings
    if not is_used(settings):
        says = f'none yet in "{settings.data_dir}"; `recorder up` makes it'
        findings.checks.append(Check(name=DATABASE, ok=True, says=says))
        findings.keys = frozenset()
        return findings
    embedded = settings.database_url is None
    try:
        async with _engine(settings, on_wait) as engine:
            server = await _look_at_server(engine, findings)
            look = _Look(settings, engine, findings, cluster)
            await look.at_schema(server)
    except RecorderError as exc:
        failed = judge_unavailable(
            DATABASE, exc.code, str(exc), embedded=embedded
        )
        findings.checks.append(failed)
        _give_up(findings, *SERVER, ROLE, SCHEMA)
    return findings


def _give_up(findings: DatabaseFindings, *names: str) -> None:
    """Say of everything from here on that it cannot be tried."""
    because = next(c.name for c in reversed(findings.checks) if not c.ok)
    left = [*names, TABLES, GUARDS, PARTITIONS, LEASE, EVENT_TTL, FACTS]
    findings.checks.extend(untried(name, because) for name in left)


@asynccontextmanager
async def _engine(
    settings: Settings, on_wait: Callable[[str], None] | None
) -> AsyncIterator[AsyncEngine]:
    """Connect without asking for a schema, nor bringing it about."""
    if settings.database_url is not None:
        engine = make_engine(settings.database_url, statement_timeout=ASK)
        try:
            yield engine
        finally:
            await engine.dispose()
        return
    options = ServerOptions(start_seconds=START.total_seconds())
    async with EmbeddedServer.open(
        settings.data_dir,
        roles_sql=roles_sql(),
        options=options,
        on_wait=on_wait,
    ) as server:
        engine = make_engine(server.dsn("writer"), statement_timeout=ASK)
        try:
            yield engine
        finally:
            await engine.dispose()


async def _look_at_server(
    engine: AsyncEngine, findings: DatabaseFindings
) -> ServerFacts:
    facts, clock = await within(ASK, "reach the database", read_server(engine))
    version, encoding, writable, durability, clocks = SERVER
    findings.checks += [
        Check(name=DATABASE, ok=True, says=f'answers role "{facts.role}"'),
        judge_version(version, facts),
        judge_encoding(encoding, facts),
        judge_writable(writable, facts),
        judge_durability(durability, facts),
        judge_clock(clocks, "PostgreSQL's", clock),
        judge_role(ROLE, facts),
    ]
    return facts


@dataclass(frozen=True, slots=True)
class _Look:
    """Looks at what is in the database."""

    settings: Settings
    engine: AsyncEngine
    findings: DatabaseFindings
    cluster: str | None

    async def at_schema(self, server: ServerFacts) -> None:
        """Look at the schema; at the log if it is this release's."""
        schema = await self._ask(SCHEMA, read_schema(self.engine))
        if schema is None:
            return _give_up(self.findings)
        check = judge_schema(
            SCHEMA,
            schema.found,
            schema.wanted,
            schema.known,
            embedded=self.settings.database_url is None,
        )
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
            self._add(untried(TABLES, ROLE), untried(GUARDS, ROLE))
            return
        guards = await self._ask(TABLES, read_guards(self.engine))
        if guards is None:
            self._add(untried(GUARDS, TABLES))
            return
        if server.writes:
            self._add(judge_table_rights(TABLES, guards, server.role))
        else:
            self._add(untried(TABLES, ROLE))
        self._add(judge_guards(GUARDS, guards))

    async def _at_log(self, server: ServerFacts) -> None:
        if not (server.writes or server.reads or server.owns):
            self._add(
                *(
                    untried(n, ROLE)
                    for n in (PARTITIONS, LEASE, EVENT_TTL, FACTS)
                )
            )
            return
        partitions = await self._ask(PARTITIONS, read_partitions(self.engine))
        if partitions is not None:
            self._add(judge_partitions(PARTITIONS, partitions))
        leases = await self._ask(LEASE, read_leases(self.engine, self.cluster))
        if leases is not None:
            self._add(*judge_lease(LEASE, leases))
        lives = await self._ask(
            EVENT_TTL, read_event_lives(self.engine, self.cluster)
        )
        if lives is not None:
            ttl = self.settings.event_ttl
            self._add(judge_event_ttl(EVENT_TTL, ttl, lives))
        ends = await self._ask(
            FACTS, read_facts_ends(self.engine, self.cluster)
        )
        if ends is not None:
            self._add(judge_facts(FACTS, ends))
        self.findings.keys = await self._ask(
            "redaction key of the log",
            read_redaction_keys(self.engine, self.cluster),
        )

    def _add(self, *checks: Check) -> None:
        self.findings.checks.extend(checks)

    async def _ask(self, name: str, look: Awaitable[Found]) -> Found | None:
        """Ask one thing; a failure is a failed check of that name."""
        try:
            return await within(ASK, f'look at "{name}"', look)
        except RecorderError as exc:
            embedded = self.settings.database_url is None
            self._add(
                judge_unavailable(name, exc.code, str(exc), embedded=embedded)
            )
            return None
