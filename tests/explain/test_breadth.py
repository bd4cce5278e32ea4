"""Faults of places: a PDU, a rack or a switch, and the nodes behind it."""

from typing import Any

import pytest

from recorder.model.fact import FactKind
from recorder.model.outcomes import Confidence, Fault, Happened
from tests.explain.tale import Tale
from tests.explain.test_traps import fault
from tests.support.builders import at

NODES = ("n1", "n2", "n3", "n4", "n5", "n6")
PORT = "backend.coreweave.cloud/neighbors.{}.mlx5_0.port-id"


def a_row(behind: int, **labels: str) -> Tale:
    """Six nodes, the first of them behind the places of the labels."""
    tale = Tale()
    tale.facts.clear()
    for number, node in enumerate(NODES):
        theirs = labels if number < behind else {"rack": "elsewhere"}
        tale.appears(0, node, labels=theirs)
    return tale


def claims(
    tale: Tale, seconds: float, subject: str, type_: str, **data: Any
) -> Tale:
    detail = {"type": type_, "source": "dc", "subject": subject, "data": data}
    return tale.add(
        seconds, FactKind.CLAIMED, detail, node=None, occurred=seconds
    )


def power_goes(tale: Tale, *nodes: str, at_second: float = 60) -> Tale:
    """Let nodes stop at once and boot again."""
    for node in nodes:
        tale.silent(at_second + 40, node, renewed=at_second)
    for node in nodes:
        tale.lost(at_second + 40, node)
    for node in nodes:
        tale.boots(at_second + 200, node).ready(at_second + 210, node)
    return tale


def test_a_pdu_that_tripped_explains_the_nodes_behind_it() -> None:
    tale = claims(a_row(3, pdu="b3"), 58, "pdu/b3", "machine.power",
                  event="tripped")  # fmt: skip
    verdict = power_goes(tale, "n1", "n2", "n3").verdict()
    assert verdict.happened is Happened.REBOOT
    assert fault(verdict) is Fault.POWER_LOSS
    assert verdict.fault is not None
    assert verdict.fault.says.startswith("pdu/b3: ")
    assert verdict.fault.at == at(58)
    assert verdict.confidence is Confidence.LIKELY


def test_a_node_that_stayed_well_speaks_against_it() -> None:
    tale = claims(a_row(3, pdu="b3"), 58, "pdu/b3", "machine.power",
                  event="tripped")  # fmt: skip
    verdict = power_goes(tale, "n1", "n2").verdict()
    assert fault(verdict) is Fault.POWER_LOSS
    assert verdict.confidence is Confidence.POSSIBLE


@pytest.mark.parametrize(
    ("behind", "seconds", "gone"),
    [
        # An alarm an hour before.
        (3, -3600, ("n1", "n2", "n3")),
        # One node alone, which may have crashed by itself.
        (1, 58, ("n1",)),
        # Most behind it stayed well.
        (6, 58, ("n1", "n2")),
    ],
)
def test_a_pdu_that_is_only_near_is_not_blamed(
    behind: int, seconds: float, gone: tuple[str, ...]
) -> None:
    tale = a_row(behind, pdu="b3")
    claims(tale, seconds, "pdu/b3", "machine.power", event="tripped")
    verdict = power_goes(tale, *gone).verdict()
    assert verdict.fault is None or not verdict.fault.says.startswith("pdu/")


def unplugged(tale: Tale, *nodes: str) -> Tale:
    for node in nodes:
        tale.labels(1, PORT.format("current"), "leaf-7.1", node=node)
        tale.labels(2, PORT.format("expected"), "leaf-7.1", node=node)
    for node in nodes:
        tale.labels(
            63, PORT.format("current"), None, old="leaf-7.1", node=node
        )
    return tale


LEAF = {"fabric.topograph.run/tier-0": "leaf-7"}


def test_a_leaf_that_dies_is_named_though_all_nodes_stay_ready() -> None:
    tale = claims(a_row(5, **LEAF), 60, "switch/leaf-7", "link.state",
                  state="down")  # fmt: skip
    tale = unplugged(tale, "n1", "n2", "n3", "n4")
    for node in NODES[:4]:
        (verdict,) = tale.verdicts(node)
        assert verdict.happened is Happened.DEGRADED
        assert fault(verdict) is Fault.LINK
        assert verdict.fault is not None
        assert verdict.fault.says.startswith("switch/leaf-7: ")
        # One of five stayed well, on its second rail.
        assert verdict.confidence is Confidence.LIKELY
    assert tale.verdicts("n5") == []


def test_without_a_record_of_the_fabric_each_port_is_named() -> None:
    tale = unplugged(a_row(5, **LEAF), "n1", "n2")
    (verdict,) = tale.verdicts()
    assert verdict.fault is not None
    assert verdict.fault.says.startswith("port/n1:mlx5_0: ")


def test_a_switch_reported_down_while_all_are_well_explains_nothing() -> None:
    tale = claims(a_row(5, **LEAF), 60, "switch/leaf-7", "link.state",
                  state="down")  # fmt: skip
    assert [v for node in NODES for v in tale.verdicts(node)] == []


def test_of_a_switch_reported_down_one_lost_port_is_only_a_cable() -> None:
    tale = claims(a_row(5, **LEAF), 60, "switch/leaf-7", "link.state",
                  state="down")  # fmt: skip
    (verdict,) = unplugged(tale, "n1").verdicts()
    assert verdict.fault is not None
    assert verdict.fault.says.startswith("port/n1:mlx5_0: ")
