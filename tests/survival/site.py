"""Everything that a schedule breaks: cluster, database, recorders, wires.

`made` puts it up, without kubelets and controllers, whose work the
traffic does. What is broken, and what the log must then say, is not known
here; only whether the log has caught up with the cluster is.
"""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from tests.cluster.cluster import Cluster
from tests.cluster.comparison import Version
from tests.cluster.controlplane import Options
from tests.cluster.definitions import CRDS, WORKLOADS_CRD
from tests.cluster.waiting import until
from tests.support.recorded import EVERY, RBAC
from tests.support.wire import Wire
from tests.survival.database import (
    EmbeddedDatabase,
    Head,
    Point,
    SharedDatabase,
    read_head,
    read_points,
)
from tests.survival.recorder_command import CLOCK_VARIABLE, MovingClock
from tests.survival.recorder_process import Recorder
from tests.survival.traffic import Traffic

__all__ = ["EVENT_TTL", "UNREADABLE", "WORKLOADS", "Site", "made"]

WORKLOADS = "kueue.x-k8s.io/v1beta1/workloads"
EVENT_TTL = timedelta(seconds=40)
RECONCILE_SECONDS = 15
DISK_MIB = 700
CAUGHT_UP_SECONDS = 60
NODE_LEASES = "kube-node-lease"
UNREADABLE = (OSError, TimeoutError, asyncpg.PostgresError)


class Site:
    """A cluster, a database, and one or two recorders between them."""

    def __init__(
        self,
        folder: Path,
        cluster: Cluster,
        database: EmbeddedDatabase | SharedDatabase,
        traffic: Traffic,
    ) -> None:
        self.folder = folder
        self.cluster = cluster
        self.database = database
        self.traffic = traffic
        self.clock = MovingClock(folder / "clock")
        self.event_ttl = EVENT_TTL
        self.to_cluster = Wire(_port(cluster.server))
        self.recorders: list[Recorder] = []
        self.disk: Path | None = None
        """A small filesystem that holds the data folder, if there is one."""
        self.takeovers: list[float] = []

    @property
    def data(self) -> Path:
        """The data folder of the first recorder."""
        return self.folder / "data"

    @property
    def shared(self) -> SharedDatabase:
        """The database, where two recorders share it."""
        assert isinstance(self.database, SharedDatabase)
        return self.database

    @property
    def embedded(self) -> EmbeddedDatabase:
        """The database, where it is the recorder's own."""
        assert isinstance(self.database, EmbeddedDatabase)
        return self.database

    @property
    def is_shared(self) -> bool:
        """Whether two recorders share an external server."""
        return isinstance(self.database, SharedDatabase)

    @property
    def recorder(self) -> Recorder:
        """The first recorder."""
        return self.recorders[0]

    def start_recorders(self) -> None:
        """Start all of them."""
        for recorder in self.recorders:
            recorder.start()

    def kill_recorders(self) -> None:
        """SIGKILL all of them."""
        for recorder in self.recorders:
            recorder.kill()

    @asynccontextmanager
    async def written_to(self) -> AsyncIterator[None]:
        """Write to the cluster while entered."""
        async with asyncio.TaskGroup() as group:
            traffic = group.create_task(self.traffic.run())
            try:
                yield
            finally:
                traffic.cancel()

    async def settled(
        self, *, epoch: int = 1, seconds: float = CAUGHT_UP_SECONDS
    ) -> int:
        """Write nothing until the log has caught up; return up to where."""
        await self.traffic.stop()
        await self.traffic.everything_once()
        return await self.until_caught_up(epoch=epoch, seconds=seconds)

    async def points(self) -> dict[str, Point]:
        """Return the committed resume point of each resource."""
        return await read_points(self.database.dsn("reader"))

    async def head(self) -> Head:
        """Return the end of the log."""
        return await read_head(self.database.dsn("reader"))

    def settings(self, name: str) -> dict[str, str]:
        """Return the settings of a recorder."""
        given = {
            "RECORDER_KUBECONFIG": str(self.folder / "kubeconfig"),
            "RECORDER_DATA_DIR": str(self.folder / name),
            "RECORDER_HEALTH_LISTEN": "127.0.0.1:0",
            "RECORDER_EVENT_TTL": f"{self.event_ttl.total_seconds():.0f}s",
            "RECORDER_RECONCILE_EVERY": f"{RECONCILE_SECONDS}s",
            CLOCK_VARIABLE: str(self.folder / "clock"),
        }
        if isinstance(self.database, SharedDatabase):
            given["RECORDER_DATABASE_URL"] = self.database.dsn_over_wire()
            # Two that write one log have one key.
            key = self.folder / "redaction.key"
            given["RECORDER_REDACTION_KEY_FILE"] = str(key)
        return given

    async def new_token(self) -> None:
        """Return the recorders a new token of their service account."""
        path = await self.cluster.service_account("recorder", "recorder")
        user = json.loads(path.read_text())["users"][0]["user"]
        fresh = self.folder / "token.new"
        fresh.write_text(user["token"])
        fresh.replace(self.folder / "token")

    async def until_caught_up(
        self, *, epoch: int, seconds: float = CAUGHT_UP_SECONDS
    ) -> int:
        """Wait until the log holds all that the cluster did until now.

        Nothing may be written meanwhile. Each resource must be live, proven
        after now, and as far as its newest version. Gives the revision that
        was the newest.
        """
        revision = await self.cluster.oracle.caught_up()
        since = self.clock.now()
        newest = _newest(self.cluster)
        missing = ["nothing was asked yet"]

        async def caught_up() -> bool:
            try:
                points = await self.points()
                head = await self.head()
            except UNREADABLE as exc:
                missing[:] = [f"the log cannot be read: {exc}"]
                return False
            missing[:] = [
                f"{name}: {points.get(name)}, wanted {newest.get(name)}"
                for name in (*EVERY, WORKLOADS)
                if not _is_caught_up(points.get(name), newest.get(name, 0))
                or (points[name].vouched_until or since) <= since
            ]
            if head.epoch != epoch:
                missing.append(f"epoch {head.epoch}, wanted {epoch}")
            return not missing

        try:
            await until(
                caught_up,
                "the log has caught up",
                seconds=seconds,
                every=0.2,
            )
        except TimeoutError as exc:
            message = f"{exc}: {'; '.join(missing)}"
            raise TimeoutError(message) from None
        return revision

    async def until_term_after(self, term: int, *, seconds: float) -> float:
        """Wait for another writer; return how long it took."""
        began = asyncio.get_running_loop().time()

        async def taken() -> bool:
            try:
                return (await self.head()).term > term
            except UNREADABLE:
                return False

        await until(taken, f"a term after {term}", seconds=seconds)
        return asyncio.get_running_loop().time() - began


@asynccontextmanager
async def made(
    seed: int, *, shared: bool, event_ttl: timedelta = EVENT_TTL
) -> AsyncIterator[Site]:
    """Put everything up, and take it down with the block."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(_folder())
        options = Options(
            controller_manager=False,
            scheduler=False,
            event_ttl=f"{event_ttl.total_seconds():.0f}s",
            etcd_compaction_interval="0",
        )
        cluster = await stack.enter_async_context(
            Cluster.start(folder / "cluster", options)
        )
        disk = None
        database: EmbeddedDatabase | SharedDatabase
        if shared:
            database = await stack.enter_async_context(
                SharedDatabase(folder / "server").running()
            )
        else:
            disk = stack.enter_context(_small_disk(folder / "data"))
            database = EmbeddedDatabase(folder / "data")
        site = Site(folder, cluster, database, Traffic(cluster.api, seed))
        site.event_ttl = event_ttl
        site.disk = disk
        await stack.enter_async_context(_listening(site))
        await _prepare(site)
        stack.callback(_end, site)
        yield site


@asynccontextmanager
async def _listening(site: Site) -> AsyncIterator[None]:
    port = site.cluster.ports.take()
    async with site.to_cluster.listening(port):
        authority = site.cluster.authority.certificate
        _kubeconfig(site.folder, port=port, authority=authority)
        yield


def _kubeconfig(folder: Path, *, port: int, authority: Path) -> None:
    cluster = {
        "server": f"https://127.0.0.1:{port}",
        "certificate-authority": str(authority),
    }
    user = {"tokenFile": str(folder / "token")}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "survival",
        "clusters": [{"name": "survival", "cluster": cluster}],
        "users": [{"name": "recorder", "user": user}],
        "contexts": [
            {
                "name": "survival",
                "context": {"cluster": "survival", "user": "recorder"},
            }
        ],
    }
    (folder / "kubeconfig").write_text(json.dumps(document))


async def _prepare(site: Site) -> None:
    cluster = site.cluster
    await cluster.kubectl("apply", "-f", str(RBAC))
    await site.new_token()
    await cluster.api.create(CRDS, WORKLOADS_CRD)
    key = site.folder / "redaction.key"
    key.touch(mode=0o600)
    key.write_text("00" * 32)
    names = ["data", "standby"] if site.is_shared else ["data"]
    site.recorders = [
        Recorder(name, site.folder, site.settings(name)) for name in names
    ]


def _end(site: Site) -> None:
    """End what may still run, frozen or not."""
    site.kill_recorders()
    if isinstance(site.database, EmbeddedDatabase):
        site.database.resume()


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder that another account can reach its own parts of."""
    folder = Path(tempfile.mkdtemp(prefix="recorder-survival-"))
    folder.chmod(0o711)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path | None]:
    """Mount a small filesystem there, if that is possible here."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={DISK_MIB}m,mode=711", "tmpfs"]
    mounted = os.geteuid() == 0 and (
        subprocess.run(
            ["mount", *options, str(folder)], check=False, capture_output=True
        ).returncode
        == 0
    )
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)


def _newest(cluster: Cluster) -> dict[str, int]:
    """Return the newest revision of each resource, by its plural's end."""
    oracle = cluster.oracle
    return {
        name: max(
            (
                version.revision
                for version in oracle.versions(name.rpartition("/")[2])
                if version.epoch == oracle.epoch
                and _group(name) == version.group
                and not _is_of_others(version)
            ),
            default=0,
        )
        for name in (*EVERY, WORKLOADS)
    }


def _is_of_others(version: Version) -> bool:
    """Whether it is a Lease that is not a node's, which is not watched."""
    return version.resource == "leases" and version.namespace != NODE_LEASES


def _group(name: str) -> str:
    return name.partition("/")[0] if name.count("/") > 1 else ""


def _is_caught_up(point: Point | None, revision: int) -> bool:
    return (
        point is not None
        and point.state == "live"
        and not point.is_open
        and point.pending >= revision
    )


def _port(address: str) -> int:
    port = urlsplit(address).port
    assert port is not None, "the harness chose one"
    return port
