"""Audit records, whose bodies need not say what they are."""

from typing import Any

import orjson
import pytest

from tests.classify import documents
from tests.redact.examples import compact, digest, redaction, variables


def record(resource: str, **members: Any) -> dict[str, Any]:
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": "5f6a5c3b-8c1a-4a54-8f67-0a7f0bf4b111",
        "requestURI": f"/api/v1/namespaces/train/{resource}/x",
        "verb": "patch",
        "user": {"username": "alice"},
        "objectRef": {"resource": resource, "name": "x"},
    } | members


def audited(document: Any) -> Any:
    once = redaction.audit(compact(document))

    assert b"hunter2" not in once
    assert redaction.audit(once) == once
    return orjson.loads(once)


@pytest.mark.parametrize(
    "body",
    [
        {"data": {"password": "hunter2"}},
        {"stringData": {"password": "hunter2"}, "metadata": {"name": "x"}},
        [{"op": "replace", "path": "/data/password", "value": "hunter2"}],
        [{"op": "add", "path": "/data", "value": {"password": "hunter2"}}],
        {"items": [{"data": {"password": "hunter2"}}]},
        "a body as text: hunter2",
        documents.secret(),
    ],
)
@pytest.mark.parametrize("member", ["requestObject", "responseObject"])
def test_bodies_about_secrets_keep_no_value(member: str, body: Any) -> None:
    found = audited(record("secrets", **{member: body}))

    expected = record("secrets")
    del found[member]
    assert found == expected


@pytest.mark.parametrize(
    "more",
    [
        {"path": "/data/password"},
        {"path": "/data/env"},
    ],
)
def test_a_patch_of_a_secret_keeps_what_it_touches(more: Any) -> None:
    """And no digest, also where it looks like one of an environment."""
    patch = {"op": "replace", "value": "hunter2"} | more

    found = audited(record("secrets", requestObject=[patch]))

    assert found["requestObject"] == [patch | {"value": "redacted"}]


@pytest.mark.parametrize(
    "record_of",
    [
        record(
            "x",
            objectRef={"resource": "serviceaccounts", "subresource": "token"},
        ),
        record("tokenreviews"),
        record("x", objectRef=None, requestURI="/api/v1/namespaces/a/secrets"),
        record("pods", responseObject={"kind": "TokenRequest"}),
        record("pods", responseObject={"kind": "TokenReview"}),
    ],
)
def test_tokens_that_are_asked_for_leave_no_trace(
    record_of: dict[str, Any],
) -> None:
    response = record_of.get("responseObject", {}) | {
        "spec": {"token": "hunter2", "audiences": ["vault"]},
        "status": {"token": "hunter2", "expirationTimestamp": "soon"},
    }

    found = audited(record_of | {"responseObject": response})["responseObject"]

    assert found["spec"] == {"token": "redacted", "audiences": ["vault"]}
    assert found["status"]["expirationTimestamp"] == "soon"


def test_the_reference_counts_however_it_is_spelled() -> None:
    raw = compact(
        record(
            "secrets", requestURI="", requestObject={"data": {"a": "hunter2"}}
        )
    ).replace(b'"secrets"', rb'"\u0073ecrets"')

    assert b"hunter2" not in redaction.audit(raw)


def test_a_patch_of_an_environment_is_redacted() -> None:
    base = "/spec/template/spec/containers/0/env"
    item = {"name": "A_TOKEN", "value": "hunter2"}
    whole = {"op": "add", "path": base, "value": [item]}
    one = {"value": item, "path": f"{base}/0", "op": "replace"}
    blind = {"op": "replace", "path": f"{base}/3/value", "value": "hunter2"}
    other = {"op": "replace", "path": "/spec/replicas", "value": 3}

    found = audited(
        record("deployments", requestObject=[whole, one, blind, other])
    )["requestObject"]

    hidden = item | {"value": digest("hunter2")}
    assert found[0]["value"] == [hidden]
    assert found[2]["value"] == digest("hunter2")
    assert found[3] == other


def test_the_environment_in_a_body_is_redacted() -> None:
    body = {"spec": {"env": variables(("A_TOKEN", "hunter2"), ("B", "c"))}}

    found = audited(record("pods", requestObject=body))

    assert found["requestObject"]["spec"]["env"] == variables(
        ("A_TOKEN", digest("hunter2")), ("B", "c")
    )


def test_an_ordinary_record_is_the_same_object() -> None:
    raw = compact(
        record("configmaps", requestObject={"data": {"a": "b"}, "token": "c"})
    )

    assert redaction.audit(raw) is raw
