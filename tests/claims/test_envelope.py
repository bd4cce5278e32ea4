"""CloudEvents out of requests, and what is wrong with those that are none."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest

from recorder.sources.claims.envelope import (
    CLAIMS_MAX,
    EnvelopeError,
    read_claims,
)

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
STRUCTURED = {"content-type": "application/cloudevents+json; charset=utf-8"}
BATCH = {"content-type": "application/cloudevents-batch+json"}


def an_event(**more: Any) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": "7",
        "source": "pdu/b3",
        "type": "machine.power",
        "time": "2026-11-26T11:59:00Z",
        "subject": "node/gpu-1",
        "data": {"power": "off"},
        **more,
    }


def refused(headers: dict[str, str], body: bytes) -> str:
    with pytest.raises(EnvelopeError) as refusal:
        read_claims(headers, body, now=NOW)
    return str(refusal.value)


def test_a_structured_event_stays_as_it_was_sent() -> None:
    body = orjson.dumps(an_event(), option=orjson.OPT_INDENT_2)

    (claim,) = read_claims(STRUCTURED, body, now=NOW)

    assert claim.document == body
    assert (claim.source, claim.type) == ("pdu/b3", "machine.power")
    assert claim.key == sha256(b'["pdu/b3","7"]').hexdigest()


def test_a_batch_holds_each_of_its_events() -> None:
    body = orjson.dumps([an_event(id="1"), an_event(id="2")])

    claims = read_claims(BATCH, body, now=NOW)

    assert [orjson.loads(one.document)["id"] for one in claims] == ["1", "2"]
    assert len({one.key for one in claims}) == 2


@pytest.mark.parametrize(
    ("content", "body", "data"),
    [
        ("application/json", b'{"a": 1}', {"data": {"a": 1}}),
        ("application/problem+json", b"[1]", {"data": [1]}),
        ("text/plain", "it tripped: ß".encode(), {"data": "it tripped: ß"}),
        ("application/x-pstore", b"\xff\x00", {"data_base64": "/wA="}),
        ("", b"", {}),
    ],
)
def test_a_binary_event_is_the_structured_one(
    content: str, body: bytes, data: dict[str, Any]
) -> None:
    headers = {
        "ce-specversion": "1.0",
        "ce-id": "a%20b",
        "ce-source": "pdu/b3",
        "ce-type": "machine.power",
        "content-type": content,
    }

    (claim,) = read_claims(headers, body, now=NOW)

    said = orjson.loads(claim.document)
    assert said.pop("datacontenttype", "") == content
    assert said == {
        "specversion": "1.0",
        "id": "a b",
        "source": "pdu/b3",
        "type": "machine.power",
        **data,
    }


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"id": None}, '"id" is not a text'),
        ({"id": ""}, '"id" is not a text'),
        ({"id": "x" * 1025}, '"id" is not a text'),
        ({"source": "a\nb"}, '"source" has a control character'),
        ({"specversion": "0.3"}, '"specversion" is not 1.0'),
        ({"time": "yesterday"}, '"time" is not a time'),
        ({"time": "2026-11-26T11:59:00"}, '"time" is not a time'),
        ({"time": "2026-11-26T12:06:00Z"}, '"time" is in the future'),
        ({"Note": "a"}, '"Note" is no name'),
        ({"note": {"a": 1}}, '"note" is of a wrong type'),
        ({"data_base64": "YQ=="}, '"data_base64" is beside "data"'),
    ],
)
def test_an_event_is_refused_with_the_member_that_is_wrong(
    more: dict[str, Any], named: str
) -> None:
    body = orjson.dumps(an_event(**more))

    assert named in refused(STRUCTURED, body)
    assert f"event 2: {named}"[:20] in refused(
        BATCH, b"[%b,%b]" % (orjson.dumps(an_event()), body)
    )


@pytest.mark.parametrize("name", ["specversion", "id", "source", "type"])
def test_a_member_that_every_event_has_is_missed_by_name(name: str) -> None:
    event = an_event()
    del event[name]

    assert f'"{name}" is missing' in refused(STRUCTURED, orjson.dumps(event))


@pytest.mark.parametrize(
    "body",
    [b"", b"[1]", b"\xff", b"{", b'"\\ud800"', b"[" * 100_000, b'{"a":NaN}'],
)
def test_what_is_no_object_in_json_is_refused(body: bytes) -> None:
    assert "JSON" in refused(STRUCTURED, body)


def test_a_batch_and_an_event_are_bounded() -> None:
    many = orjson.dumps([an_event()] * (CLAIMS_MAX + 1))
    large = orjson.dumps(an_event(data="x" * (256 << 10)))

    assert "501 events" in refused(BATCH, many)
    assert "bytes" in refused(STRUCTURED, large)


def test_a_request_of_another_kind_is_refused_by_name() -> None:
    said = refused({"content-type": "application/json"}, b"{}")

    assert "application/cloudevents+json" in said
    assert "ce-specversion" in said


def test_the_event_in_the_documentation_is_one() -> None:
    page = (Path(__file__).parents[2] / "docs/sources.md").read_text()
    shown = page.partition("```json\n")[2].partition("```")[0]

    (claim,) = read_claims(STRUCTURED, shown.encode(), now=NOW)

    assert (claim.source, claim.type) == ("pdu/b3", "machine.power")
