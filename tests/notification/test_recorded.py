"""A recorded incident, sent as it unfolds, each verdict once."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import msgspec
import orjson
import pytest

from recorder.notification.following import Following
from recorder.notification.message import Message, Stage
from recorder.notification.rules import Rule
from recorder.notification.shapes import body_of
from recorder.store.engine import make_engine
from recorder.store.outbox import StoredOutbox, outbox
from recorder.store.read import LogReading
from tests.conftest import TEMPLATE
from tests.corpus.logs import play, tape_of
from tests.notification.building import a_rule, following_of, messages_in
from tests.support.filled import filled_database
from tests.support.golden import ANEW, kept
from tests.support.postgres import Database, DatabaseServer, fresh_database

BEFORE = datetime(2000, 1, 1, tzinfo=UTC)
GOLDEN = Path(__file__).parent / "golden"
STEPS = 40


@pytest.fixture(scope="module")
def crash(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(dsn: str) -> None:
        await play(dsn, tape_of("crash"), name="crash")

    with filled_database(embedded_server, fill) as database:
        yield database


@asynccontextmanager
async def notifying(
    log: Database, box: Database, rules: Sequence[Rule]
) -> AsyncIterator[tuple[LogReading, Following, StoredOutbox]]:
    """Yield a log, what follows it, and an outbox in another database."""
    engine = make_engine(log.dsn("reader"))
    async with outbox(box.dsn("notifier")) as kept_in:
        try:
            reading = await LogReading.at_present(engine, 1)
            yield reading, following_of(rules, kept_in), kept_in
        finally:
            await engine.dispose()


@pytest.fixture
async def box(embedded_server: DatabaseServer) -> AsyncIterator[Database]:
    """An outbox of its own, whose log 1 is only a name."""
    async with fresh_database(embedded_server, TEMPLATE) as fresh:
        await play(fresh.dsn("writer"), tape_of("cordon"), name="other")
        yield fresh


def steps_of(reading: LogReading) -> Iterator[LogReading]:
    """Yield the log as it grew."""
    size = reading.log.size
    for step in range(1, STEPS + 1):
        yield reading.as_of(size * step // STEPS)


async def test_each_verdict_is_sent_once_as_it_comes(
    crash: Database, box: Database
) -> None:
    async with notifying(crash, box, [a_rule()]) as (reading, one, kept_in):
        for past in steps_of(reading):
            await one.judge(past, since=BEFORE)
        messages = await messages_in(kept_in)

    digests = [message.now.digest for message in messages]
    assert len({message.name for message in messages}) == 1
    assert [m.number for m in messages] == [*range(1, len(messages) + 1)]
    assert all(a != b for a, b in pairwise(digests))
    assert messages[0].stage is Stage.OPENED
    assert messages[-1].now.happened == "reboot"
    assert messages[-1].now.over_at is not None
    for before, message in pairwise(messages):
        assert message.was == before.now


async def test_a_restart_at_any_step_sends_the_same(
    crash: Database, box: Database, embedded_server: DatabaseServer
) -> None:
    rule = a_rule()
    async with notifying(crash, box, [rule]) as (reading, one, kept_in):
        for past in steps_of(reading):
            # Two that know nothing of each other, one after another.
            await following_of([rule], kept_in).judge(past, since=BEFORE)
            assert await one.judge(past, since=BEFORE) == 0
        twice = await messages_in(kept_in)
    async with fresh_database(embedded_server, TEMPLATE) as fresh:
        await play(fresh.dsn("writer"), tape_of("cordon"), name="other")
        async with notifying(crash, fresh, [rule]) as (reading, one, kept_in):
            for past in steps_of(reading):
                await one.judge(past, since=BEFORE)
            once = await messages_in(kept_in)

    assert [m.now for m in twice] == [m.now for m in once]


async def test_what_was_over_at_the_first_start_is_sent_if_requested(
    crash: Database, box: Database
) -> None:
    asked = a_rule(name="asked")
    async with notifying(crash, box, [a_rule()]) as (reading, one, kept_in):
        assert await one.judge(reading, since=datetime.now(UTC)) == 0
        later = following_of([a_rule(), asked], kept_in)
        assert await later.judge(reading, since=BEFORE) == 1
        [message] = await messages_in(kept_in)

    assert message.rule == "asked"


async def test_what_ended_a_job_is_sent_once_as_its_verdict_comes(
    crash: Database, box: Database
) -> None:
    rules = [a_rule(), a_rule("{workload: [llm-*]}", name="jobs")]
    async with notifying(crash, box, rules) as (reading, one, kept_in):
        for past in steps_of(reading):
            await one.judge(past, since=BEFORE)
            # A second process finds nothing new.
            again = await following_of(rules, kept_in).judge(
                past, since=BEFORE
            )
            assert again == 0
        messages = [m for m in await messages_in(kept_in) if m.rule == "jobs"]

    digests = [message.now.digest for message in messages]
    assert len({message.name for message in messages}) == 1
    assert all(a != b for a, b in pairwise(digests))
    assert [m.number for m in messages] == [*range(1, len(messages) + 1)]
    last = messages[-1].now
    assert last.workload == "job/train/llm-pretrain"
    assert (last.happened, last.cause) == ("node-failure", "unrecorded")
    assert last.over_at is not None


@pytest.mark.parametrize("shape", ["slack", "alertmanager", "cloudevents"])
@pytest.mark.parametrize(
    ("about", "when"),
    [("", "{}"), ("workload-", "{workload: [llm-pretrain]}")],
)
async def test_the_shapes_of_a_recorded_incident(
    crash: Database, box: Database, shape: str, about: str, when: str
) -> None:
    page = "  page: https://recorder.example\n"
    rule = a_rule(when, shape=shape, more=page)
    async with notifying(crash, box, [rule]) as (reading, one, kept_in):
        for past in steps_of(reading):
            await one.judge(past, since=BEFORE)
        messages = await messages_in(kept_in)

    bodies = [
        # Alerts depend on when they are sent first.
        body_of(sent_at_once(message), rule)
        for message in (messages[0], messages[-1])
    ]
    text = b"\n".join(
        orjson.dumps(orjson.loads(body), option=orjson.OPT_INDENT_2)
        for body in bodies
    )
    said = f"{text.decode()}\n"
    assert kept(GOLDEN / f"{about}{shape}.json", said) == said, ANEW


def sent_at_once(message: Message) -> Message:
    return msgspec.structs.replace(message, first_at=message.now.began_at)
