"""Objects of unknown kinds request by what they are called."""

from typing import Any

from tests.scenarios.requests.requests import DEADLOCK, NPD, SOUND
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import controller, or_decision, user

GROUP = "ops.example.com"
REQUESTS = f"{GROUP}/v1/rebootrequests"
IVAN = "ivan@example.com"
REBOOTER = "system:serviceaccount:ops:rebooter"


def wants(scene: Scene, at: float, kind: str, name: str) -> None:
    """Let a person make an object that names a node."""
    plural = f"{kind.lower()}s"
    spec = {"nodeName": "gpu-002"}
    body = {"metadata": {"name": name}, "spec": spec}
    more: Any = {"resource": plural, "group": GROUP}
    scene.asked(at, IVAN, "create", name, body, **more)
    scene.makes(
        at + 0.02,
        f"{GROUP}/v1/{plural}",
        kind,
        name,
        by="kubectl-create",
        spec=spec,
    )


def is_done(made: dict[str, Any]) -> None:
    made["status"] = {"phase": "Done"}


@incident
def a_request_that_nobody_knows_is_carried_out() -> Scene:
    scene = Scene(audit=True)
    wants(scene, 20, "RebootRequest", "kick-gpu-002")
    out: Any = {"spec": {"unschedulable": True}}
    scene.asked(25, REBOOTER, "patch", "gpu-002", out, agent="rebooter/v1")
    scene.node(25.02, "gpu-002", "rebooter", cordon=True)
    scene.dies(40, "gpu-002", 200)
    scene.alters(
        215, REQUESTS, "kick-gpu-002", is_done, by="rebooter", sub="status"
    )
    scene.node(216, "gpu-002", "rebooter", cordon=False)
    return scene.rebooted(
        "gpu-002", "admin-request", user(IVAN), most="likely"
    )


@incident
def a_request_lies_there_while_a_machine_crashes() -> Scene:
    scene = Scene(audit=True)
    wants(scene, 20, "RebootRequest", "kick-gpu-002")
    scene.dies(900, "gpu-002", 1300)
    # No controller took it up, before or after.
    return scene.unexplained(
        "gpu-002",
        most="possible",
        accept={"mode": ["unknown"], **or_decision(None, "admin-request")},
    )


@incident
def a_program_has_a_machine_rebooted_by_another() -> Scene:
    scene = Scene()
    scene.makes(
        20,
        f"{GROUP}/v1/noderebootjobs",
        "NodeRebootJob",
        "gpu-002-7f3a",
        by="fleet-planner",
        spec={"nodeName": "gpu-002"},
    )

    def issued(made: dict[str, Any]) -> None:
        made["status"] = {"phase": "Issued"}

    plural = f"{GROUP}/v1/noderebootjobs"
    scene.alters(
        24, plural, "gpu-002-7f3a", issued, by="bmc-agent", sub="status"
    )
    scene.dies(26, "gpu-002", 300)
    # It may have been on its way still, and nothing says what for.
    return scene.expect(
        "gpu-002",
        "reboot",
        "planned",
        decision="admin-request",
        actor=controller("fleet-planner"),
        most="possible",
        boots=(1, 2),
        back=True,
        accept={"mode": ["unknown"]},
    )


@incident
def a_healer_that_nobody_knows_has_a_hung_machine_rebooted() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=DEADLOCK)
    plural = f"{GROUP}/v1/noderebootjobs"
    scene.makes(
        40,
        plural,
        "NodeRebootJob",
        "gpu-002-7f3a",
        by="healer",
        spec={"nodeName": "gpu-002"},
    )
    scene.dies(60, "gpu-002", 300)
    scene.alters(
        320, plural, "gpu-002-7f3a", is_done, by="healer", sub="status"
    )
    scene.node(330, "gpu-002", NPD, conditions=SOUND)
    # Who made it is not on record, and what was broken is.
    return scene.rebooted(
        "gpu-002",
        "auto-remediation",
        controller("healer"),
        fault="hung-kernel",
        most="likely",
        # Without the record of the order it went by itself.
        accept={"mode": ["abrupt"]},
    )


@incident
def a_snapshot_of_a_node_is_no_order() -> Scene:
    scene = Scene(audit=True)
    wants(scene, 20, "NodeSnapshot", "before-drained-week")
    plural = f"{GROUP}/v1/nodesnapshots"
    scene.dies(60, "gpu-002", 400)
    scene.alters(
        430,
        plural,
        "before-drained-week",
        is_done,
        by="snapshotter",
        sub="status",
    )
    return scene.unexplained("gpu-002")
