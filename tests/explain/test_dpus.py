"""DPUs: what DPF does to their hosts, and what their own Nodes report."""

import orjson
import pytest

from recorder.facts import appearance
from recorder.model.fact import FactKind
from recorder.model.outcomes import Decision, Fault, Happened
from recorder.model.reference import ObjectIdentity
from tests.explain.tale import Tale
from tests.explain.test_traps import actor, decision, fault

DPUNODE = ObjectIdentity(
    "provisioning.dpu.nvidia.com", "DPUNode", "dpf", "n1", "uid-dpunode"
)


OPENSHIFT = ObjectIdentity(
    "config.openshift.io", "DataProcessingUnit", "dpu", "n1-host", "uid-dpu"
)


def turn(
    tale: Tale,
    seconds: float,
    name: str,
    status: str,
    reason: str = "",
    *,
    about: ObjectIdentity = DPUNODE,
) -> Tale:
    was = {"status": "False" if status == "True" else "True"}
    new = {"status": status, "reason": reason}
    detail = {"type": name, "old": was, "new": new}
    return tale.add(
        seconds, FactKind.CONDITION_CHANGED, detail,
        about=about, actor="dpf-provisioning-controller",
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


@pytest.mark.parametrize(
    ("reason", "is_blamed"), [("PingFailed", True), ("NotInitialized", False)]
)
def test_a_dpu_that_its_host_cannot_reach_is_at_fault(
    reason: str,
    is_blamed: bool,  # noqa: FBT001 - of the table
) -> None:
    tale = Tale("n1", "n2").silent(100, "n1", renewed=60)
    turn(tale, 58, "Ready", "False", reason, about=OPENSHIFT)
    verdict = tale.lost(100).ready(160).verdict()
    assert verdict.happened is Happened.UNREACHABLE
    assert (fault(verdict) is Fault.LINK) == is_blamed


def silence_of_dpu(seconds: float) -> Tale:
    """A DPU in n1 that was last heard from at a time."""
    return Tale("dpu-1").silent(seconds + 40, "dpu-1", renewed=seconds)


def uplink(seconds: float, *, back: float | None = None) -> Tale:
    """A DPU in n1 that reports its uplink down."""
    tale = Tale("dpu-1").condition(
        seconds, "UplinkHealthy", "False", "UplinkIsDown", node="dpu-1"
    )
    if back is not None:
        tale.condition(
            back, "UplinkHealthy", "True", "Up", was="False", node="dpu-1"
        )
    return tale


@pytest.mark.parametrize(
    ("dpu", "is_blamed"),
    [
        # It reported that, and the host was last heard from at 60.
        (uplink(58), True),
        (uplink(65), True),
        (uplink(10, back=30), False),
        (uplink(110), False),
        # It was silent before.
        (silence_of_dpu(30), True),
        # Both at once: a host without power takes its DPU with it.
        (silence_of_dpu(55), False),
        (silence_of_dpu(70), False),
    ],
)
def test_only_a_dpu_that_failed_first_explains_the_loss_of_its_host(
    dpu: Tale,
    is_blamed: bool,  # noqa: FBT001 - of the table
) -> None:
    tale = Tale("n1", "n2").silent(100, "n1", renewed=60)
    tale.lost(100).ready(160)
    facts = [one for one in dpu.facts if one.fact.node == "dpu-1"]
    verdict = tale.verdict(dpu=facts)
    assert verdict.happened is Happened.UNREACHABLE
    assert (fault(verdict) is Fault.LINK) == is_blamed
    if is_blamed:
        assert verdict.fault is not None
        assert verdict.fault.says.startswith("dpu/dpu-1: ")
