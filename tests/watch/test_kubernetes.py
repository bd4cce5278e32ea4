"""The source against a real API server, with exactly the rights we ship.

Everything that happens is compared with etcd's own history: what was not sent
must lie between the place of a stream and a list that followed.
"""

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from recorder.model.observation import (
    ABSENT,
    EpochBegan,
    HistoryWalked,
    InputRefused,
    ListPage,
    RequestFailed,
    StreamClosed,
)
from recorder.model.reference import Resource
from recorder.sources.watch import ClusterClient, WatchSettings, WatchSource
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.definitions import definition
from tests.watch.account import Account
from tests.watch.watching import PODS, Memory

MANIFEST = Path(__file__).parents[2] / "deploy" / "rbac.yaml"
SETTINGS = WatchSettings(
    watch_shortest=5,
    watch_longest=10,
    watch_unmarked=5,
    backoff_longest=1,
    reconcile_every=10,
    reconcile_wait=20,
)
COMPARED = ("pods", "events", "namespaces", "customresourcedefinitions")
JOBSET = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets")
DEFINITION = definition("JobSet", JOBSET.group, JOBSET.version)


@pytest.mark.timeout(180)
async def test_nothing_is_missed_whatever_happens_to_the_server(
    tmp_path: Path,
) -> None:
    options = Options(
        controller_manager=False, scheduler=False, etcd_compaction_interval="0"
    )
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        client = await _client(cluster)
        memory = Memory()
        identity = await client.identity()
        source = WatchSource(
            client, cluster_uid=identity.uid, redact=lambda raw, _: raw
        )
        async with asyncio.TaskGroup() as group:
            recording = group.create_task(source.run(memory, memory))
            await _live(cluster, memory, "first")
            await _kinds_come_and_go(cluster, memory)
            await _server_dies(cluster, memory)
            await _token_is_replaced(cluster, memory)
            await _history_is_rewound(cluster, memory, tmp_path / "backup")
            await cluster.oracle.caught_up()
            await _live(cluster, memory, "last")
            recording.cancel()
        await client.close()
        await cluster.oracle.caught_up()

        assert not _missed(cluster, memory)
    assert len(memory.of(EpochBegan)) == 1
    assert not memory.of(InputRefused)
    reasons = {closed.reason for closed in memory.of(StreamClosed)}
    assert "reconcile-mismatch" not in reasons
    assert 403 not in {failed.status for failed in memory.of(RequestFailed)}


async def _client(cluster: Cluster) -> ClusterClient:
    await cluster.kubectl("apply", "-f", "-", stdin=MANIFEST.read_text())
    path = await cluster.service_account("recorder", "recorder")
    return ClusterClient.from_kubeconfig(str(path), settings=SETTINGS)


async def _live(cluster: Cluster, memory: Memory, name: str) -> None:
    """Wait until a pod that is made now is sent by the watch."""
    await memory.until(lambda: memory.of(ListPage, PODS))
    made = await cluster.api.create(
        "/api/v1/namespaces/default/pods",
        {
            "metadata": {"name": name},
            "spec": {
                "containers": [{"name": "c", "image": "x"}],
                "automountServiceAccountToken": False,
            },
        },
    )
    uid = made["metadata"]["uid"]
    await memory.until(lambda: (PODS, uid) in memory.objects)


async def _kinds_come_and_go(cluster: Cluster, memory: Memory) -> None:
    def was_sent_gone() -> bool:
        closed = memory.of(StreamClosed, JOBSET)
        return bool(closed) and closed[-1].reason == ABSENT

    definition, jobset = json.dumps(DEFINITION), json.dumps(_a_jobset())
    await cluster.kubectl("apply", "-f", "-", stdin=definition)
    await memory.until(lambda: memory.of(ListPage, JOBSET))
    await cluster.kubectl("delete", "crd", "jobsets.jobset.x-k8s.io")
    await memory.until(was_sent_gone)
    await cluster.kubectl("apply", "-f", "-", stdin=definition)
    await memory.until(lambda: memory.of(HistoryWalked, JOBSET))
    await cluster.kubectl("apply", "-f", "-", stdin=jobset)
    await memory.until(lambda: any(of == JOBSET for of, _ in memory.objects))


def _a_jobset() -> dict[str, Any]:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "llm"},
    }


async def _server_dies(cluster: Cluster, memory: Memory) -> None:
    """A server that starts knows neither roles nor CRDs: no 403, no 404."""
    gone = len([c for c in memory.of(StreamClosed) if c.reason == ABSENT])
    await cluster.api_server.kill()
    await cluster.api_server.start()
    await _live(cluster, memory, "after-kill")
    await cluster.api_server.restart()
    await _live(cluster, memory, "after-restart")
    closed = [c for c in memory.of(StreamClosed) if c.reason == ABSENT]
    assert len(closed) == gone


async def _token_is_replaced(cluster: Cluster, memory: Memory) -> None:
    """The token is void with its account; the next is read from the file."""
    account = ("serviceaccount", "recorder", "-n", "recorder")
    await cluster.kubectl("delete", *account)
    await cluster.kubectl("create", *account)
    await cluster.service_account("recorder", "recorder")
    await _live(cluster, memory, "after-token")


async def _history_is_rewound(
    cluster: Cluster, memory: Memory, backup: Path
) -> None:
    await cluster.snapshot(backup)
    await _live(cluster, memory, "lost")
    await cluster.restore(backup)
    await memory.until(lambda: memory.of(EpochBegan))
    await _live(cluster, memory, "after-rewind")


def _missed(cluster: Cluster, memory: Memory) -> list[str]:
    account = Account.of(
        memory.seen, epochs=itertools.count(1), plurals=COMPARED
    )
    return [
        str(v)
        for v in cluster.oracle.versions()
        if v.resource in COMPARED
        and not account.explains(
            (v.epoch, v.resource, v.uid, v.revision, v.deleted)
        )
    ]
