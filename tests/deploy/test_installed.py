"""The manifests, installed: to the first committed entry, and its answers.

The recorder runs with the token, the rights, the environment and the probes
of the manifests against a real API server, in the file system of the image.
"""

import secrets
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import asyncpg
import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from recorder.admin.tokens import TokenFile
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.cluster.waiting import until
from tests.deploy.chart import DEPLOY, objects
from tests.deploy.pod import Container, Node, pod_of
from tests.deploy.rootfs import RootFs
from tests.support.postgres import (
    Database,
    DatabaseServer,
    fresh_database,
)
from tests.survival.wire import Wire

pytestmark = pytest.mark.timeout(300)

INSTALLED_SECONDS = 60
"""From the manifests to the first committed entry."""


@pytest.fixture
async def empty_database(
    embedded_server: DatabaseServer,
) -> AsyncIterator[Database]:
    async with fresh_database(embedded_server) as fresh:
        yield fresh


class Site:
    """A cluster, a database with an address, and what runs."""

    def __init__(self, cluster: Cluster, database: Database) -> None:
        self.cluster = cluster
        self.database = database
        self.manifests: list[dict[str, Any]] = []
        self.port = 0
        self.token = ""

    def of(self, kind: str, name: str) -> dict[str, Any]:
        """Return the Pods of an object of the manifests."""
        (found,) = [
            each
            for each in self.manifests
            if (each["kind"], each["metadata"]["name"]) == (kind, name)
        ]
        return pod_of(found)

    async def apply(self, name: str) -> None:
        """Apply manifests, as their reader does."""
        path = DEPLOY / f"manifests/{name}.yaml"
        self.manifests += objects(path.read_text())
        await self.cluster.kubectl("apply", "-f", str(path))

    def address(self, role: str) -> str:
        """Return the database's address for a role, over TCP."""
        parts = urlsplit(self.database.dsn(role))
        account = parts.netloc.partition("@")[0]
        return f"postgresql://{account}@127.0.0.1:{self.port}{parts.path}"

    async def node(self, rootfs: RootFs, folder: Path) -> Node:
        """Return what runs Pods, with the Secrets that an operator makes."""
        tokens = TokenFile(folder.with_name("tokens"))
        self.token = tokens.add("grafana")
        held = {
            "recorder-database": {
                f"{role}-url": self.address(role)
                for role in ("owner", "writer", "reader", "retention")
            },
            "recorder-keys": {
                "redaction.key": secrets.token_hex(32),
                "signing.key": signing_key(),
            },
            "recorder-tokens": {
                "tokens": folder.with_name("tokens").read_text()
            },
        }
        kubeconfig = await self.cluster.service_account("recorder", "recorder")
        content = yaml.safe_load(kubeconfig.read_text())
        user = content["users"][0]["user"]
        url = urlsplit(content["clusters"][0]["cluster"]["server"])
        authority = self.cluster.authority.certificate.read_text()
        assert url.hostname is not None
        assert url.port is not None
        return Node(
            rootfs,
            folder,
            secrets=held,
            api_server=(url.hostname, url.port),
            token={
                "token": user["token"],
                "ca.crt": authority,
                "namespace": "recorder",
            },
            free_port=self.cluster.ports.take,
        )


def signing_key() -> str:
    """Make the key that an operator makes with openssl."""
    return (
        Ed25519PrivateKey.generate()
        .private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        .decode()
    )


async def get(
    container: Container, port: str, path: str, **headers: str
) -> tuple[int, str]:
    url = f"http://127.0.0.1:{container.ports[port]}{path}"
    async with (
        aiohttp.ClientSession() as session,
        session.get(url, headers=headers) as answer,
    ):
        return answer.status, await answer.text()


async def probed(container: Container, pod: dict[str, Any]) -> None:
    """Wait until a Pod is ready, by its own probe."""
    (spec,) = pod["containers"]
    probe = spec["readinessProbe"]["httpGet"]

    async def ready() -> bool:
        assert container.process.returncode is None, await said(container)
        try:
            status, _ = await get(container, probe["port"], probe["path"])
        except aiohttp.ClientConnectionError:
            return False
        return status == 200

    await until(ready, "the Pod is ready", seconds=INSTALLED_SECONDS)


async def said(container: Container) -> str:
    await container.ended()
    return container.said


async def entries(database: Database) -> int:
    connection = await asyncpg.connect(database.dsn("reader"))
    try:
        count: int = await connection.fetchval(
            "select count(*) from recorder.entry"
        )
        return count
    finally:
        await connection.close()


async def test_the_manifests_install_a_recorder_that_records(
    tmp_path: Path,
    empty_database: Database,
    rootfs: RootFs,
) -> None:
    options = Options(machines=gpu_machines(2))
    pods = tmp_path / "pods"
    place = dict(parse_qsl(urlsplit(empty_database.dsn("owner")).query))
    socket = Path(place["host"]) / f".s.PGSQL.{place['port']}"
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(
            Cluster.start(tmp_path / "cluster", options)
        )
        site = Site(cluster, empty_database)
        site.port = cluster.ports.take()
        await stack.enter_async_context(Wire(socket).listening(site.port))

        began = time.monotonic()
        await site.apply("external")
        await site.apply("migrate")
        node = await site.node(rootfs, pods)
        migrating = site.of("Job", "recorder-migrate")
        async with node.running(migrating) as migrate:
            assert await migrate.ended() == 0, migrate.said
        recording = site.of("Deployment", "recorder")
        recorder = await stack.enter_async_context(node.running(recording))
        await probed(recorder, recording)
        took = time.monotonic() - began
        assert await entries(empty_database) > 0
        print(f"first entry after {took:.1f} s")
        assert took <= INSTALLED_SECONDS

        # The standby is ready too; the API answers with a token.
        standby = await stack.enter_async_context(node.running(recording))
        await probed(standby, recording)
        _, ready = await get(standby, "health", "/readyz")
        assert ready.startswith("standing-by")
        asking = site.of("Deployment", "recorder-api")
        api = await stack.enter_async_context(node.running(asking))
        await probed(api, asking)
        bearer = f"Bearer {site.token}"
        refused, _ = await get(api, "http", "/export.ndjson")
        assert refused == 401
        status, lines = await get(
            api, "http", "/export.ndjson", Authorization=bearer
        )
        assert status == 200
        assert "gpu-002" in lines

        # Nothing was forbidden: the rights are enough.
        _, metrics = await get(recorder, "health", "/metrics")
        assert 'state="forbidden"} 1.0' not in metrics
        assert 'state="live"} 1.0' in metrics

        assert await api.stop() == 0
        assert await recorder.stop() == 0
        for name in ("archive", "prune", "verify"):
            job = site.of("CronJob", f"recorder-{name}")
            async with node.running(job) as ran:
                assert await ran.ended() == 0, ran.said
