"""An object as it was, and what became of it between two times.

A Pod is listed, changed, deleted, created again under its name and gone from a
list. Beside it a Node turns Unknown and loses a condition.
"""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from recorder.answers.diff import Difference, ask_difference
from recorder.answers.log_questions import (
    DifferenceQuestion,
    End,
    EndError,
    ObjectQuestion,
    ObjectsQuestion,
)
from recorder.answers.naming import Reference
from recorder.answers.node_questions import ConditionsQuestion
from recorder.answers.objects import ask_objects
from recorder.answers.ports import Reading
from recorder.answers.series import ask_conditions
from recorder.answers.show import ask_object
from recorder.explain.knowledge import shipped
from recorder.model.entry import Operation
from recorder.model.errors import NotFoundError
from recorder.model.observation import EXPIRED, Observation
from recorder.model.window import Window
from tests.corpus.logs import reading_of
from tests.support.builders import (
    NODES,
    PODS,
    a_closed_stream,
    a_frame,
    a_list,
    a_node,
    an_object,
    at,
)
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import Database, DatabaseServer

NOW = at(600)
POD = Reference.parse("pod/train/a")


def a_pod(version: int, phase: str, uid: str = "uid-a") -> dict[str, Any]:
    pod = an_object("a", version, status={"phase": phase})
    pod["metadata"]["uid"] = uid
    return pod


def without_conditions(version: int) -> dict[str, Any]:
    node = a_node("n", version)
    node["status"]["conditions"] = []
    return node


STORY: list[list[Observation]] = [
    [
        a_list(NODES, 9, a_node("n", 2)),
        a_list(PODS, 9, an_object("before", 3)),
        a_frame(PODS, "ADDED", a_pod(10, "Pending"), when=10),
        a_frame(PODS, "MODIFIED", a_pod(20, "Running"), when=20),
        a_frame(NODES, "MODIFIED", a_node("n", 25, ready="Unknown"), when=25),
        a_frame(PODS, "DELETED", a_pod(30, "Running"), when=30),
        a_frame(PODS, "ADDED", a_pod(40, "Pending", "uid-b"), when=40),
        a_frame(NODES, "MODIFIED", without_conditions(45), when=45),
        a_closed_stream(PODS, EXPIRED, when=50),
        a_list(PODS, 60, an_object("before", 3), when=60),
    ]
]


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with filled_database(
        embedded_server, lambda dsn: write_log(dsn, STORY, with_facts=True)
    ) as database:
        yield database


@pytest.fixture
async def reading(log: Database) -> AsyncIterator[Reading]:
    async with reading_of(log.dsn("reader"), 1) as opened:
        yield opened


async def between(
    reading: Reading, before: float, after: float | None
) -> Difference:
    return await ask_difference(
        reading,
        DifferenceQuestion(
            object=POD,
            before=End(at=at(before)),
            after=End(at=None if after is None else at(after)),
        ),
        now=NOW,
    )


@pytest.mark.parametrize(
    ("before", "after", "outcome", "changed"),
    [
        (1, 9, "not there", []),
        (1, 10, "added", []),
        (11, 19, "same", []),
        (19, 20, "changed", ["status.phase: Pending -> Running"]),
        (21, 30, "deleted", []),
        (31, 39, "not there", []),
        (41, None, "absent", []),
    ],
)
async def test_what_became_of_an_object(
    reading: Reading,
    before: float,
    after: float | None,
    outcome: str,
    changed: list[str],
) -> None:
    found = await between(reading, before, after)

    assert found.outcome == outcome
    assert [
        f"{one.path}: {one.old} -> {one.new}" for one in found.changed
    ] == changed


async def test_another_object_of_a_name_is_not_the_first(
    reading: Reading,
) -> None:
    found = await between(reading, 20, 41)

    assert found.outcome == "another incarnation"
    assert (found.before.uid, found.after.uid) == ("uid-a", "uid-b")
    assert found.actor is None


async def test_a_comparison_from_later_to_earlier_is_refused(
    reading: Reading,
) -> None:
    with pytest.raises(EndError, match="not before its end"):
        await between(reading, 41, 20)


@pytest.mark.parametrize(
    ("when", "phase", "uid"),
    [(10, "Pending", "uid-a"), (40, "Pending", "uid-b")],
)
async def test_an_object_is_shown_as_it_was(
    reading: Reading, when: float, phase: str, uid: str
) -> None:
    question = ObjectQuestion(object=POD, at=at(when))

    shown = await ask_object(reading, question, now=NOW)

    assert shown.entry.operation is Operation.ADDED
    assert shown.object["status"]["phase"] == phase
    assert shown.object["metadata"]["uid"] == uid


@pytest.mark.parametrize(
    ("when", "says"),
    [
        (9, "it was created later"),
        (30, "was deleted at 2026-11-21T03:00:30"),
        (None, "was found to be gone at 2026-11-21T03:01:00"),
    ],
)
async def test_an_object_that_is_not_there_is_refused_with_when(
    reading: Reading, when: float | None, says: str
) -> None:
    moment = None if when is None else at(when)
    question = ObjectQuestion(object=POD, at=moment)

    with pytest.raises(NotFoundError, match=says):
        await ask_object(reading, question, now=NOW)


async def test_conditions_are_rows_from_the_edge_of_the_window_on(
    reading: Reading,
) -> None:
    question = ConditionsQuestion(
        nodes=["n"], conditions={"Ready"}, window=Window(at(5), at(60))
    )

    series = await ask_conditions(reading, question, shipped(), now=NOW)

    assert [(p.time, p.state) for p in series.points] == [
        (at(5), "True"),
        (at(25), "Unknown"),
        (at(45), "Absent"),
    ]


@pytest.mark.parametrize(
    ("when", "listed"),
    [
        (5, [("before", None)]),
        (15, [("a", "Pending"), ("before", None)]),
        (25, [("a", "Running"), ("before", None)]),
        (35, [("before", None)]),
        (45, [("a", "Pending"), ("before", None)]),
        (None, [("before", None)]),
    ],
)
async def test_objects_are_listed_as_they_were(
    reading: Reading, when: float | None, listed: list[tuple[str, str | None]]
) -> None:
    question = ObjectsQuestion(
        kind="po", at=None if when is None else at(when)
    )
    found = await ask_objects(reading, question, now=NOW)

    assert [(one.name, one.status) for one in found.objects] == listed
    assert not found.more


async def test_a_list_of_objects_ends_where_that_is_asked(
    reading: Reading,
) -> None:
    question = ObjectsQuestion(kind="pods", at=at(15), limit=1)
    found = await ask_objects(reading, question, now=NOW)

    assert [one.name for one in found.objects] == ["a"]
    assert found.more
    with pytest.raises(NotFoundError, match='there was no "po/train/b"'):
        await ask_objects(
            reading,
            ObjectsQuestion(kind="po", names=("b",), namespace="train"),
            now=NOW,
        )
