"""Kubernetes Events: what they are about, when, where and by whom."""

from typing import Any

import pytest

from recorder.model.reference import ObjectIdentity
from tests.classify import documents
from tests.classify.examples import EVENTS, at, drafted

FIELDS = (
    "series",
    "lastTimestamp",
    "eventTime",
    "firstTimestamp",
    "metadata",
)


def event_at(**times: Any) -> Any:
    return drafted(documents.event() | times, EVENTS).occurred_at


def test_the_first_present_time_counts() -> None:
    times = {
        "series": {"lastObservedTime": "2026-01-05T00:00:00.000005Z"},
        "lastTimestamp": "2026-01-04T00:00:00Z",
        "eventTime": "2026-01-03T00:00:00.000003Z",
        "firstTimestamp": "2026-01-02T00:00:00Z",
        "metadata": {"creationTimestamp": "2026-01-01T00:00:00Z"},
    }

    found = []
    for field in FIELDS:
        found.append(event_at(**times))
        times[field] = None  # type: ignore[assignment]

    assert [moment.day for moment in found] == [5, 4, 3, 2, 1]
    assert event_at(**times) is None


@pytest.mark.parametrize(
    "absurd",
    [
        None,
        "",
        "yesterday",
        "0000-00-00T00:00:00Z",
        "0001-01-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "99999-01-01T00:00:00Z",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        "2026-13-01T00:00:00Z",
        "2026-03-01T25:00:00Z",
        "2026-03-01T00:00:00",
        "2026-03-01",
        "\u0000",
        1772334849,
        20260301,
        1.5,
        {"seconds": 1},
        [],
        True,
    ],
)
def test_an_absurd_time_is_passed_over(absurd: Any) -> None:
    moment = event_at(lastTimestamp=absurd, eventTime=None)

    assert moment == at("2026-03-01T03:12:07Z")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01T03:14:09.123456789Z", "2026-03-01T03:14:09.123456Z"),
        ("2026-03-01T03:14:09.1Z", "2026-03-01T03:14:09.100000Z"),
        ("2026-03-01T05:14:09+02:00", "2026-03-01T03:14:09Z"),
        ("2026-02-28T22:44:09-04:30", "2026-03-01T03:14:09Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    ],
)
def test_an_odd_time_is_taken_in_utc(text: str, expected: str) -> None:
    moment = event_at(lastTimestamp=text)

    assert moment == at(expected)
    assert moment.utcoffset().total_seconds() == 0


def about(**regarding: Any) -> Any:
    return drafted(documents.event() | {"involvedObject": regarding}, EVENTS)


def test_an_event_about_a_node_concerns_it_with_any_reporter() -> None:
    draft = drafted(
        documents.event()
        | {
            "involvedObject": {
                "kind": "Node",
                "name": "gpu-007",
                "uid": "gpu-007",
                "namespace": "default",
            },
            "source": {"component": "gpu-health-monitor"},
            "reportingComponent": "",
            "reportingInstance": "",
            "type": "GpuMemWatch",
        },
        EVENTS,
    )

    assert draft.node == "gpu-007"
    assert draft.actor == "gpu-health-monitor"
    # A name in the place of the uid is none, and a Node has no namespace.
    assert draft.identity == ObjectIdentity("", "Node", "", "gpu-007", None)


@pytest.mark.parametrize(
    ("reporter", "node"),
    [
        ({"source": {"component": "kubelet", "host": "gpu-002"}}, "gpu-002"),
        (
            {
                "deprecatedSource": {"component": "kubelet", "host": "a"},
                "reportingController": "kubelet",
            },
            "a",
        ),
        (
            {"reportingComponent": "kubelet", "reportingInstance": "gpu-003"},
            "gpu-003",
        ),
        ({"source": {"component": "kube-proxy", "host": "b"}}, "b"),
        ({"source": {"component": "default-scheduler", "host": "cp"}}, None),
        (
            {
                "reportingComponent": "jobset",
                "reportingInstance": "jobset-controller-5d4-x",
            },
            None,
        ),
        ({"source": {"component": "kubelet"}}, None),
        ({}, None),
    ],
)
def test_an_event_about_a_pod_concerns_the_node_of_its_kubelet(
    reporter: dict[str, Any], node: str | None
) -> None:
    event = documents.event()
    for field in ("source", "reportingComponent", "reportingInstance"):
        del event[field]

    assert drafted(event | reporter, EVENTS).node == node


def test_the_reporter_is_the_actor_by_any_of_its_names() -> None:
    event = documents.event()
    names = []
    for field in ("reportingComponent", "reportingController", "source"):
        event[field] = f"by {field}" if field != "source" else None
    event["source"] = {"component": "by source"}
    for field in ("reportingComponent", "reportingController", "source"):
        names.append(drafted(event, EVENTS).actor)
        event[field] = None

    assert names == [
        "by reportingComponent",
        "by reportingController",
        "by source",
    ]
    assert drafted(event, EVENTS).actor is None


def test_an_event_without_an_object_is_about_nothing() -> None:
    event = documents.event()
    del event["involvedObject"]

    assert drafted(event, EVENTS).identity is None
    assert about(kind="Pod").identity is None


def test_the_group_is_that_of_the_object() -> None:
    draft = about(kind="Job", apiVersion="batch/v1", name="a", namespace="b")

    assert draft.identity == ObjectIdentity("batch", "Job", "b", "a", None)


def test_another_resource_called_events_is_no_event() -> None:
    draft = drafted(documents.event(), "calendar.example.com/v1/events")

    assert draft.identity is not None
    assert draft.identity.kind == "Event"
    assert draft.reason is None
