"""Environment variables of documents, wherever they are."""

from typing import Any

import orjson
import pytest

from recorder.intake.redact import Redaction, RedactionRules, key_id
from tests.classify import documents
from tests.redact.examples import (
    KEY,
    compact,
    digest,
    pack,
    redaction,
    variables,
)

VARIABLE = b'{"name":"A_KEY","value":"hunter2"}'
PACKED = VARIABLE.replace(b'"', rb"\"")


def redacted(document: Any) -> Any:
    """Redact, and check that a second time changes nothing more."""
    once = redaction.document(compact(document), resource=None)

    assert redaction.document(once, resource=None) is once
    return orjson.loads(once)


def test_a_variable_named_like_a_secret_becomes_a_digest() -> None:
    document = {"env": variables(("DB_PASSWORD", "hunter2"), ("MODE", "x"))}

    assert redacted(document) == {
        "env": variables(("DB_PASSWORD", digest("hunter2")), ("MODE", "x"))
    }


def test_the_same_value_has_the_same_digest_under_one_key_only() -> None:
    raw = compact({"env": variables(("A_TOKEN", "v"), ("B_TOKEN", "v"))})
    other = Redaction(RedactionRules(), b"k" * 32)

    first, second = orjson.loads(redaction.any_json(raw))["env"]
    foreign, _ = orjson.loads(other.any_json(raw))["env"]

    assert first["value"] == second["value"] != foreign["value"]


def test_nothing_but_the_value_changes_in_a_real_pod() -> None:
    raw = compact(documents.pod())
    expected = raw.replace(
        b"4f1c0f5e9d3b2a7788aa00b1c2d3e4f5",
        digest("4f1c0f5e9d3b2a7788aa00b1c2d3e4f5").encode(),
    ).replace(
        b"hf_QxTzVbNmKlPoIuYtReWqAsDfGh",
        digest("hf_QxTzVbNmKlPoIuYtReWqAsDfGh").encode(),
    )

    assert redaction.document(raw, resource="v1/pods") == expected


@pytest.mark.parametrize("name", ["event", "node", "lease"])
def test_a_document_without_secrets_is_the_same_object(name: str) -> None:
    raw = compact(getattr(documents, name)())

    assert redaction.document(raw, resource=None) is raw


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_document_within_a_string_is_redacted_as_well(times: int) -> None:
    applied = {"spec": {"env": variables(("X_TOKEN", "s3cret"), ("Y", "z"))}}

    def document(value: str) -> dict[str, Any]:
        applied["spec"]["env"][0]["value"] = value
        return {"a": pack(applied, times), "z": 'quote " \\ \u00e9 \u2028'}

    assert redacted(document("s3cret")) == document(digest("s3cret"))


def test_the_copy_that_kubectl_keeps_is_redacted() -> None:
    raw = redaction.document(compact(documents.job()), resource=None)

    assert b"hf_Qx" not in raw
    assert raw.count(digest("hf_QxTzVbNmKlPoIuYtReWqAsDfGh").encode()) == 2
    note = orjson.loads(raw)["metadata"]["annotations"].popitem()[1]
    assert len(orjson.loads(note)["spec"]["template"]["spec"]) == 2


@pytest.mark.parametrize(
    "raw",
    [
        rb'{"\u0065nv":[{"name":"A_KEY","value":"hunter2"}]}',
        rb'{"env":[{"n\u0061me":"A_KEY","value":"hunter2"}]}',
        rb'{"env":[{"name":"A_K\u0045Y","value":"hunter2"}]}',
        rb'{"env":[{"name":"A_KEY","v\u0061lue":"hunter2"}]}',
        b'{"env" :\n [ { "name"\t: "A_KEY" , "value" : "hunter2" } ] }',
        b'{"env":[{"value":"hunter2","name":"A_KEY"}]}',
        b'{"env":[{"value":"hunter2","x":{"y":[]},"name":"A_KEY"}]}',
        b'{"env":[{"name":"A_KEY","name":"B","value":"hunter2"}]}',
        b'{"env":[{"name":"B","name":"A_KEY","value":"hunter2"}]}',
        b'{"env":[{"name":"A_KEY","value":"hunter2","value":"x"}]}',
        b'{"env":[{"name":"A_KEY","value":["hunter2",{"a":"hunter2"}]}]}',
        b'{"env":[],"env":[%s]}' % VARIABLE,
        b'{"env":[{"name":"B","value":"}]"},%s]}' % VARIABLE,
        b'{"env":[{"name":"B","env":[%s]}]}' % VARIABLE,
        b'{"env":[{"name":"B","value":{"env":[%s]}}]}' % VARIABLE,
        b'[[{"env":[null,1,"x",%s]}]]' % VARIABLE,
        b'{"env":[{"name":"A_KEY","value":"%s"}]}' % PACKED,
        rb'{"a":"{\"\\u0065nv\":[%s]}"}' % PACKED,
        rb'{"a":"{\u0022env\u0022:[%s]}"}' % PACKED,
        rb'{"a":"failed: \"env\": [%s] x"}' % PACKED,
        rb'{"a":"{\"env\": [%s, ..."}' % PACKED,
    ],
)
def test_no_way_of_writing_hides_a_secret(raw: bytes) -> None:
    once = redaction.any_json(raw)

    assert b"hunter2" not in once
    orjson.loads(once)
    assert redaction.any_json(once) is once


@pytest.mark.parametrize(
    "raw",
    [
        b'{"env":[{"name":"MODE","value":"fast"}]}',
        b'{"env":{"A_TOKEN":"a map is not what containers have"}}',
        b'{"httpHeaders":[{"name":"X-Token","value":"not an env"}]}',
        b'{"env":[{"name":"A_KEY","valueFrom":{"secretKeyRef":{}}}]}',
        b'{"env":[{"name":"A_KEY","value":null}]}',
        b'{"env":[{"name":5,"value":"x"}]}',
        rb'{"x\"env":[{"name":"A_KEY","value":"the key is another"}]}',
        b'{"env":"[","b":[{"name":"A_KEY","value":"not an env"}]}',
        rb'{"a":"\u003cenv\u003e \u0026 <env>","b":"C:\\env\\x"}',
        rb'{"f:env":{"k:{\"name\":\"A_KEY\"}":{"f:value":{}}}}',
        b'"env"',
        b"[]",
    ],
)
def test_what_is_no_secret_stays_as_it_is(raw: bytes) -> None:
    assert redaction.any_json(raw) is raw


@pytest.mark.parametrize(
    ("value", "signed"),
    [
        (b'"a\\"b"', 'a"b'),
        ('"\u00e9"'.encode(), "\u00e9"),
        (b'"\\u00e9"', "\u00e9"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'""', ""),
        (b"12.50", "12.50"),
        (b"true", "true"),
        (b'{ "a":1 }', '{ "a":1 }'),
    ],
)
def test_the_digest_is_of_the_value_not_of_its_spelling(
    value: bytes, signed: str
) -> None:
    raw = b'{"env":[{"name":"A_KEY","value":%s}]}' % value

    expected = compact({"env": variables(("A_KEY", digest(signed)))})
    assert redaction.any_json(raw) == expected


def test_without_patterns_only_secrets_are_redacted() -> None:
    raw = compact({"env": variables(("A_TOKEN", "v"))})

    assert Redaction(RedactionRules(patterns=()), KEY).any_json(raw) is raw


def test_the_name_of_a_key_does_not_give_it_away() -> None:
    assert key_id(KEY) == key_id(KEY) != key_id(b"k" * 32)
    assert len(key_id(KEY)) == 16


def test_a_torn_copy_hides_what_is_spelled_with_escapes_too() -> None:
    torn = rf'{{"\u0065nv":[{VARIABLE.decode()}],"env":[{{ and no more'

    assert redacted({"note": torn}) == {"note": "redacted"}
