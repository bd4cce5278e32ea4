"""Systems are upgraded, by controllers that few know, or not quite."""

from typing import Any

from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import OR_FAILED, SOMEONE, or_decision
from tests.scenarios.workloads.work import JOBS

MCC = "machineconfiguration.openshift.io"
FLUO = "flatcar-linux-update.v1.flatcar-linux.net"
STOPPING = {"Ready": ("False", "KubeletNotReady", "node is shutting down")}
SHADOWS = "brupop.bottlerocket.aws/v2/bottlerocketshadows"


def stops(scene: Scene, at: float, node: str) -> None:
    """Let logind notify the kubelet that the machine shuts down."""
    says = "Shutdown manager detected shutdown event"
    scene.kubelet(at, node, "Shutdown", says)
    scene.node(at + 0.1, node, "kubelet", conditions=STOPPING)
    scene.kubelet(at + 0.2, node, "NodeNotReady", "NodeNotReady")


def upgraded(scene: Scene) -> Scene:
    """Say that a system was upgraded, by what need not be known."""
    by = ["controller", "unknown"], None
    return scene.rebooted("gpu-002", "os-upgrade", by, most="likely")


@incident
def talos_is_upgraded() -> Scene:
    scene = Scene().runs(-5, "web-0", "gpu-002", gpus=0)
    cordoned = {"talos.dev/cordoned": "true"}
    scene.node(20, "gpu-002", "talos", cordon=True, notes=cordoned)
    scene.evicts(20.5, "web-0")
    scene.kubelet(28, "gpu-002", "NodeNotSchedulable", "NodeNotSchedulable")
    scene.silent(45, "gpu-002").stale(92, "gpu-002")
    scene.boots(
        170,
        "gpu-002",
        kernelVersion="6.12.57-talos",
        osImage="Talos (v1.11.5)",
    )
    scene.node(
        186, "gpu-002", "talos", cordon=False, notes=dict.fromkeys(cordoned)
    )
    scene.hit_pod("web-0", "gpu-002", by="drain", accept=OR_FAILED)
    return upgraded(scene)


@incident
def flatcar_updates_itself() -> Scene:
    scene = Scene()
    scene.node(
        20,
        "gpu-002",
        "update-agent",
        notes={
            f"{FLUO}/status": "UPDATE_STATUS_UPDATED_NEED_REBOOT",
            f"{FLUO}/new-version": "4459.2.1",
            f"{FLUO}/reboot-needed": "true",
        },
        labels={f"{FLUO}/reboot-needed": "true"},
    )
    scene.node(
        50, "gpu-002", "update-operator", notes={f"{FLUO}/reboot-ok": "true"}
    )
    scene.node(
        52,
        "gpu-002",
        "update-agent",
        cordon=True,
        notes={f"{FLUO}/reboot-in-progress": "true"},
    )
    stops(scene, 80, "gpu-002")
    scene.silent(85, "gpu-002").stale(131, "gpu-002")
    scene.boots(
        150,
        "gpu-002",
        kernelVersion="6.12.54-flatcar",
        osImage="Flatcar Container Linux by Kinvolk 4459.2.1 (Oklo)",
    )
    scene.node(
        190,
        "gpu-002",
        "update-agent",
        cordon=False,
        notes={
            f"{FLUO}/reboot-needed": "false",
            f"{FLUO}/reboot-in-progress": "false",
        },
        labels={f"{FLUO}/reboot-needed": "false"},
    )
    scene.asks(0, 300, node="gpu-002", verdicts=[0])
    scene.asks(0, 300, node="gpu-003")
    return upgraded(scene)


@incident
def bottlerocket_is_updated() -> Scene:
    scene = Scene()
    name = "brs-gpu-002"
    scene.makes(
        -900,
        SHADOWS,
        "BottlerocketShadow",
        name,
        by="brupop-agent",
        space="brupop-bottlerocket-aws",
        spec={"state": "Idle"},
        status={"current_state": "Idle", "current_version": "1.50.0"},
    )

    def wants(state: str) -> Any:
        def change(made: dict[str, Any]) -> None:
            made["spec"] = {"state": state, "version": "1.51.0"}

        return change

    def says(at: float, state: str) -> None:
        scene.alters(
            at,
            SHADOWS,
            name,
            wants(state),
            by="brupop-controller",
            space="brupop-bottlerocket-aws",
        )

    says(20, "StagedAndPerformedUpdate")
    says(40, "RebootedIntoUpdate")
    scene.node(
        41,
        "gpu-002",
        "brupop-apiserver",
        cordon=True,
        labels={"node.kubernetes.io/exclude-from-external-load-balancers": ""},
    )
    scene.silent(60, "gpu-002").boots(
        105,
        "gpu-002",
        kernelVersion="6.12.58",
        osImage="Bottlerocket OS 1.51.0 (aws-k8s-1.34-nvidia)",
    )
    says(130, "MonitoringUpdate")
    scene.node(131, "gpu-002", "brupop-apiserver", cordon=False)
    return upgraded(scene)


@incident
def a_plan_of_rancher_restarts_an_agent() -> Scene:
    scene = Scene()
    name = "apply-k3s-agent-on-gpu-002-with-2f8e"
    scene.makes(
        15,
        JOBS,
        "Job",
        name,
        by="system-upgrade-controller",
        space="system-upgrade",
        metadata={
            "labels": {
                "upgrade.cattle.io/node": "gpu-002",
                "upgrade.cattle.io/plan": "k3s-agent",
            }
        },
    )
    job = owner("Job", name, "batch/v1", "system-upgrade")
    scene.runs(
        16, f"{name}-x2", "gpu-002", of=job, gpus=0, space="system-upgrade"
    )
    scene.node(18, "gpu-002", "kubectl", cordon=True)
    scene.kubelet(25, "gpu-002", "NodeNotSchedulable", "NodeNotSchedulable")
    scene.starts(40, "gpu-002")
    scene.node(
        40.2, "gpu-002", "kubelet", info={"kubeletVersion": "v1.36.4+k3s1"}
    )
    scene.pod(
        50,
        f"{name}-x2",
        "kubelet",
        space="system-upgrade",
        ended=(0, "Completed"),
        phase="Succeeded",
    )
    done = {"plan.upgrade.cattle.io/k3s-agent": "2f8e"}
    by = "system-upgrade-controller"
    scene.node(52, "gpu-002", by, labels=done, cordon=False)
    scene.hit(
        "Job",
        name,
        "gpu-002",
        [f"{name}-x2"],
        size=1,
        gpus=0,
        space="system-upgrade",
        outcome="survived",
        optional=True,
        accept={"outcome": ["completed"], "hit_by": ["drain"]},
    )
    return scene.decided(
        "gpu-002",
        "kubelet-restart",
        "manual-drain",
        SOMEONE,
        boots=(1, 1),
        back=True,
        accept={
            "mode": ["abrupt", "unknown"],
            "fault": ["kubelet-failure"],
            "cause": ["kubelet-failure", "unrecorded", "os-upgrade"],
            "decision": [None, "os-upgrade"],
        },
    )


@incident
def kubelets_are_upgraded_one_after_another() -> Scene:
    scene = Scene()
    for place, node in enumerate(scene.names):
        at = 20 + 90 * place
        scene.starts(at, node)
        info = {"kubeletVersion": "v1.36.4"}
        scene.node(at + 0.1, node, "kubelet", info=info)
        scene.renews(at + 0.3, node)
        scene.kubelet_restarted(
            node,
            accept={
                "mode": ["unknown", "planned"],
                "fault": [None],
                "cause": ["unrecorded", "os-upgrade"],
                "decision": ["os-upgrade"],
            },
        )
    return scene


@incident
def a_machine_config_needs_no_reboot() -> Scene:
    scene = Scene()
    new, old = "rendered-gpu-9f3", "rendered-gpu-1ab"
    notes = {
        f"{MCC}/currentConfig": old,
        f"{MCC}/desiredConfig": old,
        f"{MCC}/state": "Done",
    }
    scene.node(-900, "gpu-002", "machine-config-daemon", notes=notes)
    scene.node(
        20,
        "gpu-002",
        "machine-config-controller",
        notes={f"{MCC}/desiredConfig": new},
    )
    scene.node(
        21,
        "gpu-002",
        "machine-config-daemon",
        notes={f"{MCC}/state": "Working"},
    )
    steps = (
        ("Drain", "Drain not required, skipping"),
        ("OSUpdateStarted", "Changing kernel arguments"),
        ("SkipReboot", "Config changes do not require reboot."),
        ("NodeDone", f"Setting node gpu-002, currentConfig {new} to Done"),
    )
    for place, (reason, text) in enumerate(steps):
        scene.says(
            22 + 3 * place,
            "machineconfigdaemon",
            reason,
            text,
            node="gpu-002",
            host="gpu-002",
        )
    return scene.node(
        32,
        "gpu-002",
        "machine-config-daemon",
        notes={f"{MCC}/currentConfig": new, f"{MCC}/state": "Done"},
    )


@incident
def a_crash_boots_a_kernel_that_was_installed_before() -> Scene:
    scene = Scene().dies(20, "gpu-002")
    scene.boots(500, "gpu-002", kernelVersion="6.8.0-90-generic")
    return scene.unexplained(
        "gpu-002",
        most="possible",
        accept={"mode": ["unknown", "planned"], **or_decision("os-upgrade")},
    )
