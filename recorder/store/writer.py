"""The writer of one log: it takes the lease, recovers state and appends.

A writer keeps one connection, and opens another when that is lost. The lease
is in PostgreSQL, and only PostgreSQL's clock counts for it.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import asyncpg

from recorder.intake.known_events import KnownEvent
from recorder.intake.state import Batch, Recovered
from recorder.model.errors import (
    ConfigError,
    LogUnavailableError,
)
from recorder.model.reference import Resource
from recorder.store.append import Appender
from recorder.store.derivation import ensure_derivation
from recorder.store.hashing import LogIdentity
from recorder.store.lease import LEASE, session_name, take_lease
from recorder.store.lookback import (
    claims,
    documents,
    lacking,
    live_events,
    owned,
    requests,
)
from recorder.store.recover import recover
from recorder.store.shipped import shipped_dictionaries
from recorder.store.statement import Statement
from recorder.store.timestamps import take_ticks
from recorder.store.translate import LogAccessError, translate_errors

CLOSING = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    # While a connection that the server terminated is being closed.
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
"""Errors that are ignored when a lease is released: it expires then."""

STATEMENT_TIMEOUT = timedelta(seconds=30)

FIND = Statement.of("""
    select log_id, redaction_key_id, uid from recorder.log where log_id = :log
""")
FIND_LIVE = Statement.of("""
    select log_id, redaction_key_id, uid from recorder.log
    where kind = 'live' and cluster_uid = :cluster_uid
""")
FIND_TAPE = Statement.of("""
    select log_id, redaction_key_id, uid from recorder.log
    where kind = 'tape' and tape_uid = :tape_uid
      and cluster_name = :cluster_name
""")
MAKE_LOG = Statement.of("""
    insert into recorder.log (kind, cluster_name, cluster_uid, kubernetes,
      tape_uid, redaction_key_id)
    values (:kind, :cluster_name, :cluster_uid, :kubernetes, :tape_uid,
      :redaction_key_id)
    on conflict do nothing
""")
RELEASE = Statement.of("""
    update recorder.log_head set holder = null, expires_at = '-infinity'
    where log_id = :log and term = :term and holder = :holder
""")
MEASURE = Statement.of("""
    select pg_database_size(current_database()),
      (select max(upper) from recorder.partition where archived_at is not null)
""")


class RedactionKeyError(ConfigError):
    """The log was redacted with another key."""

    code = "redaction.key"
    exit_status = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSpec:
    """Which log to write; it is created if it does not exist."""

    cluster_name: str
    cluster_uid: str
    kubernetes: str
    redaction_key_id: str | None
    tape_uid: str | None = None
    """None for the log of a live cluster."""

    log: int | None = None
    """The number of an existing log, if it is known."""


class Writer:
    """Writes one log, under a lease.

    One task appends; any task may read at any time.
    """

    def __init__(self, dsn: str, spec: LogSpec, *, holder: str) -> None:
        """Take the log, without connecting.

        Args:
            dsn: of a role that is a member of ``recorder_writer``.
            spec: the log.
            holder: names this process in the lease, the same after a
                restart only if the former process surely is dead.
        """
        self._dsn = dsn
        self._spec = spec
        self._holder = holder
        self._connection: asyncpg.Connection | None = None
        self._reader: asyncpg.Connection | None = None
        # Sources and the sequencer read independently, and the driver refuses
        # a second statement while one is running.
        self._asking = asyncio.Lock()
        self._appender: Appender | None = None
        self._log = 0
        self._uid = UUID(int=0)
        self._term = 0

    @property
    def log(self) -> int:
        """The number of the log, after its lease was taken."""
        return self._log

    async def take_lease(self) -> Recovered:
        """Take the lease of the log, and return its state.

        Raises:
            StandingByError: another writer holds the lease.
            RedactionKeyError: the log was redacted with another key.
            LogUnavailableError: PostgreSQL is away.
        """
        connection = await self._connect()
        with translate_errors("take the lease of the log"):
            self._log = await self._find_or_make(connection)
            self._term = await take_lease(connection, self._log, self._holder)
            await ensure_derivation(connection, self._log)
            dictionaries = await shipped_dictionaries(connection)
            self._appender = Appender(
                log=self._log,
                term=self._term,
                holder=self._holder,
                lease=LEASE,
                dictionaries=dictionaries,
                identity=LogIdentity(self._uid, self._spec.cluster_uid),
            )
            return await recover(connection, self._log)

    async def recovered(self) -> Recovered:
        """Return the state of the log, without taking its lease.

        Raises:
            LogUnavailableError: PostgreSQL is away.
        """
        async with self._question("read the log") as connection:
            self._log = await self._find_or_make(connection)
            return await recover(connection, self._log)

    async def append(self, batch: Batch) -> None:
        """Append a batch; see `Appender.append` for guarantees."""
        assert self._appender is not None, "the lease comes first"
        try:
            connection = await self._connect()
            await self._appender.append(connection, batch)
        except LogAccessError as exc:
            # It had access before: a right or a password was changed. The
            # batch is retried until access is restored.
            await self._drop()
            raise LogUnavailableError(str(exc)) from exc
        except BaseException:
            # A connection that failed half way may still execute statements.
            await self._drop()
            raise

    async def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Return the documents of entries by position."""
        async with self._question("read the log") as connection:
            return await documents(connection, self._log, positions)

    async def live_events(
        self, resource: Resource, since: datetime
    ) -> Mapping[str, KnownEvent]:
        """Return the live Events observed since a time, by uid."""
        action = "read the Events of the log"
        async with self._question(action) as connection:
            return await live_events(connection, self._log, resource, since)

    async def lacking(
        self,
        resource: Resource,
        versions: Sequence[int],
        *,
        epoch: int,
        since: datetime,
    ) -> Sequence[int]:
        """Return the versions without an entry, sorted."""
        action = "read the versions of the log"
        async with self._question(action) as connection:
            return await lacking(
                connection,
                self._log,
                resource,
                versions,
                epoch=epoch,
                since=since,
            )

    async def owned(
        self, source: str, *, epoch: int, since: datetime
    ) -> Mapping[str, Sequence[int]]:
        """Return the newest versions of each resource of a source."""
        async with self._question("read the versions of the log") as asked:
            return await owned(
                asked, self._log, source, epoch=epoch, since=since
            )

    async def requests(self, moments: Sequence[datetime]) -> Sequence[bytes]:
        """Return the audit records of requests received at some moments."""
        action = "read the audit records of the log"
        async with self._question(action) as connection:
            return await requests(connection, self._log, moments)

    async def claims(self, keys: Sequence[str]) -> Sequence[str]:
        """Return those keys whose claims are in the log."""
        async with self._question("read the claims of the log") as connection:
            return await claims(connection, self._log, keys)

    async def measured(self) -> tuple[int, datetime | None]:
        """Return the bytes of the database, and the end of archived days.

        The end is None if no day is archived.
        """
        action = "read the size of the database"
        async with self._question(action) as connection:
            size, until = await MEASURE.fetch_row(connection)
            return size, until

    async def close(self) -> None:
        """Release the lease, so that a standby need not wait for it."""
        if self._connection is not None and self._term:
            with suppress(*CLOSING):
                async with asyncio.timeout(2):
                    await RELEASE.execute(
                        self._connection,
                        log=self._log,
                        term=self._term,
                        holder=self._holder,
                    )
        await self._drop()
        if self._reader is not None:
            self._reader.terminate()

    async def _connect(self) -> asyncpg.Connection:
        if self._connection is None or self._connection.is_closed():
            self._connection = await self._open("writer")
        return self._connection

    @asynccontextmanager
    async def _question(
        self, action: str
    ) -> AsyncGenerator[asyncpg.Connection]:
        # A second connection, so that reads and commits do not wait for each
        # other.
        async with self._asking:
            if self._reader is None or self._reader.is_closed():
                self._reader = await self._open("lookback")
            with translate_errors(action):
                yield self._reader

    async def _open(self, purpose: str) -> asyncpg.Connection:
        timeout = STATEMENT_TIMEOUT.total_seconds()
        with translate_errors("connect to PostgreSQL"):
            connection = await asyncpg.connect(
                self._dsn,
                timeout=10,
                command_timeout=timeout + 5,
                server_settings={
                    "application_name": session_name(purpose, self._holder),
                    "statement_timeout": f"{timeout:.0f}s",
                    "lock_timeout": "10s",
                    # A writer that is silent this long has lost the lease.
                    "idle_in_transaction_session_timeout": (
                        f"{LEASE.total_seconds():.0f}s"
                    ),
                    "timezone": "UTC",
                },
            )
            await take_ticks(connection)
        return connection

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()

    async def _find_or_make(self, connection: asyncpg.Connection) -> int:
        spec = self._spec
        found = None
        for _ in range(2):
            if spec.log is not None:
                found = await FIND.fetch_row(connection, log=spec.log)
            elif spec.tape_uid is None:
                found = await FIND_LIVE.fetch_row(
                    connection, cluster_uid=spec.cluster_uid
                )
            else:
                found = await FIND_TAPE.fetch_row(
                    connection,
                    tape_uid=spec.tape_uid,
                    cluster_name=spec.cluster_name,
                )
            if found is not None:
                break
            await MAKE_LOG.execute(
                connection,
                kind="live" if spec.tape_uid is None else "tape",
                cluster_name=spec.cluster_name,
                cluster_uid=spec.cluster_uid,
                kubernetes=spec.kubernetes,
                tape_uid=spec.tape_uid,
                redaction_key_id=spec.redaction_key_id,
            )
        assert found is not None, "made a moment ago"
        log: int = found["log_id"]
        self._uid = found["uid"]
        if found["redaction_key_id"] != spec.redaction_key_id:
            msg = (
                f"cannot write log {log}: it was redacted with key"
                f" {found['redaction_key_id']} and this is key"
                f" {spec.redaction_key_id}; restore the key file, or name it"
                " with RECORDER_REDACTION_KEY_FILE"
            )
            raise RedactionKeyError(msg)
        return log


def holder_name(host: str, process: int) -> str:
    """Return a name for a process that no other or later process has."""
    return f"{host}/{process}/{random.getrandbits(32):08x}"
