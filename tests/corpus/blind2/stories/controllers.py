"""Stories in which a program or a person takes a node away.

Field managers, users, keys, reasons and the order of calls are those of the
source that the incident's truth cites, but for HyperPod, which publishes
neither users nor managers.
"""

from typing import Any

from tests.cluster.waiting import until
from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import (
    evict_pod,
    power_cycle,
    the_statefulset,
)
from tests.corpus.blind.gangs import (
    custom,
    made_again,
    recreate_group,
    the_gang,
    the_group,
    the_jobset,
)
from tests.corpus.blind.stage import (
    BlindStage,
    Writer,
    a_machine,
    collected,
    pods_on,
    story,
    wait_running,
    writer,
)
from tests.corpus.placing import (
    a_job,
    pod_spec,
    the_deployment,
    the_job,
    the_namespace,
)

__all__: list[str] = []

JOB = "batch.kubernetes.io/job-name"

HEALTH = "sagemaker.amazonaws.com/node-health-status"

HYPERPOD = "system:serviceaccount:aws-hyperpod:hyperpod-controller"


@story("c01_hyperpod_label_by_gwen", "hp-1", "hp-2", audit=True)
async def hyperpod_reboots(stage: BlindStage) -> None:
    """Reboot a node that a person labelled."""
    owner = await custom(
        stage,
        "sagemaker.amazonaws.com",
        "v1",
        "HyperPodPyTorchJob",
        "llama",
        nprocPerNode="8",
        replicaSpecs=[{"name": "worker", "replicas": 2}],
    )
    await the_gang(stage, owner, ("hp-1", "hp-2"))
    training = "system:serviceaccount:aws-hyperpod:hp-training-controller"
    async with (
        stage.recording(),
        writer(stage, "hyperpod-controller", HYPERPOD) as acting,
        writer(stage, "manager", training) as operator,
    ):
        stage.did("label", "gwen labels hp-2 for a reboot")
        wanted = f"{HEALTH}=UnschedulablePendingReboot"
        await kubectl_as(
            stage, "gwen", "label", "node", "hp-2", wanted, "--overwrite"
        )
        await stage.pause(2)
        await acting.taint("hp-2", HEALTH, "Unschedulable", "NoSchedule")
        await stage.pause(4)
        await power_cycle(stage, "hp-2")
        await stage.pause(3)
        stage.did("schedulable", "HyperPod takes hp-2 back")
        await acting.untaint("hp-2", HEALTH)
        await acting.mark("hp-2", labels={HEALTH: "Schedulable"})
        await made_again(stage, operator, owner, "llama-worker-1", "hp-2")
        await stage.pause(3)


@story("c02_hyperpod_replaces", "hr-1", "hr-2", audit=True)
async def hyperpod_replaces(stage: BlindStage) -> None:
    """Terminate the instance of a faulty node, and take another one."""
    dit = await the_jobset(stage, "dit", 2, nodes=("hr-1", "hr-2", "hr-3"))
    agent = "system:serviceaccount:aws-hyperpod:health-monitoring-agent"
    async with (
        stage.recording(),
        writer(stage, "health-monitoring-agent", agent) as reporting,
        writer(stage, "hyperpod-controller", HYPERPOD) as acting,
    ):
        stage.did("label", "the health agent labels hr-2 for replacement")
        await reporting.mark(
            "hr-2",
            labels={HEALTH: "UnschedulablePendingReplacement"},
            annotations={
                "sagemaker.amazonaws.com/fault-types": "NvidiaErrorTerminate",
                "sagemaker.amazonaws.com/fault-reasons": "XidHardwareFailure",
            },
        )
        await stage.pause(2)
        await acting.taint("hr-2", HEALTH, "Unschedulable", "NoSchedule")
        await stage.pause(4)
        await stage.crash("hr-2", label="off")
        await stage.cluster.add_machine(a_machine(stage.name, "hr-3"))
        stage.did("removed", "HyperPod deletes the Node hr-2")
        await acting.delete("/api/v1/nodes/hr-2")
        old = dit.on("hr-2")
        await collected(stage, f"/api/v1/namespaces/train/pods/{old}")
        selector = "jobset.sigs.k8s.io/jobset-name=dit"
        await wait_running(stage, "train", selector, 2)


PREEMPTIBLE = {
    "topology.kubernetes.io/zone": "hall-2",
    "cloud.google.com/gke-preemptible": "true",
}


def _cordoned(node: dict[str, Any]) -> None:
    node["spec"]["unschedulable"] = True


async def _delete_pods(stage: BlindStage, acting: Writer, node: str) -> None:
    """Delete the Pods of a node, and wait until it is empty."""
    for pod in await pods_on(stage, node):
        meta = pod["metadata"]
        await acting.delete_pod(meta["namespace"], meta["name"])

    async def empty() -> bool:
        return not await pods_on(stage, node)

    await until(empty, f"{node} is empty", seconds=60)


@story("c03_preemptible_killer", "et-1", "et-2", "et-3", labels=PREEMPTIBLE)
async def preemptible_killer(stage: BlindStage) -> None:
    """Delete a preemptible node whose time is over."""
    await the_job(stage.api, "base", 1, nodes=("et-1",))
    nodes = ("et-2", "et-3")
    await the_deployment(
        stage.api, "reco", 1, gpus=4, nodes=nodes, prefer="et-2"
    )
    name = "estafette-gke-preemptible-killer"
    user = f"system:serviceaccount:estafette:{name}"
    key = "estafette.io/gke-preemptible-killer-state"
    async with writer(stage, name, user) as acting:
        await acting.mark("et-2", annotations={key: "2026-11-26T06:12:41Z"})
        async with stage.recording():
            await stage.pause(2)
            stage.did("cordon", "the killer cordons et-2")
            await acting.replace_node("et-2", _cordoned)
            await _delete_pods(stage, acting, "et-2")
            stage.did("removed", "the killer deletes the Node et-2")
            await acting.delete("/api/v1/nodes/et-2")
            await stage.machine("et-2").crash()
            await wait_running(stage, "serve", "app=reco", 1)
            await stage.pause(8)


@story("c04_ec2_autoscaler", "oa-1", "oa-2", "oa-3", audit=True)
async def ec2_autoscaler(stage: BlindStage) -> None:
    """Cordon an idle node, delete its Pods, and delete it."""
    nodes = ("oa-2", "oa-3")
    await the_statefulset(
        stage, "db", "faiss", gpus=2, nodes=nodes, prefer="oa-3"
    )
    user = "system:serviceaccount:system:autoscaler"

    def cordoned(node: dict[str, Any]) -> None:
        node["spec"]["unschedulable"] = True
        node["metadata"]["labels"]["openai/cordoned-by-autoscaler"] = "true"

    async with (
        stage.recording(),
        writer(
            stage, "python-requests", user, agent="python-requests/2.32.3"
        ) as acting,
    ):
        await stage.pause(2)
        stage.did("cordon", "the autoscaler cordons oa-3")
        await acting.replace_node("oa-3", cordoned)
        await _delete_pods(stage, acting, "oa-3")
        await stage.pause(4)
        stage.did("removed", "the autoscaler deletes the Node oa-3")
        await acting.delete("/api/v1/nodes/oa-3")
        await stage.machine("oa-3").crash()
        await wait_running(stage, "db", "app=faiss", 1)
        await stage.pause(8)


async def _helper_pod(acting: Writer, name: str) -> None:
    script = "cp /mnt/ssh-privatekey /data && ssh root@10.0.3.12 reboot"
    container = {
        "name": "node-restart",
        "image": "litmuschaos.docker.scarf.sh/litmuschaos/go-runner:3.22.0",
        "command": ["/bin/sh"],
        "args": ["-c", script],
    }
    elsewhere = {
        "nodeSelectorTerms": [
            {
                "matchFields": [
                    {
                        "key": "metadata.name",
                        "operator": "NotIn",
                        "values": ["lt-2"],
                    }
                ]
            }
        ]
    }
    required = {"requiredDuringSchedulingIgnoredDuringExecution": elsewhere}
    await acting.create(
        "/api/v1/namespaces/litmus/pods",
        {
            "metadata": {
                "name": name,
                "labels": {"app": name, "chaosUID": "5d0f6c1e"},
            },
            "spec": {
                "restartPolicy": "Never",
                "containers": [container],
                "affinity": {"nodeAffinity": required},
                "terminationGracePeriodSeconds": 1,
            },
        },
    )


@story("c05_litmus_node_restart", "lt-1", "lt-2", audit=True)
async def litmus(stage: BlindStage) -> None:
    """Reboot a node from a Pod that runs elsewhere."""
    mae = await the_job(stage.api, "mae", 2, nodes=("lt-1", "lt-2"))
    await the_namespace(stage.api, "litmus")
    user = "system:serviceaccount:litmus:litmus-admin"
    engine = {
        "apiVersion": "litmuschaos.io/v1alpha1",
        "kind": "ChaosEngine",
        "namespace": "litmus",
        "name": "nginx-chaos",
        "uid": "5d0f6c1e-2b0e-4b0c-8a6f-5a5f4d1f9a10",
    }
    component = "node-restart-p4x9wz-7kq2d"
    pod = "node-restart-helper-tqlmwe"
    async with stage.recording(), writer(stage, "experiments", user) as acting:
        stage.did("inject", "Litmus starts the experiment node-restart")
        await acting.event(
            engine,
            "ChaosInject",
            "Injecting node-restart chaos on lt-2 node",
            component=component,
        )
        await _helper_pod(acting, pod)
        await wait_running(stage, "litmus", f"app={pod}", 1)
        await stage.pause(2)
        await stage.crash("lt-2", label="off")
        await stage.machine("lt-1").finish_pod("litmus", pod)
        await stage.pause(7)
        await stage.boot("lt-2")
        await stage.ready("lt-2")
        await acting.delete_pod("litmus", pod)
        old = mae.on("lt-2")
        await wait_running(stage, "train", f"{JOB}=mae", 2, without=old)
        await stage.pause(3)


@story("c06_harvester_maintenance", "hv-1", "hv-2", audit=True)
async def harvester(stage: BlindStage) -> None:
    """Enter maintenance mode, power-cycle, leave maintenance mode."""
    nodes = ("hv-1", "hv-2")
    await the_statefulset(
        stage, "db", "milvus", gpus=1, nodes=nodes, prefer="hv-2"
    )
    user = "system:serviceaccount:harvester-system:harvester"
    request = "harvesterhci.io/drain-requested"
    state = "harvesterhci.io/maintain-status"
    async with stage.recording(), writer(stage, "harvester", user) as acting:
        stage.did("request", "maintenance mode is requested for hv-2")
        await acting.mark("hv-2", annotations={request: "true"})
        await stage.pause(1)
        stage.did("cordon", "Harvester cordons and drains hv-2")
        await acting.mark("hv-2", unschedulable=True)
        await acting.evict_all("hv-2")
        await acting.mark(
            "hv-2", annotations={request: None, state: "running"}
        )
        await stage.pause(2)
        await acting.mark("hv-2", annotations={state: "completed"})
        await stage.pause(4)
        await power_cycle(stage, "hv-2")
        await stage.pause(3)
        stage.did("uncordon", "Harvester disables maintenance mode")
        await acting.mark(
            "hv-2", annotations={state: None}, unschedulable=False
        )
        await wait_running(stage, "db", "app=milvus", 1)
        await stage.pause(3)


@story("c07_tuppr_upgrade", "tu-1", "tu-2", "tu-3", os_image="Talos (v1.12.0)")
async def tuppr(stage: BlindStage) -> None:
    """Label, cordon, drain, upgrade from a Job, uncordon."""
    await the_group(stage, "qwen", "tu-1", "tu-2")
    await the_namespace(stage.api, "system-upgrade")
    user = "system:serviceaccount:system-upgrade:tuppr"
    groups = "system:serviceaccount:lws-system:lws-controller-manager"
    key = "tuppr.home-operations.com/upgrading"
    spec = pod_spec(
        gpus=0, nodes=("tu-3",), command=("talosctl", "upgrade", "--nodes")
    )
    job = a_job("tuppr-talos-tu-2-1a2b3c", 1, spec)
    job["metadata"]["labels"] = {
        "app.kubernetes.io/name": "talos-upgrade",
        "tuppr.home-operations.com/target-node": "tu-2",
    }
    async with (
        stage.recording(),
        writer(stage, "tuppr", user) as acting,
        writer(stage, "lws", groups) as operator,
    ):
        stage.did("label", "tuppr labels tu-2")
        await acting.mark("tu-2", labels={key: "true"})
        await acting.taint("tu-2", key, "", "PreferNoSchedule")
        stage.did("cordon", "tuppr cordons and drains tu-2")
        await acting.mark("tu-2", unschedulable=True)
        await evict_pod(acting, "serving", "qwen-0-1")
        await recreate_group(stage, operator, "qwen", "tu-2")
        await acting.create(
            "/apis/batch/v1/namespaces/system-upgrade/jobs", job
        )
        await stage.pause(4)
        await power_cycle(stage, "tu-2", os_image="Talos (v1.12.1)")
        await stage.pause(3)
        stage.did("uncordon", "tuppr uncordons tu-2")
        await acting.mark("tu-2", unschedulable=False)
        await acting.untaint("tu-2", key)
        await acting.mark("tu-2", labels={key: None})
        selector = "leaderworkerset.sigs.k8s.io/name=qwen"
        await wait_running(stage, "serving", selector, 2)


@story("c08_piraeus_lost_quorum", "dr-1", "dr-2")
async def piraeus(stage: BlindStage) -> None:
    """Taint a node and evict the Pod whose volume lost its quorum."""
    await the_job(stage.api, "calm", 1, gpus=4, nodes=("dr-2",))
    nodes = ("dr-1", "dr-2")
    await the_statefulset(
        stage, "db", "qdrant", gpus=1, nodes=nodes, prefer="dr-2"
    )
    manager = "linstor.linbit.com/high-availability-controller/v2"
    reporter = "linstor.linbit.com/HighAvailabilityController"
    user = "system:serviceaccount:piraeus-datastore:ha-controller"
    key = "drbd.linbit.com/lost-quorum"
    async with stage.recording(), writer(stage, manager, user) as acting:
        await stage.pause(2)
        stage.did("taint", "the controller taints dr-2")
        await acting.taint("dr-2", key, "", "NoSchedule")
        node = await acting.node_reference("dr-2")
        await acting.event(
            node,
            "NodeStorageQuorumLost",
            "Tainted node because some volumes have lost quorum",
            kind="Warning",
            component=reporter,
        )
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": "db",
            "name": "qdrant-0",
        }
        await evict_pod(acting, "db", "qdrant-0")
        await acting.event(
            pod,
            "VolumeWithoutQuorum",
            "Pod was evicted because attached volume lost quorum",
            kind="Warning",
            component=reporter,
        )
        await stage.pause(12)
        stage.did("untaint", "the controller removes its taint")
        await acting.untaint("dr-2", key)
        await acting.event(
            node,
            "NodeStorageQuorumRegained",
            "Removed taint as all volumes have regained quorum",
            component=reporter,
        )
        await wait_running(stage, "db", "app=qdrant", 1)
        await stage.pause(4)


@story("c09_koordinator_migrates", "kd-1", "kd-2", audit=True)
async def koordinator(stage: BlindStage) -> None:
    """Evict one Pod to balance the load."""
    await the_job(stage.api, "stay", 1, gpus=4, nodes=("kd-2",))
    ranker = await the_deployment(
        stage.api,
        "ranker",
        1,
        gpus=4,
        nodes=("kd-1", "kd-2"),
        prefer="kd-2",
    )
    name = ranker.on("kd-2")
    user = "system:serviceaccount:koordinator-system:koord-descheduler"
    job = {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "name": "3f0d1f6e-7a53-4c51-a5d9-0b7b0a0c7c11",
        "uid": "0a9d7f6e-8b64-4d62-96ea-1c8c1b1d8d22",
    }
    async with (
        stage.recording(),
        writer(stage, "koord-descheduler", user) as acting,
    ):
        await stage.pause(3)
        stage.did("evict", "the descheduler evicts a Pod of serve/ranker")
        await acting.event(job, "Evicting", f'Try to evict Pod "serve/{name}"')
        await evict_pod(acting, "serve", name)
        await acting.event(
            job, "EvictComplete", f'Pod "serve/{name}" has been evicted'
        )
        await wait_running(stage, "serve", "app=ranker", 1, without=name)
        await stage.pause(8)


async def _bound(
    stage: BlindStage, acting: Writer, selector: str, nodes: tuple[str, ...]
) -> None:
    """Bind the pending Pods of a selector to nodes, one on each."""
    pending: list[str] = []

    async def all_pending() -> bool:
        listed = await stage.api.get(
            "/api/v1/namespaces/train/pods", labelSelector=selector
        )
        pending[:] = [
            pod["metadata"]["name"]
            for pod in listed["items"]
            if not pod["spec"].get("nodeName")
        ]
        return len(pending) == len(nodes)

    await until(all_pending, f"Pods of {selector} are pending")
    for name, node in zip(sorted(pending), nodes, strict=True):
        await acting.create(
            f"/api/v1/namespaces/train/pods/{name}/binding",
            {
                "metadata": {"name": name},
                "target": {"apiVersion": "v1", "kind": "Node", "name": node},
            },
        )
    await wait_running(stage, "train", selector, len(nodes))


async def _ernie(acting: Writer, owner: dict[str, Any], index: int) -> str:
    """Create a Pod of the PaddleJob, which KAI is to schedule."""
    meta = owner["metadata"]
    name = f"ernie-worker-{index}"
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    await acting.create(
        "/api/v1/namespaces/train/pods",
        {
            "metadata": {
                "name": name,
                "labels": {
                    "training.kubeflow.org/job-name": "ernie",
                    "training.kubeflow.org/replica-type": "worker",
                    "training.kubeflow.org/replica-index": str(index),
                },
                "ownerReferences": [reference],
            },
            "spec": pod_spec(schedulerName="kai-scheduler"),
        },
    )
    return name


@story("c10_kai_preempts_a_gang", "kq-1", "kq-2")
async def kai(stage: BlindStage) -> None:
    """Delete both Pods of a gang for a workload of higher priority."""
    owner = await custom(
        stage,
        "kubeflow.org",
        "v1",
        "PaddleJob",
        "ernie",
        paddleReplicaSpecs={"Worker": {"replicas": 2}},
    )
    nodes = ("kq-1", "kq-2")
    kai_user = "system:serviceaccount:kai-scheduler:kai-scheduler"
    operator_user = "system:serviceaccount:kubeflow:training-operator"
    group = {
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "namespace": "train",
        "name": f"pg-ernie-{owner['metadata']['uid']}",
        "uid": "7c1e5a52-11c0-4d7e-a4f2-2f3a9a1b6c33",
    }
    async with (
        writer(stage, "kai-scheduler", kai_user) as acting,
        writer(stage, "training-operator", operator_user) as operator,
    ):
        pods = [await _ernie(operator, owner, index) for index in (0, 1)]
        selector = "training.kubeflow.org/job-name=ernie"
        await _bound(stage, acting, selector, nodes)
        async with stage.recording():
            spec = pod_spec(schedulerName="kai-scheduler")
            jobs = "/apis/batch/v1/namespaces/train/jobs"
            await stage.api.create(jobs, a_job("urgent", 2, spec))
            await stage.pause(2)
            stage.did("preempt", "KAI preempts the gang of train/ernie")
            await acting.event(
                group,
                "Evict",
                "Pods of train/ernie were preempted by higher priority "
                "workload train/urgent",
            )
            for pod in pods:
                await acting.delete_pod("train", pod)
            for pod in pods:
                path = f"/api/v1/namespaces/train/pods/{pod}"
                await stage.is_gone(path)
            await _bound(stage, acting, f"{JOB}=urgent", nodes)
            for index in (0, 1):
                await _ernie(operator, owner, index)
            await stage.pause(8)


@story("c24_kubeadm_upgrade_by_nils", "ku-1", "ku-2", "ku-3", audit=True)
async def kubeadm(stage: BlindStage) -> None:
    """Drain, upgrade and restart a kubelet, uncordon."""
    nodes = ("ku-2", "ku-3")
    await the_deployment(
        stage.api, "guard", 1, gpus=4, nodes=nodes, prefer="ku-2"
    )
    drain = ("drain", "ku-2", "--ignore-daemonsets")
    async with stage.recording():
        stage.did("drain", "nils drains ku-2")
        await kubectl_as(stage, "nils", *drain)
        await stage.pause(5)
        stage.did("down", "nils restarts the kubelet of ku-2")
        await stage.machine("ku-2").kubelet.kill()
        await stage.pause(3)
        await stage.machine("ku-2").restart_kubelet()
        stage.did("up", "the kubelet of ku-2 runs")
        await stage.ready("ku-2")
        await stage.pause(3)
        stage.did("uncordon", "nils uncordons ku-2")
        await kubectl_as(stage, "nils", "uncordon", "ku-2")
        await wait_running(stage, "serve", "app=guard", 1)
        await stage.pause(4)


@story("c25_teleport_ines", "tp-1", "tp-2", audit=True)
async def teleport(stage: BlindStage) -> None:
    """Drain through a proxy that impersonates its user."""
    await the_job(stage.api, "sora", 2, nodes=("tp-1", "tp-2"))
    proxy = "system:serviceaccount:teleport:teleport-kube-agent"
    her = ("--as=ines", "--as-group=system:masters")
    drain = ("drain", "tp-2", "--ignore-daemonsets")
    async with stage.recording():
        stage.did("drain", "ines drains tp-2 through Teleport")
        await kubectl_as(stage, proxy, *drain, *her)
        await stage.pause(3)
        await power_cycle(stage, "tp-2")
        await stage.pause(3)
        stage.did("uncordon", "ines uncordons tp-2")
        await kubectl_as(stage, proxy, "uncordon", "tp-2", *her)
        await wait_running(stage, "train", f"{JOB}=sora", 2)
