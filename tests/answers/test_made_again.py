"""What makes an owner again by its name goes on with its work.

A label says what is above an owner without a record of its own. Where nothing
is, what a person creates again under its name is another one, as a Job is.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.node_questions import ImpactQuestion
from recorder.explain.knowledge import shipped
from recorder.model.observation import Observation
from recorder.model.outcomes import Outcome
from recorder.model.window import Window
from tests.answers.test_reliability import NOW, a_pod
from tests.corpus.logs import reading_of
from tests.support.builders import (
    NODES,
    PODS,
    a_bookmark,
    a_frame,
    a_list,
    a_node,
    at,
)
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import Database, DatabaseServer

API = "grove.io/v1alpha1"


def a_member(kind: str, life: int, node: str, **metadata: Any) -> Any:
    """Return the Pod of one life of its owner."""
    pod = a_pod("llm", 0, 2, "Running")
    made = f"llm-{life}"
    (owner,) = pod["metadata"]["ownerReferences"]
    owner |= {
        "apiVersion": "batch/v1" if kind == "Job" else API,
        "kind": kind,
        "uid": f"{kind} {life}",
    }
    labels = (
        {"app.kubernetes.io/part-of": "set"} if kind == "PodClique" else {}
    )
    pod["metadata"] |= {"name": made, "uid": made, "labels": labels}
    pod["metadata"] |= metadata
    pod["spec"]["nodeName"] = node
    return pod


def lost(kind: str) -> list[Observation]:
    """Return how a node dies, and its Pod is made again by another owner."""
    first = a_member(kind, 0, "n0")
    asked = f"{at(160):%Y-%m-%dT%H:%M:%SZ}"
    going = a_member(
        kind, 0, "n0", deletionTimestamp=asked, resourceVersion="20"
    )
    gone = a_member(
        kind, 0, "n0", deletionTimestamp=asked, resourceVersion="41"
    )
    runs = a_member(kind, 1, "n1", resourceVersion="31")
    waits = a_member(kind, 1, "n1", resourceVersion="30")
    waits["status"] = {"phase": "Pending"}
    booted = a_node("n0", 3)
    booted["status"] = {"nodeInfo": {"bootID": "after"}}
    running = a_node("n0", 1)
    running["status"] = {"nodeInfo": {"bootID": "before"}}
    seen: list[Observation] = [
        a_list(NODES, 1, running, a_node("n1", 1), when=0),
        a_list(PODS, 1, first, when=0),
        a_frame(PODS, "MODIFIED", going, when=160),
        a_frame(PODS, "ADDED", waits, when=170),
        a_frame(PODS, "MODIFIED", runs, when=175),
        a_frame(NODES, "MODIFIED", booted, when=100),
        a_frame(PODS, "DELETED", gone, when=210),
        *(a_bookmark(one, 99, when=900) for one in (NODES, PODS)),
    ]
    return sorted(seen, key=lambda one: one.observed_at)


STORIES = {
    "PodClique": ("set", Outcome.RESCHEDULED),
    "Loom": ("llm", Outcome.DOWN),
    "Job": ("llm", Outcome.DOWN),
}


@pytest.fixture(params=STORIES)
def log_of(
    request: pytest.FixtureRequest, embedded_server: DatabaseServer
) -> Iterator[tuple[Database, str, Outcome]]:
    story = lost(request.param)
    with filled_database(
        embedded_server, lambda dsn: write_log(dsn, [story], with_facts=True)
    ) as log:
        yield log, *STORIES[request.param]


async def test_only_what_something_above_makes_again_goes_on_by_its_name(
    log_of: tuple[Database, str, Outcome],
) -> None:
    log, name, outcome = log_of
    question = ImpactQuestion(nodes=("n0",), window=Window(at(0), at(800)))
    async with reading_of(log.dsn("reader"), 1) as reading:
        found = await ask_impact(reading, question, shipped(), now=NOW)

    (hit,) = found.workloads
    assert (hit.name, hit.pods_hit) == (name, ["llm-0"])
    assert hit.outcome is outcome
    assert (hit.running_again_at is None) is (outcome is Outcome.DOWN)
