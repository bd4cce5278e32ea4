"""Versions with and without an author are counted by resource."""

from typing import Any

import orjson
import pytest

from tests.cli.conftest import Recorder

LOG = ("--log", "4")
"""Of a node that is drained; its policy keeps answers of nothing."""


def asked(recorder: Recorder, *words: str) -> dict[str, Any]:
    answer = recorder("audit", "coverage", *words, "-o", "json")
    found: dict[str, Any] = orjson.loads(answer.out)
    return found


@pytest.mark.usefixtures("incidents")
def test_each_version_that_a_watch_delivered_is_counted_once(
    recorder: Recorder,
) -> None:
    found = asked(recorder, *LOG)
    lines = recorder("log", *LOG, "--limit", "all", "-o", "ndjson").lines

    resources = [
        line["resource"]
        for line in lines
        if line["operation"] in {"added", "modified", "deleted"}
    ]
    counted = {row["resource"]: row["versions"] for row in found["resources"]}
    assert counted == {
        name: resources.count(name)
        for name in set(resources)
        if name != "v1/events"
    }
    audited = [line for line in lines if line["source"] == "audit"]
    assert found["records"] == len(audited)


@pytest.mark.usefixtures("incidents")
def test_what_a_policy_leaves_out_has_no_author(recorder: Recorder) -> None:
    rows = {r["resource"]: r for r in asked(recorder, *LOG)["resources"]}

    # Of evictions, bindings and deletions alone the policy has enough.
    assert 0 < rows["v1/pods"]["share"] < 1
    assert rows["v1/nodes"]["authored"] == 0


@pytest.mark.usefixtures("incidents")
def test_a_log_without_audit_says_so(recorder: Recorder) -> None:
    crash = ("--log", "3")
    answer = recorder("audit", "coverage", *crash)

    assert "no audit records in this log" in answer.err
    rows = asked(recorder, *crash)["resources"]
    assert all(not row["authored"] for row in rows)


def test_in_the_demo_each_version_of_a_node_has_its_author(
    demo: Recorder,
) -> None:
    rows = {row["resource"]: row for row in asked(demo)["resources"]}

    assert rows["v1/nodes"]["share"] == 1


def test_a_window_after_the_end_of_a_tape_is_said_to_hold_nothing(
    demo: Recorder,
) -> None:
    answer = demo("audit", "coverage", "--since", "1h")

    assert "no audit records in this window, and no versions" in answer.err
    assert "the last entry is of 2026-11-25T00:08:35" in answer.err
    assert "are no entries" not in answer.err
    whole = demo("audit", "coverage")
    assert "229 audit records; 6 made versions that are no entries" in (
        whole.err
    )
