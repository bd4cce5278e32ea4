"""Batches of audit records over HTTPS: who may send, and what is promised."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import orjson
import pytest

from recorder.doctor.health.metrics import exposition
from recorder.intake.ports import Known
from recorder.intake.progress import Progress, Received
from recorder.model.entry import Operation
from recorder.sources.audit import AuditReceiver, AuditWebhook
from recorder.sources.audit.proving import Proof
from recorder.sources.audit.webhook import WebhookError
from tests.audit.receiving import (
    CLUSTER,
    Receiving,
    a_batch,
    a_record,
    answered,
)
from tests.support.memory_log import MemoryLog

GIGABYTE = 1 << 30


@pytest.fixture
async def receiving(tmp_path: Path) -> AsyncIterator[Receiving]:
    one = Receiving(tmp_path, MemoryLog())
    async with one.listening(), one.recording():
        yield one


async def test_what_was_answered_is_in_the_log(receiving: Receiving) -> None:
    receiving.writer.faults = ["lost", "lost", "silent"]

    status, _, _ = await receiving.send(a_batch(a_record("a"), a_record("b")))
    held = [orjson.loads(draft.raw) for draft in receiving.records()]

    assert status == 200
    assert [one["auditID"] for one in held] == ["a", "b"]
    assert held[0] == a_record("a")
    assert not receiving.gaps()


async def test_the_cluster_in_the_path_must_be_the_recorded_one(
    receiving: Receiving,
) -> None:
    body = a_batch(a_record("a"))

    other = await receiving.send(body, path="/another-cluster")
    same = await receiving.send(body, path=f"/{CLUSTER}")

    assert (other[0], same[0]) == (404, 200)
    assert CLUSTER in other[1]
    assert len(receiving.records()) == 1


async def test_no_client_sends_without_a_certificate(
    receiving: Receiving, tmp_path: Path
) -> None:
    stranger = Receiving(tmp_path / "other", MemoryLog())
    for client in (None, stranger.client):
        connector = aiohttp.TCPConnector(ssl=receiving.trust(client))
        async with aiohttp.ClientSession(connector=connector) as session:
            with pytest.raises((aiohttp.ClientError, ssl.SSLError, OSError)):
                await session.post(receiving.url, data=a_batch(a_record("a")))

    assert not receiving.records()
    assert not receiving.received.requests


async def test_beside_other_senders_a_certificate_is_asked_for_at_the_path(
    tmp_path: Path,
) -> None:
    one = Receiving(tmp_path, MemoryLog(), requires_certificate=False)
    body = a_batch(a_record("a"))
    connector = aiohttp.TCPConnector(ssl=one.trust(None))
    async with (
        one.listening(),
        one.recording(),
        aiohttp.ClientSession(connector=connector) as session,
    ):
        without = await session.post(one.url, data=body)
        status, _, _ = await one.send(body)

    assert (without.status, status) == (401, 200)
    assert len(one.records()) == 1


async def test_where_a_token_is_asked_for_a_certificate_is_not_enough(
    tmp_path: Path,
) -> None:
    one = Receiving(tmp_path, MemoryLog(), is_holder=lambda t: t == "right")
    body = a_batch(a_record("a"))
    async with one.listening(), one.recording():
        answers = [
            await one.send(body),
            await one.send(body, token="wrong"),
            await one.send(body, token="right"),
        ]

    assert [status for status, _, _ in answers] == [401, 401, 200]
    assert len(one.records()) == 1


def test_a_webhook_that_would_ask_for_nothing_is_refused() -> None:
    received = Received()
    with pytest.raises(WebhookError, match="audit_client_ca"):
        AuditWebhook(
            AuditReceiver(repeated_for=timedelta(0), received=received),
            needs_certificate=False,
            is_holder=None,
            cluster_uid=CLUSTER,
            received=received,
        )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[1]",
        b"[" * 100_000,
        b'{"kind": 1}',
        a_batch(a_record("a"), kind="PodList"),
        a_batch(a_record("a"))[:-1],
    ],
)
async def test_what_is_no_batch_is_refused_for_good(
    receiving: Receiving, body: bytes
) -> None:
    status, says, after = await receiving.send(body)
    good, _, _ = await receiving.send(a_batch(a_record("b")))

    assert (status, after, good) == (400, None, 200)
    assert "EventList" in says
    assert len(receiving.records()) == 1
    # Its sender forgets it, so that what was in it is lost.
    (gap,) = receiving.gaps()
    assert "could not be read" in gap["reason"]


@pytest.mark.parametrize(
    "patch",
    [
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b"[" * 100_000 + b"]" * 100_000,
        rb'{"metadata":{"labels":{"a":"\ud800"}}}',
        rb'"}],\"items\":[{\\"',
    ],
    ids=["objects", "lists", "half a character", "brackets in a text"],
)
async def test_what_one_request_says_takes_no_record_of_others_away(
    receiving: Receiving, patch: bytes
) -> None:
    """A patch is in its record as it was sent, by a user who may patch."""
    bodies = [orjson.dumps(a_record(name)) for name in ("a", "b", "c")]
    bodies[1] = bodies[1][:-1] + b',"requestObject":' + patch + b"}"
    status, says, _ = await receiving.send(
        b'{"metadata":{"a":[{}]},"kind":"EventList",'
        b'"apiVersion":"audit.k8s.io/v1", "items": [ %s ]}'
        % b" ,\n".join(bodies)
    )

    assert (status, says) == (200, "")
    assert receiving.gaps() == []
    assert [
        (draft.actor, draft.identity and draft.identity.name)
        for draft in receiving.records()
    ] == [("alice@example.com", name) for name in ("a", "b", "c")]


@pytest.mark.parametrize("between", [b"1,", b'"a",', b",,", b":"])
async def test_what_is_not_between_its_brackets_is_no_batch(
    receiving: Receiving, between: bytes
) -> None:
    """Rather a loss that is recorded than a record that is not."""
    deep = b'{"a":' * 2_000 + b"1" + b"}" * 2_000
    status, _, _ = await receiving.send(
        b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[%s]}'
        % (deep + b"," + between + deep)
    )

    assert status == 400
    assert len(receiving.gaps()) == 1


async def test_items_that_are_no_records_are_refused_one_by_one(
    receiving: Receiving,
) -> None:
    body = (
        b'{"kind":"EventList","apiVersion":"audit.k8s.io/v1",'
        b'"items":[1,{"verb":7},[]]}'
    )

    status, _, _ = await receiving.send(body)

    assert status == 200
    refused = receiving.log.drafts(Operation.REFUSED)
    assert [orjson.loads(draft.raw)["length"] for draft in refused] == [
        1,
        10,
        2,
    ]
    assert not receiving.records()


async def test_a_batch_that_is_too_large_is_a_loss_reported_once(
    receiving: Receiving,
) -> None:
    announced = await _announce(receiving, GIGABYTE)

    async def streamed() -> AsyncIterator[bytes]:
        for _ in range(GIGABYTE >> 20):
            yield b" " * (1 << 20)

    # The answer comes before all is sent, and the connection ends with it.
    with suppress(aiohttp.ClientError):
        await receiving.send(streamed())

    assert announced.startswith(b"HTTP/1.1 413 ")
    assert receiving.received.requests[413] == 2
    assert receiving.received.held_bytes == 0
    (gap,) = receiving.gaps()
    assert "33,554,432 bytes" in gap["reason"]


async def _announce(receiving: Receiving, size: int) -> bytes:
    """Announce a body and send none of it; return what is answered."""
    host, _, port = receiving.url[8:].removesuffix("/audit").partition(":")
    reader, writer = await asyncio.open_connection(
        host, int(port), ssl=receiving.trust(receiving.client)
    )
    writer.write(
        f"POST /audit HTTP/1.1\r\nHost: {host}\r\nContent-Length:"
        f" {size}\r\n\r\n".encode()
    )
    async with asyncio.timeout(20):
        answer = await reader.readline()
    writer.close()
    return answer


async def test_an_encoded_batch_is_not_unpacked(receiving: Receiving) -> None:
    status, _, _ = await receiving.send(
        b"\x1f\x8b", **{"Content-Encoding": "gzip"}
    )

    assert status == 415


async def test_a_sender_that_leaves_leaves_nothing(
    receiving: Receiving,
) -> None:
    host, _, port = receiving.url[8:].removesuffix("/audit").partition(":")
    _, writer = await asyncio.open_connection(
        host, int(port), ssl=receiving.trust(receiving.client)
    )
    writer.write(
        b"POST /audit HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{"
    )
    await writer.drain()
    received = receiving.received
    async with asyncio.timeout(20):
        while not received.held_bytes:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.001)
        writer.transport.abort()
        while received.held_bytes or received.waiting:  # noqa: ASYNC110
            await asyncio.sleep(0.001)

    assert not receiving.records()


async def test_while_the_log_hangs_senders_are_asked_to_retry(
    tmp_path: Path,
) -> None:
    one = Receiving(tmp_path, MemoryLog(), commit_seconds=2)
    large = [
        a_batch(a_record(f"{n}", note="x" * (16 << 20))) for n in range(8)
    ]
    async with one.listening(), one.recording():
        one.writer.goes.clear()
        async with asyncio.TaskGroup() as group:
            sending = [group.create_task(one.send(body)) for body in large]
        answers = [task.result() for task in sending]
        held = one.received.held_bytes
        one.writer.goes.set()
        after = await one.send(a_batch(a_record("later")))

    assert set(answered(answers)) == {429, 503}
    assert all(retry is not None for _, _, retry in answers)
    assert held == 0
    assert after[0] == 200


async def test_a_standby_refuses_and_what_takes_over_takes(
    tmp_path: Path,
) -> None:
    log = MemoryLog()
    first = Receiving(tmp_path / "1", log, holder="first")
    second = Receiving(tmp_path / "2", log, holder="second")
    body = a_batch(a_record("a"))
    async with first.listening(), second.listening():
        async with first.recording():
            standing_by = await second.send(body)
        ended = await first.send(body)
        async with second.recording():
            taken = await second.send(body)

    assert (standing_by[0], ended[0], taken[0]) == (503, 503, 200)
    assert standing_by[2] is not None
    assert len(log.drafts()) == 1
    assert not second.gaps()


async def test_who_was_away_for_longer_than_batches_are_repeated_has_a_gap(
    tmp_path: Path,
) -> None:
    log, clock = MemoryLog(), [datetime(2026, 11, 21, 3, tzinfo=UTC)]
    one = Receiving(tmp_path, log, now=lambda: clock[0])
    async with one.listening():
        async with one.recording():
            await one.send(a_batch(a_record("a")))
        clock[0] += timedelta(seconds=79)
        async with one.recording():
            await one.send(a_batch(a_record("b")))
        short = one.gaps()
        clock[0] += timedelta(seconds=81)
        async with one.recording():
            pass

    assert not short
    (gap,) = one.gaps()
    assert gap["from"] == "2026-11-21T03:01:19.000000Z"
    assert gap["to"] == "2026-11-21T03:02:40.000000Z"
    assert gap["possible"]


async def test_a_gap_is_healed_where_counters_prove_that_nothing_was_lost(
    tmp_path: Path,
) -> None:
    log, clock = MemoryLog(), [datetime(2026, 11, 21, 3, tzinfo=UTC)]
    one = Receiving(tmp_path, log, now=lambda: clock[0])

    async def proof(known: Known) -> Proof:
        assert "webhook" in known.resume_points()
        return Proof("nothing is missing", None)

    one.receiver.proof = proof
    async with one.listening():
        async with one.recording():
            await one.send(a_batch(a_record("a")))
        clock[0] += timedelta(seconds=81)
        async with one.recording():
            await one.send(a_batch(a_record("b")))

    (gap,) = one.gaps()
    assert gap["proved"] == "nothing is missing"
    assert not gap["possible"]


async def test_what_was_refused_for_longer_than_it_is_repeated_is_a_gap(
    tmp_path: Path,
) -> None:
    log, clock = MemoryLog(), [datetime(2026, 11, 21, 3, tzinfo=UTC)]
    one = Receiving(tmp_path, log, now=lambda: clock[0], commit_seconds=2)
    async with one.listening(), one.recording():
        await one.send(a_batch(a_record("a")))
        clock[0] += timedelta(seconds=10)
        one.writer.goes.clear()
        refused = await one.send(a_batch(a_record("b")))
        clock[0] += timedelta(seconds=100)
        one.writer.goes.set()
        taken = await one.send(a_batch(a_record("c")))

    assert (refused[0], taken[0]) == (503, 200)
    (gap,) = one.gaps()
    assert gap["from"] <= "2026-11-21T03:00:10.000000Z"
    assert gap["to"] == "2026-11-21T03:01:50.000000Z"


async def test_a_clock_an_hour_ahead_is_reported_and_changes_no_order(
    tmp_path: Path,
) -> None:
    now = datetime(2026, 11, 21, 2, tzinfo=UTC)
    one = Receiving(tmp_path, MemoryLog(), now=lambda: now)
    async with one.listening(), one.recording():
        status, _, _ = await one.send(a_batch(a_record("a")))

    (draft,) = one.records()
    assert status == 200
    assert draft.observed_at == now
    assert draft.occurred_at == datetime(2026, 11, 21, 3, 0, 0, 1, tzinfo=UTC)
    said = exposition(Progress(received=one.received)).decode()
    assert "recorder_audit_webhook_lag_seconds -3600.0" in said


async def test_certificates_that_were_renewed_are_shown(
    receiving: Receiving, tmp_path: Path
) -> None:
    renewed = Receiving(tmp_path / "renewed", MemoryLog())
    pairs = [
        (renewed.server.certificate, receiving.server.certificate),
        (renewed.server.key, receiving.server.key),
    ]
    body = a_batch(a_record("a"))
    receiving.server.key.write_text("half of a key")
    await receiving.send(body)
    trouble = receiving.received.trouble
    for theirs, ours in pairs:
        ours.write_bytes(theirs.read_bytes())
    await receiving.send(body)  # it notices with this connection
    receiving.authority = renewed.authority
    status, _, _ = await receiving.send(body)

    assert trouble is not None
    assert str(receiving.server.key) in trouble
    assert receiving.received.trouble is None
    assert status == 200
