"""What is said of incidents of the corpus, word for word.

RECORDER_TEST_UPDATE_GOLDEN=1 writes the files anew, which another recording
of a tape needs; look at what changed.
"""

from pathlib import Path

import pytest

from tests.cli.conftest import Recorder
from tests.support.golden import ANEW, kept
from tests.support.postgres import Database

GOLDEN = Path(__file__).parent / "golden" / "answers"

QUESTIONS = {
    "why_planned.txt": "why --log 1 node/gpu-002",
    "why_planned.json": "why --log 1 node/gpu-002 -o json",
    "why_power.txt": "why --log 2 node/gpu-002",
    "why_abrupt.txt": "why --log 3 node/gpu-002",
    "why_abrupt.yaml": "why --log 3 node/gpu-002 -o yaml",
    "why_person.txt": "why --log 4 node/gpu-002",
    "why_nothing.txt": "why --log 3 node/gpu-001",
    "impact_rack.txt": "impact --log 2 --rack rack-2",
    "impact_rack.json": "impact --log 2 --rack rack-2 -o json",
    "impact_node.txt": "impact --log 3 node/gpu-002",
    "impact_nothing.txt": "impact --log 3 node/gpu-001",
    "incidents.txt": "incidents --log 2",
    "incidents.json": "incidents --log 2 -o json",
    "incidents_one.txt": "incidents --log 1",
    "replay.txt": "replay --log 3 node/gpu-002",
    "replay.ndjson": "replay --log 3 node/gpu-002 -o ndjson",
    "facts.txt": "log --log 1 --node gpu-002 --facts --limit 30",
    "facts.ndjson": "log --log 1 --node gpu-002 --facts --limit 10 -o ndjson",
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_incident_is_told_as_it_was(
    incidents: Database, recorder: Recorder, name: str
) -> None:
    del incidents
    answer = recorder(*QUESTIONS[name].split())
    text = (
        f"$ recorder {QUESTIONS[name]}\n{answer.out}"
        f"--- exit status {answer.status}\n{answer.err}"
    )

    assert text == kept(GOLDEN / name, text), f"{name} differs; {ANEW}"
