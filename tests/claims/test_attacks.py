"""What a hostile or broken sender posts is refused, and disturbs nothing."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import orjson
import pytest

from recorder.doctor.health.metrics import exposition
from recorder.intake.progress import Progress
from recorder.listening import protocol
from recorder.sources.claims.converters import CONVERTERS
from tests.claims.posting import an_event
from tests.claims.test_door import Doorway

DEEP = b"[" * 100_000 + b"]" * 100_000
DEEP_OBJECT = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
EVENT = (
    b'{"specversion":"1.0","id":"1","source":"pdu/b3","type":"machine.power",'
)
JSON = "application/cloudevents+json"


BODIES = [
    b"",
    b"\xef\xbb\xbf{}",
    b"\x00",
    b"\xff\xfe",
    b"null",
    b'"x"',
    b"[1,null]",
    b"1e999",
    b'{"a":1e999}',
    b"9" * 100_000,
    b"{" * 10,
    DEEP,
    DEEP_OBJECT,
    b'{"alerts":' + DEEP + b"}",
    b'{"Events":[' + DEEP_OBJECT + b"]}",
    EVENT + b'"data":' + DEEP + b"}",
    EVENT + b'"data":' + DEEP_OBJECT + b"}",
    EVENT + b'"subject":"node/a\\u0000b"}',
    EVENT + b'"subject":"node/a\\nb"}',
    EVENT + b'"subject":"node/\\ud800"}',
    EVENT + b'"subject":"node/\\u202e1-upg"}',
    EVENT + b'"subject":"' + b"x" * 1_025 + b'"}',
    EVENT + b'"type":"machine\\u0007power"}',
    EVENT + b'"time":"2999-01-01T00:00:00Z"}',
    EVENT + b'"time":"2026-02-30T00:00:00Z"}',
    EVENT + b'"a-b":1}',
    EVENT + b'"nested":{"a":1}}',
]


@pytest.fixture
async def doorway(tmp_path: Path) -> AsyncIterator[Doorway]:
    one = Doorway(tmp_path)
    one.pdu = one.tokens.add("all", claims=("*", "*"))
    async with one.listening(), one.recording():
        one.counts.refused.clear()
        yield one


async def send(
    doorway: Doorway,
    body: bytes,
    path: str = "",
    **headers: str,
) -> int:
    said = {
        "Authorization": f"Bearer {doorway.pdu}",
        "Content-Type": JSON,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{doorway.address}/ingest{path}", data=body, headers=said
        ) as response,
    ):
        return response.status


async def takes_others(doorway: Doorway) -> bool:
    """Return whether the door takes an event, and all it took is committed."""
    status, _ = await doorway.post(an_event(7))
    return status == 202


@pytest.mark.parametrize("path", ["", *(f"/{name}" for name in CONVERTERS)])
async def test_what_is_no_event_is_refused_and_disturbs_none(
    doorway: Doorway, path: str
) -> None:
    said = {body: await send(doorway, body, path) for body in BODIES}

    assert [one for one, status in said.items() if status // 100 != 4] == []
    assert sum(doorway.counts.refused.values()) == len(BODIES)
    assert await takes_others(doorway)
    assert len(doorway.claims()) == 1


@pytest.mark.parametrize(
    "said",
    [
        {"ce_subject": "node/%00"},
        {"ce_subject": "node/%0A"},
        {"ce_type": "machine%1Fpower"},
        {"ce_time": "2999-01-01T00:00:00Z"},
        {"ce_data": "1"},
        {"ce_x%41": "1"},
    ],
)
async def test_what_headers_hide_is_found(
    doorway: Doorway, said: dict[str, str]
) -> None:
    headers = {
        "ce_specversion": "1.0",
        "ce_id": "1",
        "ce_source": "pdu/b3",
        "ce_type": "machine.power",
        "Content_Type": "application/json",
        **said,
    }
    assert await send(doorway, b'{"power":"off"}', **headers) == 400
    assert not doorway.claims()


async def test_a_subject_in_percents_is_what_they_stand_for(
    doorway: Doorway,
) -> None:
    status = await send(
        doorway,
        b'{"power":"off"}',
        ce_specversion="1.0",
        ce_id="1",
        ce_source="pdu/b3",
        ce_type="machine.power",
        ce_subject="node/m%C3%BCnchen%2001",
        Content_Type="application/json",
    )
    assert status == 202
    (claim,) = doorway.claims()
    assert orjson.loads(claim.raw)["subject"] == "node/münchen 01"


async def test_a_batch_with_one_bad_event_enters_none_of_it(
    doorway: Doorway,
) -> None:
    bad = {**an_event(3), "type": ""}
    status, says = await doorway.post([an_event(1), an_event(2), bad])

    assert (status, says[:16]) == (400, 'event 3: "type" ')
    assert not doorway.claims()


async def test_names_of_senders_are_no_names_of_metrics(
    doorway: Doorway,
) -> None:
    for first in range(0, 10_000, 500):
        events = [
            an_event(n, source=f"s/{n}", type=f"t.{n}", subject=f"node/n{n}")
            for n in range(first, first + 500)
        ]
        assert (await doorway.post(events))[0] == 202
    for n in range(50):
        assert await send(doorway, b"{}", f"/converter-{n}") == 404

    said = exposition(Progress(claims=doorway.counts)).decode()
    series = [line for line in said.splitlines() if "_claims_" in line]
    assert len(doorway.claims()) == 10_000
    assert sum(line.startswith("recorder") for line in series) < 40


async def test_a_head_without_end_is_refused(doorway: Doorway) -> None:
    many = {f"x_{n}": "y" * 64 for n in range(60)}
    assert await send(doorway, b"{}", **many) == 400
    over = {f"x_{n}": "y" * 512 for n in range(90)}
    assert await send(doorway, b"{}", **over) == 431
    assert await takes_others(doorway)


async def test_a_body_that_trickles_holds_up_none(
    doorway: Doorway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "REQUEST_SECONDS", 0.4)
    host, _, port = doorway.address.removeprefix("http://").rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /ingest HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n"
        b"Authorization: Bearer " + doorway.pdu.encode() + b"\r\n\r\n{"
    )
    await writer.drain()

    assert await takes_others(doorway)
    async with asyncio.timeout(10):
        assert b" 408 " in (await reader.read()).splitlines()[0]
    writer.close()


async def test_a_body_packed_small_is_not_unpacked(doorway: Doorway) -> None:
    for encoding in ("gzip", "br", "zstd", "identity, gzip"):
        status = await send(doorway, b"x" * 100, Content_Encoding=encoding)
        assert status == 415
    assert not doorway.claims()
