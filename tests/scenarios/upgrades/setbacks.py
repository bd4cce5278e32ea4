"""Upgrades fail, fall back, or are over when something else happens."""

from typing import Any

from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene, owner
from tests.scenarios.telling.truths import controller, or_decision
from tests.scenarios.upgrades.boots import NEW, RACKS, gives, kured, takes
from tests.scenarios.upgrades.upgrades import FLUO, MCC, SHADOWS
from tests.scenarios.workloads.work import JOBS

PLAN = "upgrade.cattle.io"


@incident
def talos_falls_back_to_what_it_was() -> Scene:
    scene = Scene()
    mark = {"talos.dev/cordoned": "true"}
    scene.node(20, "gpu-002", "talos", cordon=True, notes=mark)
    scene.silent(45, "gpu-002").stale(92, "gpu-002").boots(500, "gpu-002")
    gone = dict.fromkeys(mark)
    scene.node(516, "gpu-002", "talos", cordon=False, notes=gone)
    return scene.rebooted(
        "gpu-002",
        "os-upgrade",
        (["controller", "unknown"], None),
        most="likely",
        # Without another version nothing shows what it was cordoned for.
        accept={
            "mode": ["unknown"],
            **or_decision("manual-drain", "admin-request", None),
        },
    )


@incident
def flatcar_has_an_update_and_crashes_into_it() -> Scene:
    scene = Scene().node(
        20,
        "gpu-002",
        "update-agent",
        notes={f"{FLUO}/reboot-needed": "true", f"{FLUO}/reboot-ok": "false"},
        labels={f"{FLUO}/reboot-needed": "true"},
    )
    scene.dies(90000, "gpu-002")
    scene.boots(90300, "gpu-002", osImage="Flatcar Container Linux 4459.2.1")
    return scene.unexplained(
        "gpu-002",
        most="possible",
        accept={"mode": ["unknown"], **or_decision("os-upgrade")},
    )


@incident
def a_machine_config_reboots_and_is_not_what_was_wanted() -> Scene:
    scene = Scene()
    new, daemon = "rendered-gpu-9f3", "machine-config-daemon"
    config = "machine-config-controller"
    scene.node(20, "gpu-002", config, notes={f"{MCC}/desiredConfig": new})
    working = {f"{MCC}/state": "Working"}
    scene.node(21, "gpu-002", daemon, notes=working)
    scene.node(22, "gpu-002", config, cordon=True)
    for at, reason, says in (
        (22, "Cordon", "Cordoned node to apply update"),
        (40, "OSUpdateStarted", "Upgrading OS"),
        (60, "Reboot", f"Node will reboot into config {new}"),
    ):
        scene.says(at, "machineconfigdaemon", reason, says, node="gpu-002")
    going = {f"{MCC}/post-config-action": "Rebooting"}
    scene.node(60.2, "gpu-002", daemon, notes=going)
    scene.silent(70, "gpu-002").stale(117, "gpu-002").boots(400, "gpu-002")
    bad = {
        f"{MCC}/state": "Degraded",
        f"{MCC}/reason": "unexpected on-disk state validating against 9f3",
    }
    scene.node(440, "gpu-002", daemon, notes=bad)
    return scene.rebooted(
        "gpu-002",
        "os-upgrade",
        controller("machine-config-daemon"),
        back=False,
    )


@incident
def bottlerocket_goes_back_to_what_it_was() -> Scene:
    scene = Scene()
    name, space = "brs-gpu-002", "brupop-bottlerocket-aws"
    scene.makes(
        -900,
        SHADOWS,
        "BottlerocketShadow",
        name,
        by="brupop-agent",
        space=space,
        spec={"state": "Idle"},
        status={"current_state": "Idle", "current_version": "1.50.0"},
    )

    def says(at: float, where: str, state: str, key: str) -> None:
        def change(made: dict[str, Any]) -> None:
            made[where] = made[where] | {key: state}

        by = "brupop-controller" if where == "spec" else "brupop-agent"
        scene.alters(at, SHADOWS, name, change, by=by, space=space)

    says(20, "spec", "StagedAndPerformedUpdate", "state")
    says(30, "status", "StagedAndPerformedUpdate", "current_state")
    says(40, "spec", "RebootedIntoUpdate", "state")
    scene.node(41, "gpu-002", "brupop-apiserver", cordon=True)
    scene.silent(60, "gpu-002").stale(107, "gpu-002").boots(300, "gpu-002")
    says(330, "spec", "ErrorReset", "state")
    says(331, "status", "ErrorReset", "current_state")
    scene.node(340, "gpu-002", "brupop-apiserver", cordon=False)
    # Who does not know these objects has only a cordon.
    return scene.rebooted(
        "gpu-002",
        "os-upgrade",
        (["controller", "unknown"], None),
        most="likely",
        accept={"mode": ["unknown"], **or_decision(None)},
    )


@incident
def a_plan_fails_before_it_reboots_and_it_crashes_later() -> Scene:
    scene = Scene()
    name, space = "apply-os-on-gpu-002-with-11ab", "system-upgrade"
    by = "system-upgrade-controller"
    marks = {f"{PLAN}/node": "gpu-002", f"{PLAN}/plan": "os"}
    meta = {"labels": marks}
    scene.makes(15, JOBS, "Job", name, by=by, space=space, metadata=meta)
    job = owner("Job", name, "batch/v1", space)
    scene.runs(16, f"{name}-9", "gpu-002", of=job, gpus=0, space=space)
    scene.node(18, "gpu-002", "kubectl", cordon=True)
    failed = 1, "Error"
    scene.pod(
        60, f"{name}-9", "kubelet", space=space, ended=failed, phase="Failed"
    )
    scene.node(400, "gpu-002", "kubectl", cordon=False)
    scene.dies(9000, "gpu-002", 9400)
    scene.expect(
        "gpu-002",
        "cordoned",
        "planned",
        decision="os-upgrade",
        boots=(1, 1),
        accept={
            "happened": [None, "drained"],
            **or_decision("manual-drain"),
        },
    )
    return scene.unexplained("gpu-002")


@incident
def a_neighbour_that_was_only_cut_off_is_upgraded_an_hour_later() -> Scene:
    scene = Scene(*RACKS, racks=RACKS)
    kured(scene)
    scene.silent(20, "gpu-001").stale(67, "gpu-001").heals(200, "gpu-001")
    scene.dies(22, "gpu-002", 500)
    takes(scene, 4000, "gpu-001")
    scene.silent(4020, "gpu-001").stale(4067, "gpu-001")
    scene.boots(4200, "gpu-001", kernelVersion=NEW)
    gives(scene, 4300, "gpu-001")
    scene.cut_off("gpu-001", "network-partition", most="likely")
    scene.rebooted("gpu-001", "os-upgrade", controller("kured"))
    return scene.unexplained("gpu-002")
