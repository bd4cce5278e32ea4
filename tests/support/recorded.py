"""A real cluster and the real recorder, with the least rights of both.

The recorder runs in a process of its own, as the service account of
deploy/rbac.yaml and as the writer's role of deploy/sql/roles.sql.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self

import asyncpg
import orjson

from recorder.intake.state import Recovered
from recorder.model.entry import Draft, Operation
from recorder.model.observation import WATCH
from recorder.store.recover import recover
from tests.cluster.cluster import Cluster
from tests.cluster.waiting import until
from tests.corpus.recording import RecorderProcess
from tests.support.log_rows import compared
from tests.support.postgres import Database, connected
from tests.support.read_log import GrowingLog, WholeLog, read_log

__all__ = ["Recorded", "gap_reasons"]

RBAC = Path(__file__).parents[2] / "deploy/rbac.yaml"
EVERY = (
    "apiextensions.k8s.io/v1/customresourcedefinitions",
    "apps/v1/daemonsets",
    "apps/v1/deployments",
    "apps/v1/replicasets",
    "apps/v1/statefulsets",
    "batch/v1/cronjobs",
    "batch/v1/jobs",
    "coordination.k8s.io/v1/leases",
    "policy/v1/poddisruptionbudgets",
    "v1/events",
    "v1/namespaces",
    "v1/nodes",
    "v1/pods",
)
"""What a recorder lists in a cluster without custom resources."""

WRITER = "recorder_embedded_writer"

IS_THERE = "select exists (select from recorder.log_head where log_id = 1)"
"""Whether there is a log."""

CAUGHT_UP_SECONDS = 150
"""Quiet streams prove themselves by bookmarks, about one a minute, the first
after up to 40 s in which the past is read."""


class Recorded:
    """A cluster that is being recorded into a database."""

    def __init__(
        self, cluster: Cluster, database: Database, folder: Path
    ) -> None:
        self.cluster = cluster
        self._database = database
        self._folder = folder
        self.kubeconfig = folder
        self.process: RecorderProcess | None = None
        self.said: list[str] = []

    @classmethod
    async def begun(
        cls, cluster: Cluster, database: Database, folder: Path, *words: str
    ) -> Self:
        """Record a cluster whose objects are all listed already."""
        recorded = cls(cluster, database, folder)
        await recorded.grant()
        await recorded.start(*words)
        await recorded.until_listed()
        return recorded

    async def grant(self) -> None:
        """Make the service account with its rights."""
        await self.cluster.kubectl("apply", "-f", str(RBAC))
        self.kubeconfig = await self.cluster.service_account(
            "recorder", "recorder"
        )

    async def start(self, *arguments: str, **settings: str) -> RecorderProcess:
        """Start a recorder, and wait until it has the lease."""
        term = await self._term()
        process = await self.spawn(*arguments, **settings)

        async def leased() -> bool:
            return await self._term() > term

        await until(leased, "the recorder has the lease", seconds=60)
        return process

    async def spawn(self, *arguments: str, **settings: str) -> RecorderProcess:
        """Start a recorder, and wait for nothing."""
        self.process = RecorderProcess(
            ["record", *arguments],
            {
                "RECORDER_KUBECONFIG": str(self.kubeconfig),
                "RECORDER_DATABASE_URL": self._database.dsn("writer"),
                "RECORDER_DATA_DIR": str(self._folder / "data"),
                "RECORDER_HEALTH_LISTEN": "127.0.0.1:0",
                **{f"RECORDER_{k.upper()}": v for k, v in settings.items()},
            },
        )
        await self.process.start()
        return self.process

    async def _term(self) -> int:
        async with connected(self._database.dsn("reader")) as connection:
            term: int | None = await connection.fetchval(
                "select max(term) from recorder.log_head"
            )
        return term or 0

    async def stop(self) -> None:
        """Stop it cleanly."""
        assert self.process is not None
        status = await self.process.stop()
        self.said.append(self.process.said)
        assert status == 0, self.process.said

    async def kill(self) -> None:
        """SIGKILL it."""
        assert self.process is not None
        self.process.kill()
        await self.process.ended()
        self.said.append(self.process.said)

    async def log(self, number: int = 1) -> WholeLog:
        """Read a log."""
        return await read_log(self._database.dsn("reader"), number)

    async def until_listed(self, *resources: str) -> None:
        """Wait until resources are being watched, all of them by default."""
        resources = resources or EVERY

        def listed(known: Recovered) -> bool:
            return all(
                (WATCH, name) in known.streams
                and known.streams[WATCH, name].state == "live"
                for name in resources
            )

        await self._until(listed, f"{resources} are live", seconds=60)

    async def until_seen(self, revision: int, *resources: str) -> None:
        """Wait until the log has an entry of a revision or of a later one."""

        def seen(known: Recovered) -> bool:
            return all(
                int(known.streams[WATCH, name].pending or 0) >= revision
                for name in resources
            )

        await self._until(seen, f"{resources} seen to {revision}")

    async def until_epoch(self, number: int) -> None:
        """Wait until the recorder has noticed a rewind."""

        await self._until(
            lambda known: known.epoch == number, f"epoch {number}"
        )

    async def until_entries(
        self,
        holds: Callable[[Sequence[Draft]], bool],
        what: str,
        *,
        seconds: float = 60,
    ) -> None:
        """Wait for what the entries show, reading each of them once."""
        connection = await asyncpg.connect(self._database.dsn("reader"))
        growing = GrowingLog(connection, 1)

        async def recorded() -> bool:
            return holds([draft for _, draft in await growing.entries()])

        try:
            await until(recorded, what, seconds=seconds)
        finally:
            await connection.close()

    async def _until(
        self,
        holds: Callable[[Recovered], bool],
        what: str,
        *,
        seconds: float = CAUGHT_UP_SECONDS,
    ) -> None:
        """Wait for what intake knows, without reading any entries."""
        connection = await asyncpg.connect(self._database.dsn("reader"))

        async def known() -> bool:
            if not await connection.fetchval(IS_THERE):
                return False
            return holds(await recover(connection, 1))

        try:
            await until(known, what, seconds=seconds)
        finally:
            await connection.close()

    async def shut_database(self) -> None:
        """Cut every connection of the recorder and refuse new ones."""
        await self._as_superuser(
            f'alter role "{WRITER}" nologin',
            "select pg_terminate_backend(pid) from pg_stat_activity"
            f" where usename = '{WRITER}' and datname = current_database()",
        )

    async def reopen_database(self) -> None:
        """Let the recorder connect again."""
        await self._as_superuser(f'alter role "{WRITER}" login')

    async def _as_superuser(self, *statements: str) -> None:
        async with connected(self._database.superuser_dsn()) as connection:
            for statement in statements:
                await connection.execute(statement)

    async def differences(self, *, through: int | None = None) -> list[str]:
        """Compare the log with etcd's own history, up to a revision."""
        await self.cluster.oracle.caught_up()
        log = await self.log()
        return compared(
            self.cluster.oracle.versions(),
            log.entries,
            log.recovered.streams,
            through=through,
        )

    async def gap_reasons(self) -> list[tuple[str, str]]:
        """Return resource and reason of every gap that was opened."""
        entries = (await self.log()).entries
        return gap_reasons(draft for _, draft in entries)

    async def settle(self, seconds: float = 1.0) -> None:
        """Let what was written pass the linger of the recorder."""
        await asyncio.sleep(seconds)


def gap_reasons(drafts: Iterable[Draft]) -> list[tuple[str, str]]:
    """Return resource and reason of every gap that was opened."""
    return [
        (draft.resource or "", orjson.loads(draft.raw)["reason"])
        for draft in drafts
        if draft.operation is Operation.GAP_OPENED
    ]
