"""The control plane of the test cluster, its end, and the oracle.

Each test has an API server and an etcd that no other test writes to.
"""

import asyncio
import json
import os
import random
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from recorder.explain.knowledge import shipped
from recorder.explain.knowledge.rules import MetricOf
from recorder.measuring.asking import Asked, taken
from recorder.measuring.prometheus import prometheus
from recorder.measuring.store_file import MetricsStore
from tests.cluster.client import ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import AUDIT_EVERYTHING, Options
from tests.cluster.oracle import LogRow
from tests.cluster.processes import PartFailedError
from tests.cluster.waiting import until
from tests.measuring.stores import has, prometheus_with, seconds
from tests.support.builders import at

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def bare(tmp_path: Path) -> AsyncIterator[Cluster]:
    options = Options(controller_manager=False, scheduler=False)
    async with Cluster.start(tmp_path / "cluster", options) as started:
        yield started


async def test_writes_are_audited_when_that_is_on(bare: Cluster) -> None:
    await bare.audit(AUDIT_EVERYTHING)
    await bare.api.create(CONFIG_MAPS, {"metadata": {"name": "seen"}})
    await bare.audit(None)
    await bare.api.create(CONFIG_MAPS, {"metadata": {"name": "unseen"}})

    lines = bare.audit_log.read_text().splitlines()
    names = [
        json.loads(line)["objectRef"].get("name")
        for line in lines
        if '"configmaps"' in line
    ]
    assert "seen" in names
    assert "unseen" not in names


async def test_a_part_that_fails_says_why(tmp_path: Path) -> None:
    options = Options(api_server_flags={"no-such-flag": "1"})
    with pytest.raises(PartFailedError, match="unknown flag"):
        async with Cluster.start(tmp_path / "cluster", options):
            raise AssertionError


async def test_nothing_outlives_a_killed_harness(tmp_path: Path) -> None:
    script = f"""
import asyncio, pathlib
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
async def main():
    options = Options(controller_manager=False, scheduler=False)
    folder = pathlib.Path({str(tmp_path / "cluster")!r})
    async with Cluster.start(folder, options) as cluster:
        print(cluster.etcd.pid, cluster.api_server.pid, flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""
    harness = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    assert harness.stdout is not None
    async with asyncio.timeout(60):
        children = [int(n) for n in (await harness.stdout.readline()).split()]
    assert len(children) == 2
    harness.kill()
    await harness.wait()

    def gone() -> bool:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, 0)
                return False
        return True

    await until(gone, "the children are gone")


async def test_the_oracle_follows_through_restarts_and_compaction(
    bare: Cluster,
) -> None:
    await bare.api.create(CONFIG_MAPS, {"metadata": {"name": "one"}})
    await bare.oracle.caught_up()
    await bare.compact()
    await bare.etcd.restart()

    async def written() -> bool:
        with suppress(ApiError):
            await bare.api.create(CONFIG_MAPS, {"metadata": {"name": "two"}})
            return True
        return False

    await until(written, "the API server has its etcd again")
    await bare.oracle.caught_up()

    seen = bare.oracle.versions("configmaps", namespace="default")
    assert [(v.epoch, v.name) for v in seen] == [(1, "one"), (1, "two")]


async def test_a_restore_begins_an_epoch_with_the_state_of_the_snapshot(
    bare: Cluster, tmp_path: Path
) -> None:
    kept = await bare.api.create(CONFIG_MAPS, {"metadata": {"name": "kept"}})
    await bare.snapshot(tmp_path / "snapshot")
    await bare.api.create(CONFIG_MAPS, {"metadata": {"name": "lost"}})
    await bare.oracle.caught_up()
    before = bare.oracle.revision

    with prometheus_with(tmp_path, scraped=scraped_of(bare)) as url:
        begin = seconds()
        await until(lambda: has(url, "sum(up)==2"), "both are scraped")
        await bare.restore(tmp_path / "snapshot")
        # It is away for seconds; etcd may be back before the next scrape.
        away = 'min_over_time(up{job="apiserver"}[10m])==0'
        await until(lambda: has(url, away), "the outage is scraped")
        await until(lambda: has(url, "sum(up)==2"), "both are back")
        await keeps_the_outage(url, begin)
    await bare.oracle.caught_up()

    seen = bare.oracle.versions("configmaps", namespace="default")
    assert [(v.epoch, v.name) for v in seen] == [
        (1, "kept"),
        (1, "lost"),
        (2, "kept"),
    ]
    assert seen[2].uid == kept["metadata"]["uid"]
    assert seen[2].revision < seen[1].revision <= before


def scraped_of(cluster: Cluster) -> list[dict[str, object]]:
    """Return the configuration that scrapes its API server and its etcd."""
    api_server, etcd = map(urlsplit, (cluster.server, cluster.etcd_url))
    scraped = {"scrape_interval": "1s", "scrape_timeout": "1s"}
    tls = {
        "ca_file": str(cluster.authority.certificate),
        "cert_file": str(cluster.admin.certificate),
        "key_file": str(cluster.admin.key),
    }
    return [
        {
            "job_name": name,
            "scheme": parts.scheme,
            "static_configs": [{"targets": [parts.netloc]}],
            **scraped,
            **({"tls_config": tls} if parts.scheme == "https" else {}),
        }
        for name, parts in (("apiserver", api_server), ("etcd", etcd))
    ]


async def keeps_the_outage(url: str, begin: float) -> None:
    """Ask as around an outage, by no node: its metrics are of the cluster."""
    asked = Asked("1/1", "gpu-001", at(begin), at(seconds()))
    description = MetricsStore(url=url)
    async with prometheus(description) as store:
        events = await taken(
            asked._replace(of=MetricOf.CONTROL_PLANE),
            description,
            store,
            shipped(),
            patient=True,
        )
    assert events is not None
    (event,) = events
    assert "lacking" not in event["data"]
    assert {one["name"] for one in event["data"]["series"]} == {
        "apiserver_current_inflight_requests",
        "etcd_server_has_leader",
        "etcd_server_leader_changes_seen_total",
    }


async def test_the_oracle_sees_every_write(bare: Cluster) -> None:
    """What the writer knows of its own writes equals what the oracle saw."""
    choose = random.Random(7)
    rows: list[LogRow] = []
    living: dict[str, str] = {}
    for number in range(120):
        name = f"object-{choose.randrange(8)}"
        operation = "added"
        if name in living:
            operation = "deleted" if choose.random() < 0.3 else "modified"
        uid, revision = await write(bare, operation, name, number)
        uid = uid or living.pop(name)
        if operation == "added":
            living[name] = uid
        rows.append(
            LogRow(
                epoch=1,
                group="",
                resource="configmaps",
                namespace="default",
                name=name,
                uid=uid,
                revision=revision,
                operation=operation,
                order=number,
            )
        )
    await bare.oracle.caught_up()

    def wrong(rows: list[LogRow]) -> list[str]:
        found = bare.oracle.compare(rows, resources=[("", "configmaps")])
        return [difference for difference in found if "object-" in difference]

    assert wrong(rows) == []
    for missing in (0, 60, 119):
        assert wrong(rows[:missing] + rows[missing + 1 :]) != []
    assert wrong([*rows, replace(rows[-1], order=120)]) != []


async def write(
    cluster: Cluster, operation: str, name: str, number: int
) -> tuple[str, int]:
    """Return uid and revision as the writer learns them."""
    path = f"{CONFIG_MAPS}/{name}"
    if operation == "deleted":
        # A delete does not answer with its revision. The API server writes
        # too, so that etcd's own only bounds it.
        before = await cluster.etcd_client.revision()
        await cluster.api.delete(path)
        await cluster.oracle.caught_up()
        end = cluster.oracle.versions("configmaps", name=name)[-1]
        assert end.deleted
        assert before < end.revision <= cluster.oracle.revision
        return "", end.revision
    if operation == "added":
        body = {"metadata": {"name": name}}
        written = await cluster.api.create(CONFIG_MAPS, body)
    else:
        written = await cluster.api.patch(path, {"data": {"n": str(number)}})
    metadata = written["metadata"]
    return metadata["uid"], int(metadata["resourceVersion"])


async def test_the_oracle_knows_heartbeats(bare: Cluster) -> None:
    leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    lease = {"metadata": {"name": "n"}, "spec": {"holderIdentity": "n"}}
    await bare.api.create(leases, lease)
    for spec in (
        {"renewTime": "2026-01-01T00:00:00.000000Z"},
        {"renewTime": "2026-01-01T00:00:10.000000Z"},
        {"holderIdentity": "m"},
    ):
        await bare.api.patch(f"{leases}/n", {"spec": spec})

    await bare.api.create("/api/v1/nodes", {"metadata": {"name": "n"}})
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    later = ready | {"lastHeartbeatTime": "2026-01-01T00:00:10Z"}
    for status in (
        {"conditions": [ready]},
        {"conditions": [later]},
        {"images": [{"names": ["registry.example/trainer:1"]}]},
        {"conditions": [later | {"reason": "Other"}]},
    ):
        path = "/api/v1/nodes/n/status"
        await bare.api.patch(path, {"status": status})
    await bare.api.delete("/api/v1/nodes/n")
    await bare.oracle.caught_up()

    seen = {
        resource: [
            v.heartbeat for v in bare.oracle.versions(resource, name="n")
        ]
        for resource in ("leases", "nodes")
    }
    # The first renewal adds a field, and with it an owner of that field.
    assert seen["leases"] == [False, False, True, False]
    assert seen["nodes"] == [False, False, True, True, False, False]
    assert bare.oracle.versions("nodes")[-1].deleted
