"""What the commands print, word for word.

RECORDER_TEST_UPDATE_GOLDEN=1 writes the files anew; look at what changed.
"""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Recorder
from tests.support.golden import ANEW, kept
from tests.support.postgres import Database

GOLDEN = Path(__file__).parent / "golden"

QUESTIONS = {
    "status.txt": "status",
    "status.json": "status -o json",
    "status_one.txt": "status --cluster demo",
    "gaps.txt": "gaps --log 1",
    "gaps.json": "gaps --log 1 -o json",
    "gaps.ndjson": "gaps --log 1 -o ndjson",
    "gaps_none.txt": "gaps --log 1 --until 2026-11-21T03:01:00Z",
    "log.txt": "log --log 1",
    "log.ndjson": "log --log 1 -o ndjson",
    "log_of_a_node.txt": "log --cluster prod --node gpu-002",
    "log_of_an_object.txt": "log --log 1 --object po/train/llm-1",
    "log_raw.json": "log --log 1 --object node/gpu-002 -o json --raw",
    "log_raw.txt": "log --log 1 --limit 1 --raw",
    "log_limited.yaml": "log --log 1 --limit 2 -o yaml --raw",
    "log_nothing.json": "log --log 1 --reason Startd -o json",
    "log_nothing.yaml": "log --log 1 --source audit -o yaml",
    "log_tape.txt": "log --cluster demo --reason Started",
    "show.yaml": "show --log 1 no/gpu-001",
    "show.json": "show --log 1 -n train po/llm-1 -o json"
    " --at 2026-11-21T03:01:01Z",
    "show_in_a_gap.yaml": "show --log 1 pod/train/llm-1"
    " --at 2026-11-21T03:01:40Z",
    "show_custom.yaml": "show --log 1 wd/train/w",
    "show_gone.txt": "show --log 1 pod/train/llm-1",
    "history.txt": "history --log 1 node/gpu-002",
    "history.json": "history --log 1 pod/train/llm-1 -o json",
    "history.ndjson": "history --log 1 no/gpu-001 -o ndjson",
    "history_heartbeats.txt": "history --log 1 no/gpu-001",
    "history_absent.txt": "history --log 1 po/train/llm-1 --limit 2",
    "history_limited.yaml": "history --log 1 no/gpu-002 --limit 1 -o yaml",
    "history_none.txt": "history --log 1 no/gpu-002"
    " --since 2026-11-21T03:04:00Z",
    "diff.txt": "diff --log 1 node/gpu-002 --from 2026-11-21T03:00:30Z",
    "diff.json": "diff --log 1 node/gpu-002 --from 1/2 --to 1/9 -o json",
    "diff_added.txt": "diff --log 1 pod/train/llm-2"
    " --from 2026-11-21T03:00:30Z --to 2026-11-21T03:02:30Z",
    "diff_absent.yaml": "diff --log 1 pod/train/llm-1 --from 1/11 -o yaml",
    "diff_same.txt": "diff --log 1 no/gpu-001 --from 1/1 --to 1/1",
    "migrate_check.txt": "migrate --check",
}

CHANGING = [
    (r'("?recorded_at"?: ?"?\'?)20[^"\']*Z', r"\1TIME"),
    (r'("place": )"[^"]*archive"', r'\1"FOLDER"'),
    (r"last recorded 20\S*Z", "last recorded TIME"),
    (r"[\d.]+ a minute", "N a minute"),
    (r'("(?:entries_per_minute|lag_seconds|bytes)": )[\d.]+', r"\1N"),
    (r'("version": ")18[\d.]+', r"\1V"),
    (r"PostgreSQL \S+ \(external\), [\d.]+ \w+", "PostgreSQL"),
    (r" [\dydhms]+ ago +", " N   "),
    (r"PROVEN +", "PROVEN   "),
]
"""What PostgreSQL and the time of the test add."""


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_answer_is_what_it_was(
    story: Database, recorder: Recorder, name: str
) -> None:
    del story
    answer = recorder(*QUESTIONS[name].split())
    text = (
        f"$ recorder {QUESTIONS[name]}\n{answer.out}"
        f"--- exit status {answer.status}\n{answer.err}"
    )
    for pattern, instead in CHANGING:
        text = re.sub(pattern, instead, text)

    assert text == kept(GOLDEN / name, text), f"{name} differs; {ANEW}"
