"""Connections of the read side.

asyncpg parses the URL, so that readers and the writer treat an address alike,
including unix sockets and TLS options. Each statement has a timeout, and the
time zone of the session is UTC. Plans are made for the values of a statement
if they decide which partitions are read.

The pool is SQLAlchemy's. A `Statement` goes to the connection of the driver,
which prepares each text once: executing a text by SQLAlchemy takes longer than
PostgreSQL needs for most of them (ADR 27). Errors name a remedy if there is
one.
"""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import timedelta
from types import TracebackType
from typing import Protocol, Self, TypeAlias
from urllib.parse import urlsplit

import asyncpg
import orjson
from sqlalchemy import PoolProxiedConnection
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from recorder.model.errors import ConfigError, LogError, LogUnavailableError
from recorder.store.statement import Record, Statement
from recorder.store.translate import REFUSALS, translated

STATEMENT_TIMEOUT = timedelta(seconds=30)
"""A statement is bounded to this; larger queries are split into several."""

CONNECT_SECONDS = 10.0
POOL_MAX = 4
"""Connections of a reading process; the server has about a hundred."""

PLANNED = "set local plan_cache_mode = force_custom_plan"
BEGIN_PLANNED = f"begin read only; {PLANNED}"
"""In one command: each would take as long as a short statement."""

BEGIN_READING = f"begin isolation level repeatable read read only; {PLANNED}"

ENDED = (
    asyncpg.AdminShutdownError,
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.InternalClientError,  # the reason was read, the end was not
    ConnectionError,
)
"""Errors of the driver if the server closed the connection: they depend on
how much it had read when the statement was sent."""


class AddressError(ConfigError):
    """The address of the database cannot be read."""

    code = "config.database_url"


def check_address(url: str) -> None:
    """Check that a URL has the form of a PostgreSQL address.

    Raises:
        AddressError: it does not.
    """
    if urlsplit(url).scheme not in {"postgresql", "postgres"}:
        msg = (
            "cannot use the database URL: it must begin with postgresql://,"
            " as in postgresql://user@host/database or"
            " postgresql:///database?host=/run/postgresql"
        )
        raise AddressError(msg)


async def connect(
    url: str,
    *,
    statement_timeout: timedelta = STATEMENT_TIMEOUT,
    plans: str = "force_custom_plan",
) -> asyncpg.Connection:
    """Open a connection of the driver; its errors pass through."""
    check_address(url)
    seconds = statement_timeout.total_seconds()
    try:
        return await asyncpg.connect(
            url,
            timeout=CONNECT_SECONDS,
            server_settings={
                "application_name": "recorder reader",
                "statement_timeout": f"{seconds * 1000:.0f}",
                "lock_timeout": "5s",
                "idle_in_transaction_session_timeout": "60s",
                "plan_cache_mode": plans,
                # Rows of one page are close together and mostly in memory;
                # with the default, joins read whole tables.
                "random_page_cost": "1.1",
                # Starting workers takes longer than they save.
                "max_parallel_workers_per_gather": "0",
                "timezone": "UTC",
                # Override settings of the role: names refer to the objects
                # of PostgreSQL, and a policy that hides rows is an error.
                "search_path": "pg_catalog",
                "row_security": "off",
            },
        )
    except (ValueError, asyncpg.ClientConfigurationError) as exc:
        msg = f"cannot use the database URL: {exc}"
        raise AddressError(msg) from exc


def make_engine(
    url: str,
    *,
    statement_timeout: timedelta = STATEMENT_TIMEOUT,
    connections: int = POOL_MAX,
) -> AsyncEngine:
    """Create an engine, without connecting.

    Raises:
        AddressError: the URL is not one of PostgreSQL.
    """
    check_address(url)

    async def creator() -> asyncpg.Connection:
        return await connect(
            url,
            statement_timeout=statement_timeout,
            plans="force_generic_plan",
        )

    return create_async_engine(
        "postgresql+asyncpg://",
        async_creator=creator,
        json_deserializer=orjson.loads,
        pool_size=connections,
        max_overflow=0,
        pool_use_lifo=True,
        pool_timeout=CONNECT_SECONDS,
    )


class Connection(Protocol):
    """Executes statements, one after another."""

    async def fetch(
        self, statement: Statement, **values: object
    ) -> Sequence[Record]:
        """Return the rows of one statement."""


Engine: TypeAlias = AsyncEngine | Connection
"""The pool of a database, or a replacement such as the archive."""


async def fetch(
    engine: Engine, action: str, statement: Statement, **values: object
) -> Sequence[Record]:
    """Return the rows of one statement, without a transaction.

    A log up to a size does not change between two statements. The plan is
    reused: planning for the partitions of weeks takes longer than finding a
    few facts. It raises the errors of `reading`.
    """
    if not isinstance(engine, AsyncEngine):
        return await engine.fetch(statement, **values)
    async with Pooled(engine, action) as connection:
        return await connection.fetch(statement, **values)


async def fetch_planned(
    engine: Engine, action: str, statement: Statement, **values: object
) -> Sequence[Record]:
    """Return the rows of one statement, planned for its values."""
    async with _opened(engine, action, BEGIN_PLANNED) as connection:
        return await connection.fetch(statement, **values)


def asking(
    engine: Engine, action: str
) -> AbstractAsyncContextManager[Connection]:
    """Return a connection for statements without a common transaction."""
    return _opened(engine, action, None)


def reading(
    engine: Engine, action: str
) -> AbstractAsyncContextManager[Connection]:
    """Return a connection on which all statements see one state of the log.

    Raises:
        QuestionTooLargeError: a statement took too long.
        LogUnavailableError: PostgreSQL is away, or all connections are in
            use.
        LogError: PostgreSQL refused a statement.
    """
    return _opened(engine, action, BEGIN_READING)


class Pooled:
    """A connection of the pool, for one task, as a context.

    ``begin`` is executed before the first statement, and with it again if the
    server has closed the connection. Errors of the driver within the context
    leave it as ours, with the action.
    """

    def __init__(
        self, engine: AsyncEngine, action: str, begin: str | None = None
    ) -> None:
        self._engine = engine
        self._action = action
        self._begin = begin
        self._held: PoolProxiedConnection | None = None
        self._driver: asyncpg.Connection | None = None
        self._is_unused = True

    async def __aenter__(self) -> Self:
        try:
            await self.driver()
        except BaseException as exc:
            self._fail(exc)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._fail(error)
            return
        try:
            if self._begin is not None and not self._is_unused:
                await (await self.driver()).execute("commit")
        except BaseException as exc:
            self._fail(exc)
            raise
        self._release(invalid=False)

    async def fetch(
        self, statement: Statement, **values: object
    ) -> Sequence[Record]:
        """Return the rows of one statement.

        The server may have closed the connection while it was idle, which
        the first statement shows. That one is repeated on a new connection.
        """
        given = statement.values(values)
        if not self._is_unused:
            return await self._fetch(statement, given)
        self._is_unused = False
        try:
            return await self._fetch_first(statement, given)
        except ENDED:
            self._release(invalid=True)
            return await self._fetch_first(statement, given)

    async def driver(self) -> asyncpg.Connection:
        """Return the connection of the driver."""
        while self._driver is None:
            self._held = held = await self._engine.raw_connection()
            driver: asyncpg.Connection = held.driver_connection
            self._driver = driver
            if driver.is_closed():
                self._release(invalid=True)
        return self._driver

    async def _fetch_first(
        self, statement: Statement, given: Sequence[object]
    ) -> Sequence[Record]:
        if self._begin is not None:
            await (await self.driver()).execute(self._begin)
        return await self._fetch(statement, given)

    async def _fetch(
        self, statement: Statement, given: Sequence[object]
    ) -> Sequence[Record]:
        driver = self._driver or await self.driver()
        rows: Sequence[Record] = await driver.fetch(
            statement.text, *given, record_class=Record
        )
        return rows

    def _fail(self, error: BaseException) -> None:
        """Release the connection after an error, and raise it as ours.

        The pool does not know about a transaction, and would not end it.
        """
        is_open = self._begin is not None or isinstance(error, ENDED)
        self._release(invalid=is_open)
        refusal = _refusal(self._action, error)
        if refusal is not None:
            raise refusal from error

    def _release(self, *, invalid: bool) -> None:
        """Return the connection to the pool; an invalid one is closed."""
        held, self._held, self._driver = self._held, None, None
        if held is not None:
            if invalid:
                held.invalidate()
            held.close()


def _opened(
    engine: Engine, action: str, begin: str | None
) -> AbstractAsyncContextManager[Connection]:
    if isinstance(engine, AsyncEngine):
        return Pooled(engine, action, begin)
    return nullcontext(engine)


CANCELED = "57014"
"""SQLSTATE of a statement that ran into its timeout."""

NO_CHARACTER = "22021"
"""SQLSTATE of a text with a NUL."""


class QuestionTooLargeError(LogError):
    """A query needs a statement that takes too long."""

    code = "log.question_too_large"


def _refusal(
    action: str, error: BaseException
) -> LogError | ConfigError | None:
    """Return our error for one of the driver, with a remedy; else None."""
    if isinstance(error, PoolTimeoutError):
        return LogUnavailableError(
            f"cannot {action}: all connections are busy; try again"
        )
    if isinstance(error, REFUSALS):
        refused = getattr(error, "orig", None) or error
        state = getattr(refused, "sqlstate", None)
        if state == NO_CHARACTER or _is_unwritable(error):
            return ConfigError(
                "the query contains a NUL or an unpaired surrogate, which"
                " no text in a log contains",
                code="question.text",
            )
        if state == CANCELED:
            return QuestionTooLargeError(
                f"cannot {action}: the statement took too long; ask for"
                " a shorter time, or for one node or object"
            )
    return translated(action, error)


def _is_unwritable(error: BaseException | None) -> bool:
    """Return whether a text cannot be encoded, such as half a character."""
    while error is not None and not isinstance(error, UnicodeEncodeError):
        error = error.__cause__
    return error is not None
