"""The manifests, installed: to the first committed entry, and its answers.

The recorder runs with the token, the rights, the environment and the probes
of the manifests against a real API server, in the file system of the image.
"""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.deploy.chart import CHART, DEPLOY, HelmError
from tests.deploy.pod import Node
from tests.deploy.rootfs import RootFs
from tests.deploy.site import (
    INSTALLED_SECONDS,
    Site,
    door_secrets,
    get,
    probed,
)
from tests.support.postgres import (
    Database,
    DatabaseServer,
    connected,
    fresh_database,
)
from tests.support.wire import Wire

pytestmark = pytest.mark.timeout(300)

MANIFESTS = DEPLOY / "manifests"
EXPORT = "/export.ndjson"
READERS = """
apiVersion: v1
kind: ServiceAccount
metadata: {name: admin, namespace: recorder}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: stranger, namespace: recorder}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: admin}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: cluster-admin
subjects: [{kind: ServiceAccount, name: admin, namespace: recorder}]
"""


@pytest.fixture
async def empty_database(
    embedded_server: DatabaseServer,
) -> AsyncIterator[Database]:
    async with fresh_database(embedded_server) as fresh:
        yield fresh


def address(database: Database, role: str, port: int) -> str:
    """Return the database's address for a role, over TCP."""
    parts = urlsplit(database.dsn(role))
    account = parts.netloc.partition("@")[0]
    return f"postgresql://{account}@127.0.0.1:{port}{parts.path}"


async def holder(cluster: Cluster, name: str) -> dict[str, str]:
    """Return what the holder of a service account's token sends."""
    token = await cluster.kubectl(
        "create", "token", name, "-n", "recorder", "--audience", "recorder"
    )
    return {"Authorization": f"Bearer {token.strip()}"}


async def entries(database: Database) -> int:
    async with connected(database.dsn("reader")) as connection:
        count: int = await connection.fetchval(
            "select count(*) from recorder.entry"
        )
        return count


async def measured_by_the_chart(site: Site, node: Node) -> None:
    """Install what measures, and see that an upgrade replaces no database."""
    external = ("--set", "database.mode=external")
    measured = ("--set", "measure.enabled=true")
    # No kubelet would run the Job that migrates.
    words = ("measuring", *INSTALL[1:], "--no-hooks", *measured)
    await site.helm("install", *words, *external)
    measuring = site.of("Deployment", "measuring-recorder-measure")
    async with node.running(measuring) as pod:
        await probed(pod, measuring)
        _, metrics = await get(pod, "health", "/metrics")
        assert "recorder_measure_waiting 0" in metrics
        assert await pod.stop() == 0, pod.said
    # An upgrade never replaces an external database by an empty one.
    with pytest.raises(HelmError, match="mode=external to keep"):
        # Without any value Helm takes those of the release.
        await site.helm("upgrade", *words, "--reset-values")
    await site.helm("upgrade", *words, *external)
    await site.helm("upgrade", *words, "--set", "database.mode=embedded")
    with pytest.raises(ValueError, match="not enough values"):
        site.of("Deployment", "measuring-recorder-measure")


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
        site, port = Site(cluster), cluster.ports.take()
        await stack.enter_async_context(Wire(socket).listening(port))
        addresses = {
            f"{role}-url": address(empty_database, role, port)
            for role in ("owner", "writer", "reader", "retention")
        }

        began = time.monotonic()
        await site.apply(MANIFESTS / "external.yaml")
        await site.apply(MANIFESTS / "migrate.yaml")
        secrets = {
            "recorder-database": addresses,
            **door_secrets(tmp_path / "door"),
        }
        node = await site.node(rootfs, pods, secrets)
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
        refused, _ = await get(api, "http", EXPORT)
        assert refused == 401
        status, lines = await get(api, "http", EXPORT, Authorization=bearer)
        assert status == 200
        assert "gpu-002" in lines

        # Nothing was forbidden: the rights are enough.
        _, metrics = await get(recorder, "health", "/metrics")
        assert 'state="forbidden"} 1.0' not in metrics
        assert 'state="live"} 1.0' in metrics

        assert await api.stop() == 0
        assert await recorder.stop() == 0
        for name in ("archive", "prune", "verify", "verify-all"):
            job = site.of("CronJob", f"recorder-{name}")
            async with node.running(job) as ran:
                assert await ran.ended() == 0, ran.said
        await measured_by_the_chart(site, node)


INSTALL = ("recorder", str(CHART), "--namespace", "recorder")
CLAIM = (
    "--source=recorder/metrics",
    "incident=1/1",
    "node=gpu-001",
    "begin=2026-11-21T03:00:00Z",
    "end=2026-11-21T04:00:00Z",
)


async def test_one_command_installs_a_pod_with_its_own_database(
    tmp_path: Path, rootfs: RootFs
) -> None:
    """By Helm, without any Secret, and it goes on after an upgrade."""
    readers = tmp_path / "readers.yaml"
    readers.write_text(READERS)
    options = Options(machines=gpu_machines(2))
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        site = Site(cluster)
        notes = await site.helm("install", *INSTALL, "--create-namespace")
        assert "exec deploy/recorder -- recorder token add me" in notes
        await cluster.kubectl("apply", "-f", str(readers))
        secrets = door_secrets(tmp_path / "door")
        node = await site.node(rootfs, tmp_path / "pods", secrets)
        recording = site.of("Deployment", "recorder")
        async with node.running(recording) as pod:
            await probed(pod, recording)
            refused, _ = await get(pod, "http", EXPORT)
            assert refused == 401
            done, token, said = await pod.exec(
                "recorder", "token", "add", "me"
            )
            assert done == 0, said
            mine = {"Authorization": f"Bearer {token.strip()}"}
            status, before = await get(pod, "http", EXPORT, **mine)
            assert status == 200
            assert "gpu-002" in before
            done, shown, said = await pod.exec("recorder", "status")
            assert done == 0, said
            assert "live" in shown
            _, metrics = await get(pod, "health", "/metrics")
            assert 'state="forbidden"} 1.0' not in metrics
            assert await pod.stop() == 0, pod.said

        sets = ("api.kubernetes=true", "measure.enabled=true")
        await site.helm("upgrade", *INSTALL, "--set", ",".join(sets))
        recording = site.of("Deployment", "recorder")
        async with node.running(recording) as pod:
            await probed(pod, recording)
            stranger = await holder(cluster, "stranger")
            status, _ = await get(pod, "http", EXPORT, **stranger)
            assert status == 403
            admin = await holder(cluster, "admin")
            for reader in (admin, mine):
                status, lines = await get(pod, "http", EXPORT, **reader)
                assert status == 200
                older = before.splitlines()[:-1]
                assert lines.splitlines()[: len(older)] == older
            # What measures beside it has a right to the door.
            claim = ("metrics.range", "node/gpu-001", *CLAIM)
            done, _, said = await pod.exec("recorder", "send", *claim)
            assert done == 0, said
            done, shown, said = await pod.exec("recorder", "measure", "--once")
            assert done == 0, said
            assert "kept the metrics of 0 nodes" in shown + said
            assert await pod.stop() == 0, pod.said
