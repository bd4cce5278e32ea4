"""Who made a request, with which program, on whose behalf, from where."""

from typing import Any

import orjson
import pytest

from recorder.facts.classify.audit_record import AuditRecord, read_audit
from recorder.facts.classify.requesters import client_of, manager_of, requester


def a_record(**more: Any) -> AuditRecord:
    return read_audit(
        orjson.dumps({"verb": "patch", "stage": "ResponseComplete", **more})
    )


KUBECTL = "kubectl/v1.36.3 (linux/amd64) kubernetes/abc"


def test_an_impersonation_names_both() -> None:
    found = requester(
        a_record(
            user={"username": "alice"},
            impersonatedUser={"username": "bob"},
            userAgent=KUBECTL,
            sourceIPs=["203.0.113.9", "10.0.0.1"],
        ),
        None,
    )

    assert (found.name, found.on_behalf_of) == ("alice", "bob")
    assert found.client == "kubectl"
    assert found.address == "10.0.0.1"  # the client chose the one before


@pytest.mark.parametrize(
    ("uri", "about", "client"),
    [
        ("/api/v1/nodes/n1?fieldManager=kubectl-label", {}, "kubectl label"),
        ("/api/v1/nodes/n1?fieldManager=argocd", {}, "kubectl"),
        ("/x", {"resource": "pods", "subresource": "eviction"},
         "kubectl drain"),
        ("/x?fieldManager=%", {}, "kubectl"),
        ("http://[/?fieldManager=x", {}, "kubectl"),
    ],
)  # fmt: skip
def test_a_client_is_named_by_its_command_where_that_is_known(
    uri: str, about: Any, client: str
) -> None:
    record = a_record(requestURI=uri, userAgent=KUBECTL, objectRef=about)

    assert client_of(record) == client


def test_a_field_manager_is_what_was_given_else_the_program() -> None:
    assert manager_of(a_record(userAgent=f"{'x' * 200}/1")) == "x" * 128
    given = a_record(requestURI="/x?fieldManager=mine", userAgent=KUBECTL)
    assert manager_of(given) == "mine"
    assert manager_of(a_record()) is None


POD = "authentication.kubernetes.io/pod-name"


@pytest.mark.parametrize(
    ("extra", "pod"),
    [
        ({POD: ["kured-x7k"]}, "kube-system/kured-x7k"),
        ({POD: []}, None),
        ({POD: "kured"}, None),
        ([1], None),
        (None, None),
    ],
)
def test_the_pod_of_a_service_account_is_named_where_it_is_known(
    extra: Any, pod: str | None
) -> None:
    user = {
        "username": "system:serviceaccount:kube-system:kured",
        "extra": extra,
    }

    assert requester(a_record(user=user), None).pod == pod
