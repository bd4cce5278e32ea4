"""Connections for work that takes as long as it takes."""

import asyncpg

from recorder.store.timestamps import take_ticks

__all__ = ["connect_to"]


async def connect_to(dsn: str) -> asyncpg.Connection:
    """Open a connection of which no statement ends before it is done.

    Times of rows may be given as ticks; the driver's errors pass through.
    """
    connection = await asyncpg.connect(
        dsn,
        timeout=10,
        server_settings={
            "application_name": "recorder maintenance",
            "statement_timeout": "0",
            "timezone": "UTC",
            # Names mean what PostgreSQL means, whatever the role was given.
            "search_path": "pg_catalog",
        },
    )
    await take_ticks(connection)
    return connection
