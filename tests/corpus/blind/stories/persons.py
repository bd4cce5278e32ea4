"""Stories in which persons act, with kubectl and its plugins."""

import json

from tests.cluster.cluster import KubectlError
from tests.cluster.waiting import until
from tests.corpus.acting import kubectl_as
from tests.corpus.blind.stage import (
    BlindStage,
    Writer,
    collected,
    controller_of,
    define,
    pods_on,
    story,
    wait_running,
    writer,
)
from tests.corpus.placing import (
    pod_spec,
    the_deployment,
    the_job,
    the_namespace,
)

__all__: list[str] = []

JOB = "batch.kubernetes.io/job-name"


async def _node_shell(
    stage: BlindStage, user: str, node: str, pod: str, *command: str
) -> None:
    """Run a command on a node as kubectl node-shell does."""
    entered = ["nsenter", "--target", "1", "--mount", "--uts", "--ipc"]
    container = {
        "name": "nsenter",
        "image": "docker.io/library/alpine",
        "securityContext": {"privileged": True},
        "stdin": True,
        "stdinOnce": True,
        "tty": True,
        "command": [*entered, "--net", "--pid", "--", *command],
    }
    overrides = {
        "spec": {
            "nodeName": node,
            "hostPID": True,
            "hostNetwork": True,
            "containers": [container],
            "tolerations": [
                {"key": "CriticalAddonsOnly", "operator": "Exists"},
                {"effect": "NoExecute", "operator": "Exists"},
            ],
            "terminationGracePeriodSeconds": 1,
        }
    }
    await kubectl_as(
        stage,
        user,
        "run",
        pod,
        "--image=docker.io/library/alpine",
        "--restart=Never",
        f"--overrides={json.dumps(overrides)}",
    )

    async def runs() -> bool:
        names = [
            found["metadata"]["name"]
            for found in await pods_on(stage, node)
            if found["status"].get("phase") == "Running"
        ]
        return pod in names

    await until(runs, f"{pod} runs")


@story("b14_node_shell_reboot", "ns-1", "ns-2", audit=True)
async def node_shell_reboot(stage: BlindStage) -> None:
    """Reboot a machine from a node shell."""
    mamba = await the_job(stage.api, "mamba", 2, nodes=("ns-1", "ns-2"))
    pod = "nsenter-k3x9q2"
    async with stage.recording():
        stage.did("shell", "dana: kubectl node-shell ns-2 -- reboot")
        await _node_shell(stage, "dana", "ns-2", pod, "systemctl", "reboot")
        await stage.pause(1)
        await stage.crash("ns-2", label="off")
        await kubectl_as(stage, "dana", "delete", "pod", pod, "--wait=false")
        await stage.pause(8)
        await stage.boot("ns-2")
        await stage.ready("ns-2")
        old = mamba.on("ns-2")
        await wait_running(stage, "train", f"{JOB}=mamba", 2, without=old)


@story("b15_budget_then_no_eviction", "pd-1", "pd-2", audit=True)
async def no_eviction(stage: BlindStage) -> None:
    """Drain without evictions after a budget refused them."""
    await the_deployment(stage.api, "chat", 2, nodes=("pd-1", "pd-2"))
    await stage.api.create(
        "/apis/policy/v1/namespaces/serve/poddisruptionbudgets",
        {
            "metadata": {"name": "chat"},
            "spec": {
                "minAvailable": 2,
                "selector": {"matchLabels": {"app": "chat"}},
            },
        },
    )
    drain = ("drain", "pd-2", "--ignore-daemonsets")
    async with stage.recording():
        stage.did("drain", "omar drains pd-2, which a budget refuses")
        try:
            await kubectl_as(stage, "omar", *drain, "--timeout=7s")
        except KubectlError:
            stage.did("refused", "omar's drain gives up")
        else:
            message = "the budget allowed an eviction"
            raise AssertionError(message)
        await stage.pause(3)
        stage.did("again", "omar drains pd-2 with --disable-eviction")
        await kubectl_as(stage, "omar", *drain, "--disable-eviction")
        await stage.pause(3)
        await stage.crash("pd-2", label="off")
        await stage.pause(8)
        await stage.boot("pd-2")
        await stage.ready("pd-2")
        stage.did("uncordon", "omar uncordons pd-2")
        await kubectl_as(stage, "omar", "uncordon", "pd-2")
        await wait_running(stage, "serve", "app=chat", 2)


@story("b16_kubelet_restart_by_erin", "ke-1", "ke-2", audit=True)
async def kubelet_restart(stage: BlindStage) -> None:
    """Restart a kubelet from a node shell."""
    await the_job(stage.api, "dpo", 2, nodes=("ke-1", "ke-2"))
    pod = "nsenter-7pzw4d"
    command = ("systemctl", "restart", "kubelet")
    async with stage.recording():
        stage.did("shell", "erin: kubectl node-shell ke-2 -- restart kubelet")
        await _node_shell(stage, "erin", "ke-2", pod, *command)
        stage.did("down", "the kubelet of ke-2 stops")
        await stage.machine("ke-2").restart_kubelet()
        await stage.ready("ke-2")
        stage.did("up", "the kubelet of ke-2 runs")
        await stage.pause(3)
        await kubectl_as(stage, "erin", "delete", "pod", pod, "--wait=false")
        await stage.pause(5)


async def _taskmanager(stage: BlindStage, acting: Writer, name: str) -> None:
    """Create a TaskManager, as a JobManager in native mode does."""
    jobmanager = await stage.api.get(
        "/apis/apps/v1/namespaces/flink/deployments/clicks"
    )
    spec = pod_spec(
        gpus=2,
        nodes=("nc-1", "nc-2"),
        prefer="nc-2",
        command=("/docker-entrypoint.sh", "kubernetes-taskmanager.sh"),
    )
    labels = {"app": "clicks", "component": "taskmanager"}
    await acting.create(
        "/api/v1/namespaces/flink/pods",
        {
            "metadata": {
                "name": name,
                "labels": labels,
                "ownerReferences": controller_of(jobmanager),
            },
            "spec": spec,
        },
    )
    await wait_running(stage, "flink", "component=taskmanager", 1)


async def _flink(stage: BlindStage) -> None:
    """Create a FlinkDeployment, and the Deployment of its JobManager."""
    group = "flink.apache.org"
    api = await define(stage, group, "v1beta1", "FlinkDeployment")
    await the_namespace(stage.api, "flink")
    owner = await stage.api.create(
        f"{api}/namespaces/flink/flinkdeployments",
        {
            "apiVersion": f"{group}/v1beta1",
            "kind": "FlinkDeployment",
            "metadata": {"name": "clicks"},
            "spec": {"flinkVersion": "v2_1", "mode": "native"},
        },
    )
    spec = pod_spec(
        gpus=0, nodes=("nc-1",), command=("kubernetes-jobmanager",)
    )
    del spec["restartPolicy"]
    labels = {"app": "clicks", "component": "jobmanager"}
    await stage.api.create(
        "/apis/apps/v1/namespaces/flink/deployments",
        {
            "metadata": {
                "name": "clicks",
                "ownerReferences": controller_of(owner),
            },
            "spec": {
                "replicas": 1,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": spec},
            },
        },
    )
    await wait_running(stage, "flink", "component=jobmanager", 1)


@story(
    "b22_nic_swap_and_neighbour", "nc-1", "nc-2", "nc-3", "nc-4", audit=True
)
async def nic_swap(stage: BlindStage) -> None:
    """Drain one node; its neighbour dies in the same minute."""
    await _flink(stage)
    await the_job(stage.api, "sft", 2, nodes=("nc-3", "nc-4"))
    flink = "system:serviceaccount:flink:flink"
    async with writer(stage, "okhttp", flink) as acting:
        await _taskmanager(stage, acting, "clicks-taskmanager-1-1")
        async with stage.recording():
            why = "change=CHG-2207 replace NIC"
            stage.did("drain", "yuki annotates and drains nc-2")
            await kubectl_as(stage, "yuki", "annotate", "node", "nc-2", why)
            drain = ("drain", "nc-2", "--ignore-daemonsets")
            await kubectl_as(stage, "yuki", *drain)
            await stage.pause(2)
            await stage.crash("nc-3")
            await stage.pause(1)
            await stage.crash("nc-2", label="off")
            await _taskmanager(stage, acting, "clicks-taskmanager-1-2")
            await stage.is_unknown("nc-3")
            await stage.boot("nc-2")
            await stage.pause(4)
            await stage.boot("nc-3", label="boot3")
            await stage.ready("nc-2", "nc-3")
            stage.did("uncordon", "yuki uncordons nc-2")
            await kubectl_as(stage, "yuki", "uncordon", "nc-2")
            await wait_running(stage, "train", f"{JOB}=sft", 2)


@story("b29_node_deleted_by_pablo", "dn-1", "dn-2", audit=True)
async def node_deleted(stage: BlindStage) -> None:
    """Delete a Node while its machine runs on."""
    sdxl = await the_job(stage.api, "sdxl", 2, nodes=("dn-1", "dn-2"))
    pod = f"/api/v1/namespaces/train/pods/{sdxl.on('dn-2')}"
    async with stage.recording():
        await stage.pause(4)
        stage.did("removed", "pablo deletes the Node dn-2")
        await kubectl_as(stage, "pablo", "delete", "node", "dn-2")
        await collected(stage, pod)
        await stage.pause(6)


@story("b31_failed_then_drained", "fd-1", "fd-2", audit=True)
async def failed_then_drained(stage: BlindStage) -> None:
    """Let a Job fail by itself, and drain the node for another."""
    broken = await the_job(
        stage.api, "broken", 1, gpus=4, nodes=("fd-2",), retries=0
    )
    await the_job(
        stage.api, "kto", 1, gpus=4, nodes=("fd-1", "fd-2"), prefer="fd-2"
    )
    async with stage.recording():
        await stage.machine("fd-2").fail_pod("train", broken.on("fd-2"), 1)
        stage.did("failed", "the Job broken fails by its own exit")
        await stage.pause(8)
        stage.did("drain", "quinn drains fd-2")
        await kubectl_as(
            stage, "quinn", "drain", "fd-2", "--ignore-daemonsets"
        )
        await wait_running(stage, "train", f"{JOB}=kto", 1)
        await stage.pause(5)


@story("b32_kubectl_sudo", "su-1", "su-2", audit=True)
async def kubectl_sudo(stage: BlindStage) -> None:
    """Drain as oneself in another group, then power-cycle."""
    await the_job(stage.api, "jepa", 2, nodes=("su-1", "su-2"))
    sudo = ("--as=rita", "--as-group=system:masters")
    async with stage.recording():
        stage.did("drain", "rita drains su-2 through kubectl sudo")
        drain = ("drain", "su-2", "--ignore-daemonsets")
        await kubectl_as(stage, "rita", *drain, *sudo)
        await stage.pause(3)
        await stage.crash("su-2", label="off")
        await stage.pause(8)
        await stage.boot("su-2")
        await stage.ready("su-2")
        await stage.pause(2)
        stage.did("uncordon", "rita uncordons su-2")
        await kubectl_as(stage, "rita", "uncordon", "su-2", *sudo)
        await wait_running(stage, "train", f"{JOB}=jepa", 2)
