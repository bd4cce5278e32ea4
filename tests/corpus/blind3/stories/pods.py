"""Stories in which Pods go and their nodes stay."""

from tests.corpus.acting import kubectl_as, moment
from tests.corpus.blind.acts import evict_pod, pod_reference, the_statefulset
from tests.corpus.blind.stage import (
    BlindStage,
    pods_on,
    story,
    wait_running,
    writer,
)
from tests.corpus.placing import the_deployment, the_job

__all__: list[str] = []

JOB = "batch.kubernetes.io/job-name"


@story("d10_stork_driver_offline", "st-1", "st-2")
async def stork(stage: BlindStage) -> None:
    """Delete by force the Pod that uses a volume."""
    await the_job(stage.api, "calm2", 1, gpus=4, nodes=("st-2",))
    nodes = ("st-1", "st-2")
    kafka = await the_statefulset(
        stage, "db", "kafka", gpus=1, nodes=nodes, prefer="st-2"
    )
    pod = kafka.on("st-2")
    user = "system:serviceaccount:kube-system:stork-account"
    async with stage.recording(), writer(stage, "stork", user) as acting:
        await stage.pause(3)
        stage.did("offline", "Stork deletes the Pod of a volume of st-2")
        await acting.event(
            await pod_reference(stage, "db", pod),
            "StorageDriverOffline",
            "Deleting Pod from Node st-2 due to volume driver status: Offline"
            " (STATUS_OFFLINE)",
            kind="Warning",
        )
        await acting.delete_pod("db", pod, grace=0)
        await wait_running(stage, "db", "app=kafka", 1)
        await stage.pause(6)


@story("d11_robusta_drains", "rb-1", "rb-2", audit=True)
async def robusta(stage: BlindStage) -> None:
    """Cordon a node and evict its Pods."""
    await the_job(stage.api, "far", 1, gpus=4, nodes=("rb-1",))
    await the_deployment(
        stage.api, "embed", 1, gpus=4, nodes=("rb-1", "rb-2"), prefer="rb-2"
    )
    user = "system:serviceaccount:robusta:robusta-runner-service-account"
    agent = "OpenAPI-Generator/26.1.0/python"
    async with (
        stage.recording(),
        writer(stage, "OpenAPI-Generator", user, agent=agent) as acting,
    ):
        await stage.pause(2)
        stage.did("drain", "a playbook cordons and drains rb-2")
        await acting.mark("rb-2", unschedulable=True)
        await acting.evict_all("rb-2")
        await wait_running(stage, "serve", "app=embed", 1)
        await stage.pause(8)


@story("d12_device_taint", "dt-1", "dt-2")
async def device_taint(stage: BlindStage) -> None:
    """Mark and delete the Pod whose device is tainted."""
    await the_job(stage.api, "byol", 1, gpus=4, nodes=("dt-2",))
    moco = await the_job(stage.api, "moco", 1, gpus=4, nodes=("dt-2",))
    pod = moco.on("dt-2")
    name = "device-taint-eviction-controller"
    # The real name is longer than a certificate may hold.
    user = "system:serviceaccount:kube-system:device-taint-eviction"
    manager = "kube-controller-manager"
    async with stage.recording(), writer(stage, manager, user) as acting:
        await stage.pause(3)
        stage.did("taint", "a device of dt-2 is tainted")
        await acting.event(
            await pod_reference(stage, "train", pod),
            "DeviceTaintManagerEviction",
            "Marking for deletion",
            component=name,
        )
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "DeletionByDeviceTaintManager",
            "message": "Device Taint manager: deleting due to NoExecute taint",
            "lastTransitionTime": moment(),
        }
        await acting.patch(
            f"/api/v1/namespaces/train/pods/{pod}/status",
            {"status": {"conditions": [condition]}},
            kind="strategic",
        )
        await acting.delete_pod("train", pod)
        await wait_running(stage, "train", f"{JOB}=moco", 1, without=pod)
        await stage.pause(6)


@story("d13_kyverno_cleans_up", "kv-1", "kv-2", audit=True)
async def kyverno(stage: BlindStage) -> None:
    """Delete a Pod of a Deployment, as a policy says."""
    await the_job(stage.api, "kept", 1, gpus=4, nodes=("kv-2",))
    demo = await the_deployment(stage.api, "demo", 1, gpus=4, nodes=("kv-2",))
    pod = demo.on("kv-2")
    user = "system:serviceaccount:kyverno:kyverno-cleanup-controller"
    async with stage.recording(), writer(stage, "cleanup", user) as acting:
        await stage.pause(3)
        stage.did("cleanup", "a cleanup policy deletes a Pod")
        await acting.delete_pod("serve", pod)
        await wait_running(stage, "serve", "app=demo", 1, without=pod)
        await stage.pause(6)


@story("d14_spot_rescheduler", "sp-1", "sp-2")
async def spot_rescheduler(stage: BlindStage) -> None:
    """Taint a node as one to be deleted, evict its Pod, untaint it."""
    await the_deployment(
        stage.api, "cheap", 1, gpus=4, nodes=("sp-1", "sp-2"), prefer="sp-2"
    )
    name = "rescheduler"
    user = "system:serviceaccount:kube-system:spot-rescheduler"
    key = "ToBeDeletedByClusterAutoscaler"
    async with stage.recording(), writer(stage, name, user) as acting:
        await stage.pause(2)
        stage.did("taint", "the rescheduler taints sp-2")
        node = await acting.node_reference("sp-2")
        await acting.taint("sp-2", key, "1764141600", "NoSchedule")
        says = "marked the node as toBeDeleted/unschedulable"
        await acting.event(node, "Rescheduler", says)
        for pod in await pods_on(stage, "sp-2"):
            meta = pod["metadata"]
            await acting.event(
                await pod_reference(stage, meta["namespace"], meta["name"]),
                "Rescheduler",
                "deleting pod from on-demand node",
            )
            await evict_pod(acting, meta["namespace"], meta["name"])
        await wait_running(stage, "serve", "app=cheap", 1)
        await stage.pause(2)
        stage.did("untaint", "the rescheduler removes its taint")
        await acting.untaint("sp-2", key)
        await stage.pause(6)


@story("d15_force_delete_by_sven", "fd-1", "fd-2", audit=True)
async def force_delete(stage: BlindStage) -> None:
    """Delete a Pod of a Job by force."""
    retry = await the_job(stage.api, "retry", 2, nodes=("fd-1", "fd-2"))
    pod = retry.on("fd-2")
    delete = ("delete", "pod", pod, "-n", "train", "--force",
              "--grace-period=0")  # fmt: skip
    async with stage.recording():
        await stage.pause(3)
        stage.did("delete", "sven deletes a Pod of train/retry by force")
        await kubectl_as(stage, "sven", *delete)
        await wait_running(stage, "train", f"{JOB}=retry", 2, without=pod)
        await stage.pause(6)
