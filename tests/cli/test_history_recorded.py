"""Histories of objects that come, go, and come again under their names."""

import asyncio
from typing import Any

import pytest

from recorder.model.observation import EXPIRED, EpochBegan, Observation
from tests.cli.conftest import Recorder
from tests.support.builders import (
    PODS,
    a_bookmark,
    a_closed_stream,
    a_frame,
    a_list,
    an_object,
    at,
)
from tests.support.fixed_log import write_log
from tests.support.postgres import Database


def a_pod(version: int, *, uid: str = "one", **more: Any) -> dict[str, Any]:
    return an_object("llm-0", version, uid=uid, **more)


@pytest.fixture
def recorded(database: Database, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("RECORDER_DATABASE_URL", database.dsn("reader"))

    def record(*observations: Observation) -> None:
        end = a_bookmark(PODS, 99, when=330)
        asyncio.run(write_log(database.dsn("writer"), [[*observations, end]]))

    return record


INCARNATIONS = (
    a_list(PODS, 10, a_pod(3, phase="Running")),
    a_frame(PODS, "MODIFIED", a_pod(11, phase="Failed"), when=1),
    a_frame(PODS, "DELETED", a_pod(12, phase="Failed"), when=2),
    a_frame(PODS, "ADDED", a_pod(13, uid="two", phase="Pending"), when=3),
    a_frame(PODS, "MODIFIED", a_pod(14, uid="two", phase="Running"), when=4),
)


def history(recorder: Recorder, *words: str) -> Any:
    return recorder("history", "pod/train/llm-0", *words)


def summary(answer: Any) -> list[tuple[str, str, list[str]]]:
    return [
        (v["operation"], v["uid"], [c["path"] for c in v["changed"]])
        for v in answer.json["versions"]
    ]


def test_an_incarnation_is_not_compared_with_the_one_before(
    recorded: Any, recorder: Recorder
) -> None:
    recorded(*INCARNATIONS)

    assert summary(history(recorder, "-o", "json")) == [
        ("listed", "one", []),
        ("modified", "one", ["phase"]),
        ("deleted", "one", []),
        ("added", "two", []),
        ("modified", "two", ["phase"]),
    ]
    lines = history(recorder).out.splitlines()
    assert "new incarnation: uid two, before it one" in lines


def test_a_window_begins_within_an_incarnation(
    recorded: Any, recorder: Recorder
) -> None:
    recorded(*INCARNATIONS)
    since = ("--since", "2026-11-21T03:00:04Z", "-o", "json")

    assert summary(history(recorder, *since)) == [
        ("modified", "two", ["phase"])
    ]


def test_a_gone_object_that_is_back_is_compared_with_what_it_was(
    recorded: Any, recorder: Recorder
) -> None:
    """A cluster put back to before a deletion shows the object again."""
    recorded(
        a_list(PODS, 10, a_pod(3, phase="Running")),
        a_list(PODS, 20, when=1),
        EpochBegan(observed_at=at(2), reason="restored"),
        a_list(PODS, 5, a_pod(3, phase="Pending"), when=3),
    )

    found = history(recorder, "-o", "json")

    assert summary(found) == [
        ("listed", "one", []),
        ("absent", "one", []),
        ("listed", "one", ["phase"]),
    ]
    assert found.status == 4


def test_all_that_wrote_in_a_gap_are_named(
    recorded: Any, recorder: Recorder
) -> None:
    def by(version: int, **seconds: int) -> dict[str, Any]:
        pod = a_pod(version)
        pod["metadata"]["managedFields"] = [
            {
                "manager": name,
                "operation": "Update",
                "time": f"2026-11-21T03:00:{second:02}Z",
                "subresource": "status",
            }
            for name, second in seconds.items()
        ]
        return pod

    recorded(
        a_list(PODS, 10, by(3, kubelet=1, scheduler=2, kubectl=3)),
        a_closed_stream(PODS, EXPIRED, when=20),
        a_list(PODS, 30, by(29, kubelet=19, scheduler=11, kubectl=3), when=30),
    )

    text = history(recorder).out

    assert "listed  by scheduler (status), kubelet (status)" in text
    assert "no changes except fields shown by --all-fields" in text


def test_what_an_object_holds_does_not_reach_the_terminal(
    recorded: Any, recorder: Recorder
) -> None:
    recorded(
        a_list(PODS, 10, a_pod(3, note="calm")),
        a_frame(
            PODS, "MODIFIED", a_pod(4, note="\x1b[2J\u202e", odd={"\x9b": 1})
        ),
    )

    out = history(recorder).out

    assert not set(out) & set("\x1b\x9b\u202e")
    assert "note" in out
    assert "odd" in out


def test_a_long_value_is_shown_with_its_length(
    recorded: Any, recorder: Recorder
) -> None:
    recorded(
        a_list(PODS, 10, a_pod(3, note="a")),
        a_frame(PODS, "MODIFIED", a_pod(4, note="b" * 5000)),
    )

    (line,) = [t for t in history(recorder).out.splitlines() if "note" in t]

    assert line.endswith("bbb... (5,002 characters)")
    assert len(line) < 150


def test_an_object_that_came_and_went_between_is_at_neither_end(
    recorded: Any, recorder: Recorder
) -> None:
    recorded(*INCARNATIONS)
    end = ("--to", "2026-11-21T03:00:02Z", "-o", "json")

    found: Any = recorder(
        *("diff", "pod/train/llm-0", "--from", "2026-11-21T02:59:00Z", *end)
    )

    assert found.json["outcome"] == "not there"
    assert found.json["from"]["state"] == "not yet"
    assert found.json["to"]["state"] == "deleted"


def test_two_incarnations_are_compared_and_distinguished(
    recorded: Any, recorder: Recorder
) -> None:
    recorded(*INCARNATIONS)
    words = ("diff", "pod/train/llm-0", "--from", "1/1")

    assert recorder(*words, "-o", "json").json["outcome"] == (
        "another incarnation"
    )
    assert "new incarnation: uid two" in recorder(*words).out
