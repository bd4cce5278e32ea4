"""An object that names the machine of a Node in its place is evidence."""

from collections.abc import Iterator
from typing import Any

import pytest

from recorder.answers.node_questions import WhyQuestion
from recorder.answers.why import ask_why
from recorder.explain.knowledge import shipped
from recorder.model.observation import Observation
from recorder.model.outcomes import Decision
from recorder.model.reference import Resource
from recorder.model.window import Window
from tests.answers.test_reliability import NOW
from tests.corpus.logs import reading_of
from tests.support.builders import (
    EVENTS,
    NODES,
    PODS,
    a_bookmark,
    a_frame,
    a_list,
    a_node,
    an_event,
    an_object,
    at,
)
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import Database, DatabaseServer

ORDERS = Resource.parse("power.example.net/v1/powerorders")


def booted(version: int, boot: str) -> dict[str, Any]:
    node = a_node("n0", version)
    node["spec"] = {"providerID": "metal3://hall-2/host-17/n0-machine"}
    node["status"]["nodeInfo"] = {"bootID": boot, "machineID": "0123456789ab"}
    return node


def story(machine: str) -> list[list[Observation]]:
    """A program orders that a machine is rebooted, and it is."""
    order = an_object("reboot-one", 11, spec={"nodeName": machine})
    order["kind"] = "PowerOrder"
    order["metadata"]["managedFields"] = [
        {"manager": "powerctl", "operation": "Update", "time": "now"}
    ]
    begun = order | {"status": {"phase": "Rebooting"}}
    begun["metadata"] = order["metadata"] | {"resourceVersion": "12"}
    streams = (NODES, PODS, EVENTS, ORDERS)
    return [
        [
            a_list(NODES, 1, booted(1, "boot-1")),
            *(a_list(one, 1) for one in streams[1:]),
            a_frame(ORDERS, "ADDED", order, when=30),
            a_frame(ORDERS, "MODIFIED", begun, when=40),
            a_frame(NODES, "MODIFIED", booted(20, "boot-2"), when=60),
            *(a_bookmark(one, 99, when=900) for one in streams),
        ]
    ]


MACHINES = {
    "n0": Decision.ADMIN_REQUEST,
    "host-17": Decision.ADMIN_REQUEST,
    "0123456789ab": Decision.ADMIN_REQUEST,
    "host-18": None,
}


@pytest.fixture(params=MACHINES)
def ordered(
    request: pytest.FixtureRequest, embedded_server: DatabaseServer
) -> Iterator[tuple[str, Database]]:
    said = story(request.param)
    with filled_database(
        embedded_server, lambda dsn: write_log(dsn, said, with_facts=True)
    ) as database:
        yield request.param, database


async def test_an_order_for_the_machine_of_a_node_is_one_for_the_node(
    ordered: tuple[str, Database],
) -> None:
    machine, log = ordered
    asked = WhyQuestion(node="n0", window=Window(at(0), at(800)))
    async with reading_of(log.dsn("reader"), 1) as reading:
        found = await ask_why(reading, asked, shipped(), now=NOW)

    (verdict,) = found.verdicts
    decided = verdict.decision
    assert (decided.decision if decided else None) is MACHINES[machine]


MACHINE = Resource.parse("machine.openshift.io/v1beta1/machines")


def remediated(named: str) -> list[list[Observation]]:
    """An Event about a Machine says why it was deleted, and its Node went."""
    machine = an_object("worker-n0", 10)
    machine |= {"kind": "Machine", "apiVersion": MACHINE.api_version}
    machine["status"] = {"nodeRef": {"kind": "Node", "name": "n0"}}
    going = dict(machine)
    going["metadata"] = machine["metadata"] | {
        "resourceVersion": "11",
        "deletionTimestamp": f"{at(60):%Y-%m-%dT%H:%M:%SZ}",
    }
    said = an_event("deleted", 12) | {
        "reason": "MachineDeleted",
        "message": "it has been remediated by requesting to delete it",
        "source": {"component": "machinehealthcheck-controller"},
        "lastTimestamp": f"{at(60):%Y-%m-%dT%H:%M:%SZ}",
    }
    said["involvedObject"] = {
        "kind": "Machine",
        "apiVersion": MACHINE.api_version,
        "namespace": "train",
        "name": named,
    }
    node = booted(1, "boot-1")
    streams = (NODES, PODS, EVENTS, MACHINE)
    return [
        [
            a_list(NODES, 1, node),
            a_list(PODS, 1),
            a_list(EVENTS, 1),
            a_list(MACHINE, 1, machine),
            a_frame(MACHINE, "MODIFIED", going, when=60),
            a_frame(EVENTS, "ADDED", said, when=60),
            a_frame(NODES, "DELETED", node, when=90),
            *(a_bookmark(one, 99, when=900) for one in streams),
        ]
    ]


@pytest.fixture(params=["worker-n0", "worker-n1"])
def deleted(
    request: pytest.FixtureRequest, embedded_server: DatabaseServer
) -> Iterator[tuple[str, Database]]:
    said = remediated(request.param)
    with filled_database(
        embedded_server, lambda dsn: write_log(dsn, said, with_facts=True)
    ) as database:
        yield request.param, database


async def test_an_event_about_the_machine_of_a_node_is_about_the_node(
    deleted: tuple[str, Database],
) -> None:
    machine, log = deleted
    asked = WhyQuestion(node="n0", window=Window(at(0), at(800)))
    async with reading_of(log.dsn("reader"), 1) as reading:
        found = await ask_why(reading, asked, shipped(), now=NOW)

    (verdict,) = found.verdicts
    assert verdict.decision is not None
    by_check = verdict.decision.actor.name == "machine-health-check"
    assert by_check is (machine == "worker-n0")
