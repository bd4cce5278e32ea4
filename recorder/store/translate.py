"""Translates errors of the drivers into ours, with the action."""

from collections.abc import Generator
from contextlib import contextmanager

import asyncpg
from sqlalchemy.dialects.postgresql.asyncpg import AsyncAdapt_asyncpg_dbapi
from sqlalchemy.exc import DBAPIError

from recorder.model.errors import ConfigError, LogError, LogUnavailableError

REFUSALS = (
    DBAPIError,
    AsyncAdapt_asyncpg_dbapi.Error,  # of what opens a connection of the pool
    asyncpg.PostgresError,
)
"""Errors of a statement that PostgreSQL refused, by any driver."""

UNAVAILABLE = (
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # the server died after the handshake
    OSError,
    TimeoutError,
)
"""Errors of a connection that does not exist, or no longer."""

TRANSIENT = (
    "08",  # connection exceptions
    "25006",  # read-only transaction: a standby, or a disk guard
    "40",  # serialization, deadlock
    "53",  # disk full, out of memory, too many connections
    "55P03",  # lock not available
    "57",  # shutting down, starting up, cancelled
    "58",  # system error: I/O
)
"""SQLSTATE prefixes after which the same statement may succeed later."""

REFUSED = ("28", "3D000")
"""SQLSTATE prefixes of a wrong URL: role, password, database."""


class SchemaError(ConfigError):
    """The database does not have the schema that this release needs."""

    code = "log.schema"
    exit_status = 1


class LogAccessError(ConfigError):
    """PostgreSQL refuses the role, the password or the database named."""

    code = "log.access"
    exit_status = 1


def _named(action: str, error: BaseException) -> LogError | ConfigError:
    original = getattr(error, "orig", None) or error
    state = getattr(original, "sqlstate", None) or ""
    first_line = (str(original) or type(original).__name__).splitlines()[0]
    message = f"cannot {action}: {first_line}"
    if state.startswith(REFUSED):
        return LogAccessError(message)
    if state == "42501":
        return LogAccessError(f"{message}; see deploy/sql/roles.sql")
    if state in {"42P01", "3F000", "42883", "42703"}:
        return SchemaError(f"{message}; run `recorder migrate`")
    if not state or state.startswith(TRANSIENT):
        return LogUnavailableError(message)
    return LogError(message)


def translated(
    action: str, error: BaseException
) -> LogError | ConfigError | None:
    """Return our error for one of a driver, with the action; else None."""
    if isinstance(error, REFUSALS):
        return _named(action, error)
    if not isinstance(error, UNAVAILABLE):
        return None
    said = getattr(error, "strerror", None) or str(error)
    if isinstance(error, ConnectionRefusedError):
        said = "it refuses the connection"  # asyncio says it in Python
    detail = said or type(error).__name__
    return LogUnavailableError(
        f"cannot {action}: PostgreSQL is unavailable: {detail}"
    )


@contextmanager
def translate_errors(action: str) -> Generator[None]:
    """Raise errors of the drivers as ours, with the action."""
    try:
        yield
    except (*REFUSALS, *UNAVAILABLE) as exc:
        ours = translated(action, exc)
        assert ours is not None
        raise ours from exc
