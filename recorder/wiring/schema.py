"""The schema of the database that the settings name."""

from collections.abc import Callable

from recorder.settings import Settings
from recorder.store.engine import make_engine
from recorder.store.schema import (
    check_schema,
    migrate,
    migration_sql,
    wanted_revision,
)
from recorder.wiring.database import open_database, roles_sql

__all__ = ["bring_schema", "schema_sql"]


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
        check: change nothing in a server of somebody else's.
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


def schema_sql(*, roles: bool) -> str:
    """Return what `bring_schema` would run on an empty database, as SQL.

    With ``roles``, preceded by what makes the roles.
    """
    parts = [migration_sql()]
    if roles:
        parts.insert(0, roles_sql())
    return "\n".join(parts)
