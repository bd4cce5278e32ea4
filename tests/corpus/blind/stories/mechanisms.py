"""Stories of Kubernetes' own mechanisms, and of gaps in the record."""

import asyncio
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.certificates import Authority
from tests.cluster.client import ApiClient, ApiError, trusting
from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import end_pod, pod_reference
from tests.corpus.blind.stage import (
    BlindStage,
    Writer,
    a_machine,
    kubelet,
    story,
    wait_running,
)
from tests.corpus.blinding import blinded
from tests.corpus.identities import boot_id, machine_identity
from tests.corpus.placing import the_job
from tests.corpus.tape_lines import Lines

__all__: list[str] = []

JOB = "batch.kubernetes.io/job-name"

UNAUTHORIZED = 401


@story("b12_graceful_shutdown", "gs-1", "gs-2")
async def graceful_shutdown(stage: BlindStage) -> None:
    """End Pods for a shutdown, report not ready, go down, boot."""
    placed = await the_job(stage.api, "diffusion", 2, nodes=("gs-1", "gs-2"))
    async with stage.recording(), kubelet(stage, "gs-2") as acting:
        stage.did("shutdown", "the kubelet of gs-2 sees a shutdown")
        stage.machine("gs-2").hang()
        reference = await acting.node_reference("gs-2")
        await acting.event(
            reference,
            "Shutdown",
            "Shutdown manager detected shutdown event",
            host="gs-2",
        )
        await acting.condition(
            "gs-2",
            "Ready",
            "False",
            "KubeletNotReady",
            "node is shutting down",
        )
        await end_pod(
            acting,
            placed.on("gs-2"),
            "Terminated",
            "Pod was terminated in response to imminent node shutdown.",
            143,
        )
        await stage.pause(3)
        await stage.crash("gs-2", label="off")
        await stage.pause(9)
        await stage.boot("gs-2")
        await stage.ready("gs-2")
        await wait_running(stage, "train", f"{JOB}=diffusion", 2)


@story("b13_out_of_service", "oo-1", "oo-2", audit=True)
async def out_of_service(stage: BlindStage) -> None:
    """Taint a node out-of-service after it died."""
    await the_job(stage.api, "bert", 2, nodes=("oo-1", "oo-2"))
    async with stage.recording():
        await stage.crash("oo-2")
        await stage.is_unknown("oo-2")
        await stage.pause(8)
        stage.did("taint", "nadia taints oo-2 out-of-service")
        await kubectl_as(
            stage,
            "nadia",
            "taint",
            "node",
            "oo-2",
            "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute",
        )
        await stage.pause(25)


@story("b17_disk_pressure", "dp-1", "dp-2")
async def disk_pressure(stage: BlindStage) -> None:
    """Let the kubelet evict a Pod because its disk is full."""
    await the_job(stage.api, "llm", 1, nodes=("dp-1",))
    prep = await the_job(stage.api, "prep", 1, gpus=4, nodes=("dp-2",))
    pod = prep.on("dp-2")
    message = (
        "The node was low on resource: ephemeral-storage. Threshold "
        "quantity: 6442450944, available: 3911204Ki. Container main was "
        "using 812Gi, request is 0, has larger consumption of "
        "ephemeral-storage. "
    )
    async with stage.recording(), kubelet(stage, "dp-2") as acting:
        stage.did("pressure", "the disk of dp-2 is full")
        stage.machine("dp-2").hang()
        reference = await pod_reference(stage, "train", pod)
        node = await acting.node_reference("dp-2")
        threshold = "Attempting to reclaim ephemeral-storage"
        await acting.event(
            node, "EvictionThresholdMet", threshold,
            kind="Warning", host="dp-2",
        )  # fmt: skip
        await acting.event(
            reference, "Evicted", message, kind="Warning", host="dp-2"
        )
        await end_pod(acting, pod, "Evicted", message, 137)
        await stage.pause(1)
        await acting.condition(
            "dp-2",
            "DiskPressure",
            "True",
            "KubeletHasDiskPressure",
            "kubelet has disk pressure",
        )
        await acting.event(
            node,
            "NodeHasDiskPressure",
            "Node dp-2 status is now: NodeHasDiskPressure",
            host="dp-2",
        )
        await stage.pause(5)
        stage.machine("dp-2").resume()
        stage.did("reclaimed", "the disk of dp-2 has room again")
        await wait_running(stage, "train", f"{JOB}=prep", 1)


def _blind(tape: Lines, times: Mapping[str, str]) -> Lines:
    return blinded(tape, times["blind"], times["sight"])


@story("b18_gap_reboot", "gr-1", "gr-2", edit=_blind)
async def gap_reboot(stage: BlindStage) -> None:
    """Lose power while nothing is recorded."""
    await the_job(stage.api, "clip", 2, nodes=("gr-1", "gr-2"))
    async with stage.recording():
        stage.did("blind", "nothing is recorded any more")
        await stage.pause(4)
        await stage.crash("gr-2")
        await stage.is_unknown("gr-2")
        await stage.pause(8)
        await stage.boot("gr-2")
        await stage.ready("gr-2")
        await wait_running(stage, "train", f"{JOB}=clip", 2)
        await stage.api.delete("/api/v1/namespaces/default/events")
        await stage.api.delete("/api/v1/namespaces/train/events")
        await stage.pause(2)
        stage.did("sight", "everything is listed again, without its Events")
        await stage.pause(4)


@story("b19_gap_replaced", "gp-1", "gp-2", edit=_blind)
async def gap_replaced(stage: BlindStage) -> None:
    """Put another machine under a name while nothing is recorded."""
    await the_job(stage.api, "whisper", 2, nodes=("gp-1", "gp-2"))
    async with stage.recording():
        stage.did("blind", "nothing is recorded any more")
        await stage.pause(3)
        await stage.crash("gp-2")
        await stage.is_unknown("gp-2")
        await stage.api.delete("/api/v1/nodes/gp-2")
        stage.machine("gp-2").clean_up()
        await stage.pause(5)
        stage.did("boot", "another machine registers as gp-2")
        identity = machine_identity(stage.name, "gp-2-spare")
        spec = a_machine(
            stage.name,
            "gp-2",
            boot_id=boot_id(stage.name, "gp-2", 2),
            machine_id=identity.hex,
            system_uuid=str(identity),
        )
        await stage.cluster.add_machine(spec)
        await wait_running(stage, "train", f"{JOB}=whisper", 2)
        await stage.pause(2)
        stage.did("sight", "everything is listed again")
        await stage.pause(4)


def _webhook() -> str:
    """Return a webhook that no server answers, for what kubelets send."""
    rules = [
        {
            "apiGroups": [group],
            "apiVersions": ["v1"],
            "operations": ["UPDATE"],
            "resources": [resource],
        }
        for group, resource in (
            ("coordination.k8s.io", "leases"),
            ("", "nodes/status"),
        )
    ]
    from_nodes = "request.userInfo.username.startsWith('system:node:')"
    hook = {
        "name": "validate.policies.example.org",
        "clientConfig": {"url": "https://127.0.0.1:9/validate"},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "timeoutSeconds": 1,
        "admissionReviewVersions": ["v1"],
        "matchConditions": [{"name": "nodes", "expression": from_nodes}],
        "rules": rules,
    }
    return json.dumps(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "policy-engine-nodes"},
            "webhooks": [hook],
        }
    )


@story(
    "b20_webhook_refuses_leases",
    "wh-1",
    "wh-2",
    "wh-3",
    audit=True,
    tolerate=300,
)
async def webhook(stage: BlindStage) -> None:
    """Refuse the leases and the status of every kubelet."""
    await the_job(stage.api, "long", 3, nodes=("wh-1", "wh-2", "wh-3"))
    carol = stage.cluster.user("carol", ["system:masters"])
    async with stage.recording():
        stage.did("refused", "carol applies a webhook")
        await stage.cluster.kubectl(
            "apply", "-f", "-", stdin=_webhook(), kubeconfig=carol
        )
        await stage.is_unknown("wh-1", "wh-2", "wh-3")
        await stage.pause(12)
        stage.did("deleting", "carol deletes the webhook")
        await stage.cluster.kubectl(
            "delete",
            "validatingwebhookconfiguration",
            "policy-engine-nodes",
            kubeconfig=carol,
        )
        await stage.ready("wh-1", "wh-2", "wh-3")
        stage.did("allowed", "every kubelet is heard again")
        await stage.pause(5)


async def _unauthorized(stage: BlindStage, node: str, folder: Path) -> None:
    """Send what a kubelet sends, with a certificate that is not trusted."""
    pair = Authority(folder).client(f"system:node:{node}", ["system:nodes"])
    trust = trusting(str(stage.cluster.authority.certificate), pair)
    agent = "kubelet/v1.36.3 (linux/amd64) kubernetes/6a1c0b2"
    path = f"/api/v1/nodes/{node}/status"
    async with ApiClient(stage.cluster.server, trust, agent=agent) as api:
        while True:
            try:
                await api.patch(path, {"status": {}}, kind="strategic")
            except ApiError as error:
                if error.status != UNAUTHORIZED:
                    raise
            await asyncio.sleep(3)


@story("b21_certificate_expired", "ce-1", "ce-2", audit=True, tolerate=300)
async def certificate(stage: BlindStage) -> None:
    """Refuse the requests of one kubelet with 401."""
    await the_job(stage.api, "ctc", 2, nodes=("ce-1", "ce-2"))
    folder = stage.folder / "expired"
    async with stage.recording():
        stage.did("expired", "the certificate of ce-2's kubelet expires")
        stage.machine("ce-2").hang()
        async with asyncio.TaskGroup() as group:
            refused = group.create_task(_unauthorized(stage, "ce-2", folder))
            await stage.is_unknown("ce-2")
            await stage.pause(12)
            refused.cancel()
        stage.machine("ce-2").resume()
        await stage.ready("ce-2")
        stage.did("renewed", "ce-2's kubelet has another certificate")
        await stage.pause(5)
    shutil.rmtree(folder)


@story("b30_kubelet_dies", "kd-1", "kd-2", grace="50s")
async def kubelet_dies(stage: BlindStage) -> None:
    """Kill a kubelet, and start it again as systemd does."""
    await the_job(stage.api, "grpo", 2, nodes=("kd-1", "kd-2"))
    async with stage.recording():
        await stage.pause(5)
        stage.did("down", "the kubelet of kd-2 is killed")
        await stage.machine("kd-2").kubelet.kill()
        await stage.pause(10)
        await stage.machine("kd-2").restart_kubelet()
        stage.did("up", "systemd has started it again")
        await stage.ready("kd-2")
        await stage.pause(10)


async def _critical_pod(acting: Writer, node: str) -> None:
    """Show a static Pod of a node as its kubelet does."""
    container = {"name": "agent", "image": "registry.example/agent:3"}
    source = {
        "kubernetes.io/config.mirror": "5f7c3f0e1f0a4d0c",
        "kubernetes.io/config.source": "file",
        "kubernetes.io/config.hash": "5f7c3f0e1f0a4d0c",
    }
    owner = await acting.node_reference(node)
    await acting.create(
        "/api/v1/namespaces/kube-system/pods",
        {
            "metadata": {
                "name": f"node-agent-{node}",
                "annotations": source,
                "ownerReferences": [{**owner, "controller": True}],
            },
            "spec": {
                "nodeName": node,
                "priorityClassName": "system-node-critical",
                "containers": [container],
                "tolerations": [{"effect": "NoExecute", "operator": "Exists"}],
            },
        },
    )


@story("b33_critical_pod_preempts", "cp-1", "cp-2")
async def critical_pod(stage: BlindStage) -> None:
    """Let the kubelet end a Pod to admit a critical one."""
    await the_job(stage.api, "calm", 1, nodes=("cp-1",))
    placed = await the_job(stage.api, "embeddings", 1, gpus=4, nodes=("cp-2",))
    pod = placed.on("cp-2")
    message = "Preempted in order to admit critical pod"
    async with stage.recording(), kubelet(stage, "cp-2") as acting:
        stage.did("preempt", "the kubelet of cp-2 admits a critical Pod")
        stage.machine("cp-2").hang()
        reference = await pod_reference(stage, "train", pod)
        await acting.event(
            reference, "Preempting", message, kind="Warning", host="cp-2"
        )
        await end_pod(acting, pod, "Preempting", message, 137)
        await _critical_pod(acting, "cp-2")
        await stage.pause(2)
        stage.machine("cp-2").resume()
        await wait_running(stage, "train", f"{JOB}=embeddings", 1, without=pod)
        await stage.pause(3)


@story("b34_system_oom_then_silence", "om-1", "om-2")
async def system_oom(stage: BlindStage) -> None:
    """Run out of memory, be silent, boot."""
    await the_job(stage.api, "tokenize", 2, nodes=("om-1", "om-2"))
    async with stage.recording(), kubelet(stage, "om-2") as acting:
        await stage.pause(3)
        stage.did("oom", "the kubelet of om-2 reports that memory ran out")
        await acting.event(
            await acting.node_reference("om-2"),
            "SystemOOM",
            "System OOM encountered, victim process: python3, pid: 48213",
            kind="Warning",
            host="om-2",
        )
        await stage.pause(2)
        await stage.crash("om-2")
        await stage.is_unknown("om-2")
        await stage.pause(10)
        await stage.boot("om-2")
        await stage.ready("om-2")
        await wait_running(stage, "train", f"{JOB}=tokenize", 2)
