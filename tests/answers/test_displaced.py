"""What a scheduler preempts or a kubelet refuses is found by its node."""

from collections.abc import Iterator

import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.node_questions import ImpactQuestion
from recorder.explain.knowledge import shipped
from recorder.model.observation import Observation
from recorder.model.outcomes import HitBy
from recorder.model.window import Window
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
