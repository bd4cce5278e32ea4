"""Checks that the schema is the one this release needs, and migrates it.

Each command checks, and few migrate: so Alembic, which takes long to import,
and the migrations themselves are loaded to migrate alone.
"""

import asyncio
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.store.translate import SchemaError, translate_errors

if TYPE_CHECKING:
    from alembic.config import Config

_TURNS = WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]()
"""Alembic keeps the migration that runs in globals of the process."""


def _folder() -> Path:
    packaged = Path(str(files("recorder.store"))) / "migrations"
    if packaged.is_dir():
        return packaged
    return Path(__file__).parents[2] / "migrations"


def _config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_folder()))
    return config


_REVISIONS = re.compile(
    r"""^revision = ["'](\w+)["']\n"""
    r"""down_revision = (?:["'](\w+)["']|None)$""",
    re.MULTILINE,
)


@cache
def _revisions(folder: Path) -> Mapping[str, str | None]:
    """Return the revision of each migration of a folder, and the one before.

    Read from the text of the migrations.
    """
    return {
        found[1]: found[2]
        for file in (folder / "versions").glob("*.py")
        if (found := _REVISIONS.search(file.read_text()))
    }


def wanted_revision() -> str:
    """Return the revision that this release needs."""
    steps = _revisions(_folder())
    (head,) = steps.keys() - {*steps.values()}
    return head


def known_revisions() -> frozenset[str]:
    """Name every revision that this release can migrate from."""
    return frozenset(_revisions(_folder()))


async def found_revision(engine: AsyncEngine) -> str | None:
    """Return the revision that the database has, or None."""
    query = text("select version_num from recorder.schema_version")
    with translate_errors("open the log"):
        async with engine.connect() as connection:
            exists = await connection.scalar(
                text("select to_regclass('recorder.schema_version')")
            )
            if exists is None:
                return None
            found: str | None = await connection.scalar(query)
            return found


async def is_served(engine: AsyncEngine, found: str | None) -> bool:
    """Return whether a newer schema declares that it serves this release.

    A schema that only grew serves the previous release, so that an upgrade
    can be rolled back without the database.
    """
    if found is None or found in known_revisions():
        return False
    query = text(
        "select true from recorder.schema_serves where revision = :wanted"
    )
    with translate_errors("open the log"):
        async with engine.connect() as connection:
            given = {"wanted": wanted_revision()}
            return await connection.scalar(query, given) is True


async def check_schema(engine: AsyncEngine) -> None:
    """Reject a database with a schema that this release cannot use.

    Raises:
        SchemaError: the schema is missing, older, or newer without serving
            this release.
    """
    found, wanted = await found_revision(engine), wanted_revision()
    if await is_served(engine, found):
        return
    _refuse_newer(found)
    if found != wanted:
        msg = (
            f'cannot use the database: its schema is "{found or "missing"}"'
            f' and this release needs "{wanted}"; run `recorder migrate`'
        )
        raise SchemaError(msg)


def _refuse_newer(found: str | None) -> None:
    if found is not None and found not in known_revisions():
        msg = (
            f'cannot use the database: its schema "{found}" is of a newer'
            f' release and does not serve "{wanted_revision()}"; install'
            " the release that migrated it, or a newer one"
        )
        raise SchemaError(msg)


async def migrate(engine: AsyncEngine) -> tuple[str | None, str]:
    """Bring the schema to this release's; return the revisions before, after.

    A newer schema that serves this release stays as it is. Two of these take
    turns: on one database by an advisory lock, in one process whatever their
    databases. Each migration is one transaction. The role must be a member of
    ``recorder_owner``.

    Raises:
        SchemaError: the roles are missing, or the schema is newer.
    """
    from alembic import command

    before = await found_revision(engine)
    if before is not None and await is_served(engine, before):
        return before, before
    _refuse_newer(before)

    def upgrade(connection: Connection) -> None:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

    with translate_errors("migrate the schema"):
        turn = _TURNS.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        try:
            async with turn, engine.connect() as connection:
                await connection.run_sync(upgrade)
        except DBAPIError as exc:
            if getattr(exc.orig, "sqlstate", None) in {"42704", "22023"}:
                msg = (
                    "cannot migrate: a role of the log does not exist; run"
                    " deploy/sql/roles.sql first, again after an upgrade"
                )
                raise SchemaError(msg) from exc
            raise
    return before, wanted_revision()


def migration_sql(before: str | None = None) -> str:
    """Return what `migrate` would run on a database, as SQL."""
    from alembic import command

    written = StringIO()
    config = _config()
    config.output_buffer = written
    head = wanted_revision()
    if before != head:
        revision = head if before is None else f"{before}:{head}"
        command.upgrade(config, revision, sql=True)
    return written.getvalue()
