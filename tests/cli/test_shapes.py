"""The JSON of each command: its members and the words in them."""

from collections.abc import Mapping
from typing import Any, get_args

import pytest

from recorder.model.fact import FactKind
from tests.cli.conftest import Recorder
from tests.corpus import truth
from tests.support.postgres import Database

TIME = "a time"
TEXT, NUMBER, FLAG = "a text", "a number", "a flag"


class Maybe:
    """Null, or what it says."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


ENTRY = "LOG/POSITION"
FAULT = frozenset(get_args(truth.Fault))
DECISION = frozenset(get_args(truth.Decision))
HAPPENED = frozenset(get_args(truth.Happened))
CONFIDENCE = frozenset(get_args(truth.Confidence))
CAUSE = FAULT | DECISION | {"unrecorded"}
FACT = frozenset(kind.value for kind in FactKind)

GAP = {
    "source": TEXT,
    "resource": TEXT,
    "from": Maybe(TIME),
    "to": Maybe(TIME),
    "reason": TEXT,
}
COVERAGE = {
    "complete": FLAG,
    "gaps": [GAP],
    "sources": {
        name: frozenset({"recorded", "absent"})
        for name in ("watch", "audit", "cloudevents", "slurm")
    },
}
VERDICT = {
    "id": ENTRY,
    "node": TEXT,
    "node_uid": Maybe(TEXT),
    "happened": HAPPENED,
    "boot_id_before": Maybe(TEXT),
    "boot_id_after": Maybe(TEXT),
    "between": [Maybe(TIME)],
    "back_in_service_at": Maybe(TIME),
    "mode": frozenset(get_args(truth.Mode)),
    "cause": CAUSE,
    "fault": Maybe({"class": FAULT, "says": TEXT, "at": TIME}),
    "decision": Maybe(
        {
            "class": DECISION,
            "actor": {
                "kind": frozenset(get_args(truth.ActorKind)),
                "name": Maybe(TEXT),
            },
            "says": TEXT,
            "at": TIME,
        }
    ),
    "sentence": TEXT,
    "confidence": CONFIDENCE,
    "evidence": [
        {
            "entry": ENTRY,
            "role": frozenset(
                {"fault", "decision", "act", "effect", "recovery"}
            ),
            "source": frozenset({"watch", "audit"}),
            "occurred_at": Maybe(TIME),
            "observed_at": TIME,
            "says": TEXT,
        }
    ],
    "rivals": [{"cause": TEXT, "excluded": FLAG, "because": TEXT}],
    "gaps": [TEXT],
    "missing": [{"evidence": TEXT, "would_tell": TEXT}],
}
WINDOW = {"cluster": TEXT, "since": Maybe(TIME), "until": Maybe(TIME)}
WORKLOAD = {
    "kind": TEXT,
    "namespace": TEXT,
    "name": TEXT,
    "uid": Maybe(TEXT),
    "hit_by": frozenset(get_args(truth.HitBy)),
    "first_node": TEXT,
    "nodes": [TEXT],
    "pods_hit": [TEXT],
    "gang_size": NUMBER,
    "gpus": NUMBER,
    "outcome": frozenset(get_args(truth.Outcome)),
    "hit_at": TIME,
    "running_again_at": Maybe(TIME),
    "gpu_hours_lost": NUMBER,
    "evidence": [ENTRY],
    "says": TEXT,
}
FACTS = {
    "entry": ENTRY,
    "index": NUMBER,
    "fact": FACT,
    "node": Maybe(TEXT),
    "object": Maybe({"kind": TEXT, "name": TEXT}),
    "occurred_at": Maybe(TIME),
    "observed_at": TIME,
    "actor": Maybe(TEXT),
    "says": TEXT,
    "detail": {},
}
SHAPES: dict[str, Mapping[str, Any]] = {
    "why node/gpu-002": {
        "question": {**WINDOW, "node": TEXT},
        "verdicts": [VERDICT],
        "coverage": COVERAGE,
    },
    "impact node/gpu-002": {
        "question": {**WINDOW, "nodes": [TEXT]},
        "failures": [
            {"node": TEXT, "happened": HAPPENED, "verdict": ENTRY, "at": TIME}
        ],
        "workloads": [WORKLOAD],
        "totals": {
            "workloads": NUMBER,
            "pods": NUMBER,
            "gpus": NUMBER,
            "gpu_hours_lost": NUMBER,
        },
        "coverage": COVERAGE,
    },
    "incidents": {
        "incidents": [
            {
                "id": ENTRY,
                "happened": HAPPENED,
                "cause": CAUSE,
                "nodes": [TEXT],
                "from": TIME,
                "to": Maybe(TIME),
                "group": TEXT,
                "sentence": TEXT,
                "confidence": CONFIDENCE,
                "verdicts": [ENTRY],
                "workloads": NUMBER,
                "gpu_hours_lost": NUMBER,
            }
        ],
        "coverage": COVERAGE,
    },
    "gaps": {"gaps": [GAP], "coverage": COVERAGE},
    "log --facts --limit all": {"facts": [FACTS], "coverage": COVERAGE},
    "history node/gpu-002": {
        "versions": [
            {
                "entry": ENTRY,
                "operation": TEXT,
                "resource_version": Maybe(TEXT),
                "observed_at": TIME,
                "actor": Maybe([{"name": TEXT}]),
                "changed": [{"path": TEXT}],
            }
        ],
        "coverage": COVERAGE,
    },
}


def problems(value: Any, shape: Any, place: str = "") -> list[str]:
    """Say where a value is not of a shape; more members are no problem."""
    match shape:
        case Maybe():
            return [] if value is None else problems(value, shape.shape, place)
        case frozenset():
            fits = value in shape
        case Mapping():
            if not isinstance(value, dict):
                return [f"{place} is {value!r}, no object"]
            missing = [
                f"{place}.{n} is missing" for n in shape if n not in value
            ]
            return missing + [
                found
                for name, member in shape.items()
                if name in value
                for found in problems(value[name], member, f"{place}.{name}")
            ]
        case [inner]:
            if not isinstance(value, list):
                return [f"{place} is {value!r}, no list"]
            return [
                found
                for number, item in enumerate(value)
                for found in problems(item, inner, f"{place}[{number}]")
            ]
        case _:
            fits = is_plain(value, shape)
    return [] if fits else [f"{place} is {value!r}"]


def is_plain(value: Any, shape: str) -> bool:
    if shape == FLAG:
        return isinstance(value, bool)
    if shape == NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if not isinstance(value, str):
        return False
    if shape == TIME:
        return len(value) == len("2026-11-21T03:18:00.000000Z")
    if shape == ENTRY:
        log, stroke, position = value.partition("/")
        return bool(stroke) and log.isdecimal() and position.isdecimal()
    return True


@pytest.mark.parametrize("log", ["1", "2", "3", "4", "5"])
@pytest.mark.parametrize("words", SHAPES)
def test_an_answer_has_the_members_that_scripts_rely_on(
    incidents: Database, recorder: Recorder, words: str, log: str
) -> None:
    del incidents
    answer = recorder(*words.split(), "--log", log, "-o", "json")

    assert answer.status == 0
    assert problems(answer.json, SHAPES[words]) == []


def test_a_step_of_a_replay_is_a_fact_with_the_state_after_it(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    answer = recorder("replay", "--log", "3", "gpu-002", "-o", "ndjson")

    shape = {
        **FACTS,
        "state": {
            "present": FLAG,
            "ready": Maybe(TEXT),
            "boot_id": Maybe(TEXT),
            "cordoned": FLAG,
            "in_service": FLAG,
        },
    }
    assert answer.lines
    for line in answer.lines:
        assert problems(line, shape) == []
    assert {line["state"]["in_service"] for line in answer.lines} == {  # type: ignore[index]
        True,
        False,
    }
