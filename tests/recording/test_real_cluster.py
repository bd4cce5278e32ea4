"""A day in the life of a cluster, recorded: the log equals etcd's history."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from recorder.intake.endings import VANISHED
from recorder.intake.walking import WATCH_EXPIRED
from recorder.keeping.integrity import verified
from recorder.keeping.verifying import Verifying
from recorder.model.settings import Settings
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.definitions import CRDS, WORKLOADS_CRD
from tests.cluster.machines import gpu_machines
from tests.support.postgres import Database
from tests.support.recorded import Recorded
from tests.tampering.story import the_log

NODES = [f"gpu-{number:03}" for number in range(1, 11)]

WORKLOADS = "/apis/kueue.x-k8s.io/v1beta1/namespaces/train/workloads"


def a_job(name: str, pods: int, *, seconds: int) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completions": pods,
            "parallelism": pods,
            "backoffLimit": 20,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [
                        {
                            "name": "main",
                            "image": "registry.example/train:1",
                            "command": ["sleep", str(seconds)],
                            "env": [
                                {"name": "HF_TOKEN", "value": "hf_s3cr3t"}
                            ],
                        }
                    ],
                }
            },
        },
    }


async def make_jobs(cluster: Cluster, *jobs: dict[str, Any]) -> None:
    for job in jobs:
        await cluster.api.create("/apis/batch/v1/namespaces/train/jobs", job)


async def define_workloads(recorded: Recorded) -> None:
    await recorded.cluster.api.create(CRDS, WORKLOADS_CRD)
    await recorded.until_listed("kueue.x-k8s.io/v1beta1/workloads")
    await recorded.cluster.api.create(
        WORKLOADS,
        {
            "apiVersion": "kueue.x-k8s.io/v1beta1",
            "kind": "Workload",
            "metadata": {"name": "w-1"},
        },
    )


@pytest.mark.timeout(300)
async def test_the_log_of_a_busy_cluster_equals_its_history(
    tmp_path: Path, database: Database
) -> None:
    options = Options(machines=gpu_machines(len(NODES)))
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        recorded = Recorded(cluster, database, tmp_path)
        await recorded.grant()
        await cluster.kubectl("create", "namespace", "train")
        await recorded.start()
        await recorded.until_listed()

        await make_jobs(
            cluster,
            a_job("short", 6, seconds=3),
            a_job("long", 8, seconds=600),
        )
        await cluster.kubectl(
            "drain", NODES[0], "--ignore-daemonsets", "--force"
        )
        await recorded.stop()
        await cluster.machines[NODES[1]].crash()
        await recorded.start()
        await define_workloads(recorded)
        await cluster.controller_manager.restart()
        await cluster.machines[NODES[1]].boot()
        await cluster.compact()
        await recorded.kill()
        await cluster.machines[NODES[2]].crash()
        await cluster.machines[NODES[2]].boot()
        await recorded.start()
        await cluster.until_ready(NODES[1], NODES[2])
        await cluster.kubectl("uncordon", NODES[0])
        await cluster.api.delete(f"{CRDS}/workloads.kueue.x-k8s.io")
        await recorded.stop()
        await make_jobs(cluster, a_job("unseen", 4, seconds=2))
        await recorded.start()
        await asyncio.sleep(5)
        await cluster.kubectl("delete", "job", "long", "-n", "train")
        done = await cluster.kubectl(
            "annotate", "node", NODES[3], "done=yes", "-o",
            "jsonpath={.metadata.resourceVersion}",
        )  # fmt: skip
        await recorded.until_seen(int(done), "v1/nodes")
        await recorded.settle(2)

        await recorded.stop()
        assert await recorded.differences(through=int(done)) == []
        # etcd was compacted past the Events, which have no bookmark.
        assert set(await recorded.gap_reasons()) <= {
            ("kueue.x-k8s.io/v1beta1/workloads", VANISHED),
            ("v1/events", WATCH_EXPIRED),
        }
        log = await recorded.log()
        raw = b"".join(draft.raw for _, draft in log.entries)
        assert b"hf_s3cr3t" not in raw
        assert b"HF_TOKEN" in raw
        assert any(
            draft.reason == "Rebooted" and draft.node == NODES[1]
            for _, draft in log.entries
        )

        # Proven by the checkpoint that each clean end left outside.
        found = await verified(
            Settings(data_dir=tmp_path / "data"),
            database.dsn("writer"),
            the_log(1),
            Verifying(),
            asyncio.Event(),
        )
        assert found.problems == []
        assert found.agreed == found.batches
        assert len({one.checkpoint for one in found.witnessed}) >= 3
