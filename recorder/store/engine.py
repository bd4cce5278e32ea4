"""Connections of the read side.

asyncpg reads the URL itself, so that readers and the writer understand one
address in the same way, unix sockets and TLS options included. Every
statement ends after a bounded time; the session's zone is UTC. Plans are made
for the values asked for where the right partitions depend on them.

Statements of questions are text, and are given to the driver as they are: it
prepares each once for a connection, and to put one together and to read its
rows in SQLAlchemy takes longer than PostgreSQL takes to answer it. What
PostgreSQL refuses of a question gets a remedy where there is one.
"""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
)
from datetime import timedelta
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

import asyncpg
import orjson
from sqlalchemy import PoolProxiedConnection, TextClause, text
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import (
    AsyncConnection,
    AsyncEngine,
    create_async_engine,
)

from recorder.errors import ConfigError, LogError, LogUnavailableError
from recorder.store.statement import Statement
from recorder.store.translate import REFUSALS, translate_errors

__all__ = [
    "AddressError",
    "Elsewhere",
    "Engine",
    "QuestionTooLargeError",
    "Record",
    "asking",
    "connect",
    "fetch",
    "fetch_planned",
    "fetch_within",
    "make_engine",
    "reading",
]

STATEMENT_TIMEOUT = timedelta(seconds=30)
"""Nobody waits longer for one page; a question that needs more is asked in
parts."""

CONNECT_SECONDS = 10.0
POOL_MAX = 4
"""Connections of one process that asks; the server has about a hundred."""

PLANNED = "set local plan_cache_mode = force_custom_plan"
CUSTOM_PLANS = text(PLANNED)
BEGIN_PLANNED = f"begin read only; {PLANNED}"
"""Both at once: each would take as long as a statement that finds little."""

ENDED = (
    asyncpg.AdminShutdownError,
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.InternalClientError,  # it has read why, and not yet the end
    ConnectionError,
)
"""How the driver says that the server has ended the connection, whichever
of its last words it has read by the time it is given a statement."""


class AddressError(ConfigError):
    """The address of the database cannot be read."""

    code = "config.database_url"


def check_address(url: str) -> None:
    """Check that a URL has the form of a PostgreSQL address.

    Raises:
        AddressError: it has another.
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
                # What is asked for lies together and mostly in memory; at
                # the default a page is joined by reading whole tables.
                "random_page_cost": "1.1",
                # To start workers takes longer than what they would save.
                "max_parallel_workers_per_gather": "0",
                "timezone": "UTC",
                # Whatever the role was given: names mean what PostgreSQL
                # means by them, and a policy that would hide rows of what is
                # asked for is an error.
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
    """Make an engine; nothing is connected yet.

    Raises:
        AddressError: the URL is none of PostgreSQL's.
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


class Elsewhere(Protocol):
    """What answers the statements of questions in PostgreSQL's place."""

    async def fetch(
        self, action: str, statement: Statement, given: Sequence[object]
    ) -> Sequence["Record"]:
        """Ask one statement."""

    def opened(
        self, action: str
    ) -> AbstractAsyncContextManager[AsyncConnection]:
        """Return what runs statements of SQLAlchemy."""


Engine: TypeAlias = AsyncEngine | Elsewhere


def reading(
    engine: Engine, action: str
) -> AbstractAsyncContextManager[AsyncConnection]:
    """Return a connection that sees one state of the log for all it asks.

    Raises:
        QuestionTooLargeError: a statement took longer than it may.
        LogUnavailableError: PostgreSQL is away, or all connections are in
            use.
        LogError: PostgreSQL refused.
    """
    if not isinstance(engine, AsyncEngine):
        return engine.opened(action)
    return _opened(
        engine,
        action,
        {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
        CUSTOM_PLANS,
    )


def asking(
    engine: Engine, action: str
) -> AbstractAsyncContextManager[AsyncConnection]:
    """Return a connection for statements that need no common state.

    Each goes to the server alone, without a transaction around it: what
    a log holds up to a size does not change between two of them. A plan
    serves again: to plan over the partitions of weeks takes longer than to
    find a few facts. It raises what `reading` does.
    """
    if not isinstance(engine, AsyncEngine):
        return engine.opened(action)
    return _opened(engine, action, {"isolation_level": "AUTOCOMMIT"})


class Record(asyncpg.Record):  # type: ignore[misc]
    """A row, of which the columns are attributes too."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


Ask: TypeAlias = Callable[
    [PoolProxiedConnection, Statement, Sequence[object]],
    Awaitable[Sequence[Record]],
]


async def fetch(
    engine: Engine, action: str, statement: Statement, **values: object
) -> Sequence[Record]:
    """Ask one statement, which goes to the server alone as with `asking`.

    It raises what `reading` does.
    """
    return await _alone(engine, action, statement, values, _fetched)


async def fetch_planned(
    engine: Engine, action: str, statement: Statement, **values: object
) -> Sequence[Record]:
    """Ask one statement as `fetch` does, planned for its values."""
    return await _alone(engine, action, statement, values, _fetched_planned)


async def fetch_within(
    engine: Engine,
    connection: AsyncConnection,
    statement: Statement,
    **values: object,
) -> Sequence[Record]:
    """Ask one statement over a connection of `reading` or `asking`."""
    given = statement.values(values)
    if not isinstance(engine, AsyncEngine):
        return await engine.fetch("read", statement, given)
    held = await connection.get_raw_connection()
    return await _fetched(held, statement, given)


async def _alone(
    engine: Engine,
    action: str,
    statement: Statement,
    values: Mapping[str, object],
    ask: Ask,
) -> Sequence[Record]:
    given = statement.values(values)
    if not isinstance(engine, AsyncEngine):
        return await engine.fetch(action, statement, given)
    with translate_refusals(action):
        try:
            return await _held(engine, statement, given, ask)
        except ENDED:
            # The server ended a connection that lay idle, and had not told
            # us when we took it. A read may be asked twice, and the pool's
            # other connections are by now known to be open or not.
            return await _held(engine, statement, given, ask)


async def _held(
    engine: AsyncEngine,
    statement: Statement,
    given: Sequence[object],
    ask: Ask,
) -> Sequence[Record]:
    held = await engine.raw_connection()
    try:
        while _driver(held).is_closed():
            held.invalidate()
            held.close()
            held = await engine.raw_connection()
        return await ask(held, statement, given)
    except ENDED:
        held.invalidate()
        raise
    finally:
        held.close()


async def _fetched(
    held: PoolProxiedConnection, statement: Statement, given: Sequence[object]
) -> Sequence[Record]:
    found: Sequence[Record] = await _driver(held).fetch(
        statement.text, *given, record_class=Record
    )
    return found


async def _fetched_planned(
    held: PoolProxiedConnection, statement: Statement, given: Sequence[object]
) -> Sequence[Record]:
    driver = _driver(held)
    try:
        await driver.execute(BEGIN_PLANNED)
        found = await _fetched(held, statement, given)
        await driver.execute("commit")
    except BaseException:
        # The pool does not know of the transaction, and would not end it.
        held.invalidate()
        raise
    return found


def _driver(held: PoolProxiedConnection) -> asyncpg.Connection:
    return held.driver_connection


@asynccontextmanager
async def _opened(
    engine: AsyncEngine,
    action: str,
    options: Mapping[str, object],
    first: TextClause | None = None,
) -> AsyncIterator[AsyncConnection]:
    with translate_refusals(action):
        async with engine.connect() as connection:
            opened = await connection.execution_options(**options)
            if first is not None:
                await opened.execute(first)
            yield opened


CANCELED = "57014"
"""SQLSTATE of a statement that ran into its timeout."""

NO_CHARACTER = "22021"
"""SQLSTATE of a text with a NUL."""


class TextError(ConfigError):
    """The query holds characters that no name in a log can have."""

    code = "question.text"


class QuestionTooLargeError(LogError):
    """A question took longer than a statement may."""

    code = "log.question_too_large"


@contextmanager
def translate_refusals(action: str) -> Iterator[None]:
    """Translate a database error into ours, with a remedy."""
    with translate_errors(action):
        try:
            yield
        except PoolTimeoutError as exc:
            msg = f"cannot {action}: all connections are busy; try again"
            raise LogUnavailableError(msg) from exc
        except REFUSALS as exc:
            error = getattr(exc, "orig", None) or exc
            state = getattr(error, "sqlstate", None)
            if state == NO_CHARACTER or _is_unwritable(exc):
                msg = (
                    "the query contains a NUL or an unpaired surrogate, which"
                    " no text in a log contains"
                )
                raise TextError(msg) from exc
            if state != CANCELED:
                raise
            msg = (
                f"cannot {action}: the statement took too long; ask for"
                " a shorter time, or for one node or object"
            )
            raise QuestionTooLargeError(msg) from exc


def _is_unwritable(error: BaseException | None) -> bool:
    """Return whether a text cannot be sent, as of half a character."""
    while error is not None and not isinstance(error, UnicodeEncodeError):
        error = error.__cause__
    return error is not None
