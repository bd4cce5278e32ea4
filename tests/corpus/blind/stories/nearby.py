"""Stories of crashes beside which something happens, and of odd owners."""

from collections.abc import Mapping
from datetime import timedelta

from tests.cluster.waiting import until
from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import die_and_boot, owned_pod
from tests.corpus.blind.stage import (
    BlindStage,
    Writer,
    define,
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
from tests.corpus.skewing import with_clock_moved
from tests.corpus.tape_lines import Lines

__all__: list[str] = []

JOB = "batch.kubernetes.io/job-name"


OWNERS = (
    ("tekton.dev", "v1", "TaskRun", "ci", "unit-tests-r4x"),
    (
        "actions.github.com",
        "v1alpha1",
        "EphemeralRunner",
        "arc",
        "gpu-runner-x7",
    ),
    ("kubevirt.io", "v1", "VirtualMachineInstance", "vms", "desk-7"),
)

PODS = {
    "TaskRun": "unit-tests-r4x-pod",
    "EphemeralRunner": "gpu-runner-x7",
    "VirtualMachineInstance": "virt-launcher-desk-7-9vq2h",
}


@story("b23_odd_owners", "od-1", "od-2")
async def odd_owners(stage: BlindStage) -> None:
    """Lose Pods of a TaskRun, an EphemeralRunner and a virtual machine."""
    owners = {}
    for group, version, kind, namespace, name in OWNERS:
        api = await define(stage, group, version, kind)
        await the_namespace(stage.api, namespace)
        owners[kind] = await stage.api.create(
            f"{api}/namespaces/{namespace}/{kind.lower()}s",
            {
                "apiVersion": f"{group}/{version}",
                "kind": kind,
                "metadata": {"name": name},
                "spec": {},
            },
        )
        pod = PODS[kind]
        await owned_pod(
            stage, namespace, pod, owners[kind], gpus=1, nodes=("od-2",)
        )
    runner = "gpu-runner-x7"
    path = f"/api/v1/namespaces/arc/pods/{runner}"
    async with stage.recording():
        await die_and_boot(stage, "od-2")
        await stage.is_gone(path)
        stage.did("runner", "the controller of runners creates the Pod again")
        await owned_pod(
            stage,
            "arc",
            runner,
            owners["EphemeralRunner"],
            gpus=1,
            nodes=("od-2",),
        )


async def _bind(acting: Writer, stage: BlindStage, job: str) -> str:
    """Bind the pending Pod of a Job to yk-2; return its name."""
    found: list[str] = []

    async def pending() -> bool:
        listed = await stage.api.get(
            "/api/v1/namespaces/train/pods", labelSelector=f"{JOB}={job}"
        )
        found[:] = [
            pod["metadata"]["name"]
            for pod in listed["items"]
            if not pod["spec"].get("nodeName")
        ]
        return bool(found)

    await until(pending, f"a Pod of {job} is pending")
    await acting.create(
        f"/api/v1/namespaces/train/pods/{found[0]}/binding",
        {
            "metadata": {"name": found[0]},
            "target": {"apiVersion": "v1", "kind": "Node", "name": "yk-2"},
        },
    )
    return found[0]


@story("b24_yunikorn_preempts", "yk-1", "yk-2")
async def yunikorn(stage: BlindStage) -> None:
    """Delete the Pod of an application for one of a guaranteed queue."""
    await the_namespace(stage.api, "train")
    jobs = "/apis/batch/v1/namespaces/train/jobs"
    spec = pod_spec(schedulerName="yunikorn")
    user = "system:serviceaccount:yunikorn:yunikorn-admin"
    async with writer(stage, "yunikorn-scheduler", user) as acting:
        await stage.api.create(jobs, a_job("low", 1, spec))
        pod = await _bind(acting, stage, "low")
        await wait_running(stage, "train", f"{JOB}=low", 1)
        found = await stage.api.get(f"/api/v1/namespaces/train/pods/{pod}")
        async with stage.recording():
            await stage.api.create(jobs, a_job("high", 1, spec))
            stage.did("preempt", "YuniKorn preempts the Pod of low")
            await acting.event(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "namespace": "train",
                    "name": pod,
                    "uid": found["metadata"]["uid"],
                },
                "Preempted",
                "Preempted by 5d0f6c1e from application high in root.prod",
                component="yunikorn",
            )
            await acting.delete_pod("train", pod)
            await stage.is_gone(f"/api/v1/namespaces/train/pods/{pod}")
            await _bind(acting, stage, "high")
            await wait_running(stage, "train", f"{JOB}=high", 1)
            await stage.pause(8)


@story("b25_cilium_upgrade_then_crash", "ci-1", "ci-2", "ci-3")
async def cilium(stage: BlindStage) -> None:
    """Upgrade the agents of Cilium; later a machine dies."""
    nodes = ("ci-1", "ci-2", "ci-3")
    await the_job(stage.api, "yolo", 2, nodes=nodes[:2])
    user = "system:serviceaccount:kube-system:cilium-operator"
    key = "node.cilium.io/agent-not-ready"
    async with (
        stage.recording(),
        writer(stage, "cilium-operator", user) as acting,
    ):
        stage.did("upgrade", "the agents of Cilium are upgraded in turn")
        for node in nodes:
            await acting.taint(node, key, "", "NoSchedule")
            await stage.pause(2)
            await acting.condition(
                node,
                "NetworkUnavailable",
                "False",
                "CiliumIsUp",
                "Cilium is running on this node",
            )
            await acting.untaint(node, key)
        await stage.pause(10)
        await die_and_boot(stage, "ci-2")
        await wait_running(stage, "train", f"{JOB}=yolo", 2)


@story("b26_rollout_then_crash", "rc-1", "rc-2", "rc-3", audit=True)
async def rollout(stage: BlindStage) -> None:
    """Restart a Deployment; ten seconds later its old node dies."""
    apart = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {JOB: "sam"}},
    }
    await the_job(
        stage.api,
        "sam",
        2,
        gpus=4,
        nodes=("rc-1", "rc-2"),
        topologySpreadConstraints=[apart],
    )
    await the_deployment(
        stage.api, "search", 1, gpus=4, nodes=("rc-2", "rc-3"), prefer="rc-2"
    )
    async with stage.recording():
        stage.did("rollout", "ivan restarts the Deployment search")
        for command in ("restart", "status"):
            arguments = ("rollout", command, "deployment/search", "-n")
            await kubectl_as(stage, "ivan", *arguments, "serve")
        await wait_running(stage, "serve", "app=search", 1)
        await stage.pause(10)
        await die_and_boot(stage, "rc-2")
        await wait_running(stage, "train", f"{JOB}=sam", 2)


def _ahead(tape: Lines, _: Mapping[str, str]) -> Lines:
    return with_clock_moved(tape, "ca-2", timedelta(minutes=47))


@story("b27_clock_ahead", "ca-1", "ca-2", edit=_ahead)
async def clock_ahead(stage: BlindStage) -> None:
    """Lose power, with a clock that is 47 minutes ahead."""
    await the_job(stage.api, "nerf", 2, nodes=("ca-1", "ca-2"))
    async with stage.recording():
        await stage.pause(6)
        await die_and_boot(stage, "ca-2")
        await wait_running(stage, "train", f"{JOB}=nerf", 2)


@story("b28_cancelled_then_crash", "ar-1", "ar-2", audit=True)
async def armada(stage: BlindStage) -> None:
    """Cancel one job; ten seconds later the machine dies with another."""
    await the_namespace(stage.api, "team-a")
    cancelled, lost = "armada-01j9w2-0", "armada-01j9x8-0"
    for name in (cancelled, lost):
        await owned_pod(stage, "team-a", name, None, gpus=4, nodes=("ar-2",))
    user = "system:serviceaccount:armada:armada-executor"
    async with (
        stage.recording(),
        writer(stage, "armada-executor", user) as acting,
    ):
        stage.did("cancel", "Armada deletes the Pod of a cancelled job")
        await acting.delete_pod("team-a", cancelled)
        await stage.is_gone(f"/api/v1/namespaces/team-a/pods/{cancelled}")
        await stage.pause(10)
        await die_and_boot(stage, "ar-2")
        await stage.pause(6)
