"""Retention, put together: the policy of the settings, a run, its notices.

A run leaves notices; whoever records takes them up as entries. Where nobody
records, the log is written for a moment by this process.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import asyncpg

from recorder.admin.budget import budget_of, policy_of, room_guard
from recorder.admin.listing import Iceberg
from recorder.admin.redaction_key import make_redaction
from recorder.admin.registry import located
from recorder.admin.retaining import Retained, Retaining, retain
from recorder.errors import LogUnavailableError, StandingByError
from recorder.intake.recording import Recording
from recorder.model.hold import Hold, NewHold, Placed
from recorder.model.observation import RECORDER
from recorder.retention.policy import Policy, PolicyError
from recorder.settings import Settings
from recorder.store.engine import make_engine
from recorder.store.holds import add_hold, lift_hold, list_holds
from recorder.store.notices import NoticeSource
from recorder.store.read_database import database_facts
from recorder.store.translate import LogAccessError, translate_errors
from recorder.store.writer import LogSpec, Writer, holder_name
from recorder.wiring.database import Database, open_database

__all__ = [
    "holds_of",
    "lift",
    "place_hold",
    "retain_now",
]

NO_KEY = bytes(32)
"""Notices are the recorder's own: there is nothing to redact in them."""

PENDING = """
    select l.log_id, l.kind, l.cluster_name, l.cluster_uid, l.kubernetes,
      l.tape_uid, l.redaction_key_id
    from recorder.log l
    where exists (select from recorder.notice n where n.log_id = l.log_id
      and n.notice_id > coalesce((
        select p.completed::int8 from recorder.resume_point p
        join recorder.resource r on r.resource_id = p.resource_id
        where p.log_id = l.log_id and p.source = 'recorder'
          and r.name = 'retention'), 0))
    order by l.log_id
"""


async def retain_now(
    settings: Settings,
    *,
    drop: bool,
    dry: bool = False,
    on_progress: Callable[[str, int, int], None] = lambda *_: None,
    on_wait: Callable[[str], None] | None = None,
) -> Retained:
    """Make one run, and see that its notices become entries.

    Raises:
        RecorderError: what failed first.
    """
    policy = policy_of(settings)
    _check_place(settings)
    async with open_database(settings, on_wait=on_wait) as database:
        size = await _database_bytes(database)
        policy = replace(policy, budget=budget_of(settings, size))
        how = Retaining(
            policy=policy,
            drop=drop,
            dry=dry,
            iceberg=_iceberg_of(settings, policy),
            on_progress=on_progress,
        )
        try:
            return await retain(database.dsn("retention"), how)
        finally:
            if not dry:
                await deliver(settings, database)


def _check_place(settings: Settings) -> None:
    """See that days of a server do not go to wherever this happens to run."""
    if settings.database_url is not None and not settings.retention_archive:
        msg = (
            "cannot archive days of the database of database_url: set"
            " retention_archive to a bucket, or a folder that is kept, or to"
            " none"
        )
        raise PolicyError(msg)


async def deliver(settings: Settings, database: Database) -> None:
    """Write notices into logs that nobody writes at the moment.

    Where the role may only retain, the recorder writes them when it is back.
    """
    with suppress(LogUnavailableError), translate_errors("read the notices"):
        connection = await asyncpg.connect(database.dsn("writer"), timeout=10)
        try:
            rows = await connection.fetch(PENDING)
        finally:
            connection.terminate()
        for row in rows:
            with suppress(StandingByError, LogAccessError):
                await _deliver(settings, database.dsn("writer"), row)


async def _deliver(settings: Settings, dsn: str, row: asyncpg.Record) -> None:
    number: int = row["log_id"]
    spec = LogSpec(
        cluster_name=row["cluster_name"],
        cluster_uid=row["cluster_uid"],
        kubernetes=row["kubernetes"],
        redaction_key_id=row["redaction_key_id"],
        tape_uid=row["tape_uid"],
    )
    holder = holder_name(socket.gethostname(), os.getpid())
    recording = Recording(
        Writer(dsn, spec, holder=holder),
        make_redaction(settings, NO_KEY),
        has_room=room_guard(settings),
    )
    source = NoticeSource(dsn, lambda: number, finite=True)
    await recording.run({RECORDER: source}, asyncio.Event())


async def place_hold(settings: Settings, hold: NewHold) -> Placed:
    """Place a hold, in the database of its log.

    Raises:
        RegistryError: which of several databases is meant is not said.
    """
    settings = located(settings, hold.log)
    async with open_database(settings) as database:
        placed = await add_hold(database.dsn("retention"), hold)
        await deliver(settings, database)
        return placed


async def lift(settings: Settings, number: int, *, who: str, why: str) -> None:
    """Lift a hold.

    Raises:
        RegistryError: which of several databases is meant is not said.
    """
    settings = located(settings)
    async with open_database(settings) as database:
        await lift_hold(database.dsn("retention"), number, who=who, why=why)
        await deliver(settings, database)


async def holds_of(settings: Settings) -> Sequence[Hold]:
    """Return every hold of a database.

    Raises:
        RegistryError: which of several is meant is not said.
    """
    async with open_database(located(settings)) as database:
        return await list_holds(database.dsn("retention"))


async def _database_bytes(database: Database) -> int:
    engine = make_engine(database.dsn("reader"))
    try:
        return (await database_facts(engine)).bytes
    finally:
        await engine.dispose()


def _iceberg_of(settings: Settings, policy: Policy) -> Iceberg | None:
    """Return the Iceberg tables that the settings ask for, if they do."""
    if not settings.iceberg_catalog:
        return None
    if policy.place is None:
        msg = (
            "iceberg_catalog names tables of the archive, but"
            ' retention_archive is "none": change one of them'
        )
        raise PolicyError(msg)
    return Iceberg(
        catalog=settings.iceberg_catalog, namespace=settings.iceberg_namespace
    )
