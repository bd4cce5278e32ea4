"""DPUs: what DPF does to their hosts, and what their own Nodes report."""

import orjson

from recorder.facts import appearance
from recorder.model.fact import FactKind
from recorder.model.outcomes import Decision, Fault, Happened
from recorder.model.reference import ObjectIdentity
from tests.explain.tale import Tale
from tests.explain.test_traps import actor, decision, fault

DPUNODE = ObjectIdentity(
    "provisioning.dpu.nvidia.com", "DPUNode", "dpf", "n1", "uid-dpunode"
)


def turn(tale: Tale, seconds: float, name: str, status: str) -> Tale:
    was = {"status": "False" if status == "True" else "True"}
    detail = {"type": name, "old": was, "new": {"status": status}}
    return tale.add(
        seconds, FactKind.CONDITION_CHANGED, detail,
        about=DPUNODE, actor="dpf-provisioning-controller",
    )  # fmt: skip


def test_an_update_of_a_dpu_is_the_decision_that_reboots_its_host() -> None:
    tale = turn(Tale("n1", "n2"), 30, "DPUUpdateInProgress", "True")
    tale.cordons(40, actor="dpf-provisioning-controller")
    turn(tale, 200, "DPUNodeRebootInProgress", "True")
    verdict = tale.lost(240).boots(300).ready(310).verdict()
    assert verdict.happened is Happened.REBOOT
    assert decision(verdict) is Decision.HOST_MAINTENANCE
    assert actor(verdict) == ("controller", "dpf")
    assert verdict.fault is None


def test_an_update_that_ended_before_decided_no_later_reboot() -> None:
    tale = turn(Tale("n1", "n2"), 30, "DPUUpdateInProgress", "True")
    turn(tale, 60, "DPUUpdateInProgress", "False")
    verdict = tale.crashes(86_400).ready(86_500).verdicts()[-1]
    assert verdict.happened is Happened.REBOOT
    assert verdict.decision is None


def test_the_problem_detector_of_a_dpu_names_its_uplink() -> None:
    tale = Tale().condition(60, "UplinkHealthy", "False", "NoCarrier")
    assert fault(tale.verdict()) is Fault.LINK


def test_a_dpu_and_its_dpunode_concern_the_node_of_their_host() -> None:
    for plural, part, member in (
        ("dpunodes", "status", "kubeNodeRef"),
        ("dpus", "spec", "dpuNodeName"),
        ("dataprocessingunits", "spec", "nodeName"),
    ):
        document = {"metadata": {"name": "x"}, part: {member: "gpu-001"}}
        resource = f"provisioning.dpu.nvidia.com/v1alpha1/{plural}"
        shown = appearance(orjson.dumps(document), resource)
        assert shown is not None
        assert shown.state.node == "gpu-001"
