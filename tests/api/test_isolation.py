"""A slow or huge question keeps only the one who asked it waiting."""

import asyncio
import threading
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from api.resolvers import workers
from recorder.model.settings import Settings
from recorder.wiring.reading import open_logs
from tests.api.serving import Client, served_by
from tests.support.postgres import Database

FAST = '{ nodeNames(cluster: "crash") }'
SLOW = '{ why(node: "gpu-002", cluster: "crash") { node } }'


async def test_a_question_that_computes_lets_others_be_answered(
    served: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It computes until another one was answered: who waits for it hangs."""
    answered = threading.Event()

    async def computing(*given: object, **more: object) -> None:
        del given, more
        while not answered.is_set():
            sum(range(1000))

    monkeypatch.setattr("recorder.answers.why.ask_why", computing)
    async with asyncio.TaskGroup() as group:
        slow = [
            group.create_task(served.post({"query": SLOW}))
            for _ in range(workers.WORKERS - 1)
        ]
        try:
            found = await served.ask(FAST)
            probe = await served.request("GET", "healthz")
        finally:
            answered.set()

    assert "gpu-002" in found["nodeNames"]
    assert probe.status == 200
    assert all(task.done() for task in slow)


async def test_an_answer_that_takes_too_long_is_given_up(
    served: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def endless(*given: object, **more: object) -> None:
        del given, more
        await asyncio.Event().wait()

    monkeypatch.setattr("recorder.answers.why.ask_why", endless)
    monkeypatch.setattr(workers, "ANSWER_TIME_MAX", timedelta(seconds=0.1))
    for _ in range(2 * workers.WORKERS):
        reply = await served.post({"query": SLOW})
        assert reply.status == 504
        assert reply.codes == ["api.timeout"]

    monkeypatch.setattr(workers, "ANSWER_TIME_MAX", timedelta(seconds=30))
    assert await served.ask(FAST)


async def test_too_many_questions_are_asked_to_retry(
    served: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "WAITING_MAX", 0)
    reply = await served.post({"query": FAST})

    assert reply.status == 503
    assert reply.codes == ["api.busy"]
    assert reply.headers["Retry-After"] == "1"


async def test_a_statement_that_takes_too_long_is_named(
    asked_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        workers, "STATEMENT_TIME_MAX", timedelta(milliseconds=1)
    )
    async with served_by(asked_database.dsn("reader")) as client:
        codes: set[str] = set()
        for _ in range(50):
            reply = await client.post(
                {
                    "query": '{ incidents(cluster: "rack-loss-jobset")'
                    " { count } }"
                }
            )
            codes |= set(reply.codes)
            if codes:
                break

    assert codes == {"log.question_too_large"}


async def test_the_server_may_only_read(asked_database: Database) -> None:
    """Whatever a question would do, its connection cannot write."""
    settings = Settings(database_url=asked_database.dsn("reader"))
    async with open_logs(settings) as logs:
        for statement in (
            "delete from recorder.entry",
            "insert into recorder.word values (default, 'x')",
            "create table recorder.t ()",
        ):
            async with logs._engine.connect() as connection:
                with pytest.raises(DBAPIError, match="permission denied"):
                    await connection.execute(text(statement))
