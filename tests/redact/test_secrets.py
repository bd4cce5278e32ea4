"""Values of Secrets, which leave no trace at all."""

from typing import Any

import orjson
import pytest

from tests.classify import documents
from tests.redact.examples import compact, digest, pack, redaction, variables

LEAKS = (b"aHVudGVyMg", b"hunter2", b"YWRtaW4", b"admin-of-it-all")


def check(once: bytes) -> Any:
    for leak in LEAKS:
        assert leak not in once
    assert redaction.document(once, resource=None) == once
    return orjson.loads(once)


def test_a_secret_keeps_its_keys_and_loses_its_values() -> None:
    raw = compact(documents.secret())

    secret = check(redaction.document(raw, resource="v1/secrets"))
    expected = documents.secret()
    expected["data"] = {"password": "redacted", "user": "redacted"}
    expected["stringData"] = {"password": "redacted"}
    for note in expected["metadata"]["annotations"]:
        expected["metadata"]["annotations"][note] = "redacted"
    assert secret == expected


def test_an_item_of_a_list_is_known_by_its_resource() -> None:
    document = documents.secret()
    del document["kind"], document["apiVersion"]

    check(redaction.document(compact(document), resource="v1/secrets"))


@pytest.mark.parametrize("served", [True, False])
def test_no_resource_excuses_a_secret(*, served: bool) -> None:
    raw = compact(documents.secret())

    check(redaction.document(raw, resource="batch/v1/jobs", served=served))


def test_the_kind_counts_wherever_it_is_and_however_it_is_spelled() -> None:
    document = documents.secret()
    kind = document.pop("kind")
    late = compact(document | {"kind": kind})
    spelled = late.replace(b'"Secret"', rb'"\u0053ecret"')
    twice = late.replace(b'"kind"', b'"kind":"ConfigMap","kind"')
    spaced = late.replace(b'"kind":', b'"kind" :\n ')

    for raw in (late, spelled, twice, spaced):
        check(redaction.any_json(raw))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda secret: {"spec": {"manifests": [secret]}},
        lambda secret: {"kind": "SecretList", "items": [secret]},
        lambda secret: {"items": [kindless(secret)], "kind": "SecretList"},
        lambda secret: {"annotations": {"original": pack(secret)}},
        lambda secret: {"annotations": {"original": pack([secret], 3)}},
        lambda secret: {"message": f"cannot apply {pack(secret)}: no"},
        lambda secret: {"message": pack(secret)[:-3]},
    ],
)
def test_a_secret_within_a_document_is_found(wrap: Any) -> None:
    check(redaction.any_json(compact(wrap(documents.secret()))))


def kindless(secret: dict[str, Any]) -> dict[str, Any]:
    return {key: secret[key] for key in secret if key != "kind"}


@pytest.mark.parametrize(
    "data",
    [
        b'"hunter2"',
        b'["hunter2"]',
        b'{"a":["hunter2",{"b":"hunter2"}]}',
        b'{"a":12345,"a":"hunter2"}',
        rb'{"a":"\u0068unter2"}',
    ],
)
def test_data_of_a_strange_shape_is_hidden_too(data: bytes) -> None:
    raw = b'{"data":%s,"kind":"Secret","data":%s}' % (data, data)

    once = redaction.any_json(raw)

    assert b"unter2" not in once
    assert b"12345" not in once
    assert redaction.any_json(once) == once


def test_what_only_mentions_a_secret_stays_as_it_is() -> None:
    for document in (
        {"kind": "ConfigMap", "data": {"a": "b"}},
        {"involvedObject": {"kind": "Secret", "name": "x"}, "message": "y"},
        {"kind": "SealedSecret", "spec": {"encryptedData": {"a": "b"}}},
        {"kind": "Pod", "imagePullSecrets": [{"name": "x"}], "data": "y"},
        {"kind": "Secret", "data": None},
        {"message": 'Secret "x" has no "data"'},
    ):
        raw = compact(document)

        assert redaction.any_json(raw) is raw


def test_an_environment_within_a_secret_list_is_redacted_as_well() -> None:
    raw = compact(
        {
            "kind": "SecretList",
            "items": [{"data": {"a": "b"}}],
            "env": variables(("A_TOKEN", "v")),
        }
    )

    assert orjson.loads(redaction.any_json(raw)) == {
        "kind": "SecretList",
        "items": [{"data": {"a": "redacted"}}],
        "env": variables(("A_TOKEN", digest("v"))),
    }


def test_an_operation_within_a_secret_leaves_no_digest() -> None:
    variable = {"name": "DB_PASSWORD", "op": "add", "value": "hunter2"}
    document = documents.secret()
    document["metadata"]["env"] = [variable]

    once = redaction.document(compact(document), resource="v1/secrets")

    assert redaction.document(once, resource="v1/secrets") == once
    found = orjson.loads(once)["metadata"]["env"]
    assert found == [variable | {"value": "redacted"}]
