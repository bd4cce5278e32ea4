"""What was taken from a node is found by the node, and no more than that."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.node_questions import ImpactQuestion
from recorder.answers.ports import Reading
from recorder.answers.queries import DisplacedPods, NameQuery, StateQuery
from recorder.explain.knowledge import shipped
from recorder.model.observation import Observation
from recorder.model.outcomes import HitBy
from recorder.model.window import Window
from recorder.store.read import LogReading
from tests.answers.test_reliability import NOW, a_pod, added
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
    at,
)
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import Database, DatabaseServer

EVENT = an_event("preempted", 20, pod="llm-0") | {
    "reason": "Preempted",
    "source": {"component": "some-scheduler"},
    "lastTimestamp": f"{at(60):%Y-%m-%dT%H:%M:%SZ}",
}
EVENT["involvedObject"]["uid"] = "pod llm-0"
GOING = a_pod("llm", 0, 21, "Running")
GOING["metadata"]["deletionTimestamp"] = f"{at(60):%Y-%m-%dT%H:%M:%SZ}"
REFUSED = a_pod(
    "odd", 0, 12, "Failed", reason="UnexpectedAdmissionError", message="no GPU"
)
STORY: list[list[Observation]] = [
    [
        a_list(NODES, 1, a_node("n0", 1), a_node("n1", 1)),
        a_list(PODS, 1),
        a_list(EVENTS, 1),
        *added("llm", 0, 10),
        a_frame(PODS, "ADDED", a_pod("odd", 0, 11, "Pending"), when=30),
        a_frame(PODS, "MODIFIED", REFUSED, when=31),
        a_frame(EVENTS, "ADDED", EVENT, when=60),
        a_frame(PODS, "MODIFIED", GOING, when=60),
        a_frame(PODS, "DELETED", GOING, when=62),
        *(a_bookmark(one, 99, when=900) for one in (NODES, PODS, EVENTS)),
    ]
]


@pytest.fixture
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with filled_database(
        embedded_server, lambda dsn: write_log(dsn, STORY, with_facts=True)
    ) as database:
        yield database


async def test_what_was_preempted_or_refused_on_a_node_is_hit(
    log: Database,
) -> None:
    question = ImpactQuestion(nodes=("n0",), window=Window(at(0), at(800)))
    async with reading_of(log.dsn("reader"), 1) as reading:
        found = await ask_impact(reading, question, shipped(), now=NOW)

    assert [(hit.name, hit.hit_by) for hit in found.workloads] == [
        ("odd", HitBy.EVICTION),
        ("llm", HitBy.PREEMPTION),
    ]


REPLICAS = 10
RACK = "example.com/rack"


def a_replica(
    of: str, number: int, version: int, phase: str, **more: Any
) -> dict[str, Any]:
    """Return a Pod of a ReplicaSet, on n0."""
    pod = a_pod(of, number, version, phase)
    (owner,) = pod["metadata"]["ownerReferences"]
    owner |= {"apiVersion": "apps/v1", "kind": "ReplicaSet"}
    pod["metadata"] |= more
    pod["spec"]["nodeName"] = "n0"
    return pod


def made(of: str, number: int, when: float) -> list[Observation]:
    return [
        a_frame(PODS, kind, a_replica(of, number, *version), when=when)
        for kind, version in (
            ("ADDED", (10, "Pending")),
            ("MODIFIED", (11, "Running")),
        )
    ]


def removed(of: str, number: int, when: float) -> list[Observation]:
    asked = f"{at(when):%Y-%m-%dT%H:%M:%SZ}"
    gone = a_replica(of, number, 20, "Running", deletionTimestamp=asked)
    return [
        a_frame(PODS, "MODIFIED", gone, when=when),
        a_frame(PODS, "DELETED", gone, when=when + 1),
    ]


def on_a_rack(name: str, version: int, rack: str) -> dict[str, Any]:
    node = a_node(name, version)
    node["metadata"]["labels"] = {RACK: rack}
    return node


ROLLED_OUT = [
    # Each ReplicaSet takes the place of the one before.
    *(frame for n in range(REPLICAS) for frame in made("v0", n, 10 + n)),
    *(
        frame
        for turn in range(1, 4)
        for n in range(REPLICAS)
        for frame in (
            *made(f"v{turn}", n, 100 * turn + 2 * n),
            *removed(f"v{turn - 1}", n, 100 * turn + 2 * n + 1),
        )
    ),
    # Of one, every Pod is deleted, and another is created.
    *(frame for n in range(REPLICAS) for frame in made("kept", n, 410)),
    *(
        frame
        for n in range(REPLICAS)
        for frame in (
            *removed("kept", n, 420 + 30 * n),
            *made("kept", REPLICAS + n, 421 + 30 * n),
        )
    ),
]


@pytest.fixture
def rolled(embedded_server: DatabaseServer) -> Iterator[Database]:
    nodes = on_a_rack("n0", 1, "r0"), on_a_rack("n1", 1, "r0")
    story = [
        a_list(NODES, 1, *nodes),
        a_list(PODS, 1),
        *ROLLED_OUT,
        a_frame(NODES, "MODIFIED", on_a_rack("n0", 50, "r1"), when=570),
        *(a_bookmark(one, 99, when=900) for one in (NODES, PODS)),
    ]
    story.sort(key=lambda seen: seen.observed_at)
    with filled_database(
        embedded_server, lambda dsn: write_log(dsn, [story], with_facts=True)
    ) as database:
        yield database


async def test_the_pods_that_a_rollout_deletes_are_not_read(
    rolled: Database,
) -> None:
    query = DisplacedPods(nodes=["n0"], since=None, until=None)
    async with reading_of(rolled.dsn("reader"), 1) as reading:
        found = await reading.names(query)

    assert sorted(found) == [f"pod kept-{n}" for n in range(REPLICAS)]


@dataclass
class Counting:
    """Counts what is asked of a log."""

    reading: LogReading
    asked: Counter[str] = field(default_factory=Counter)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reading, name)

    async def names(self, query: NameQuery[Any]) -> Any:
        self.asked[type(query).__name__] += 1
        return await self.reading.names(query)

    async def states(self, query: StateQuery[Any, Any]) -> Any:
        self.asked[type(query).__name__] += 1
        return await self.reading.states(query)


async def test_the_place_of_a_node_is_read_once_for_all_of_its_pods(
    rolled: Database,
) -> None:
    found = {}
    async with reading_of(rolled.dsn("reader"), 1) as reading:
        for rack in ("r0", "r1"):
            counting = Counting(reading)
            question = ImpactQuestion(
                nodes=(), rack=rack, labels=(), window=Window(at(0), at(800))
            )
            answer = await ask_impact(
                cast(Reading, counting), question, shipped(), now=NOW
            )
            found[rack] = [hit.pods_hit for hit in answer.workloads]
            assert counting.asked["NodesBefore"] <= 2

    # It was moved while the sixth was deleted.
    assert found == {
        "r0": [[f"kept-{n}" for n in range(6)]],
        "r1": [[f"kept-{n}" for n in range(6, REPLICAS)]],
    }
