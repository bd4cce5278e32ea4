"""The database around the logs verified: what its answers pass through.

Hashes prove rows, as one role reads them. A policy, a view or a function can
show another role other rows, so the catalog is compared with what the
migrations make. So can bounds of days that are too narrow.
"""

from collections.abc import Collection

import asyncpg

from recorder.integrity.catalog import differences
from recorder.integrity.chain import Problem
from recorder.integrity.verified import Altered, VerifiedDatabase
from recorder.store.read_catalog import made_catalog, read_catalog
from recorder.store.read_surroundings import surrounding_problems

__all__ = ["verify_database"]


async def verify_database(
    connection: asyncpg.Connection, roles: Collection[str] = ()
) -> VerifiedDatabase:
    """Verify a database as a connection sees it.

    Args:
        connection: of the role that answers.
        roles: that the settings name, which may have rights of their own.
    """
    found, made = await read_catalog(connection), made_catalog()
    compared = found.revision == made.revision
    problems: list[Problem] = []
    if compared:
        compare = differences(found, made, roles)
        problems += [one.problem() for one in compare]
    try:
        async with connection.transaction():
            problems += await surrounding_problems(connection)
    except asyncpg.PostgresError:
        # Tables or rights may be missing that it takes, and are named.
        if not problems:
            raise
    return VerifiedDatabase(
        revision=found.revision,
        compared=compared,
        problems=[Altered(kind=one.kind, says=one.says) for one in problems],
    )
