"""An audit record is joined to the one version that it made, or to none."""

from typing import Any

import orjson

from recorder.answers.joining import Joined, read_requests
from recorder.facts.classify.requests import request_draft
from recorder.model.entry import Entry, Operation
from recorder.model.reference import EntryName, ObjectIdentity
from tests.support.builders import at

UID = "uid-1"
POD = {"resource": "pods", "namespace": "train", "name": "llm-0"}


def stamp(seconds: float) -> str:
    return at(seconds).isoformat().replace("+00:00", "Z")


def a_line(position: int, **more: Any) -> Entry:
    known: dict[str, Any] = {
        "entry": EntryName(1, position),
        "operation": Operation.MODIFIED,
        "source": "watch",
        "resource": "v1/pods",
        "identity": ObjectIdentity("", "Pod", "train", "llm-0", UID),
        "resource_version": None,
        "node": None,
        "reason": None,
        "actor": None,
        "occurred_at": None,
        "observed_at": at(0),
        "recorded_at": at(0),
        "epoch": 1,
        "raw": b"",
    }
    return Entry(**{**known, **more})


def a_record(
    position: int, verb: str, when: float, *, shows: str = "", **more: Any
) -> Entry:
    """An audit record as the log holds it."""
    answer = {"metadata": {"resourceVersion": shows, "uid": UID}}
    raw = orjson.dumps(
        {
            "verb": verb,
            "stage": "ResponseComplete",
            "user": {"username": f"user-{position}"},
            "objectRef": POD,
            "responseStatus": {"code": 200},
            "requestReceivedTimestamp": stamp(when),
            "stageTimestamp": stamp(when + 0.01),
            **({"responseObject": answer} if shows else {}),
            **more,
        }
    )
    draft = request_draft(raw, observed_at=at(when), source="audit")
    return a_line(
        position,
        operation=Operation.AUDIT,
        identity=draft.identity,
        resource_version=draft.resource_version,
        raw=raw,
    )


def joined(*records: Entry) -> Joined:
    return Joined(read_requests(records))


def a_pod(**metadata: Any) -> dict[str, Any]:
    return {"metadata": {"uid": UID, **metadata}}


def position(request: Any) -> int | None:
    return None if request is None else request.line.entry.position


EVICTION: Any = {"objectRef": {**POD, "subresource": "eviction"}}


def test_of_two_that_show_a_version_the_first_answered_made_it() -> None:
    found = joined(
        a_record(2, "patch", 2, shows="77"),
        a_record(3, "patch", 1, shows="77"),
    )

    assert position(found.maker(a_line(1, resource_version="77"))) == 3
    assert found.maker(a_line(1, resource_version="78")) is None


def test_reads_refusals_and_dry_runs_make_nothing() -> None:
    found = joined(
        a_record(2, "get", 1, shows="77"),
        a_record(3, "patch", 1, shows="77", responseStatus={"code": 409}),
        a_record(4, "patch", 1, shows="77", requestURI="/x?dryRun=All"),
    )

    assert found.maker(a_line(1, resource_version="77")) is None


def test_another_incarnation_is_another_object() -> None:
    found = joined(a_record(2, "patch", 1, shows="77"))
    other = ObjectIdentity("", "Pod", "train", "llm-0", "uid-2")

    line = a_line(1, resource_version="77", identity=other)
    assert found.maker(line) is None


def test_an_eviction_is_joined_to_the_deletion_that_it_began() -> None:
    found = joined(
        a_record(2, "create", 4, **EVICTION, responseStatus={"code": 429}),
        a_record(3, "create", 9.5, **EVICTION),
        a_record(4, "create", 12, **EVICTION),
    )
    # Asked for at 9 s, with 30 s of grace.
    new = a_pod(deletionTimestamp=stamp(39), deletionGracePeriodSeconds=30)

    line = a_line(1, observed_at=at(9.6))
    assert position(found.guessed(line, a_pod(), new)) == 3


def test_the_last_deletion_before_an_object_went_ended_it() -> None:
    found = joined(
        a_record(2, "delete", 5), a_record(3, "delete", 9),
        a_record(4, "delete", 30),
    )  # fmt: skip
    line = a_line(1, operation=Operation.DELETED, observed_at=at(9.2))

    assert position(found.remover(line, a_pod())) == 3
    born_later = a_pod(creationTimestamp=stamp(10))
    assert found.remover(line, born_later) is None


def test_everything_of_a_namespace_is_deleted_at_once() -> None:
    about = {"resource": "pods", "namespace": "train"}
    listed = {"kind": "PodList", "items": [a_pod()]}
    found = joined(
        a_record(
            2, "deletecollection", 9, objectRef=about, responseObject=listed
        )
    )
    line = a_line(1, operation=Operation.DELETED, observed_at=at(9.2))
    other = ObjectIdentity("", "Pod", "train", "llm-1", "uid-2")

    assert position(found.remover(line, a_pod())) == 2
    spared = a_line(
        1,
        operation=Operation.DELETED,
        observed_at=at(9.2),
        identity=other,
    )
    assert found.remover(spared, None) is None


def test_a_binding_is_joined_to_the_version_with_a_node() -> None:
    found = joined(
        a_record(2, "create", 3, objectRef={**POD, "subresource": "binding"})
    )
    new = {**a_pod(), "spec": {"nodeName": "n1"}}

    assert (
        position(found.guessed(a_line(1, observed_at=at(3.1)), a_pod(), new))
        == 2
    )


def managed(manager: str, second: int) -> dict[str, Any]:
    return a_pod(
        managedFields=[
            {"manager": manager, "time": stamp(second), "fieldsV1": {}}
        ]
    )


def test_a_write_without_an_answer_is_joined_if_it_alone_fits() -> None:
    agent = {"userAgent": "kubectl/v1.36.3 (linux/amd64)"}
    one = a_record(2, "patch", 5.2, **agent)
    line = a_line(1, observed_at=at(5.3))
    old, new = managed("kubectl", 1), managed("kubectl", 5)

    assert position(joined(one).guessed(line, old, new)) == 2
    two = a_record(3, "patch", 5.4, **agent)
    assert joined(one, two).guessed(line, old, new) is None
    late = a_record(4, "patch", 6.5, **agent)
    assert joined(late).guessed(line, old, new) is None
    other = a_record(5, "patch", 5.2, userAgent="argocd/1")
    assert joined(other).guessed(line, old, new) is None


def test_a_write_is_not_joined_to_a_version_in_which_its_fields_went() -> None:
    agent = {"userAgent": "kubectl/v1.36.3 (linux/amd64)"}
    one = a_record(2, "patch", 5.2, **agent)
    gone = a_line(3, observed_at=at(9))
    old, new = managed("kubectl", 5), managed("kubectl", 5)
    old["metadata"]["managedFields"][0]["fieldsV1"] = {"f:metadata": {}}

    assert position(joined(one).guessed(gone, old, new)) is None


def test_a_record_that_cannot_be_read_is_passed_over() -> None:
    odd = a_line(2, operation=Operation.AUDIT, raw=b'{"verb": 7}')
    timeless = a_record(3, "patch", 1, shows="77", stageTimestamp="soon",
                        requestReceivedTimestamp="x")  # fmt: skip

    assert list(read_requests([odd, timeless])) == []
