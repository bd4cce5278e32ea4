"""Which PostgreSQL: the one that the settings name, or the embedded one.

The embedded server is made, migrated and given its roles on first use; a
external server is only checked, because its owner decides when its
schema changes.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.embedded.server import EmbeddedServer
from recorder.keeping.registry import shown
from recorder.model.errors import LogUnavailableError
from recorder.model.settings import Settings
from recorder.store.engine import make_engine
from recorder.store.schema import (
    check_schema,
    found_revision,
    is_served,
    known_revisions,
    migrate,
    migration_sql,
    wanted_revision,
)
from recorder.store.translate import SchemaError

Role = Literal["owner", "writer", "reader", "retention", "notifier"]

ROLES: tuple[Role, ...] = (
    "owner",
    "writer",
    "reader",
    "retention",
    "notifier",
)


@dataclass(frozen=True, slots=True)
class Database:
    """A database that answers and has the right schema."""

    dsns: dict[str, str]
    embedded: bool
    says: str
    """Where it is, without a password."""

    def dsn(self, role: Role) -> str:
        """Return the address for a role."""
        return self.dsns[role]


def roles_sql() -> str:
    """Read the script that creates the roles."""
    packaged = Path(str(files("recorder.embedded"))) / "roles.sql"
    if not packaged.is_file():
        packaged = Path(__file__).parents[2] / "deploy/sql/roles.sql"
    return packaged.read_text()


@asynccontextmanager
async def open_database(
    settings: Settings, *, on_wait: Callable[[str], None] | None = None
) -> AsyncIterator[Database]:
    """Open the database, keep it open while entered.

    Raises:
        SchemaError: a named server has another schema.
        EmbeddedError: the embedded server cannot be started.
        LogUnavailableError: a named server does not answer.
    """
    if settings.database_url is not None:
        url = settings.database_url
        try:
            await _with_engine(url, check_schema)
        except LogUnavailableError as exc:
            advice = (
                f"see that {shown(url)}, runs, and that RECORDER_DATABASE_URL"
                " or --database-url means it"
            )
            raise LogUnavailableError(str(exc), advice=advice) from exc
        yield Database(
            dict.fromkeys(ROLES, url),
            embedded=False,
            says=shown(url),
        )
        return
    async with EmbeddedServer.open(
        settings.data_dir, roles_sql=roles_sql(), on_wait=on_wait
    ) as server:
        await _with_engine(server.dsn("owner"), migrate)
        yield Database(
            {role: server.dsn(role) for role in ROLES},
            embedded=True,
            says=f"embedded PostgreSQL {server.version} in {server.folder}",
        )


async def bring_schema(
    settings: Settings,
    *,
    check: bool,
    on_wait: Callable[[str], None] | None = None,
) -> tuple[str | None, str]:
    """Bring the schema to this release's; return the revisions before, after.

    The embedded server brings itself there whenever it is opened.

    Args:
        settings: which database.
        check: change nothing in an external server.
        on_wait: gets a line when there is something to wait for.

    Raises:
        SchemaError: the check failed, or the roles are missing.
    """
    if settings.database_url is None:
        async with open_database(settings, on_wait=on_wait):
            return wanted_revision(), wanted_revision()
    engine = make_engine(settings.database_url)
    try:
        if check:
            await check_schema(engine)
            return wanted_revision(), wanted_revision()
        return await migrate(engine)
    finally:
        await engine.dispose()


async def schema_sql(settings: Settings) -> str:
    """Return what `bring_schema` would run on an external server, as SQL.

    Without one, or on an empty one, what makes the roles comes first.

    Raises:
        SchemaError: the schema is newer than this release.
    """
    before = None
    if settings.database_url is not None:
        engine = make_engine(settings.database_url)
        try:
            before = await found_revision(engine)
            if await is_served(engine, before):
                return ""
        finally:
            await engine.dispose()
    if before is None:
        return f"{roles_sql()}\n{migration_sql()}"
    if before not in known_revisions():
        msg = (
            f'cannot migrate: the schema "{before}" is of a newer release and'
            f' does not serve "{wanted_revision()}"'
        )
        raise SchemaError(msg)
    return migration_sql(before)


async def _with_engine(dsn: str, use: Callable[[AsyncEngine], object]) -> None:
    engine = make_engine(dsn)
    try:
        await use(engine)  # type: ignore[misc] # any coroutine will do
    finally:
        await engine.dispose()
