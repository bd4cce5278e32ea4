"""Questions about nodes that cannot be, or have no answer."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer, Recorder
from tests.support.postgres import Database

USAGE = 2
INCOMPLETE = 4
NOT_FOUND = 5

REFUSED = {
    "why --log 1 node/gpu-02": (NOT_FOUND, 'did you mean "gpu-002"'),
    "why --log 1 gpu-9x": (
        NOT_FOUND,
        'has no node or workload "gpu-9x"; did you mean',
    ),
    "why --log 1 pod/x": (NOT_FOUND, 'no "pod/x"; `recorder search x` finds'),
    "why --log 1": (USAGE, "node/NAME"),
    "why --log 1 node/gpu-002 --at 1h --since 2h": (USAGE, "not both"),
    "why --log 1 node/gpu-002 --at noon": (USAGE, "--at"),
    "why --log 1 node/gpu-002 -o ndjson": (USAGE, "ndjson"),
    "impact --log 1": (
        USAGE,
        "give names, a place or labels; written node/NAME, --place KIND/NAME",
    ),
    "impact --log 1 --rack r99": (NOT_FOUND, "had no node with these"),
    "impact --log 1 -l zone": (USAGE, "write LABEL=VALUE"),
    "impact --log 1 -l =a": (USAGE, "write LABEL=VALUE"),
    "impact --log 1 -l a==b": (USAGE, "write LABEL=VALUE"),
    "impact --log 1 -l a!=b": (USAGE, "write LABEL=VALUE"),
    "impact --log 1 -l a=": (NOT_FOUND, "no node with these"),
    "impact --log 1 --rack=": (USAGE, "no nodes selected: give names"),
    "why --log 1 node/\x1b[2Jx": (NOT_FOUND, 'no node "␛[2Jx"'),
    "impact --log 1 -l zone=nowhere": (NOT_FOUND, "no node with these"),
    "impact --log 1 pod/x": (USAGE, "is not a node"),
    "impact --log 1 node/gpu-02": (NOT_FOUND, 'did you mean "gpu-002"'),
    "incidents --log 1 --since 1h --until 2h": (USAGE, "invalid window"),
    "incidents --log 99": (NOT_FOUND, "there is no log 99"),
    "replay --log 1 node/gpu-02": (NOT_FOUND, 'did you mean "gpu-002"'),
    "replay --log 1 node/gpu-002 --speed 0": (USAGE, "--speed"),
    "replay --log 1 node/gpu-002 --speed nan": (
        USAGE,
        "multiple of real time",
    ),
    "tape play nothing.tape --speed nan": (USAGE, "is not a valid speed"),
    "log --log 1 --facts --raw": (USAGE, "together"),
    "log 1/99999": (NOT_FOUND, "there is no entry 1/99999"),
    "log 1/0": (NOT_FOUND, "there is no entry 1/0"),
    "log 99/1": (NOT_FOUND, "there is no log 99"),
    "log 1/2 --log 2": (NOT_FOUND, "there is no entry 1/2"),
    "log 17": (USAGE, '"17" is not an entry: write LOG/POSITION'),
    "log --log 1 --node pod/x": (USAGE, "is not a node"),
    "log 1/2 --node gpu-002": (USAGE, "1/2 is a single entry: remove"),
    "log 1/2 --follow": (USAGE, "do not name an entry"),
    "why --log 9999999999 gpu-002": (NOT_FOUND, "is no log 9999999999"),
}


def only(answer: Answer, name: str) -> Any:
    members: Any = answer.json[name]
    assert len(members) == 1
    return members[0]


@pytest.mark.parametrize("words", REFUSED)
def test_a_question_that_cannot_be_is_refused(
    incidents: Database, recorder: Recorder, words: str
) -> None:
    del incidents
    status, why = REFUSED[words]

    answer = recorder(*words.split())

    assert (answer.status, answer.out) == (status, "")
    assert why in answer.err
    assert "Traceback" not in answer.err


NAMED = [
    "why --log 1 node/{}",
    "why --log 1 node/{} --at 1h",
    "impact --log 1 node/{}",
    "impact --log 1 --rack {}",
    "impact --log 1 -l topology.kubernetes.io/zone={}",
    "impact --log 1 -l {}=a",
    "replay --log 1 node/{}",
    "postmortem --log 1 node/{}",
    "log --log 1 --node {}",
    "log --log 1 --object pod/{}/x",
    "log --log 1 --object pod/train/{}",
    "log --log 1 --reason {}",
    "log --log 1 --actor {}",
    "log --log 1 --actor {} --facts",
    "log --log 1 --reason {} --facts",
    "show --log 1 pod/train/{}",
    "history --log 1 pod/train/{}",
    "diff --log 1 pod/train/{} --from 1h",
]


@pytest.mark.parametrize("bad", ["a\0b", "\0", "a\udcffb"])
@pytest.mark.parametrize("words", NAMED)
def test_a_text_that_no_log_can_hold_is_refused(
    incidents: Database, recorder: Recorder, words: str, bad: str
) -> None:
    del incidents

    answer = recorder(*(word.format(bad) for word in words.split()))

    assert (answer.status, answer.out) == (USAGE, "")
    assert "contains a NUL or an unpaired surrogate" in answer.err


BEFORE = [
    "why --log 1 node/gpu-002",
    "impact --log 1 node/gpu-002",
    "incidents --log 1",
]
EMPTY: dict[str, list[object]] = {
    "verdicts": [],
    "workloads": [],
    "failures": [],
    "incidents": [],
}


@pytest.mark.parametrize("words", BEFORE)
def test_a_window_before_the_first_entry_is_empty_and_incomplete(
    incidents: Database, recorder: Recorder, words: str
) -> None:
    del incidents
    window = (
        "--since",
        "2020-01-01T00:00:00Z",
        "--until",
        "2020-02-01T00:00:00Z",
    )

    answer = recorder(*words.split(), *window, "-o", "json")

    assert answer.status == INCOMPLETE
    found = {name: answer.json[name] for name in EMPTY if name in answer.json}
    assert found == {name: [] for name in found}
    assert found
    assert "INCOMPLETE" in answer.err


def test_a_replay_before_the_first_entry_is_empty_and_incomplete(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents

    answer = recorder(
        *[
            "replay",
            "--log",
            "1",
            "node/gpu-002",
            "--since",
            "2019-01-01T00:00:00Z",
            "--until",
            "2020-01-01T00:00:00Z",
        ]
    )

    assert (answer.status, answer.out) == (INCOMPLETE, "")
    assert "no facts of gpu-002" in answer.err


def test_a_moment_before_the_first_entry_has_no_verdict(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    words = "why --log 1 node/gpu-002 --at 2026-11-20T00:00:00Z -o json"

    answer = recorder(*words.split())

    assert answer.status == INCOMPLETE
    assert answer.json["verdicts"] == []


def test_a_moment_is_answered_by_what_happened_last_before_it(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    latest = recorder("why", "--log", "1", "node/gpu-002", "-o", "json")
    verdict = only(latest, "verdicts")
    back = verdict["back_in_service_at"]

    answer = recorder(
        "why", "--log", "1", "node/gpu-002", "--at", back, "-o", "json"
    )

    assert answer.json["verdicts"] == [verdict]
    assert answer.status == 0


def test_ten_years_are_a_window_like_any_other(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    latest = recorder("why", "--log", "1", "node/gpu-002", "-o", "json")

    answer = recorder(
        *[
            "why",
            "--log",
            "1",
            "node/gpu-002",
            "--since",
            "3650d",
            "-o",
            "json",
        ]
    )

    assert answer.status == INCOMPLETE
    assert answer.json["verdicts"] == latest.json["verdicts"]


FIRST = "0001-01-01T00:00:00Z"
LAST = "9999-12-31T23:59:59.999999Z"
WHENEVER = [
    f"why node/gpu-002 --since {FIRST} --until {LAST}",
    f"why node/gpu-002 --at {FIRST}",
    f"why node/gpu-002 --at {LAST}",
    f"why node/gpu-002 --until {FIRST}",
    f"impact --rack rack-2 --since {FIRST} --until {LAST}",
    f"incidents --since {FIRST} --until {LAST}",
    f"replay node/gpu-002 --since {FIRST} --until {LAST}",
    f"postmortem node/gpu-002 --since {FIRST} --until {LAST}",
    f"show node/gpu-002 --at {LAST}",
    f"diff node/gpu-002 --from {FIRST} --to {LAST}",
]


@pytest.mark.parametrize("words", WHENEVER)
def test_the_ends_of_all_time_are_times_like_any_other(
    incidents: Database, recorder: Recorder, words: str
) -> None:
    del incidents

    answer = recorder(*words.split(), "--log", "1")

    assert answer.status == INCOMPLETE, answer.err
    assert "INCOMPLETE" in answer.err


BEHIND = ["why node/gpu-002", "incidents", "gaps", "log", "replay gpu-002"]


@pytest.mark.parametrize("words", BEHIND)
def test_a_window_behind_the_end_of_a_tape_is_incomplete(
    incidents: Database, recorder: Recorder, words: str
) -> None:
    del incidents

    answer = recorder(*words.split(), "--log", "1", "--since", "2h")

    assert answer.status == INCOMPLETE
    assert "the tape ends before" in answer.out + answer.err


def test_a_name_outlives_the_machine_behind_it(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents

    answer = recorder("incidents", "--log", "5", "-o", "json")

    found = only(answer, "incidents")
    assert found["happened"] == "replaced"
    node = found["nodes"][0]
    why = recorder("why", "--log", "5", node, "-o", "json")
    verdict = only(why, "verdicts")
    assert verdict["happened"] == "replaced"


WRONG_RULES = {
    "an unknown key": (
        'conditions:\n- types: [Hot]\n  wen: "True"\n',
        'line 3: there is no "wen"; did you mean "when"?',
    ),
    "a polarity without quotation marks": (
        "conditions:\n- types: [Hot]\n  when: True\n",
        "line 3: when: expected text, got true or false",
    ),
    "a polarity that is none": (
        'conditions:\n- types: [Hot]\n  when: "yes"\n',
        'line 2: "yes" is not a status; write "True"',
    ),
    "two rules of one condition": (
        'conditions:\n- &a {types: [Hot], when: "True"}\n- *a\n',
        'line 2: the condition "Hot" has a rule in line 2 already',
    ),
    "a key that is there twice": (
        "taints: []\ntaints: []\n",
        'line 2: duplicate key "taints", first in line 1',
    ),
    "a fault that is none": (
        'conditions:\n- types: [Hot]\n  when: "True"\n  fault: heat\n',
        'line 4: fault: "heat" is unknown: use ',
    ),
    "no YAML": ("conditions: [", "cannot read the rules"),
}


@pytest.mark.parametrize("how", WRONG_RULES)
def test_rules_of_a_site_that_are_wrong_are_refused_with_their_line(
    incidents: Database,
    recorder: Recorder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    del incidents
    text, why = WRONG_RULES[how]
    file = tmp_path / "site.yaml"
    file.write_text(text)
    monkeypatch.setenv("RECORDER_KNOWLEDGE", str(file))

    answer = recorder("why", "--log", "1", "node/gpu-002")

    assert (answer.status, answer.out) == (USAGE, "")
    assert f'"{file}"' in answer.err
    assert why in answer.err


def test_rules_of_a_site_that_are_not_there_are_refused(
    incidents: Database,
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del incidents
    monkeypatch.setenv("RECORDER_KNOWLEDGE", "/nonexistent/site.yaml")

    for words in ("why --log 1 gpu-002", "incidents --log 1"):
        answer = recorder(*words.split())

        assert answer.status == USAGE
        assert 'cannot read the rules in "/nonexistent/site.yaml"' in (
            answer.err
        )


def test_rules_of_a_site_count_before_those_of_the_package(
    incidents: Database,
    recorder: Recorder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del incidents
    file = tmp_path / "site.yaml"
    file.write_text(
        'conditions:\n- types: [KernelDeadlock]\n  when: "True"\n'
        "  fault: disk-fault\n"
    )
    monkeypatch.setenv("RECORDER_KNOWLEDGE", str(file))

    answer = recorder("why", "--log", "1", "node/gpu-002", "-o", "json")

    verdict = only(answer, "verdicts")
    assert verdict["cause"] == "disk-fault"


def test_an_empty_name_is_no_name(story: Database, recorder: Recorder) -> None:
    del story
    for command in ("why", "show"):
        answer = recorder(command, "", "--log", "1")
        assert answer.status == USAGE
        assert "does not name an object" in answer.err
