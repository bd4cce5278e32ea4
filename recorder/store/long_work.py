"""Connections for maintenance, without a statement timeout."""

import asyncpg

from recorder.store.timestamps import take_ticks


async def connect_to(dsn: str) -> asyncpg.Connection:
    """Open a connection without a statement timeout.

    Rows may have ticks for times. Errors of the driver are not translated.
    """
    connection = await asyncpg.connect(
        dsn,
        timeout=10,
        server_settings={
            "application_name": "recorder maintenance",
            "statement_timeout": "0",
            "timezone": "UTC",
            # Override settings of the role: names refer to PostgreSQL's.
            "search_path": "pg_catalog",
        },
    )
    await take_ticks(connection)
    return connection
