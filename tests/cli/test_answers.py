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
    "why_job_lost.txt": "why --log 3 job/train/llm-pretrain",
    "why_job_lost.json": "why --log 3 job/train/llm-pretrain -o json",
    "why_job_failed_with_its_node.txt": "why --log 6 job/train/llm-finetune",
    "why_job_killed_for_memory.txt": "why --log 7 job/train/dataloader",
    "why_job_preempted.txt": "why --log 8 job/train/llm-pretrain",
    "why_job_drained.txt": "why --log 4 job/train/llm-pretrain",
    "why_job_failed_itself.txt": "why --log 9 job/mixed/failed-itself",
    "why_job_deleted.txt": "why --log 9 job/mixed/deleted-by-alice",
    "why_job_done.txt": "why --log 9 job/mixed/done-well",
    "why_job_running.txt": "why --log 7 job/train/llm-pretrain"
    " --until 2026-11-21T14:07:10Z",
    "why_bare_name.txt": "why --log 3 llm-pretrain",
    "why_bare_node.txt": "why --log 1 gpu-002",
    "why_bare_pod.txt": "why --log 3 llm-pretrain-1-88g9m",
    "why_jobset_on_two_nodes.txt": "why --log 2 jobset/train/llm",
    "why_other_kind.txt": "why --log 2 job/llm",
    "why_no_such_name.txt": "why --log 3 llm-pretrian",
    "why_all.txt": "why -A dataloader",
    "why_all.json": "why -A dataloader -o json",
    "impact_rack.txt": "impact --log 2 --rack rack-2",
    "impact_rack.json": "impact --log 2 --rack rack-2 -o json",
    "impact_node.txt": "impact --log 3 node/gpu-002",
    "impact_nothing.txt": "impact --log 3 node/gpu-001",
    "incidents.txt": "incidents --log 2",
    "incidents.json": "incidents --log 2 -o json",
    "incidents_one.txt": "incidents --log 1",
    "search.txt": "search --log 9 de",
    "search_all.txt": "search -A llm-pretrain",
    "search.json": "search --log 3 job/llm -o json",
    "get_nodes.txt": "get nodes --log 3",
    "get_nodes_then.txt": "get nodes --log 3 --at 2026-11-21T14:03:35Z -v",
    "get_nodes.json": "get nodes --log 3 node/gpu-002 -o json",
    "get_pods.txt": "get pods --log 3 -n train",
    "get_pods_then.txt": "get po --log 3 --at 2026-11-21T14:03:35Z -v",
    "get_jobs.json": "get job --log 3 llm-pretrain -o json",
    "get_names.txt": "get jobsets --log 2 -o name",
    "get_places_then.txt": "get places --log 3 --at 2026-11-21T14:03:35Z",
    "get_none.txt": "get job --log 3 other",
    "get_not_recorded.txt": "get secrets --log 3",
    "stats.txt": "stats --log 2",
    "stats.json": "stats --log 2 --by node -o json",
    "stats_workloads.txt": "stats --log 3 --by workload",
    "stats_users.txt": "stats --log 9 --by user -v",
    "stats_priorities.json": "stats --log 8 --by priority -o json",
    "stats_nothing.txt": "stats --log 8",
    "replay.txt": "replay --log 3 node/gpu-002",
    "replay.ndjson": "replay --log 3 node/gpu-002 -o ndjson",
    "facts.txt": "log --log 1 --node gpu-002 --facts --limit 30",
    "facts.ndjson": "log --log 1 --node gpu-002 --facts --limit 10 -o ndjson",
}


@pytest.mark.parametrize("name", QUESTIONS)
def test_an_incident_is_shown_as_it_was(
    incidents: Database, recorder: Recorder, name: str
) -> None:
    del incidents
    answer = recorder(*QUESTIONS[name].split())
    text = (
        f"$ recorder {QUESTIONS[name]}\n{answer.out}"
        f"--- exit status {answer.status}\n{answer.err}"
    )

    assert text == kept(GOLDEN / name, text), f"{name} differs; {ANEW}"
