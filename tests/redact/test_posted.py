"""Members with the name of a secret, wherever a sender puts them."""

import orjson
import pytest

from recorder.intake.redact import Redaction, RedactionRules

REDACTION = Redaction(RedactionRules(), b"0" * 32)


@pytest.mark.parametrize(
    ("raw", "shape"),
    [
        (
            b'{"password" : "hunter22" , "n": 1e3}',
            b'{"password" : %b , "n": 1e3}',
        ),
        (b'{"a":[{"token":["x",{"y":1}]},2]}', b'{"a":[{"token":%b},2]}'),
        (b'{"api_key":7,"key":null}', b'{"api_key":%b,"key":null}'),
        (b'{"p\\u0061ssword":"a\\"b"}', b'{"p\\u0061ssword":%b}'),
        (b'{"cookie":"redactedly"}', b'{"cookie":%b}'),
    ],
)
def test_only_the_value_of_a_secret_changes(raw: bytes, shape: bytes) -> None:
    clean = REDACTION.posted(raw)

    before, after = shape.split(b"%b")
    digest = clean.removeprefix(before).removesuffix(after)
    assert clean == before + digest + after
    assert orjson.loads(digest).startswith("redacted:")
    assert REDACTION.posted(clean) == clean


@pytest.mark.parametrize(
    "raw", [b"{}", b"[]", b"7", b'"token"', b'{"a":"token","b":["password"]}']
)
def test_what_holds_no_secret_stays_as_it_is(raw: bytes) -> None:
    assert REDACTION.posted(raw) is raw
