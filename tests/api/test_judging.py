"""Subscribers receive incidents and verdicts that change."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from api.resolvers.judging import Judging
from recorder.answers.growing import Changes, Trace
from recorder.model.settings import Settings
from recorder.store.outbox import outbox
from recorder.wiring.reading import open_logs
from tests.api.listening import Listening, listening
from tests.api.serving import Client
from tests.notification.building import a_rule, following_of, messages_in
from tests.support.builders import (
    NODES,
    PODS,
    START,
    a_frame,
    a_list,
    a_node,
    an_object,
    at,
)
from tests.support.postgres import Database
from tests.support.written_log import WrittenLog

INCIDENTS = """subscription Watch($node: String) {
  incidents(node: $node, cluster: "prod") {
    incidents { id happened nodes to } gone coverage { complete } } }"""
VERDICTS = """subscription Watch($node: String) {
  verdicts(node: $node, cluster: "prod") {
    verdicts { id node happened backInServiceAt } gone } }"""

DISRUPTIONS = """subscription Watch($namespaces: [String!]) {
  disruptions(namespaces: $namespaces, cluster: "prod") {
    disruptions { workload { name } ending { id endedBy } } gone } }"""


def ready(node: str, version: int, status: str) -> Any:
    document = a_node(node, version, ready=status)
    return a_frame(NODES, "MODIFIED", document, when=version)


async def next_of(one: Listening, field: str) -> Any:
    name, document = await one.event()
    assert name == "next"
    assert "errors" not in document, document
    return document["data"][field]


async def test_an_incident_is_sent_when_it_begins_and_when_it_ends(
    growing: Client, written_log: WrittenLog
) -> None:
    async with listening(growing, query=INCIDENTS) as one:
        began = await next_of(one, "incidents")
        await written_log.append(ready("n1", 60, "Unknown"))
        away = await next_of(one, "incidents")
        await written_log.append(ready("n1", 120, "True"))
        back = await next_of(one, "incidents")

    assert began["incidents"] == []
    (incident,) = away["incidents"]
    assert incident["nodes"] == ["n1"]
    assert incident["happened"] == "UNREACHABLE"
    assert incident["to"] is None
    (again,) = back["incidents"]
    assert again["id"] == incident["id"]
    assert again["to"] is not None
    assert back["gone"] == []


async def test_a_changed_verdict_is_sent_and_no_other(
    growing: Client, written_log: WrittenLog
) -> None:
    await written_log.append(
        ready("n1", 60, "Unknown"), ready("n2", 61, "Unknown")
    )
    async with (
        listening(growing, query=VERDICTS) as everything,
        listening(growing, query=VERDICTS, node="n2") as of_one,
    ):
        began = await next_of(everything, "verdicts")
        one = await next_of(of_one, "verdicts")
        await written_log.append(ready("n2", 120, "True"))
        changed = await next_of(everything, "verdicts")
        change = await next_of(of_one, "verdicts")

    assert [v["node"] for v in began["verdicts"]] == ["n1", "n2"]
    assert [v["node"] for v in one["verdicts"]] == ["n2"]
    assert [v["node"] for v in changed["verdicts"]] == ["n2"]
    assert changed == change
    assert changed["verdicts"][0]["backInServiceAt"] is not None


def pod(version: int, phase: str) -> Any:
    ended = {"exitCode": 1, "reason": "Error"}
    state = {"running": {}} if phase == "Running" else {"terminated": ended}
    container = {"name": "main", "restartCount": 0, "state": state}
    document = an_object(
        "llm",
        version,
        spec={"nodeName": "n1", "containers": [{"name": "main"}]},
        status={"phase": phase, "containerStatuses": [container]},
    )
    type_ = "ADDED" if phase == "Running" else "MODIFIED"
    return a_frame(PODS, type_, document, when=version)


async def test_a_disruption_is_sent_when_it_happens(
    growing: Client, written_log: WrittenLog
) -> None:
    await written_log.append(a_list(PODS, 2), pod(60, "Running"))
    async with (
        listening(growing, query=DISRUPTIONS) as everything,
        listening(growing, query=DISRUPTIONS, namespaces=["no"]) as others,
    ):
        began = await next_of(everything, "disruptions")
        none = await next_of(others, "disruptions")
        await written_log.append(pod(120, "Failed"))
        found = await next_of(everything, "disruptions")

    assert began["disruptions"] == none["disruptions"] == []
    (one,) = found["disruptions"]
    assert one["workload"]["name"] == "llm"
    assert one["ending"]["endedBy"] == "CONTAINER_EXIT"
    assert found["gone"] == []


async def test_what_is_judged_is_what_the_question_answers(
    growing: Client, written_log: WrittenLog
) -> None:
    await written_log.append(ready("n1", 60, "Unknown"))
    query = "{ incidents { nodes { id happened nodes to } } }"
    found = await growing.ask(query)
    async with listening(growing, query=INCIDENTS) as one:
        began = await next_of(one, "incidents")

    assert began["incidents"] == found["incidents"]["nodes"] != []


async def test_a_log_is_judged_once_for_all(
    growing: Client, written_log: WrittenLog, monkeypatch: pytest.MonkeyPatch
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
                await next_of(one, "incidents")
                begun.release()
                change = await next_of(one, "incidents")
                assert change["incidents"]

        begun = asyncio.Semaphore(0)
        for _ in range(5):
            group.create_task(subscriber())
        for _ in range(5):
            await begun.acquire()
        await written_log.append(ready("n1", 60, "Unknown"))

    assert len(judged) == 2


async def test_too_many_are_asked_to_come_later(
    growing: Client, written_log: WrittenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    del written_log
    monkeypatch.setattr("api.resolvers.judging.SUBSCRIBERS_MAX", 1)
    async with listening(growing, query=INCIDENTS) as one:
        await next_of(one, "incidents")
        async with listening(growing, query=INCIDENTS) as other:
            _, document = await other.event()

    assert document["errors"][0]["extensions"]["code"] == "api.busy"


async def test_a_judgement_that_fails_ends_its_subscription_alone(
    growing: Client, written_log: WrittenLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    del written_log

    async def broken(*given: object, **more: object) -> None:
        del given, more
        msg = "password=secret"
        raise RuntimeError(msg)

    with monkeypatch.context() as breaking:
        breaking.setattr("api.resolvers.judging.ask_incidents", broken)
        async with listening(growing, query=INCIDENTS) as one:
            _, document = await one.event()
    async with listening(growing, query=INCIDENTS) as later:
        began = await next_of(later, "incidents")

    assert document["errors"][0]["extensions"]["code"] == "internal"
    assert "secret" not in str(document)
    assert began["incidents"] == []


def a_trace(name: str, *nodes: str, began: float = 0) -> Trace:
    return Trace(
        id=name,
        ids=[name],
        nodes=nodes,
        at=at(began),
        began_at=at(began),
        over_at=None,
    )


def news(
    changes: Changes[Trace], *found: Trace, begin: float = 0
) -> tuple[list[str], list[str], dict[str, str]] | None:
    listed = {one.id: one for one in found}
    what = changes.since(listed, at(begin))
    if what is None:
        return None
    changed = [one.id for one in what.changed]
    return changed, [*what.gone], {**what.renamed}


def test_what_is_no_more_is_gone_and_what_stays_is_not_sent_again() -> None:
    changes: Changes[Trace] = Changes(
        lambda one: one.began_at, lambda one: one
    )
    one, other = a_trace("a", "n1"), a_trace("b", "n2")
    changed = a_trace("a", "n1", began=1)

    assert news(changes) == ([], [], {})
    assert news(changes) is None
    assert news(changes, one, other) == (["a", "b"], [], {})
    assert news(changes, one, other) is None
    assert news(changes, changed) == (["a"], ["b"], {})
    assert news(changes) == ([], ["a"], {})


def test_what_began_before_the_window_is_gone_and_not_renamed() -> None:
    """Another incident of its node is not what it continues as."""
    for begin, renamed in ((0, {"a": "c"}), (1, {})):
        changes: Changes[Trace] = Changes(lambda one: one.id, lambda one: one)
        news(changes, a_trace("a", "n1"))

        found = news(changes, a_trace("c", "n1", began=0), begin=begin)

        assert found == (["c"], ["a"], renamed)


def booted(version: int, boot: str, status: str) -> Any:
    document = a_node("n1", version, ready=status)
    document["status"]["nodeInfo"] = {"bootID": boot}
    return a_frame(NODES, "MODIFIED", document, when=version)


async def test_a_renamed_incident_is_the_same_to_subscribers_and_webhooks(
    growing: Client, written_log: WrittenLog, database: Database
) -> None:
    """One is away first, and a boot ID shows then that it rebooted."""
    await written_log.append(booted(2, "one", "True"))
    rule = a_rule()
    queries = {
        field: f"""subscription {{ {field}(cluster: "prod") {{
          {field} {{ id happened }} gone renamed {{ was now }} }} }}"""
        for field in ("incidents", "verdicts")
    }
    async with AsyncExitStack() as stack:
        settings = Settings(database_url=database.dsn("reader"))
        logs = await stack.enter_async_context(open_logs(settings))
        kept = await stack.enter_async_context(
            outbox(database.dsn("notifier"))
        )
        following = following_of([rule], kept)
        streams = {
            field: await stack.enter_async_context(
                listening(growing, query=query)
            )
            for field, query in queries.items()
        }
        for one in streams.values():
            await one.event()
        changes = []
        for change in (
            booted(60, "one", "Unknown"),
            booted(120, "two", "True"),
        ):
            await written_log.append(change)
            await following.judge(await logs.read(None), since=START)
            changes.append(
                {
                    field: await next_of(one, field)
                    for field, one in streams.items()
                }
            )
        first, second = await messages_in(kept)

    for field in queries:
        began, renamed = (change[field] for change in changes)
        assert began["gone"] == began["renamed"] == []
        assert began[field] == [
            {"id": first.now.id, "happened": "UNREACHABLE"}
        ]
        assert renamed[field] == [{"id": second.now.id, "happened": "REBOOT"}]
        assert renamed["gone"] == [first.now.id]
        assert renamed["renamed"] == [
            {"was": first.now.id, "now": second.now.id}
        ]
    assert second.was == first.now
    assert (first.name, second.name) == (first.now.id, first.now.id)
    assert second.now.id != first.now.id
