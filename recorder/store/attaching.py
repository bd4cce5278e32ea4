"""Attaches the archived days of a log that another database recorded."""

from collections.abc import Mapping, Sequence

import asyncpg
import orjson

from recorder.store.retention import connect_for_retention
from recorder.store.statement import Statement
from recorder.store.steps import RefusedError
from recorder.store.translate import translate_errors

ATTACH = Statement.of("select recorder.attach_log(:log, :days)")


async def attach_log(
    dsn: str,
    log: Mapping[str, object],
    days: Sequence[Mapping[str, object]],
) -> int:
    """Register a log with its days, or its new days; return its number.

    Raises:
        RefusedError: this database recorded the log itself, or the days do
            not join those that it has.
    """
    connection = await connect_for_retention(dsn)
    try:
        with translate_errors("attach the archive"):
            return await _attached(connection, log, days)
    finally:
        connection.terminate()


async def _attached(
    connection: asyncpg.Connection,
    log: Mapping[str, object],
    days: Sequence[Mapping[str, object]],
) -> int:
    try:
        number: int = await ATTACH.fetch_value(
            connection,
            log=orjson.dumps(log).decode(),
            days=orjson.dumps([*days]).decode(),
        )
    except asyncpg.RaiseError as exc:
        msg = f"cannot attach the archive: {exc}"
        raise RefusedError(msg) from exc
    return number
