"""What the migrations make, as the release carries it.

``python -m tests.store.catalog`` writes it, from a database that was migrated
just now on each of the two versions of PostgreSQL; a test sees that this
changes nothing.
"""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from recorder.integrity.catalog import CatalogFound
from recorder.integrity.verified import Altered
from recorder.keeping.verifying_database import verify_database
from recorder.store.long_work import connect_to
from recorder.store.read_catalog import read_catalog
from recorder.wiring.database import roles_sql
from tests.conftest import migrated
from tests.support.postgres import (
    Database,
    DatabaseServer,
    connected,
    fresh_database,
    start_debian,
    start_embedded,
)

__all__ = ["FILE", "catalog_of", "problems_of", "written"]

FILE = Path(__file__).parents[2] / "recorder/store/catalog.json"


async def catalog_of(database: Database) -> CatalogFound:
    """Return the catalog of a database with a day."""
    async with connected(database.superuser_dsn()) as connection:
        await connection.execute("select recorder.add_partition(now())")
        return await read_catalog(connection)


async def problems_of(database: Database) -> Sequence[Altered]:
    """Return the problems that `recorder verify` reports of a database."""
    connection = await connect_to(database.superuser_dsn())
    try:
        return (await verify_database(connection)).problems
    finally:
        await connection.close()


def written(catalogs: Iterable[CatalogFound]) -> bytes:
    """Return the file of some catalogs, each by another PostgreSQL."""
    revision = ""
    objects: dict[str, dict[str, list[str]]] = {}
    for found in catalogs:
        revision = found.revision or ""
        for name, parts in found.objects.items():
            wanted = objects.setdefault(found.made[name], {})
            for part, definition in parts.items():
                ways = wanted.setdefault(part, [])
                if definition not in ways:
                    ways.append(definition)
    lines = ",\n".join(
        f"{json.dumps(name)}: {{\n{_lines(objects[name])}}}"
        for name in sorted(objects)
    )
    text = f'{{"revision": "{revision}", "objects": {{\n{lines}}}}}\n'
    return text.encode()


def _lines(parts: Mapping[str, Sequence[str]]) -> str:
    return ",\n".join(
        f" {json.dumps(part)}: {json.dumps(parts[part])}"
        for part in sorted(parts)
    )


async def _migrated(server: DatabaseServer) -> CatalogFound:
    async with fresh_database(server) as database:
        await migrated(database)
        return await catalog_of(database)


if __name__ == "__main__":
    with ExitStack() as stack:
        servers = [
            stack.enter_context(start(roles_sql()))
            for start in (start_embedded, start_debian)
        ]
        FILE.write_bytes(
            written(asyncio.run(_migrated(server)) for server in servers)
        )
