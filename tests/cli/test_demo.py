"""The tape that ships has a proven cause and an unknown one."""

import shlex
from itertools import takewhile
from pathlib import Path
from typing import Any

from tests.cli.conftest import Recorder


def why(demo: Recorder, node: str) -> dict[str, Any]:
    answer: Any = demo("why", f"node/{node}", "-o", "json")
    assert answer.status == 0, answer.err
    (verdict,) = answer.json["verdicts"]
    found: dict[str, Any] = verdict
    return found


def test_what_was_repaired_is_proven_from_the_fault_to_the_return(
    demo: Recorder,
) -> None:
    verdict = why(demo, "gpu-002")

    assert (verdict["cause"], verdict["confidence"]) == ("gpu-fault", "proven")
    assert verdict["because"]["confidence"] == "proven"
    actor = verdict["decision"]["actor"]
    assert actor["name"] == "node-lifecycle-controller"
    roles = [step["role"] for step in verdict["steps"]]
    assert list(dict.fromkeys(roles)) == [
        "fault",
        "decision",
        "effect",  # the last sign of life, then the order to power-cycle it
        "act",
        "recovery",
    ]
    assert "GPUXidError=True" in verdict["steps"][0]["says"]


def test_who_dies_without_a_word_has_no_cause_and_no_author(
    demo: Recorder,
) -> None:
    verdict = why(demo, "gpu-007")

    assert verdict["confidence"] == "unknown"
    assert (verdict["fault"], verdict["decision"]) == (None, None)
    assert verdict["missing"]


def test_the_gang_is_hit_once_and_the_service_by_the_crash(
    demo: Recorder,
) -> None:
    hit: dict[str, Any] = {}
    for node in ("gpu-002", "gpu-007"):
        answer: Any = demo("impact", f"node/{node}", "-o", "json")
        (hit[node],) = answer.json["workloads"]

    assert hit["gpu-002"]["name"] == "llm-pretrain"
    assert (hit["gpu-002"]["gang_size"], hit["gpu-002"]["gpus"]) == (6, 48)
    assert hit["gpu-002"]["outcome"] == "restarted"
    assert hit["gpu-007"]["name"] == "chat"
    assert hit["gpu-007"]["outcome"] == "rescheduled"


def test_what_it_proposes_asks_its_log(
    recorder: Recorder, data: Path, tmp_path: Path
) -> None:
    """Also once a cut of it is another log of the same cluster."""
    del data
    assert recorder("demo").status == 0
    cut = tmp_path / "cut of it.tape"
    made = recorder("tape", "cut", str(cut), "--node", "gpu-002")
    play = made.err.partition("play it with: recorder ")[2]
    played = recorder(*shlex.split(play.splitlines()[0]))
    assert "another log is of" in played.err

    lines = recorder("demo").err.partition("try next:\n")[2].splitlines()
    proposed = [*takewhile(lambda line: line.startswith("  "), lines)]

    for line in proposed:
        answer = recorder(*shlex.split(line)[1:])
        assert answer.status == 0, (line, answer.err)
    assert len(proposed) == 7
