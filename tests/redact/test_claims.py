"""What others say of a user and of a request in its audit record."""

from typing import Any

import orjson
import pytest

from tests.redact.examples import compact, digest, redaction

HUNTER = digest("hunter2")
PLAIN: dict[str, Any] = {
    "userAgent": "kubectl/v1.36 (linux/amd64) kubernetes/7c48c2b rv:109.0",
    "user": {
        "username": "system:serviceaccount:train:default",
        "extra": {
            "authentication.kubernetes.io/credential-id": ["JTI=5f6a"],
            "authentication.kubernetes.io/pod-name": ["llm-0"],
            "example.com/team": ["a", "b"],
        },
    },
    "annotations": {
        "authorization.k8s.io/decision": "allow",
        "authentication.k8s.io/legacy-token": "train/default",
        "quota.example.com/checked": "yes",
    },
}


def record(**members: Any) -> dict[str, Any]:
    return {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "auditID": "5f6a5c3b-8c1a-4a54-8f67-0a7f0bf4b111",
        "requestURI": "/api/v1/namespaces/train/pods/x",
        "verb": "get",
        "objectRef": {"resource": "pods", "name": "x"},
    } | members


def test_what_has_the_name_of_no_secret_stays_as_it_is() -> None:
    raw = compact(record(**PLAIN))

    assert redaction.audit(raw) is raw


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            {"user": {"extra": {"example.com/session-token": ["hunter2"]}}},
            {"user": {"extra": {"example.com/session-token": [HUNTER]}}},
        ),
        (
            {"impersonatedUser": {"extra": {"password": ["hunter2", "a"]}}},
            {
                "impersonatedUser": {
                    "extra": {"password": [HUNTER, digest("a")]}
                }
            },
        ),
        (
            {"user": {"extra": {"password": {"odd": "hunter2"}}}},
            {"user": {"extra": {"password": digest('{"odd":"hunter2"}')}}},
        ),
        (
            {"annotations": {"vault.example.com/db-password": "hunter2"}},
            {"annotations": {"vault.example.com/db-password": HUNTER}},
        ),
        (
            {"userAgent": "ci/1.0 (job:7; api_key=hunter2) go"},
            {"userAgent": f"ci/1.0 (job:7; api_key={HUNTER}) go"},
        ),
        (
            {"userAgent": 'ci "a" Authorization: Bearer hunter2'},
            {"userAgent": f'ci "a" Authorization: Bearer {HUNTER}'},
        ),
        (
            {"userAgent": "ci bearer hunter2"},
            {"userAgent": f"ci bearer {HUNTER}"},
        ),
    ],
)
def test_what_has_the_name_of_a_secret_becomes_a_digest(
    said: dict[str, Any], kept: dict[str, Any]
) -> None:
    once = redaction.audit(compact(record(**said)))

    assert orjson.loads(once) == record(**kept)
    assert b"hunter2" not in once
    assert redaction.audit(once) == once
