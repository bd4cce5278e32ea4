"""Subscribers are told of incidents and of verdicts that change."""

import asyncio
from typing import Any

import pytest

from api.judging import Judging
from recorder.answers.growing import Changes
from tests.api.listening import Listening, listening
from tests.api.serving import Client
from tests.api.telling import Telling
from tests.support.builders import NODES, a_frame, a_node

INCIDENTS = """subscription Watch($node: String) {
  incidents(node: $node, cluster: "prod") {
    incidents { id happened nodes to } gone coverage { complete } } }"""
VERDICTS = """subscription Watch($node: String) {
  verdicts(node: $node, cluster: "prod") {
    verdicts { id node happened backInServiceAt } gone } }"""


def ready(node: str, version: int, status: str) -> Any:
    document = a_node(node, version, ready=status)
    return a_frame(NODES, "MODIFIED", document, when=version)


async def told(one: Listening, field: str) -> Any:
    name, document = await one.event()
    assert name == "next"
    assert "errors" not in document, document
    return document["data"][field]


async def test_an_incident_is_told_when_it_begins_and_when_it_ends(
    growing: Client, telling: Telling
) -> None:
    async with listening(growing, query=INCIDENTS) as one:
        began = await told(one, "incidents")
        await telling.tell(ready("n1", 60, "Unknown"))
        away = await told(one, "incidents")
        await telling.tell(ready("n1", 120, "True"))
        back = await told(one, "incidents")

    assert began["incidents"] == []
    (incident,) = away["incidents"]
    assert incident["nodes"] == ["n1"]
    assert incident["happened"] == "UNREACHABLE"
    assert incident["to"] is None
    (again,) = back["incidents"]
    assert again["id"] == incident["id"]
    assert again["to"] is not None
    assert back["gone"] == []


async def test_a_changed_verdict_is_told_and_no_other(
    growing: Client, telling: Telling
) -> None:
    await telling.tell(ready("n1", 60, "Unknown"), ready("n2", 61, "Unknown"))
    async with (
        listening(growing, query=VERDICTS) as everything,
        listening(growing, query=VERDICTS, node="n2") as of_one,
    ):
        began = await told(everything, "verdicts")
        one = await told(of_one, "verdicts")
        await telling.tell(ready("n2", 120, "True"))
        changed = await told(everything, "verdicts")
        change = await told(of_one, "verdicts")

    assert [v["node"] for v in began["verdicts"]] == ["n1", "n2"]
    assert [v["node"] for v in one["verdicts"]] == ["n2"]
    assert [v["node"] for v in changed["verdicts"]] == ["n2"]
    assert changed == change
    assert changed["verdicts"][0]["backInServiceAt"] is not None


async def test_what_is_judged_is_what_the_question_answers(
    growing: Client, telling: Telling
) -> None:
    await telling.tell(ready("n1", 60, "Unknown"))
    query = "{ incidents { nodes { id happened nodes to } } }"
    found = await growing.ask(query)
    async with listening(growing, query=INCIDENTS) as one:
        began = await told(one, "incidents")

    assert began["incidents"] == found["incidents"]["nodes"] != []


async def test_a_log_is_judged_once_for_all(
    growing: Client, telling: Telling, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[int] = []
    judge = Judging._judged

    async def counting(self: Judging, watched: Any) -> Any:
        judged.append(watched.number)
        return await judge(self, watched)

    monkeypatch.setattr(Judging, "_judged", counting)
    async with asyncio.TaskGroup() as group:

        async def subscriber() -> None:
            async with listening(growing, query=INCIDENTS) as one:
                await told(one, "incidents")
                begun.release()
                change = await told(one, "incidents")
                assert change["incidents"]

        begun = asyncio.Semaphore(0)
        for _ in range(5):
            group.create_task(subscriber())
        for _ in range(5):
            await begun.acquire()
        await telling.tell(ready("n1", 60, "Unknown"))

    assert len(judged) == 2


async def test_too_many_are_told_to_come_later(
    growing: Client, telling: Telling, monkeypatch: pytest.MonkeyPatch
) -> None:
    del telling
    monkeypatch.setattr("api.judging.SUBSCRIBERS_MAX", 1)
    async with listening(growing, query=INCIDENTS) as one:
        await told(one, "incidents")
        async with listening(growing, query=INCIDENTS) as other:
            _, document = await other.event()

    assert document["errors"][0]["extensions"]["code"] == "api.busy"


async def test_a_judgement_that_fails_ends_its_subscription_alone(
    growing: Client, telling: Telling, monkeypatch: pytest.MonkeyPatch
) -> None:
    del telling

    async def broken(*given: object, **more: object) -> None:
        del given, more
        msg = "password=secret"
        raise RuntimeError(msg)

    with monkeypatch.context() as breaking:
        breaking.setattr("api.judging.ask_incidents", broken)
        async with listening(growing, query=INCIDENTS) as one:
            _, document = await one.event()
    async with listening(growing, query=INCIDENTS) as later:
        began = await told(later, "incidents")

    assert document["errors"][0]["extensions"]["code"] == "internal"
    assert "secret" not in str(document)
    assert began["incidents"] == []


def test_what_is_no_more_is_gone_and_what_stays_is_not_told_again() -> None:
    changes: Changes[int] = Changes(lambda one: one)

    assert changes.since({}) == ([], [])
    assert changes.since({}) is None
    assert changes.since({"a": 1, "b": 2}) == ([1, 2], [])
    assert changes.since({"a": 1, "b": 2}) is None
    assert changes.since({"a": 3}) == ([3], ["b"])
    assert changes.since({}) == ([], ["a"])
