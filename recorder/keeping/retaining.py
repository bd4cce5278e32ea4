"""One run of retention: what is over is archived, what is old is dropped.

Every run begins with what the one before it may have left, so it can be
killed anywhere. A day that fails stays as it is, and the others go on; what
failed is raised at the end, after a notice of the run was left for each log,
also of a run that did nothing, or failed.
"""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import asyncpg

from recorder.archive.errors import ArchiveError
from recorder.archive.kept import (
    KeptDay,
    absent_days,
    check_whole,
    day_at,
    says_missing,
)
from recorder.archive.place import Place, open_place
from recorder.intake.recording import Recording
from recorder.keeping.archiving import Archiver
from recorder.keeping.budget import budget_of, policy_of, room_guard
from recorder.keeping.listing import Iceberg, Listed, list_days
from recorder.keeping.redaction_key import make_redaction
from recorder.keeping.retention.planning import DayState, Plan, Planned, plan
from recorder.keeping.retention.policy import DROP, Policy, PolicyError
from recorder.model.errors import (
    LogUnavailableError,
    RecorderError,
    StandingByError,
)
from recorder.model.observation import RECORDER
from recorder.model.settings import Settings
from recorder.store.notices import NoticeSource, logs_with_notices
from recorder.store.read_retention import ArchivedRow, Partition
from recorder.store.retention import RetentionStore, connect_for_retention
from recorder.store.translate import LogAccessError, translate_errors
from recorder.store.writer import LogSpec, Writer, holder_name

BUILDING = "the facts are being rebuilt"
NO_KEY = bytes(32)
"""Notices are the recorder's own: there is nothing to redact in them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retaining:
    """Options of a run."""

    policy: Policy
    drop: bool = True
    """Whether days are dropped as well as archived."""

    dry: bool = False
    """Whether the run only returns what it would do."""

    iceberg: Iceberg | None = None
    """The tables that the archive is listed in, if any."""

    on_progress: Callable[[str, int, int], None] = lambda *_: None


@dataclass(slots=True, kw_only=True)
class Retained:
    """What a run did."""

    busy: bool = False
    """Whether another run was under way, and this one did nothing."""

    archived: list[str] = field(default_factory=list)
    """Days, by the names of their partitions."""

    entries: int = 0
    bytes: int = 0
    """Of the files that were written."""

    dropped: list[Planned] = field(default_factory=list)
    lock_seconds: float = 0.0
    """The longest time of a step, from requesting locks on."""

    batches: int = 0
    names: int = 0
    stopped_by: str | None = None
    logs: list[int] = field(default_factory=list)
    """Logs that notices were left for."""

    listed: Listed | None = None
    """What was added to Iceberg tables, if there are any."""


async def retain(dsn: str, how: Retaining) -> Retained:
    """Make one run.

    Raises:
        RecorderError: what failed first, after everything else was done.
    """
    connection = await connect_for_retention(dsn)
    try:
        run = _Run(connection, how)
        with translate_errors("archive and drop days"):
            return await run.all()
    finally:
        connection.terminate()


class _Run:
    """One run, over one connection."""

    def __init__(self, connection: asyncpg.Connection, how: Retaining) -> None:
        self._how = how
        self._policy = how.policy
        self._store = RetentionStore(connection)
        self._place: Place | None = None
        if how.policy.place is not None:
            self._place = open_place(how.policy.place)
        self._archiver = Archiver(
            connection=connection,
            store=self._store,
            place=self._place,
            on_progress=how.on_progress,
        )
        self._done = Retained()
        self._failure: RecorderError | None = None

    async def all(self) -> Retained:
        if self._how.dry:
            self._done.dropped = list((await self._plan()).drops)
            return self._done
        if not await self._store.lock():
            return Retained(busy=True)
        await self._store.remove_dropped()
        for one in await self._store.days():
            await self._archive(one)
        if self._how.drop:
            await self._drop()
        await self._list()
        await self._miss()
        await self._report()
        if self._failure is not None:
            raise self._failure
        return self._done

    async def _archive(self, one: Partition) -> None:
        day = one.day
        try:
            if one.state == "open":
                await self._archiver.seal(day)
            if one.state in {"open", "sealed"}:
                written = await self._archiver.archive(day)
                if self._place is not None:
                    self._done.archived.append(day.name)
                self._done.entries += sum(d.manifest.entries for d in written)
                self._done.bytes += sum(d.bytes for d in written)
        except RecorderError as exc:
            self._failure = self._failure or exc

    async def _list(self) -> None:
        if self._how.iceberg is None or self._policy.place is None:
            return
        self._done.listed = list_days(
            self._how.iceberg,
            self._policy.place,
            await self._store.kept(),
            self._how.on_progress,
        )

    async def _miss(self) -> None:
        """Fail if archived days are missing."""
        kept = [KeptDay(*day) for day in await self._store.kept()]
        missing = await asyncio.to_thread(absent_days, kept, sizes=False)
        if missing:
            failure = ArchiveError(says_missing(missing, len(kept)))
            self._failure = self._failure or failure

    async def _report(self) -> None:
        """Leave a notice of the run, and of the root that remains."""
        now = await self._store.now()
        said = {
            "action": "ran",
            "archived": self._done.archived,
            "dropped": [one.name for one in self._done.dropped],
            "stopped_by": self._done.stopped_by,
            "failed": self._failure and str(self._failure),
            "policy": self._policy.document(),
            "at": now.isoformat(),
        }
        remaining = await self._store.remaining()
        await self._store.leave_notices(
            {one.log: {**said, **one.document()} for one in remaining}
        )

    async def _days(self) -> Sequence[DayState]:
        may_drop = {"archived"}
        if self._policy.unarchived == DROP:
            may_drop.add("sealed")
        if self._how.dry:
            # What is not archived yet would be before.
            may_drop |= {"open", "sealed"}
        return [
            DayState(
                name=one.day.name,
                upper=one.day.upper,
                archived=one.state in may_drop,
                bytes=one.bytes,
                holds=one.holds,
            )
            for one in await self._store.days()
        ]

    async def _plan(self) -> Plan:
        found = plan(
            await self._days(),
            self._policy,
            now=await self._store.now(),
            size=await self._store.database_bytes(),
        )
        self._done.stopped_by = found.stopped_by
        return found

    async def _drop(self) -> None:
        found = await self._plan()
        days = {one.day.name: one for one in await self._store.days()}
        try:
            for planned in found.drops:
                if not await self._store.leave_building():
                    self._done.stopped_by = BUILDING
                    break
                await self._drop_day(days[planned.name], planned)
        except RecorderError as exc:
            self._failure = self._failure or exc
        if await self._store.is_unfinished():
            self._done.names = await self._store.forget_names()
            self._done.batches = await self._store.prune_batches()

    async def _drop_day(self, one: Partition, planned: Planned) -> None:
        rows = await self._store.archived(one.day)
        _check_archive(rows)
        now = await self._store.now()
        notices = {
            row.log: self._notice(one, row, planned, now) for row in rows
        }
        unarchived = self._policy.unarchived
        self._how.on_progress(f"dropping {one.day.name}", 0, 0)
        await self._store.build_kept(one.day, unarchived)
        seconds = await self._store.drop(one.day, unarchived, notices)
        await self._store.remove_dropped()
        self._done.lock_seconds = max(self._done.lock_seconds, seconds)
        self._done.dropped.append(planned)
        self._done.logs = sorted({*self._done.logs, *notices})

    def _notice(
        self, one: Partition, row: ArchivedRow, planned: Planned, now: datetime
    ) -> dict[str, Any]:
        return {
            "action": "dropped",
            "day": f"{one.day.lower:%Y-%m-%d}",
            "why": planned.why,
            "first_batch": row.first_batch,
            "last_batch": row.last_batch,
            "first_position": row.first_position,
            "last_position": row.last_position,
            "range": row.range.hex(),
            "archive": row.uri,
            "manifest_sha256": row.manifest_sha256,
            "policy": self._policy.document(),
            "at": now.isoformat(),
        }


def _check_archive(rows: Sequence[ArchivedRow]) -> None:
    """Check that the archive has, byte for byte, what is to be dropped."""
    for row in rows:
        if row.uri is None or row.manifest_sha256 is None:
            continue
        check_whole(*day_at(row.uri), row.manifest_sha256)


async def deliver(settings: Settings, dsn: str) -> None:
    """Write notices into logs that no recorder writes at the moment.

    Where the role may only retain, the recorder writes them when it is back.
    """
    with suppress(LogUnavailableError), translate_errors("write notices"):
        for row in await logs_with_notices(dsn):
            with suppress(StandingByError, LogAccessError):
                await _deliver(settings, dsn, row)


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


def how_to_retain(
    settings: Settings, database_bytes: int, *, drop: bool, dry: bool = False
) -> Retaining:
    """Return how to retain by the settings, for a database of a size.

    Raises:
        PolicyError: the settings contradict themselves.
    """
    policy = replace(
        policy_of(settings), budget=budget_of(settings, database_bytes)
    )
    iceberg = _iceberg_of(settings, policy)
    return Retaining(policy=policy, drop=drop, dry=dry, iceberg=iceberg)


def check_place(settings: Settings) -> None:
    """Check that days of a server are not archived on this machine.

    Raises:
        PolicyError: they would.
    """
    if settings.database_url is not None and not settings.retention_archive:
        msg = (
            "cannot archive days of the database of database_url: set"
            " retention_archive to a bucket, or a folder that is kept, or to"
            " none"
        )
        raise PolicyError(msg)


def _iceberg_of(settings: Settings, policy: Policy) -> Iceberg | None:
    """Return the Iceberg tables of the settings, if any."""
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
