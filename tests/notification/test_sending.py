"""What is posted: once for each message, again if it was not taken."""

import asyncio
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest
import trustme
from aiohttp import web

from recorder.notification.loading import read_rules
from recorder.notification.ports import Answer, State
from recorder.notification.posting import webhooks
from recorder.notification.rules import Rule
from recorder.notification.sending import Sending, outcome_of
from recorder.store.outbox import StoredOutbox, outbox
from tests.corpus.logs import play, tape_of
from tests.notification.building import a_message, an_incident
from tests.notification.receiving import Taken, receiver
from tests.support.postgres import Database, connected

PATIENCE = timedelta(hours=1)


@pytest.fixture
async def kept(database: Database) -> AsyncIterator[StoredOutbox]:
    await play(database.dsn("writer"), tape_of("cordon"), name="prod")
    async with outbox(database.dsn("notifier")) as found:
        yield found


def rule_to(url: str, name: str = "oncall", more: str = "") -> Rule:
    text = (
        f"rules:\n- name: {name}\n  post: {{shape: cloudevents, url: '{url}'"
        f"{more}}}\n"
    )
    return read_rules(text, name="notify.yaml").rules[0]


@asynccontextmanager
async def sending(kept: StoredOutbox, *rules: Rule) -> AsyncIterator[Sending]:
    async with webhooks() as poster:
        yield Sending(
            {rule.name: rule for rule in rules}, kept, poster, luck=lambda: 0.0
        )


async def put(
    kept: StoredOutbox, count: int = 1, rule: str = "oncall"
) -> None:
    messages = [
        (a_message(an_incident(), number=number, rule=rule), PATIENCE)
        for number in range(1, count + 1)
    ]
    known = await kept.known(1)
    assert await kept.put(1, messages, known=known, position=9) == count


async def until_posted(kept: StoredOutbox, count: int) -> None:
    async with asyncio.timeout(20):
        # The database reports it, without a notification.
        while len(await kept.listed(states=[State.POSTED])) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@asynccontextmanager
async def running(one: Sending) -> AsyncIterator[None]:
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(one.run(stop))
        try:
            yield
        finally:
            stop.set()
            one.kick()


async def test_messages_of_one_incident_are_posted_once_and_in_order(
    kept: StoredOutbox,
) -> None:
    await put(kept, 3)
    async with (
        receiver() as there,
        sending(kept, rule_to(there.url)) as one,
        running(one),
    ):
        await until_posted(kept, 3)

    assert [key[-2:] for key in there.keys] == ["/1", "/2", "/3"]
    assert one.counters.posted == {"oncall": 3}
    headers = there.taken[0].headers
    assert headers["Content-Type"].startswith("application/cloudevents+json")


async def test_a_message_is_put_once(kept: StoredOutbox) -> None:
    known = await kept.known(1)
    message = [(a_message(an_incident()), PATIENCE)]

    assert await kept.put(1, message, known=known, position=9) == 1
    # Another process sent since: what is new is to be found again.
    assert await kept.put(1, message, known=known, position=9) is None
    known = await kept.known(1)
    assert await kept.put(1, message, known=known, position=9) == 0
    assert len(await kept.listed()) == 1


async def test_a_receiver_that_is_down_gets_it_later_with_the_same_key(
    kept: StoredOutbox,
) -> None:
    answers = iter([503, 500, 200])
    await put(kept)
    async with receiver() as there, sending(kept, rule_to(there.url)) as one:
        there.reply = lambda _: web.Response(status=next(answers))
        async with running(one):
            await until_posted(kept, 1)

    assert len(there.keys) == 3
    assert len(set(there.keys)) == 1
    assert one.counters.retried == {"oncall": 2}


async def test_a_refusal_is_failed_with_its_reason_and_kept_out_of_the_way(
    kept: StoredOutbox,
) -> None:
    def reply(taken: Taken) -> web.Response:
        first = taken.key.endswith("/1")
        said = f"invalid_payload at {taken.path}/\x1b[31m"
        return web.Response(status=400 if first else 200, text=said)

    await put(kept, 2)
    async with receiver() as there, sending(kept, rule_to(there.url)) as one:
        there.reply = reply
        async with running(one):
            await until_posted(kept, 1)
        [failed] = await kept.listed(states=[State.FAILED])

    assert len(there.taken) == 2
    assert failed.why is not None
    assert failed.why.startswith(
        "the receiver answered 400: invalid_payload at ***"
    )
    assert "\x1b" not in failed.why


async def test_a_receiver_that_hangs_delays_no_other_rule(
    kept: StoredOutbox,
) -> None:
    async with receiver() as hangs, receiver() as there:
        hangs.reply = lambda _: None
        hanging = rule_to(hangs.url, "hangs", ", timeout: 1s")
        rules = hanging, rule_to(there.url, "works")
        for rule in rules:
            await put(kept, 1, rule.name)
        began = time.monotonic()
        async with sending(kept, *rules) as one, running(one):
            await until_posted(kept, 1)
            assert time.monotonic() - began < 5
            await hangs.until(2)
        waiting = await kept.listed(states=[State.WAITING])

    [only] = waiting
    assert only.rule == "hangs"
    assert only.why == "no answer within 1s"


async def test_a_redirect_is_not_followed(kept: StoredOutbox) -> None:
    await put(kept)
    async with receiver() as other, receiver() as there:
        there.reply = lambda _: web.Response(
            status=307, headers={"Location": other.url}
        )
        async with sending(kept, rule_to(there.url)) as one:
            await one.send_next(rule_to(there.url))
        [failed] = await kept.listed(states=[State.FAILED])

    assert other.taken == []
    assert failed.why is not None
    assert "leads elsewhere" in failed.why
    assert other.url not in failed.why


async def test_certificates_are_verified(
    kept: StoredOutbox, tmp_path: Path
) -> None:
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    await put(kept)
    async with receiver(context) as there:
        distrusting = rule_to(there.url)
        async with sending(kept, distrusting) as one:
            await one.send_next(distrusting)
            [waiting] = await kept.listed(states=[State.WAITING])
            trusting = rule_to(there.url, more=f", ca_file: {tmp_path}/ca.pem")
            async with running(
                Sending(
                    {"oncall": trusting},
                    kept,
                    one._poster,
                    luck=lambda: 0.0,
                )
            ):
                await until_posted(kept, 1)

    assert waiting.why is not None
    assert waiting.why.startswith("the certificate of the receiver is not")
    assert len(there.taken) == 1


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/s3cr3t/path",
        "http://s3cr3t.invalid/s3cr3t",
        "https://127.0.0.1:1/s3cr3t",
    ],
)
async def test_no_error_names_the_address(
    kept: StoredOutbox, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    await put(kept)
    async with sending(kept, rule_to(url)) as one:
        await one.send_next(rule_to(url))
    [waiting] = await kept.listed(states=[State.WAITING])

    assert waiting.why
    assert "s3cr3t" not in waiting.why + caplog.text


async def test_two_processes_post_each_message_once(
    database: Database, kept: StoredOutbox
) -> None:
    for name in ("a", "b", "c"):
        await put(kept, 10, name)
    async with receiver() as there, outbox(database.dsn("notifier")) as other:
        rules = [rule_to(there.url, name) for name in ("a", "b", "c")]
        async with (
            sending(kept, *rules) as one,
            sending(other, *rules) as two,
            running(one),
            running(two),
        ):
            await until_posted(kept, 30)

        messages = await kept.listed()

    assert len(there.keys) == 30
    assert len(set(there.keys)) == 30
    assert {message.attempts for message in messages} == {1}


async def test_what_was_posted_and_not_written_down_is_posted_once_more(
    database: Database, kept: StoredOutbox
) -> None:
    """Killed in between: the claim ends, and another process continues."""
    await put(kept)
    async with receiver() as there, sending(kept, rule_to(there.url)) as one:
        dead = await kept.claim("oncall", timedelta(seconds=60))
        assert dead is not None
        assert await kept.claim("oncall", timedelta(seconds=60)) is None
        assert await one.send_next(rule_to(there.url)) is False
        await expire(database)
        assert await one.send_next(rule_to(there.url)) is True
        # A process that was considered dead no longer counts.
        await kept.failed(dead, why="too late")
        [posted] = await kept.listed()

    assert posted.state is State.POSTED
    assert posted.attempts == 2


async def expire(database: Database) -> None:
    async with connected(database.dsn("notifier")) as connection:
        await connection.execute(
            "update recorder.notification set leased_until ="
            " leased_until - interval '60 s'"
        )


async def test_what_no_receiver_takes_is_given_up_and_can_be_tried_again(
    database: Database, kept: StoredOutbox
) -> None:
    await put(kept)
    connection = await asyncpg.connect(database.dsn("notifier"))
    await connection.execute(
        "update recorder.notification set said = 'no answer within 1s',"
        " attempts = 7, give_up_at = give_up_at - interval '2 h'"
    )
    await connection.close()

    assert await kept.due(["oncall"]) == []
    [failed] = await kept.listed()
    assert failed.state is State.FAILED
    assert failed.why == "given up after 7 attempts: no answer within 1s"
    assert await kept.retry(failed.id, PATIENCE)
    assert not await kept.retry(failed.id, PATIENCE)
    assert await kept.due(["oncall"]) == ["oncall"]


@pytest.mark.parametrize(
    ("attempt", "luck", "seconds"),
    [(1, 0.0, 0.5), (1, 1.0, 1.0), (4, 1.0, 8.0), (500, 1.0, 300.0)],
)
def test_pauses_grow_to_a_bound(
    attempt: int, luck: float, seconds: float
) -> None:
    outcome = outcome_of(Answer(503, None, ""), attempt, luck)

    assert outcome.after == timedelta(seconds=seconds)


def test_retry_after_is_honoured_up_to_an_hour() -> None:
    minutes = timedelta(minutes=2)
    asked = outcome_of(Answer(429, minutes, ""), 1, 0.5)
    too_long = outcome_of(Answer(503, timedelta(days=3), ""), 1, 0.5)

    assert asked.after == minutes
    assert too_long.after == timedelta(hours=1)


def test_attempts_end() -> None:
    assert outcome_of(Answer(503, None, ""), 1000, 0.5).after is None


@pytest.mark.parametrize("how", ["seconds", "date", "nonsense"])
async def test_retry_after_is_read_in_both_forms(
    kept: StoredOutbox, how: str
) -> None:
    at = datetime.now(UTC) + timedelta(seconds=100)
    said = {
        "seconds": "100",
        "date": f"{at:%a, %d %b %Y %H:%M:%S} GMT",
        "nonsense": "soon",
    }[how]
    await put(kept)
    async with receiver() as there, sending(kept, rule_to(there.url)) as one:
        there.reply = lambda _: web.Response(
            status=429, headers={"Retry-After": said}
        )
        await one.send_next(rule_to(there.url))
        [waiting] = await kept.listed()

    assert waiting.due_at is not None
    pause = (waiting.due_at - waiting.created_at).total_seconds()
    assert (pause > 90) is (how != "nonsense")


async def test_an_answer_without_end_is_cut() -> None:
    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)

    app = web.Application()
    app.router.add_post("/hook", endless)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        async with webhooks() as poster:
            answer = await poster.post(
                rule_to(url), key="k", body=b"{}", content_type="text/plain"
            )
    finally:
        await runner.cleanup()

    assert answer.status == 200
    assert len(answer.says) == 200
