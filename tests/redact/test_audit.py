"""Audit records, whose bodies need not say what they are."""

from typing import Any

import orjson
import pytest

from recorder.intake.redact import Redaction, RedactionRules
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

    assert found == record("secrets", **{member: "redacted"})


PATCH = "patch.webhook.admission.k8s.io/round_0_index_1"
MUTATED = "mutation.webhook.admission.k8s.io/round_0_index_1"


@pytest.mark.parametrize(
    ("resource", "operation"),
    [
        ("secrets", {"path": "/data/password", "value": "hunter2"}),
        (
            "pods",
            {"path": "/spec/containers/0/env/0/value", "value": "hunter2"},
        ),
        (
            "pods",
            {
                "path": "/spec/containers/0/env/-",
                "value": {"name": "VAULT_TOKEN", "value": "hunter2"},
            },
        ),
        ("deployments", {"path": "/x", "value": {"password": "hunter2"}}),
    ],
)
def test_what_a_webhook_put_into_an_object_is_not_kept(
    resource: str, operation: dict[str, Any]
) -> None:
    """API servers annotate the record with the patch, at level Request."""
    said = {"patch": [{"op": "add", **operation}], "patchType": "JSONPatch"}
    mutated = compact({"webhook": "w", "mutated": True}).decode()
    annotations = {PATCH: compact(said).decode(), MUTATED: mutated}

    found = audited(record(resource, annotations=annotations))

    assert found["annotations"] == {PATCH: "redacted", MUTATED: mutated}


def test_what_is_said_of_a_secret_does_not_quote_it() -> None:
    invalid = {
        "metadata": {},
        "status": "Failure",
        "message": 'denied the request: "hunter2" is too weak',
        "reason": "Forbidden",
        "details": {"causes": [{"message": 'Invalid value: "hunter2"'}]},
        "code": 403,
    }

    found = audited(record("secrets", responseStatus=invalid))

    hidden = {"message": "redacted", "details": "redacted"}
    assert found["responseStatus"] == invalid | hidden


@pytest.mark.parametrize(
    ("resource", "subresource"),
    [
        ("pods", "exec"),
        ("pods", "attach"),
        ("pods", "portforward"),
        ("pods", "proxy"),
        ("services", "proxy"),
        ("nodes", "proxy"),
        ("serviceaccounts", "token"),
    ],
)
@pytest.mark.parametrize("referred", [True, False])
def test_who_entered_a_pod_is_kept_and_not_what_they_typed(
    resource: str, subresource: str, *, referred: bool
) -> None:
    path = f"/api/v1/namespaces/train/{resource}/x/{subresource}"
    about = {"resource": resource, "name": "x", "subresource": subresource}
    typed = record(
        resource,
        requestURI=f"{path}?command=login&command=hunter2",
        objectRef=about if referred else None,
        requestObject={"command": ["login", "hunter2"], "stdin": True},
        responseObject={"a": [{"b": "hunter2"}, "}"], "c": {}},
        stage="ResponseStarted",
    )

    assert audited(typed) == typed | {
        "requestURI": path,
        "requestObject": "redacted",
        "responseObject": "redacted",
    }


def test_what_is_named_as_such_a_request_is_none() -> None:
    raw = compact(
        record(
            "configmaps",
            requestURI="/api/v1/namespaces/token/configmaps/x?a=b",
            requestObject={"subresource": "exec"},
        )
    )

    assert redaction.audit(raw) == raw


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (["10.1.2.3", "192.168.9.255"], ["10.1.2.0", "192.168.9.0"]),
        (["2001:db8:1:2:3::4"], ["2001:db8:1::"]),
        (["fe80::1%eth0"], ["fe80::"]),
        (["somewhere"], ["redacted"]),
        ([], []),
        ("10.1.2.3", "redacted"),
    ],
)
def test_addresses_are_cut_to_their_networks_where_that_is_set(
    given: Any, kept: Any
) -> None:
    rules = RedactionRules(truncates_addresses=True)
    cutting = Redaction(rules, b"0" * 32)
    body = {"sourceIPs": ["10.1.2.3"]}
    raw = compact(record("pods", sourceIPs=given, requestObject=body))

    once = cutting.audit(raw)

    assert orjson.loads(once) == record(
        "pods", sourceIPs=kept, requestObject=body
    )
    assert cutting.audit(once) == once
    assert redaction.audit(raw) == raw


@pytest.mark.parametrize(
    "record_of",
    [
        record(
            "x",
            objectRef={"resource": "serviceaccounts", "subresource": "token"},
        ),
        record("tokenreviews"),
        record("x", objectRef=None, requestURI="/api/v1/namespaces/a/secrets"),
    ],
)
def test_requests_for_tokens_keep_no_body(record_of: dict[str, Any]) -> None:
    body = {"spec": {"audiences": ["vault"]}, "status": {"token": "hunter2"}}

    found = audited(record_of | {"requestObject": 1, "responseObject": body})

    hidden = {"requestObject": "redacted", "responseObject": "redacted"}
    assert found == record_of | hidden


@pytest.mark.parametrize("kind", ["TokenRequest", "TokenReview"])
def test_tokens_that_are_asked_for_leave_no_trace(kind: str) -> None:
    record_of = record("pods")
    response = {
        "kind": kind,
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
