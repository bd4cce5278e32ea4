"""Facts as they are stored: fields may be added, never changed."""

from typing import Any

import orjson
import pytest

from recorder.facts import derive, says
from recorder.model.entry import Draft, Operation
from recorder.model.fact import FactKind
from tests.facts.versions import an_entry
from tests.support.builders import at
from tests.support.details import stored_detail

EVENTS = "v1/events"
RESOURCE = "janitor.dgxc.nvidia.com/v1alpha1/rebootnodes"

NODE = {
    "metadata": {
        "name": "gpu-001",
        "uid": "u1",
        "labels": {"rack": "a"},
        "annotations": {"note": "n"},
    },
    "spec": {
        "unschedulable": True,
        "providerID": "cloud:///1",
        "taints": [{"key": "sick", "effect": "NoExecute", "value": "v"}],
    },
    "status": {
        "conditions": [{"type": "Ready", "status": "True", "reason": "ok"}],
        "nodeInfo": {"bootID": "b1", "machineID": "m1", "osImage": "o"},
        "capacity": {"nvidia.com/gpu": "8"},
        "allocatable": {"nvidia.com/gpu": "7"},
    },
}
POD = {
    "metadata": {
        "name": "llm-0",
        "namespace": "train",
        "uid": "u2",
        "ownerReferences": [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": "llm",
                "uid": "u3",
                "controller": True,
            }
        ],
    },
    "spec": {
        "nodeName": "gpu-001",
        "priority": 5,
        "containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}],
    },
    "status": {"phase": "Running", "startTime": "2026-11-21T03:00:00Z"},
}
JOB = {
    "metadata": {"name": "llm", "namespace": "train", "uid": "u3"},
    "spec": {"parallelism": 4, "completions": 4},
    "status": {"active": 4, "conditions": [{"type": "Suspended"}]},
}
REQUEST = {
    "metadata": {"name": "maintenance-1", "uid": "u4"},
    "spec": {"nodeName": "gpu-001", "force": True},
    "status": {"conditions": [{"type": "SignalSent", "status": "True"}]},
}

APPEARED: list[tuple[str, dict[str, Any], str | None, dict[str, Any]]] = [
    (
        "v1/nodes",
        NODE,
        "gpu-001",
        {
            "uid": "u1",
            "node": "gpu-001",
            "labels": {"rack": "a"},
            "annotations": {"note": "n"},
            "conditions": {
                "Ready": {
                    "status": "True",
                    "reason": "ok",
                    "message": None,
                    "since": None,
                }
            },
            "taints": [{"key": "sick", "value": "v", "effect": "NoExecute"}],
            "fields": {
                "unschedulable": True,
                "provider_id": "cloud:///1",
                "boot_id": "b1",
                "machine_id": "m1",
                "os_image": "o",
            },
            "resources": {
                "allocatable/nvidia.com/gpu": "7",
                "capacity/nvidia.com/gpu": "8",
            },
        },
    ),
    (
        "v1/pods",
        POD,
        "gpu-001",
        {
            "uid": "u2",
            "node": "gpu-001",
            "owners": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": "llm",
                    "uid": "u3",
                    "controller": True,
                }
            ],
            "fields": {
                "priority": 5,
                "phase": "Running",
                "start_time": "2026-11-21T03:00:00Z",
            },
            "gpus": 8,
        },
    ),
    (
        "batch/v1/jobs",
        JOB,
        None,
        {
            "uid": "u3",
            "conditions": {
                "Suspended": {
                    "status": None,
                    "reason": None,
                    "message": None,
                    "since": None,
                }
            },
            "fields": {"parallelism": 4, "completions": 4, "active": 4},
        },
    ),
    (
        RESOURCE,
        REQUEST,
        "gpu-001",
        {
            "uid": "u4",
            "node": "gpu-001",
            "conditions": {
                "SignalSent": {
                    "status": "True",
                    "reason": None,
                    "message": None,
                    "since": None,
                }
            },
        },
    ),
]


@pytest.mark.parametrize(
    ("resource", "document", "named", "state"),
    APPEARED,
    ids=[resource for resource, *_ in APPEARED],
)
def test_an_object_appears_with_its_state(
    resource: str,
    document: dict[str, Any],
    named: str | None,
    state: dict[str, Any],
) -> None:
    entry = an_entry(resource, document, Operation.LISTED)
    (fact,) = derive(entry, None).facts
    assert fact.kind is FactKind.APPEARED
    assert fact.node == named
    assert stored_detail(fact) == {"created": False, "state": state}


def an_event(**more: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "e", "namespace": "default", "uid": "e1"},
        "involvedObject": {"kind": "Node", "name": "gpu-001"},
        "type": "Warning",
        "reason": "Rebooted",
        "message": "Node gpu-001 has been rebooted, boot id: b2",
        "source": {"component": "kubelet", "host": "gpu-001"},
        "firstTimestamp": "2026-11-21T03:00:01Z",
        "lastTimestamp": "2026-11-21T03:00:07Z",
        "count": 2,
        **more,
    }


def test_an_event_is_an_occurrence_with_its_count() -> None:
    (fact,) = derive(an_entry(EVENTS, an_event()), None).facts
    assert fact.kind is FactKind.EVENT
    assert (fact.node, fact.actor) == ("gpu-001", "kubelet")
    assert fact.occurred_at == at(7)
    assert stored_detail(fact) == {
        "type": "Warning",
        "reason": "Rebooted",
        "message": "Node gpu-001 has been rebooted, boot id: b2",
        "count": 2,
        "event": "e1",
        "host": "gpu-001",
        "first": "2026-11-21T03:00:01Z",
    }
    assert says(fact).endswith("b2 (x2)")


def test_an_event_of_the_newer_kind_says_the_same() -> None:
    newer = an_event(
        source=None,
        count=None,
        message=None,
        note="a word",
        reportingController="default-scheduler",
        series={"count": 3, "lastObservedTime": "2026-11-21T03:00:09.5Z"},
    )
    (fact,) = derive(an_entry(EVENTS, newer), None).facts
    assert fact.actor == "default-scheduler"
    assert (stored_detail(fact)["count"], stored_detail(fact)["message"]) == (
        3,
        "a word",
    )


def test_an_event_that_expires_is_no_fact() -> None:
    entry = an_entry(EVENTS, an_event(), Operation.DELETED)
    assert derive(entry, None).facts == []


def an_audit(**more: Any) -> Draft:
    record = {
        "auditID": "a1",
        "stage": "ResponseComplete",
        "verb": "patch",
        "user": {"username": "alice", "groups": ["ops"]},
        "userAgent": "kubectl/v1.36",
        "sourceIPs": ["10.0.0.1"],
        "objectRef": {"resource": "nodes", "name": "gpu-001"},
        "responseStatus": {"code": 200},
        "requestObject": {"spec": {"unschedulable": True}},
        "responseObject": {"metadata": {"resourceVersion": "9"}},
        "requestReceivedTimestamp": "2026-11-21T03:00:03.250000Z",
        **more,
    }
    return Draft(
        source="audit",
        operation=Operation.AUDIT,
        observed_at=at(200),
        raw=orjson.dumps(record),
    )


@pytest.mark.parametrize(
    "other", [{"verb": None}, {"kind": "Event", "apiVersion": "v1"}]
)
def test_what_is_not_an_audit_record_is_no_fact(other: Any) -> None:
    """Earlier releases made entries of such documents."""
    assert derive(an_audit(**other), None).facts == []


def test_an_audit_record_shows_who_requested_what() -> None:
    (fact,) = derive(an_audit(), None).facts
    assert fact.kind is FactKind.REQUESTED
    assert (fact.node, fact.actor) == ("gpu-001", "alice")
    assert fact.occurred_at == at(3.25)
    assert stored_detail(fact) == {
        "verb": "patch",
        "stage": "ResponseComplete",
        "user": "alice",
        "groups": ["ops"],
        "user_agent": "kubectl/v1.36",
        "source_ips": ["10.0.0.1"],
        "code": 200,
        "audit_id": "a1",
        "body": '{"spec":{"unschedulable":true}}',
        "resource_version": "9",
        "resource": "nodes",
        "name": "gpu-001",
    }
    assert says(fact) == "alice cordoned node/gpu-001 (kubectl)"


@pytest.mark.parametrize(
    ("user", "acted_as", "who"),
    [
        ("alice", "system:admin", "alice"),
        ("alice", "bob", "alice"),
        ("system:serviceaccount:proxy:gate", "bob", "bob"),
        ("system:serviceaccount:proxy:gate", "system:admin", None),
    ],
)
def test_who_acts_as_another_is_still_who_they_are(
    user: str, acted_as: str, who: str | None
) -> None:
    record = an_audit(
        user={"username": user}, impersonatedUser={"username": acted_as}
    )
    (fact,) = derive(record, None).facts
    assert fact.actor == (who or user)
    assert stored_detail(fact)["as"] == acted_as


@pytest.mark.parametrize("body", [7, [], {"spec": 7}, "x" * 9000])
def test_an_audit_record_may_hold_any_body(body: object) -> None:
    record = an_audit(requestObject=body, responseObject=body)
    (fact,) = derive(record, None).facts
    assert fact.kind is FactKind.REQUESTED
    assert len(stored_detail(fact)["body"]) <= 4096


JOBSET = {
    "resource": "jobsets",
    "apiGroup": "jobset.x-k8s.io",
    "namespace": "train",
    "name": "llm",
}
A_JOBSET = {"kind": "JobSet", "apiVersion": "jobset.x-k8s.io/v1alpha2"}
OPTIONS = {"kind": "DeleteOptions", "apiVersion": "jobset.x-k8s.io/v1alpha2"}


@pytest.mark.parametrize(
    ("reference", "bodies", "kind"),
    [
        ({"resource": "jobs", "apiGroup": "batch", "name": "x"}, {}, "Job"),
        ({"resource": "events", "name": "x"}, {}, "Event"),
        (JOBSET, {"requestObject": A_JOBSET}, "JobSet"),
        (JOBSET, {"responseObject": A_JOBSET}, "JobSet"),
        (
            {**JOBSET, "subresource": "status"},
            {"requestObject": A_JOBSET},
            "JobSet",
        ),
        # What says nothing of the object leaves the plural.
        (JOBSET, {}, "jobsets"),
        (JOBSET, {"requestObject": {"spec": {}}}, "jobsets"),
        (JOBSET, {"requestObject": OPTIONS}, "jobsets"),
        (
            JOBSET,
            {"responseObject": {"kind": "Status", "apiVersion": "v1"}},
            "jobsets",
        ),
        (
            {**JOBSET, "subresource": "scale"},
            {"requestObject": {**A_JOBSET, "kind": "Scale"}},
            "jobsets",
        ),
    ],
)
def test_an_audit_record_is_about_an_object_of_a_kind(
    reference: dict[str, str], bodies: dict[str, object], kind: str
) -> None:
    (fact,) = derive(an_audit(objectRef=reference, **bodies), None).facts

    assert fact.object is not None
    assert fact.object.kind == kind


def test_an_audit_record_that_is_none_is_unreadable() -> None:
    (fact,) = derive(an_audit(verb=[]), None).facts
    assert fact.kind is FactKind.UNREADABLE
