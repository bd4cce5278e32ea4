"""Entries as lines: what they say, and under which names."""

from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from recorder.answers.lines import line_columns, listed_entry, says
from recorder.answers.text.lines import Columns, human_bytes
from recorder.model.document import json_bytes
from recorder.model.entry import Entry, Operation
from recorder.model.reference import EntryName, ObjectIdentity
from tests.support.builders import at

POD = Entry(
    entry=EntryName(1, 7),
    operation=Operation.MODIFIED,
    source="watch",
    resource="v1/pods",
    identity=ObjectIdentity("", "Pod", "train", "llm-0", "uid-0"),
    resource_version="41",
    node="gpu-002",
    reason=None,
    actor=None,
    occurred_at=None,
    observed_at=at(1),
    recorded_at=at(2),
    epoch=1,
    raw=b'{"metadata":{}}',
)


JOBSET = ObjectIdentity("jobset.x-k8s.io", "JobSet", "train", "llm", None)
WIDGET = ObjectIdentity("example.com", "Widget", "", "w", None)


def an_event(resource: str = "v1/events", **document: Any) -> Entry:
    return replace(
        POD,
        resource=resource,
        reason="Rebooted",
        raw=orjson.dumps(document),
    )


def shown(line: Entry, *, with_document: bool = False) -> Any:
    document = listed_entry(line, cluster="prod", with_document=with_document)
    return orjson.loads(json_bytes(document))


def test_a_line_has_the_fields_that_scripts_rely_on() -> None:
    assert shown(POD) == {
        "entry": "1/7",
        "cluster": "prod",
        "source": "watch",
        "resource": "v1/pods",
        "operation": "modified",
        "object": {
            "api_version": "v1",
            "kind": "Pod",
            "namespace": "train",
            "name": "llm-0",
            "uid": "uid-0",
        },
        "resource_version": "41",
        "node": "gpu-002",
        "reason": None,
        "actor": None,
        "occurred_at": None,
        "observed_at": "2026-11-21T03:00:01.000000Z",
        "recorded_at": "2026-11-21T03:00:02.000000Z",
    }


def test_a_document_is_put_in_as_it_is() -> None:
    odd = b'{"a": 1.0, "a":\t"\\u00e4", "big": 123456789012345678901234567890}'
    document = listed_entry(
        replace(POD, raw=odd), cluster="prod", with_document=True
    )

    assert json_bytes(document).endswith(b'"raw":' + odd + b"}")


def test_a_document_of_several_lines_becomes_one() -> None:
    line = replace(POD, raw=b'{\n  "a": 1\r\n}')
    document = listed_entry(line, cluster="prod", with_document=True)

    assert b"\n" not in json_bytes(document)
    assert shown(line, with_document=True)["raw"] == {"a": 1}


@pytest.mark.parametrize(
    ("line", "version"),
    [
        (POD, "v1"),
        (
            replace(
                POD,
                resource="jobset.x-k8s.io/v1alpha2/jobsets",
                identity=JOBSET,
            ),
            "jobset.x-k8s.io/v1alpha2",
        ),
        (an_event(involvedObject={"apiVersion": "batch/v1"}), "batch/v1"),
        (
            an_event(
                "events.k8s.io/v1/events", regarding={"apiVersion": "apps/v1"}
            ),
            "apps/v1",
        ),
        # The Event does not say it; every cluster has Pods.
        (an_event(involvedObject={}), "v1"),
        (an_event(involvedObject="nonsense"), "v1"),
        (
            replace(
                an_event(),
                identity=WIDGET,
            ),
            "example.com",
        ),
    ],
)  # fmt: skip
def test_the_version_of_an_object_is_the_one_it_was_seen_under(
    line: Entry, version: str
) -> None:
    assert shown(line)["object"]["api_version"] == version


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (an_event(message="it did"), "Rebooted: it did"),
        (
            an_event("events.k8s.io/v1/events", note="it did"),
            "Rebooted: it did",
        ),
        (an_event(), "Rebooted"),
        (replace(an_event(message="x"), raw=b""), "Rebooted"),
        (replace(an_event(message="x"), raw=b"[]"), "Rebooted"),
        (POD, ""),
    ],
)
def test_an_event_says_its_message(line: Entry, text: str) -> None:
    assert says(line) == text


@pytest.mark.parametrize(
    ("operation", "document", "text"),
    [
        (
            Operation.GAP_OPENED,
            {"reason": "forbidden (403)", "from": "2026"},
            "forbidden (403), since 2026",
        ),
        (
            Operation.GAP_CLOSED,
            {"reason": "relisted", "proved": "a list"},
            "relisted: a list",
        ),
        (
            Operation.REFUSED,
            {"reason": "not JSON", "length": 7},
            "not JSON (7 bytes)",
        ),
        (
            Operation.EPOCH_BEGAN,
            {"epoch": 2, "reason": "a lower version"},
            "epoch 2: a lower version",
        ),
        (
            Operation.CLOCK_JUMPED,
            {"seconds": -3.5},
            "the recorder's clock jumped by -3.5 s",
        ),
    ],
)
def test_what_the_recorder_reports_is_said(
    operation: Operation, document: dict[str, Any], text: str
) -> None:
    line = replace(
        POD, operation=operation, identity=None, raw=orjson.dumps(document)
    )

    assert says(line) == text
    assert shown(line)["object"] is None
    assert line_columns(line)[4] == ""


def test_a_message_of_several_lines_is_one_row() -> None:
    assert (
        line_columns(an_event(message="a\n\n b\tc"))[-1] == "Rebooted: a b c"
    )


def test_columns_grow_and_never_shrink() -> None:
    columns = Columns(("A", "B"))

    assert columns.header([["xx", "y"]]) == "A    B"
    assert columns.lines([["x", ""], ["xxxx", "y"]]) == ["x", "xxxx   y"]
    assert columns.lines([["x", "y"]]) == ["x      y"]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (9 << 20, "9.0 MiB"),
        (3 << 40, "3.0 TiB"),
        (5 << 50, "5120.0 TiB"),
    ],
)
def test_a_size_is_written_for_people(count: int, text: str) -> None:
    assert human_bytes(count) == text


def test_a_document_that_was_taken_for_an_audit_record_says_so() -> None:
    """By an earlier release; what it was is in the log for good."""
    taken = replace(POD, operation=Operation.AUDIT, source="audit")
    record = replace(taken, reason="delete", words="alice deleted pod/a")

    assert says(taken) == "not an audit record"
    assert says(record) == "alice deleted pod/a, at an unknown time"
    assert says(replace(record, occurred_at=at(1))) == "alice deleted pod/a"
