"""Stories in which programs act on nodes, after their published sources.

Field managers, users, keys, reasons and the order of calls are those of the
source that the incident's truth cites.
"""

import json
import time
from typing import Any

from tests.corpus.acting import moment
from tests.corpus.blind.acts import power_cycle, the_statefulset
from tests.corpus.blind.stage import (
    BlindStage,
    Writer,
    a_machine,
    collected,
    controller_of,
    define,
    pods_on,
    story,
    wait_running,
    writer,
)
from tests.corpus.placing import (
    a_job,
    place,
    pod_spec,
    the_deployment,
    the_job,
    the_namespace,
)

__all__: list[str] = []

JOB = "batch.kubernetes.io/job-name"


@story("b01_cke_reboot_queue", "ck-1", "ck-2", "ck-3")
async def cke(stage: BlindStage) -> None:
    """Annotate and cordon, evict, reboot, uncordon."""
    await the_job(stage.api, "pretrain", 1, nodes=("ck-1",))
    nodes = ("ck-2", "ck-3")
    await the_deployment(
        stage.api, "embed", 2, gpus=4, nodes=nodes, prefer="ck-2"
    )
    async with stage.recording(), writer(stage, "cke", "admin") as acting:
        key = "cke.cybozu.com/reboot"
        stage.did("cordon", "CKE annotates and cordons ck-2")
        await acting.mark(
            "ck-2", annotations={key: "true"}, unschedulable=True
        )
        await acting.evict_all("ck-2")
        await stage.pause(2)
        await power_cycle(stage, "ck-2")
        stage.did("uncordon", "CKE uncordons ck-2")
        await acting.mark("ck-2", annotations={key: None}, unschedulable=False)
        await wait_running(stage, "serve", "app=embed", 2)


KAIROS = "operator.kairos.io"


async def _kairos_reboot_pod(acting: Writer, nodeop: dict[str, Any]) -> str:
    script = (
        'while true; do SENTINEL_FILE=$(find /sentinel -name "$JOB-*"); '
        'if [ -n "$SENTINEL_FILE" ]; then nsenter -i -m -t 1 -- reboot; '
        "break; fi; done"
    )
    container = {
        "name": "reboot",
        "image": "quay.io/kairos/kairos-operator:latest",
        "command": ["/bin/sh", "-c", script],
        "securityContext": {"privileged": True, "runAsUser": 0},
    }
    name = "kairos-upgrade-reboot-x7k2p"
    lasting = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists"}
        for key in ("not-ready", "unreachable")
    ]
    pod = {
        "metadata": {
            "name": name,
            "labels": {
                f"{KAIROS}/nodeop": "kairos-upgrade",
                "kairos.io/reboot": "true",
                "kairos.io/node": "ka-2",
            },
            "ownerReferences": controller_of(nodeop),
        },
        "spec": {
            "nodeName": "ka-2",
            "hostPID": True,
            "containers": [container],
            "tolerations": lasting,
            "restartPolicy": "OnFailure",
            "terminationGracePeriodSeconds": 1,
        },
    }
    await acting.create("/api/v1/namespaces/default/pods", pod)
    return name


def _kairos_job(nodeop: dict[str, Any]) -> dict[str, Any]:
    container = {"image": "quay.io/kairos/ubuntu:24.04-standard-v3.5.2"}
    upgrade = ["/bin/sh", "-c", "sleep 2; kairos-agent upgrade"]
    sentinel = ["/bin/sh", "-c", "sleep 1; tee /sentinel/$(JOB_NAME)"]
    spec = {
        "nodeName": "ka-2",
        "initContainers": [
            {"name": "nodeop", "command": upgrade, **container}
        ],
        "containers": [
            {"name": "sentinel-creator", "command": sentinel, **container}
        ],
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
    }
    return {
        "metadata": {
            "name": "kairos-upgrade-ka-2",
            "labels": {f"{KAIROS}/nodeop": "kairos-upgrade"},
            "ownerReferences": controller_of(nodeop),
        },
        "spec": {"template": {"spec": spec}},
    }


@story(
    "b02_kairos_nodeop",
    "ka-1",
    "ka-2",
    "ka-3",
    audit=True,
    os_image="Kairos Ubuntu 24.04 v3.4.1",
)
async def kairos(stage: BlindStage) -> None:
    """Cordon, delete Pods, upgrade in a Job, reboot from a Pod."""
    api = await define(stage, KAIROS, "v1alpha1", "NodeOp")
    nodeop = await stage.api.create(
        f"{api}/namespaces/default/nodeops",
        {
            "apiVersion": f"{KAIROS}/v1alpha1",
            "kind": "NodeOp",
            "metadata": {"name": "kairos-upgrade"},
            "spec": {"cordon": True, "rebootOnSuccess": True},
        },
    )
    await the_job(stage.api, "asr", 2, nodes=("ka-1", "ka-2"))
    user = "system:serviceaccount:operator-system:operator-kairos-operator"
    mira = stage.cluster.user("mira", ["system:masters"])
    async with stage.recording(), writer(stage, "manager", user) as acting:
        pod = await _kairos_reboot_pod(acting, nodeop)
        stage.did("cordon", "the Kairos operator cordons ka-2")
        await acting.mark("ka-2", unschedulable=True)
        for found in await pods_on(stage, "ka-2"):
            meta = found["metadata"]
            if meta["name"] != pod:
                await acting.delete_pod(meta["namespace"], meta["name"])
        await acting.create(
            "/apis/batch/v1/namespaces/default/jobs", _kairos_job(nodeop)
        )
        await stage.pause(6)
        await stage.cluster.kubectl(
            "label", "node", "ka-2", "team=speech", kubeconfig=mira
        )
        stage.did("label", "mira labels ka-2")
        reboots = "system:serviceaccount:default:kairos-upgrade-reboot"
        async with writer(stage, "kubectl-patch", reboots) as patching:
            done = {"kairos.io/reboot-state": "completed"}
            await patching.patch(
                f"/api/v1/namespaces/default/pods/{pod}",
                {"metadata": {"annotations": done}},
            )
        await stage.pause(3)
        await power_cycle(stage, "ka-2", os_image="Kairos Ubuntu 24.04 v3.5.2")
        await stage.pause(3)
        stage.did("uncordon", "the Kairos operator uncordons ka-2")
        await acting.mark("ka-2", unschedulable=False)
        await wait_running(stage, "train", f"{JOB}=asr", 2)


@story(
    "b03_fleetlock_zincati",
    "fl-1",
    "fl-2",
    os_image="Fedora CoreOS 42.20261005.3.0",
)
async def fleetlock(stage: BlindStage) -> None:
    """Drain for a request to reboot, and uncordon for the next one."""
    await the_job(stage.api, "rl", 2, nodes=("fl-1", "fl-2"))
    user = "system:serviceaccount:fleetlock:default"
    async with stage.recording(), writer(stage, "fleetlock", user) as acting:
        stage.did("cordon", "fleetlock cordons fl-1 for Zincati")
        await acting.mark("fl-1", unschedulable=True)
        await acting.evict_all("fl-1")
        await stage.pause(2)
        await power_cycle(
            stage, "fl-1", os_image="Fedora CoreOS 43.20261102.3.1"
        )
        await stage.pause(3)
        stage.did("uncordon", "fleetlock uncordons fl-1")
        await acting.mark("fl-1", unschedulable=False)
        await wait_running(stage, "train", f"{JOB}=rl", 2)


@story("b04_k0s_autopilot", "k0-1", "k0-2", "k0-3")
async def k0s(stage: BlindStage) -> None:
    """Signal, cordon, drain, restart in another version, uncordon."""
    await the_job(stage.api, "steady", 1, nodes=("k0-1",))
    nodes = ("k0-2", "k0-3")
    await the_deployment(
        stage.api, "rank", 2, gpus=4, nodes=nodes, prefer="k0-2"
    )

    async def signal(acting: Writer, status: str) -> None:
        update = {"version": "v1.36.3+k0s.1", "forceupdate": False}
        data = {
            "planId": "autopilot",
            "created": "2026-11-26T05:00:00Z",
            "command": {"id": 0, "k0supdate": update},
            "status": {"status": status, "timestamp": moment()},
        }
        annotations = {
            "k0sproject.io/autopilot-signal-version": "v2",
            "k0sproject.io/autopilot-signal-data": json.dumps(data),
        }
        await acting.mark("k0-2", annotations=annotations)

    async with (
        stage.recording(),
        writer(stage, "k0s", "system:node:k0-2") as acting,
    ):
        for status in ("Downloading", "Cordoning"):
            await signal(acting, status)
            await stage.pause(1)
        stage.did("cordon", "k0s cordons and drains k0-2")
        await acting.mark("k0-2", unschedulable=True)
        await acting.evict_all("k0-2")
        for status in ("ApplyingUpdate", "Restart"):
            await signal(acting, status)
            await stage.pause(1)
        stage.did("down", "k0s stops, and the kubelet with it")
        await stage.machine("k0-2").kubelet.kill()
        await stage.pause(3)
        await stage.machine("k0-2").restart_kubelet()
        stage.did("up", "k0s runs again")
        await stage.ready("k0-2")
        await stage.pause(3)
        await signal(acting, "UnCordoning")
        await acting.mark("k0-2", unschedulable=False)
        await signal(acting, "Completed")
        await stage.pause(8)


@story("b05_magnum_auto_healer", "mg-1", "mg-2", audit=True)
async def magnum(stage: BlindStage) -> None:
    """Cordon what is not ready, reboot it softly, uncordon it at once."""
    api = await define(stage, "flux-framework.org", "v1alpha2", "MiniCluster")
    await the_namespace(stage.api, "hpc")
    owner = await stage.api.create(
        f"{api}/namespaces/hpc/miniclusters",
        {
            "apiVersion": "flux-framework.org/v1alpha2",
            "kind": "MiniCluster",
            "metadata": {"name": "lammps"},
            "spec": {"size": 2},
        },
    )
    body = a_job("lammps", 2, pod_spec(nodes=("mg-1", "mg-2")))
    body["metadata"]["ownerReferences"] = controller_of(owner)
    await stage.api.create("/apis/batch/v1/namespaces/hpc/jobs", body)
    selector = f"{JOB}=lammps"
    named = ("MiniCluster", "hpc", "lammps")
    await place(stage.api, named, selector, 2, gang=2, gpus=8)
    user = "system:serviceaccount:kube-system:magnum-auto-healer"

    def cordoned(value: bool) -> Any:  # noqa: FBT001 - of a field
        def change(node: dict[str, Any]) -> None:
            node["spec"]["unschedulable"] = value

        return change

    async with (
        stage.recording(),
        writer(stage, "magnum-auto-healer", user) as acting,
    ):
        stage.did("hang", "mg-2 stops to answer")
        stage.machine("mg-2").hang()
        await stage.is_unknown("mg-2")
        await stage.pause(3)
        stage.did("cordon", "the auto healer cordons mg-2")
        await acting.replace_node("mg-2", cordoned(value=True))
        await stage.pause(2)
        stage.did("soft", "Nova accepts a soft reboot; mg-2 is uncordoned")
        await acting.replace_node("mg-2", cordoned(value=False))
        await stage.pause(2)
        await power_cycle(stage, "mg-2")
        await wait_running(stage, "hpc", selector, 2)


async def _fence(stage: BlindStage, acting: Writer) -> None:
    annotations = {
        "fencing/mode": "flush",
        "fencing/template": "fencing",
        "fencing/node": "kf-2",
        "fencing/id": "kf-2",
    }
    container = {
        "name": "fence",
        "image": "ghcr.io/kvaps/kube-fencing-agents:v2.4.0",
        "command": ["/bin/sh", "-c", "sleep 3; fence_ilo5 --action=reboot"],
    }
    spec = {
        "containers": [container],
        "restartPolicy": "OnFailure",
        "nodeSelector": {"kubernetes.io/hostname": "kf-3"},
    }
    await acting.create(
        "/apis/batch/v1/namespaces/fencing/jobs",
        {
            "metadata": {
                "name": "fence-kf-2",
                "labels": {"node": "kf-2", "fencing": "fence"},
                "annotations": annotations,
            },
            "spec": {
                "ttlSecondsAfterFinished": 100,
                "template": {
                    "metadata": {"annotations": annotations},
                    "spec": spec,
                },
            },
        },
    )
    stage.did("fence", "the fencing controller starts a Job for kf-2")
    await stage.pause(6)


@story("b06_kube_fencing", "kf-1", "kf-2", "kf-3")
async def fencing(stage: BlindStage) -> None:
    """Fence a machine that died, and flush what ran on it."""
    await the_namespace(stage.api, "fencing")
    await the_job(stage.api, "vit", 2, nodes=("kf-1", "kf-2"))
    enabled = {"metadata": {"annotations": {"fencing/enabled": "true"}}}
    await stage.api.patch("/api/v1/nodes/kf-2", enabled)
    user = "system:serviceaccount:fencing:fencing-controller"
    async with (
        stage.recording(),
        writer(stage, "fencing-controller", user) as acting,
    ):
        await stage.crash("kf-2")
        await stage.is_unknown("kf-2")
        since = {"fencing/timestamp": str(int(time.time()))}
        await acting.mark(
            "kf-2", annotations={"fencing/state": "pending", **since}
        )
        await stage.pause(5)
        state = {"fencing/state": "started", "fencing/timestamp": None}
        await acting.mark("kf-2", annotations=state)
        await _fence(stage, acting)
        for pod in await pods_on(stage, "kf-2"):
            meta = pod["metadata"]
            await acting.delete_pod(meta["namespace"], meta["name"], 0)
        await acting.mark("kf-2", annotations={"fencing/state": "fenced"})
        await stage.boot("kf-2")
        await stage.ready("kf-2")
        gone = {"fencing/state": None, "fencing/timestamp": None}
        await acting.mark("kf-2", annotations=gone)
        await wait_running(stage, "train", f"{JOB}=vit", 2)


@story("b07_escalator_scale_down", "es-1", "es-2", "es-3", audit=True)
async def escalator(stage: BlindStage) -> None:
    """Taint a node, and delete it after the hard grace period."""
    await the_job(stage.api, "anchor", 1, nodes=("es-1",))
    ocr = await the_job(stage.api, "ocr", 1, gpus=2, nodes=("es-3",))
    thumbs = await the_deployment(
        stage.api, "thumbs", 1, gpus=1, nodes=("es-2", "es-3"), prefer="es-3"
    )
    pod = f"/api/v1/namespaces/serve/pods/{thumbs.on('es-3')}"
    user = "system:serviceaccount:kube-system:escalator"
    async with stage.recording(), writer(stage, "escalator", user) as acting:
        await stage.machine("es-3").finish_pod("train", ocr.on("es-3"))
        stage.did("done", "the Job train/ocr completes")
        await stage.pause(6)
        stage.did("taint", "escalator taints es-3")
        value = str(int(time.time()))
        await acting.taint(
            "es-3", "atlassian.com/escalator", value, "NoSchedule"
        )
        await stage.pause(12)
        stage.did("removed", "escalator terminates es-3 and deletes its Node")
        await stage.machine("es-3").crash()
        await acting.delete("/api/v1/nodes/es-3")
        await collected(stage, pod)
        await wait_running(stage, "serve", "app=thumbs", 1)


@story("b08_longhorn_node_down", "lh-1", "lh-2", "lh-3")
async def longhorn(stage: BlindStage) -> None:
    """Force-delete the Pod of a StatefulSet on a node that is down."""
    nodes = ("lh-2", "lh-3")
    await the_statefulset(
        stage, "db", "vectors", gpus=1, nodes=nodes, prefer="lh-2"
    )
    user = "system:serviceaccount:longhorn-system:longhorn-service-account"
    async with (
        stage.recording(),
        writer(stage, "longhorn-manager", user) as acting,
    ):
        await stage.crash("lh-2")
        await stage.is_unknown("lh-2")
        await stage.pause(10)
        stage.did("force", "Longhorn force-deletes vectors-0")
        await acting.delete_pod("db", "vectors-0", 0)
        await wait_running(stage, "db", "app=vectors", 1)
        await stage.pause(6)


async def _upgraded(acting: Writer, group: str, reason: str) -> None:
    reference = {
        "kind": "RollingUpgrade",
        "name": "gpu-pool-b",
        "namespace": "upgrades",
        "apiVersion": group,
    }
    message = {"eventType": reason, "instance": "i-0c4d77", "asg": "gpu-b"}
    await acting.event(
        reference, reason, json.dumps(message), component="upgrade-manager"
    )


@story("b09_keiko_rolling_upgrade", "kk-1", "kk-2", "kk-3", audit=True)
async def keiko(stage: BlindStage) -> None:
    """Drain a node, terminate its instance, take another machine."""
    group = "upgrademgr.keikoproj.io"
    api = await define(stage, group, "v1alpha1", "RollingUpgrade")
    await the_namespace(stage.api, "upgrades")
    await stage.api.create(
        f"{api}/namespaces/upgrades/rollingupgrades",
        {
            "apiVersion": f"{group}/v1alpha1",
            "kind": "RollingUpgrade",
            "metadata": {"name": "gpu-pool-b"},
            "spec": {"asgName": "gpu-b"},
        },
    )
    await the_job(stage.api, "tts", 2, nodes=("kk-2", "kk-3", "kk-4"))
    user = "system:serviceaccount:upgrade-manager-system:upgrade-manager"
    cloud = "system:serviceaccount:kube-system:cloud-node-lifecycle"
    async with (
        stage.recording(),
        writer(stage, "upgrade-manager", user) as acting,
        writer(stage, "cloud-controller-manager", cloud) as removing,
    ):
        version = f"{group}/v1alpha1"
        await _upgraded(acting, version, "RollingUpgradeStarted")
        started = "RollingUpgradeInstanceStarted"
        await _upgraded(acting, version, started)
        stage.did("cordon", "upgrade-manager cordons and drains kk-3")
        await acting.mark("kk-3", unschedulable=True)
        await acting.evict_all("kk-3")
        await stage.pause(2)
        await stage.crash("kk-3", label="off")
        spec = a_machine(stage.name, "kk-4")
        await stage.cluster.add_machine(spec)
        await stage.is_unknown("kk-3")
        reference = await removing.node_reference("kk-3")
        await removing.event(
            reference,
            "DeletingNode",
            "Deleting node kk-3 because it does not exist in the cloud "
            "provider",
            component="cloud-node-lifecycle-controller",
        )
        stage.did("removed", "the cloud's controller deletes the Node kk-3")
        await removing.delete("/api/v1/nodes/kk-3")
        finished = "RollingUpgradeInstanceFinished"
        await _upgraded(acting, version, finished)
        await wait_running(stage, "train", f"{JOB}=tts", 2)


@story("b10_node_undertaker", "nu-1", "nu-2", audit=True)
async def undertaker(stage: BlindStage) -> None:
    """Label and taint a node without a fresh lease, and terminate it."""
    await the_job(stage.api, "gnn", 2, nodes=("nu-1", "nu-2"))
    key = "dbschenker.com/node-undertaker"
    user = "system:serviceaccount:node-undertaker:node-undertaker"

    def labelled(value: str, *, tainted: bool = False) -> Any:
        def change(node: dict[str, Any]) -> None:
            metadata = node["metadata"]
            metadata["labels"][key] = value
            metadata["annotations"][f"{key}-timestamp"] = moment()
            if tainted:
                taint = {"key": key, "value": "", "effect": "NoSchedule"}
                node["spec"].setdefault("taints", []).append(taint)

        return change

    async with (
        stage.recording(),
        writer(stage, "node-undertaker", user) as acting,
    ):
        stage.did("hang", "nu-2 stops to renew its lease")
        stage.machine("nu-2").hang()
        await stage.is_unknown("nu-2")
        stage.did("label", "node-undertaker labels nu-2 unhealthy")
        await acting.replace_node("nu-2", labelled("unhealthy"))
        await stage.pause(4)
        await acting.replace_node("nu-2", labelled("tainted", tainted=True))
        await stage.pause(4)
        for value in ("draining", "terminating"):
            await acting.replace_node("nu-2", labelled(value))
            await stage.pause(2)
        stage.did("removed", "the instance is terminated, the Node deleted")
        await stage.machine("nu-2").crash()
        await acting.delete("/api/v1/nodes/nu-2")
        await stage.pause(12)


@story("b11_instance_gone", "ig-1", "ig-2")
async def instance_gone(stage: BlindStage) -> None:
    """Delete the Node of an instance that the cloud does not know."""
    await the_job(stage.api, "moe", 2, nodes=("ig-1", "ig-2"))
    user = "system:serviceaccount:kube-system:cloud-lifecycle-controller"
    async with (
        stage.recording(),
        writer(stage, "cloud-lifecycle-controller", user) as acting,
    ):
        await stage.crash("ig-2")
        await stage.is_unknown("ig-2")
        await stage.pause(6)
        stage.did("removed", "the controller deletes the Node ig-2")
        await acting.delete("/api/v1/nodes/ig-2")
        await stage.pause(12)
