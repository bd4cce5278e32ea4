"""A request reads as a sentence: who did what, and whether it was refused."""

from typing import Any

import orjson
import pytest

from recorder.facts import says
from recorder.facts.audits import request
from recorder.facts.classify.audit_record import read_audit
from recorder.facts.marks import marks_of

KUBECTL = "kubectl/v1.36.3 (linux/amd64) kubernetes/abc"
POD = {"resource": "pods", "namespace": "search", "name": "embed-0"}
NODE = {"resource": "nodes", "name": "gpu-001"}


def said(
    verb: str, about: Any, sub: str | None = None, code: int = 200, **more: Any
) -> str:
    return says(
        request(read_audit(an_audit_record(verb, about, sub, code, **more)))
    )


def an_audit_record(
    verb: str, about: Any, sub: str | None, code: int, **more: Any
) -> bytes:
    return orjson.dumps(
        {
            "verb": verb,
            "user": {"username": "alice"},
            "userAgent": KUBECTL,
            "objectRef": {**about, **({"subresource": sub} if sub else {})},
            "responseStatus": {"code": code},
            **more,
        }
    )


CORDON: Any = {"requestObject": {"spec": {"unschedulable": True}}}
UNCORDON: Any = {"requestObject": {"spec": {"unschedulable": None}}}
BINDER = "system:kube-scheduler"
SCHEDULER: Any = {
    "user": {"username": BINDER},
    "userAgent": "scheduler/v1.36.3",
    "requestObject": {
        "metadata": {"name": "embed-0"},
        "target": {"kind": "Node", "name": "gpu-001"},
    },
}


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("alice evicted pod/search/embed-0 (kubectl drain)",
         said("create", POD, "eviction", 201)),
        ("alice could not evict pod/search/embed-0 (kubectl drain, 429)",
         said("create", POD, "eviction", 429)),
        ("alice was denied to delete node/gpu-001 (kubectl, 403)",
         said("delete", NODE, code=403)),
        ("alice cordoned node/gpu-001 (kubectl)",
         said("patch", NODE, **CORDON)),
        ("alice uncordoned node/gpu-001 (kubectl)",
         said("patch", NODE, **UNCORDON)),
        ("alice executed a command in pod/search/embed-0 (kubectl)",
         said("create", POD, "exec", 101)),
        ("alice forwarded a port of pod/search/embed-0 (kubectl)",
         said("get", POD, "portforward", 101)),
        ("alice read secret/search/keys (kubectl)",
         said("get", {**POD, "resource": "secrets", "name": "keys"})),
        ("alice updated the status of node/gpu-001 (kubectl)",
         said("update", NODE, "status")),
        ("alice deleted all pods in search (kubectl)",
         said("deletecollection", {**POD, "name": ""})),
        ("alice as bob created pod/search/embed-0 (kubectl)",
         said("create", POD, impersonatedUser={"username": "bob"})),
        (f"{BINDER} bound pod/search/embed-0 to node/gpu-001 (scheduler)",
         said("create", POD, "binding", 201, **SCHEDULER)),
        ("an unknown user asked to frob pod/search/embed-0 (kubectl)",
         said("frob", POD, user=None)),
    ],
)  # fmt: skip
def test_a_request_reads_as_a_sentence(sentence: str, found: str) -> None:
    assert found == sentence


def test_only_a_refusal_is_marked_with_its_code() -> None:
    refused, done = (
        request(read_audit(an_audit_record("delete", NODE, None, code)))
        for code in (403, 200)
    )

    assert marks_of(refused).value == "403"
    assert marks_of(done).value is None


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ({"kind": "Job", "metadata": {"name": "tune-x7k2p"}}, "tune-x7k2p"),
        ({"kind": "Status", "metadata": {}}, None),
        (None, None),
    ],
)
def test_what_is_created_under_a_generated_name_has_the_name_it_got(
    answer: Any, name: str | None
) -> None:
    about = {"resource": "jobs", "namespace": "train", "apiGroup": "batch"}
    asked = {"metadata": {"generateName": "tune-"}}
    more = {"requestObject": asked, "responseObject": answer}
    record = an_audit_record("create", about, None, 201, **more)

    found = request(read_audit(record)).object

    assert (found.name if found else None) == name
