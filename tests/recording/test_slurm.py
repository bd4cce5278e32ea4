"""A real Slurm on Nodes of a real Kubernetes, recorded by one process.

Played by `make scenarios` alone: it starts both.
"""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.naming import Reference
from recorder.answers.node_questions import (
    ImpactQuestion,
    WhyWorkloadQuestion,
)
from recorder.answers.why_workload import ask_why_workload
from recorder.explain.knowledge import shipped
from recorder.model.entry import Operation
from recorder.model.settings import Settings
from recorder.model.window import Window
from recorder.sources.slurm import NodeMapping
from recorder.sources.watch import ClusterClient
from recorder.wiring.polling import slurm_source
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.cluster.waiting import until
from tests.corpus.logs import reading_of
from tests.slurm.laboratory import CLUSTER, Laboratory
from tests.support.postgres import Database
from tests.support.recorded import Recorded
from tests.support.sampling import sampled

MANIFEST = Path(__file__).parents[2] / "deploy" / "rbac.yaml"
LOST = "gpu-002"


async def is_unknown(cluster: Cluster) -> bool:
    node = await cluster.api.get(f"/api/v1/nodes/{LOST}")
    return any(
        one["type"] == "Ready" and one["status"] == "Unknown"
        for one in node["status"]["conditions"]
    )


async def a_node_takes_a_gang(tmp_path: Path, database: Database) -> None:
    """A machine dies: Kubernetes and Slurm lose it, each in its own time."""
    options = Options(machines=gpu_machines(3))
    with Laboratory(3) as lab:
        async with Cluster.start(tmp_path / "cluster", options) as cluster:
            recorded = Recorded(cluster, database, tmp_path)
            await recorded.grant()
            await recorded.start(
                slurm_url=lab.url,
                slurm_token_file=str(lab.token_file),
                slurm_cluster=CLUSTER,
                slurm_same_names="true",
                slurm_interval="500ms",
            )
            await recorded.until_listed()
            job = lab.submit("-N3", "-n3", "--exclusive", "--no-requeue")
            await asyncio.to_thread(lab.wait_for, job, "RUNNING")
            await recorded.settle(3)
            await cluster.machines[LOST].crash()
            lab.end(LOST)
            await asyncio.to_thread(
                lab.wait, lambda: lab.state_of(job) == "NODE_FAIL", "end", 120
            )
            await until(
                lambda: is_unknown(cluster), "the Node is lost", seconds=120
            )
            await recorded.settle(5)
            await recorded.stop()
    now = datetime.now(UTC)
    async with reading_of(database.dsn("reader"), 1) as reading:
        found = await ask_why_workload(
            reading,
            WhyWorkloadQuestion(
                object=Reference.parse(f"slurmjob/{CLUSTER}/{job}"),
                at=None,
                window=Window(),
            ),
            shipped(),
            now=now,
        )
        impact = await ask_impact(
            reading,
            ImpactQuestion(nodes=(LOST,), window=Window()),
            shipped(),
            now=now,
        )
    (ending,) = found.endings
    assert (ending.ended_by, ending.node) == ("node-failure", LOST)
    assert ending.verdict is not None
    assert ending.verdict.node == LOST
    assert f"SlurmJob {CLUSTER}/{job}" in {
        str(hit.workload) for hit in impact.workloads
    }


async def labels_name_nodes(tmp_path: Path) -> None:
    """As Slinky labels Pods with slurmd, and slurm-bridge Nodes.

    The objects are made after their sources, not by them; the API server and
    the rights are real.
    """
    token = tmp_path / "token"
    token.write_text("unused")
    options = Options(controller_manager=False, scheduler=False)
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        await cluster.kubectl("apply", "-f", str(MANIFEST))
        for name, labels in (
            ("ip-1", {"slinky.slurm.net/slurm-nodename": "g1"}),
            ("ip-2", {}),
        ):
            node = {"metadata": {"name": name, "labels": labels}}
            await cluster.api.create("/api/v1/nodes", node)
        for name, node_name in (("slurmd-2", "ip-2"), ("slurmd-3", None)):
            hostname = name.replace("slurmd-", "g")
            label = {"nodeset.slinky.slurm.net/pod-hostname": hostname}
            spec: dict[str, Any] = {
                "containers": [{"name": "slurmd", "image": "x"}],
                "automountServiceAccountToken": False,
            }
            if node_name:
                spec["nodeName"] = node_name
            pod = {"metadata": {"name": name, "labels": label}, "spec": spec}
            await cluster.api.create("/api/v1/namespaces/default/pods", pod)
        path = await cluster.service_account("recorder", "recorder")
        client = ClusterClient.from_kubeconfig(str(path))
        mapping = NodeMapping()
        settings = Settings(
            slurm_url="http://127.0.0.1:9",
            slurm_cluster=CLUSTER,
            slurm_token_file=token,
        )
        slurm_source(settings, client, mapping)
        await mapping.refresh()
        await client.close()
    found = {name: mapping.of(name) for name in ("g1", "g2", "g3", "g4")}
    assert found == {"g1": "ip-1", "g2": "ip-2", "g3": None, "g4": None}


async def until_recorded(recorded: Recorded, job: int, state: str) -> None:
    """Wait until the log has a run of a job in a state."""

    async def is_recorded() -> bool:
        return any(
            (run["job"], run["state"]) == (job, state)
            for _, draft in (await recorded.log()).entries
            if draft.operation is Operation.CLOUDEVENT
            if "submit" in (run := msgspec.json.decode(draft.raw)["data"])
        )

    await until(is_recorded, f"job {job} is {state}", seconds=90)


async def place(cluster: Cluster, lab: Laboratory, name: str) -> int:
    """Place a Pod as SUNK's Pod Scheduler does: by a placeholder job.

    After its documentation, not by it: a job of root, which waits for room;
    when it runs, the Pod is bound to its node.
    """
    pods = "/api/v1/namespaces/default/pods"
    container = {"name": "server", "image": "x"}
    spec = {"schedulerName": "slurm-scheduler", "containers": [container]}
    await cluster.api.create(pods, {"metadata": {"name": name}, "spec": spec})
    job = await asyncio.to_thread(
        lab.submit, "-N1", "-n1", "-p", "infer", "-J", name
    )
    await asyncio.to_thread(lab.wait_for, job, "RUNNING")
    shown = lab.run("squeue", "-h", "-j", str(job), "-o", "%N")
    target = {"apiVersion": "v1", "kind": "Node", "name": shown}
    binding = {"metadata": {"name": name}, "target": target}
    await cluster.api.create(f"{pods}/{name}/binding", binding)
    return job


async def inference_takes_a_place(tmp_path: Path, database: Database) -> None:
    """A Pod preempts a job: by slurmctld's log, and by the moment alone."""
    found = []
    with Laboratory(2, accounting=True) as lab:
        options = Options(machines=gpu_machines(2))
        async with Cluster.start(tmp_path / "cluster", options) as cluster:
            recorded = Recorded(cluster, database, tmp_path)
            await recorded.grant()
            for name, log in (("llm-0", str(lab.log)), ("llm-1", "")):
                await recorded.start(
                    slurm_url=lab.url,
                    slurm_token_file=str(lab.token_file),
                    slurm_cluster=CLUSTER,
                    slurm_same_names="true",
                    slurm_interval="500ms",
                    **({"slurm_log": log} if log else {}),
                )
                await recorded.until_listed()
                job = lab.submit("-N2", "-n2", "--exclusive", "-p", "train")
                await until_recorded(recorded, job, "RUNNING")
                placeholder = await place(cluster, lab, name)
                await until_recorded(recorded, job, "PREEMPTED")
                await until_recorded(recorded, placeholder, "RUNNING")
                await recorded.settle(2)
                await recorded.stop()
                found.append((job, name))
                lab.run("scancel", str(job), str(placeholder))
                await asyncio.to_thread(lab.wait, lab.is_ready, "the nodes")
    confidences = []
    async with reading_of(database.dsn("reader"), 1) as reading:
        for job, name in found:
            question = WhyWorkloadQuestion(
                object=Reference.parse(f"slurmjob/{CLUSTER}/{job}"),
                at=None,
                window=Window(),
            )
            answer = await ask_why_workload(
                reading, question, shipped(), now=datetime.now(UTC)
            )
            ending = answer.endings[0]
            assert ending.ended_by == "preemption"
            assert ending.preemptor is not None
            assert (ending.preemptor.kind, ending.preemptor.name) == (
                *("Pod", name),
            )
            confidences.append(ending.confidence)
    assert confidences == ["proven", "likely"]


STORIES = (a_node_takes_a_gang, inference_takes_a_place, labels_name_nodes)

if sampled("slurm beside kubernetes", STORIES, 0):

    @pytest.mark.timeout(120)
    async def test_labels_of_bridges_name_nodes(tmp_path: Path) -> None:
        await labels_name_nodes(tmp_path)

    @pytest.mark.timeout(400)
    async def test_inference_takes_the_place_of_training(
        tmp_path: Path, database: Database
    ) -> None:
        await inference_takes_a_place(tmp_path, database)

    @pytest.mark.timeout(400)
    async def test_a_node_takes_a_gang_of_slurm(
        tmp_path: Path, database: Database
    ) -> None:
        await a_node_takes_a_gang(tmp_path, database)
