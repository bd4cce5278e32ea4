"""Racks lose their power; not all of their nodes were up."""

from typing import Any

from tests.scenarios.failures.places import HALVES, dark
from tests.scenarios.failures.stillness import SIX
from tests.scenarios.requests.requests import DEADLOCK, NPD
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    OR_FAILED,
    SOMEONE,
    or_decision,
    or_fault,
    user,
)

BOB = "bob@example.com"


def fails_power(scene: Scene, at: float, *nodes: str) -> None:
    """Let nodes go within one interval, and boot one after another."""
    for place, node in enumerate(nodes):
        lost = at + 2 * place
        scene.silent(lost, node).stale(lost + 47, node)
        scene.boots(at + 600 + 50 * place, node)


def lost_power(scene: Scene, *nodes: str) -> Scene:
    """Say that nodes lost their power, and that the log shows it."""
    for node in nodes:
        scene.broke(node, "power-loss", back=True)
    return scene


@incident
def a_rack_goes_dark_of_which_one_was_down_already() -> Scene:
    scene = Scene(*SIX, racks=HALVES)
    scene.silent(5, "gpu-004").stale(52, "gpu-004").unreachable(57, "gpu-004")
    fails_power(scene, 3000, "gpu-005", "gpu-006")
    scene.expect(
        "gpu-004",
        "unreachable",
        "abrupt",
        most="possible",
        back=False,
        accept={**or_fault("network-partition"), "mode": ["unknown"]},
    )
    scene.asks(2000, 4000, node="gpu-005", verdicts=[1])
    scene.asks(2000, 4000, node="gpu-006", verdicts=[2])
    return lost_power(scene, "gpu-005", "gpu-006")


@incident
def a_rack_goes_dark_of_which_one_was_down_from_the_first() -> Scene:
    scene = Scene(*SIX, racks=HALVES)
    scene.fell_silent(-900, "gpu-004")
    fails_power(scene, 300, "gpu-005", "gpu-006")
    scene.boots(960, "gpu-004")
    scene.expect(
        "gpu-004",
        "reboot",
        "unknown",
        most="possible",
        boots=(1, 2),
        back=True,
        accept={"mode": ["abrupt"], **or_fault("power-loss")},
    )
    return lost_power(scene, "gpu-005", "gpu-006")


@incident
def a_rack_goes_dark_while_one_is_off_for_repair() -> Scene:
    scene = Scene(*SIX, racks=HALVES)
    scene.node(20, "gpu-004", "kubectl", cordon=True)
    unready = ("False", "KubeletNotReady", "node is shutting down")
    scene.node(60, "gpu-004", "kubelet", conditions={"Ready": unready})
    scene.silent(70, "gpu-004").stale(117, "gpu-004")
    fails_power(scene, 4000, "gpu-005", "gpu-006")
    scene.expect(
        "gpu-004",
        "unreachable",
        "planned",
        decision="manual-drain",
        actor=SOMEONE,
        most="likely",
        back=False,
        accept={"mode": ["unknown"], **or_decision(None)},
    )
    return lost_power(scene, "gpu-005", "gpu-006")


@incident
def one_of_a_rack_was_back_and_stays_up() -> Scene:
    # It was down before, and is up again: then its rack has power.
    scene = Scene(*SIX, racks=HALVES)
    scene.dies(5, "gpu-004", 600)
    fails_power(scene, 3000, "gpu-005", "gpu-006")
    scene.unexplained("gpu-004")
    for node in ("gpu-005", "gpu-006"):
        scene.unexplained(node, most="possible")
    return scene


@incident
def one_of_a_rack_was_down_and_its_neighbour_crashes() -> Scene:
    # Of the two that were up, one went: that is no loss of a rack's power.
    scene = Scene(*SIX, racks=HALVES)
    scene.silent(5, "gpu-004").stale(52, "gpu-004")
    scene.dies(3000, "gpu-005", 3600)
    scene.expect(
        "gpu-004",
        "unreachable",
        "abrupt",
        most="possible",
        back=False,
        accept={**or_fault("network-partition"), "mode": ["unknown"]},
    )
    return scene.unexplained("gpu-005")


@incident
def a_rack_goes_dark_and_one_had_hung_before() -> Scene:
    scene = Scene(*SIX, racks=HALVES)
    scene.node(5, "gpu-004", NPD, conditions=DEADLOCK)
    fails_power(scene, 3000, "gpu-004", "gpu-005", "gpu-006")
    # Whether the power alone took it, or it was hung, is unknown.
    scene.broke(
        "gpu-004",
        "power-loss",
        accept={**or_fault("hung-kernel", None), "mode": ["unknown"]},
        boots=(1, 2),
    )
    return dark(scene, "gpu-005", "gpu-006")


def empties(scene: Scene, at: float, node: str, *pods: str) -> None:
    """Let bob drain a node."""
    body = {"spec": {"unschedulable": True}}
    scene.asked(at, BOB, "patch", node, body)
    scene.node(at + 0.02, node, "kubectl", cordon=True)
    more: Any = {"resource": "pods", "space": "train", "sub": "eviction"}
    for pod in pods:
        scene.asked(at + 1, BOB, "create", pod, {}, **more)
    scene.evicts(at + 1.1, *pods)


@incident
def a_rack_goes_dark_while_somebody_drains_one_of_it() -> Scene:
    scene = Scene(*SIX, racks=HALVES, audit=True)
    scene.runs(-5, "web-0", "gpu-004", gpus=0)
    empties(scene, 20, "gpu-004", "web-0")
    fails_power(scene, 60, "gpu-004", "gpu-005", "gpu-006")
    scene.node(3000, "gpu-004", "kubectl", cordon=False)
    scene.hit_pod("web-0", "gpu-004", by="drain")
    scene.asks(0, 3600, node="gpu-004", verdicts=[0])
    # That one was drained took no other down.
    return lost_power(scene, "gpu-004", "gpu-005", "gpu-006")


@incident
def a_rack_is_drained_and_switched_off() -> Scene:
    scene = Scene(*SIX, racks=HALVES, audit=True)
    for place, node in enumerate(SIX[3:]):
        scene.runs(-5, f"web-{place}", node, gpus=0)
        empties(scene, 20 + 300 * place, node, f"web-{place}")
        scene.hit_pod(f"web-{place}", node, by="drain", accept=OR_FAILED)
        scene.rebooted(
            node,
            "manual-drain",
            user(BOB),
            most="likely",
            accept=or_decision("admin-request"),
        )
    fails_power(scene, 700, *SIX[3:])
    for place, node in enumerate(SIX[3:]):
        scene.node(3000, node, "kubectl", cordon=False)
        scene.asks(0, 3600, node=node, verdicts=[place])
    return scene
