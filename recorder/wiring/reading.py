"""The reading half, put together: the database, its logs, one of them.

What a question is about is decided here, since it may take the kubeconfig to
know it.
"""

import os
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeAlias

import yaml
from msgspec import structs
from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.answers.clusters import Known
from recorder.answers.extents import LogExtents, ShownExtent
from recorder.answers.gaps import ask_gaps
from recorder.answers.logs import choose_log
from recorder.answers.ports import Reading
from recorder.answers.status import DatabaseStatus, Disk, LogStatus, Status
from recorder.embedded.folder import DataFolder
from recorder.embedded.locks import is_unheld
from recorder.embedded.state import Phase, read_state
from recorder.facts.coverage.ports import Log
from recorder.keeping.budget import budget_of, policy_of, room_guard, stage_of
from recorder.keeping.registry import located, registered
from recorder.model.errors import NotFoundError
from recorder.model.reference import LogNumber
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.store.engine import make_engine
from recorder.store.read import LogReading, list_logs
from recorder.store.read_database import (
    DatabaseFacts,
    database_facts,
    days_of,
    entries_per_minute,
    extent_of,
)
from recorder.store.read_follow import Bell
from recorder.wiring.archived import ArchivedDays, ArchivedReading, Shelf
from recorder.wiring.database import Database, Role, open_database

OpenedLog: TypeAlias = LogReading | ArchivedReading

DEFAULT_KUBECONFIG = "~/.kube/config"


@asynccontextmanager
async def open_logs(
    settings: Settings,
    *,
    log: int | None = None,
    on_wait: Callable[[str], None] | None = None,
) -> AsyncIterator["Logs"]:
    """Open the database for reading.

    Args:
        settings: which database, perhaps by the cluster that they name.
        log: that is to be read, which may be named with its cluster.
        on_wait: gets a line when there is something to wait for.

    Raises:
        RegistryError: which of several databases is meant is not said.
        NotFoundError: nothing was ever recorded into the data folder.
        SchemaError: the database is not this release's.
    """
    settings = located(settings, log)
    _check_was_used(settings)
    async with open_database(settings, on_wait=on_wait) as database:
        engine = make_engine(database.dsn("reader"))
        try:
            yield Logs(settings, database, engine)
        finally:
            await engine.dispose()


class Logs:
    """The logs of one database, to be asked."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        engine: AsyncEngine,
        *,
        clusters: Sequence[str] = (),
    ) -> None:
        """Take a database, and the clusters in it that can be named.

        Args:
            settings: which log is read by default.
            database: where the logs lie.
            engine: the connections.
            clusters: those that a registry has there, if it is of one.
        """
        self._settings = settings
        self._database = database
        self._engine = engine
        self._clusters = clusters
        self._shelf = Shelf(settings.data_dir / "archive")

    def beside(
        self, *, connections: int, statement_timeout: timedelta
    ) -> "Logs":
        """Return the same logs over connections of their own.

        For another event loop, which closes them itself.
        """
        engine = make_engine(
            self._database.dsn("reader"),
            statement_timeout=statement_timeout,
            connections=connections,
        )
        return Logs(
            self._settings, self._database, engine, clusters=self._clusters
        )

    async def ping(self) -> None:
        """See that the database answers.

        Raises:
            LogError: it does not.
        """
        await list_logs(self._engine)

    async def close(self) -> None:
        """Close the connections."""
        await self._engine.dispose()

    @property
    def place(self) -> str:
        """Where the database is, in words without a password."""
        return self._database.says

    @property
    def writer_dsn(self) -> str:
        """The address for who may add to the logs."""
        return self._database.dsn("writer")

    def dsn(self, role: Role) -> str:
        """Return the address for a role."""
        return self._database.dsn(role)

    async def read(
        self, number: int | None, *, cluster: str | None = None
    ) -> OpenedLog:
        """Open the log that is meant, as it is now.

        Args:
            number: exactly this log; None for a cluster's.
            cluster: its name or UID; None for that of the settings.

        Raises:
            NotFoundError: there is no such log or cluster, or none at all.
            ConfigError: several could be meant.
        """
        if number is not None:
            # Where it is not there, the others are named below.
            with suppress(NotFoundError):
                return await self._read(number)
        logs = await self.every()
        if not logs:
            msg = (
                "the database holds no log yet: record a cluster with"
                " `recorder up`, or play an example with `recorder demo`"
            )
            raise NotFoundError(msg, code="not_found.log")
        chosen = self._choose(logs, number, cluster)
        return await self._read(chosen.id)

    async def _read(self, number: int) -> OpenedLog:
        hot = await LogReading.at_present(self._engine, number)
        of = (number.cluster,) if isinstance(number, LogNumber) else ()
        if names := self._clusters or of:
            # It may be of a cluster that is not registered, or of another.
            bare = replace(hot.log, id=int(number))
            if [one.id for one in registered([bare], names)] != [number]:
                msg = f"there is no log {number}"
                raise NotFoundError(msg)
        if hot.log.kept_since is None and not hot.is_thinned:
            return hot
        days = await self._shelf.days_of(self._engine, number)
        if not days:
            return hot
        return await ArchivedReading.opened(
            hot, ArchivedDays(hot, days, self._shelf)
        )

    def bell(self, reading: Reading) -> Bell:
        """Return what rings when a log has grown."""
        return Bell(self._database.dsn("reader"), reading.log.id)

    async def every(self) -> Sequence[Log]:
        """Return all logs, oldest first; of a registry those that it has."""
        logs = await list_logs(self._engine)
        return registered(logs, self._clusters) if self._clusters else logs

    async def known(self) -> Known:
        """Return all logs; in one database no cluster is away."""
        return Known(logs=await self.every())

    def note_delivery(self, log: int) -> None:
        """Note nothing: there is one database."""

    async def leave(self, log: int) -> None:
        """Keep what is open, as `rest` does: there is one database."""

    async def rest(self) -> None:
        """Keep what is open."""

    async def meant(self, number: int | None) -> Sequence[Log]:
        """Return all logs, or the one that is named or of the cluster.

        Raises:
            NotFoundError: there is no such log or cluster.
        """
        logs = await self.every()
        if number is not None or self._settings.cluster is not None:
            return [self._choose(logs, number)]
        return logs

    async def status(self, number: int | None) -> Status:
        """Return everything at a glance: of all logs, or of the one named."""
        logs = await self.meant(number)
        facts = await database_facts(self._engine)
        embedded = self._database.embedded
        settings = self._settings
        budget = budget_of(settings, facts.bytes)
        return Status(
            logs=[await self._log_status(log, facts) for log in logs],
            days=structs.replace(
                await days_of(self._engine), place=policy_of(settings).place
            ),
            database=DatabaseStatus(
                version=facts.version,
                embedded=embedded,
                bytes=facts.bytes,
                budget_bytes=budget,
                budget_stage=stage_of(facts.bytes, budget),
                disk=_disk(self._settings.data_dir) if embedded else None,
            ),
            now=facts.now,
        )

    async def extents(
        self, number: int | None, *, now: datetime
    ) -> LogExtents:
        """Return the span and the proof of all logs, or of the one named."""
        facts = await database_facts(self._engine)
        shown = []
        for log in await self.meant(number):
            extent = await extent_of(self._engine, log.id)
            reading = await self._read(log.id)
            gaps = await ask_gaps(reading, Window(), now=now)
            shown.append(
                ShownExtent(
                    log=log.id,
                    cluster=log.cluster_name,
                    kind=log.kind,
                    since=extent.since,
                    until=extent.until,
                    entries=log.size,
                    outages=len(gaps.outages),
                    proven_at=extent.proven_at,
                )
            )
        return LogExtents(logs=shown, bytes=facts.bytes)

    async def _log_status(self, log: Log, facts: DatabaseFacts) -> LogStatus:
        room = room_guard(self._settings, lambda: facts.bytes)
        reading = await LogReading.at_present(self._engine, log.id)
        return LogStatus(
            log=reading.log,
            streams=reading.streams,
            entries_per_minute=await entries_per_minute(self._engine, log.id),
            facts_end=await reading.facts_end(),
            waiting_for=None if log.is_tape else room(),
            now=facts.now,
        )

    def _choose(
        self,
        logs: Sequence[Log],
        number: int | None,
        cluster: str | None = None,
    ) -> Log:
        settings = self._settings
        return choose_log(
            logs,
            number=number,
            cluster=cluster or settings.cluster,
            context=lambda: current_context(settings),
        )


def _disk(folder: Path) -> Disk:
    usage = shutil.disk_usage(folder)
    return Disk(
        path=str(folder), free_bytes=usage.free, total_bytes=usage.total
    )


def is_used(settings: Settings) -> bool:
    """Return whether there is a database, without making one."""
    if settings.database_url is not None:
        return True
    try:
        return DataFolder.at(settings.data_dir).cluster.exists()
    except OSError:
        # Opening it will say what is wrong.
        return True


def answers_now(settings: Settings) -> bool:
    """Return whether a server is there already, to be asked."""
    if settings.database_url is not None:
        return True
    folder = DataFolder.at(settings.data_dir)
    state = read_state(folder.state)
    return (
        state is not None
        and state.phase is Phase.READY
        and not is_unheld(folder.supervisor_lock)
    )


def _check_was_used(settings: Settings) -> None:
    if not is_used(settings):
        msg = (
            f'nothing was recorded into "{settings.data_dir}" yet: record a'
            " cluster with `recorder up`, play an example with `recorder"
            " demo`, or name another place with --data-dir or --database-url"
        )
        raise NotFoundError(msg, code="not_found.log")


def current_context(settings: Settings) -> str | None:
    """Return the context of the settings, or that kubectl would use."""
    if settings.context:
        return settings.context
    named = (
        settings.kubeconfig
        or os.environ.get("KUBECONFIG")
        or DEFAULT_KUBECONFIG
    )
    for name in named.split(os.pathsep):
        try:
            content = yaml.safe_load(Path(name).expanduser().read_text())
        except (OSError, UnicodeDecodeError, yaml.YAMLError):
            continue
        if isinstance(content, dict) and content.get("current-context"):
            return str(content["current-context"])
    return None
