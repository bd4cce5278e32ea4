"""The probes of `recorder doctor`: of the cluster, the database, the key."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy.ext.asyncio import AsyncEngine

from recorder.doctor.checkup import Probes
from recorder.doctor.cluster import Rights
from recorder.doctor.database import ASK
from recorder.doctor.log import ArchiveFacts
from recorder.embedded.looking import look_at_folder, look_at_programs
from recorder.embedded.server import EmbeddedServer, ServerOptions
from recorder.intake.redact import key_id
from recorder.keeping.presence import missing_days
from recorder.keeping.redaction_key import load_key
from recorder.model.settings import Settings
from recorder.sources.watch.catalog import BUILT_IN
from recorder.sources.watch.client import ClusterClient, ClusterIdentity
from recorder.sources.watch.rights import try_rights
from recorder.sources.watch.selection import Selection
from recorder.store.engine import make_engine
from recorder.store.read_checks import CheckReader
from recorder.wiring.database import roles_sql
from recorder.wiring.measuring import checked
from recorder.wiring.polling import look_at_slurm
from recorder.wiring.reading import is_used
from recorder.wiring.recording import cluster_client, selected

START = timedelta(seconds=60)
"""An embedded server recovers 6 GB in 10 s; it continues when we give up."""


def probes(
    settings: Settings, *, on_wait: Callable[[str], None] | None = None
) -> Probes:
    """Return the probes of what the settings name.

    Raises:
        ConfigError: the settings have an invalid pattern of resources.
    """
    selection = selected(settings)
    embedded = settings.database_url is None

    def database() -> AbstractAsyncContextManager[_Database] | None:
        return _opened(settings, on_wait) if is_used(settings) else None

    return Probes(
        folder=partial(look_at_folder, settings.data_dir, embedded=embedded),
        programs=partial(look_at_programs, settings.data_dir),
        cluster=lambda: _Cluster(cluster_client(settings), selection),
        database=database,
        slurm=partial(look_at_slurm, settings),
        metrics=partial(checked, settings),
        key_id=lambda: key_id(load_key(settings)),
        resources=sum(map(len, BUILT_IN.values())),
    )


@dataclass(frozen=True, slots=True)
class _Cluster:
    """A cluster, with the choice of resources whose rights are tried."""

    client: ClusterClient
    selection: Selection

    async def identity(self) -> ClusterIdentity:
        return await self.client.identity()

    async def date(self) -> str | None:
        return await self.client.date()

    async def rights(self) -> Rights:
        return await try_rights(self.client, self.selection)

    async def close(self) -> None:
        await self.client.close()


class _Database(CheckReader):
    """A database, and the archive of its days."""

    def __init__(self, engine: AsyncEngine, dsn: str) -> None:
        super().__init__(engine)
        self._dsn = dsn

    async def archive(self) -> ArchiveFacts:
        """Return whether archived days are there."""
        return await missing_days(self._dsn)


@asynccontextmanager
async def _opened(
    settings: Settings, on_wait: Callable[[str], None] | None
) -> AsyncIterator[_Database]:
    """Connect without requiring or creating the schema."""
    if settings.database_url is not None:
        engine = make_engine(settings.database_url, statement_timeout=ASK)
        try:
            yield _Database(engine, settings.database_url)
        finally:
            await engine.dispose()
        return
    options = ServerOptions(start_seconds=START.total_seconds())
    async with EmbeddedServer.open(
        settings.data_dir,
        roles_sql=roles_sql(),
        options=options,
        on_wait=on_wait,
    ) as server:
        dsn = server.dsn("writer")
        engine = make_engine(dsn, statement_timeout=ASK)
        try:
            yield _Database(engine, dsn)
        finally:
            await engine.dispose()
