"""Work whose end is in a phase, or was before a list showed it."""

from collections.abc import Mapping
from typing import Any

import pytest

from recorder.explain.ending_sentences import ending_sentence
from recorder.explain.endings import Life, endings_of, facts_by_object
from recorder.explain.hit import Scope
from recorder.explain.impact import hits
from recorder.explain.workload_state import state_of
from recorder.facts.projections import Placements, Workload, Workloads
from recorder.model.fact import FactKind
from recorder.model.outcomes import Outcome, WorkloadState
from recorder.model.reference import ObjectIdentity
from tests.explain.history import a_pod
from tests.explain.tale import Tale
from tests.support.builders import at


def stated(seconds: float) -> str:
    return at(seconds).isoformat()


OWNER = ObjectIdentity("x.example.net", "Training", "train", "llm", "uid-llm")


@pytest.mark.parametrize(
    ("phase", "outcome", "until"),
    [
        ("FAILED", Outcome.FAILED, 220),
        ("Aborted", Outcome.FAILED, 220),
        ("Errored", Outcome.FAILED, 220),
        ("CANCELED", Outcome.FAILED, 220),
        ("FINISHED", Outcome.COMPLETED, None),
        ("Succeeded", Outcome.COMPLETED, None),
        ("Restarting", Outcome.DOWN, 5000),
    ],
)
def test_a_phase_says_how_work_ended_and_until_when_it_cost(
    phase: str, outcome: Outcome, until: float | None
) -> None:
    tale = Tale("n1")
    tale.add(
        0.5, FactKind.APPEARED, {"created": False, "state": {}},
        node=None, about=OWNER,
    )  # fmt: skip
    tale.pod_runs(1, "llm-0", "n1").crashes(10)
    tale.pod_ends(215, "llm-0", "n1", 255)
    ended = {"field": "phase", "old": "Running", "new": phase}
    tale.add(220, FactKind.FIELD_CHANGED, ended, node=None, about=OWNER)
    (hit,) = hits(
        tale.verdicts("n1"),
        Placements(tale.facts),
        Workloads(tale.facts),
        scope=Scope(nodes=frozenset(["n1"]), until=at(5000)),
    )
    assert hit.outcome is outcome
    hours = 0.0 if until is None else (until - 60) * 8 / 3600
    assert hit.gpu_hours_lost == pytest.approx(hours, abs=0.001)


@pytest.mark.parametrize("after", ["Running", "Succeeded"])
def test_work_that_leaves_a_phase_of_failure_has_not_failed(
    after: str,
) -> None:
    tale = Tale("n1")
    tale.add(
        0.5, FactKind.APPEARED, {"created": False, "state": {}},
        node=None, about=OWNER,
    )  # fmt: skip
    tale.pod_runs(1, "llm-0", "n1").crashes(10)
    tale.pod_ends(215, "llm-0", "n1", 255)
    for when, old, new in ((220, "Running", "Failed"), (230, "Failed", after)):
        changed = {"field": "phase", "old": old, "new": new}
        tale.add(when, FactKind.FIELD_CHANGED, changed, node=None, about=OWNER)
    (hit,) = hits(
        tale.verdicts("n1"),
        Placements(tale.facts),
        Workloads(tale.facts),
        scope=Scope(nodes=frozenset(["n1"]), until=at(5000)),
    )
    over = {"Running": Outcome.DOWN, "Succeeded": Outcome.COMPLETED}
    assert hit.outcome is over[after]


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"fields": {"phase": "FAILED"}}, "by 03:02:00"),
        (
            {"fields": {"phase": "FAILED", "completion_time": stated(40)}},
            "at 03:00:40",
        ),
        # Kinds of Kubeflow have no phase.
        (
            {
                "conditions": {
                    "Created": {"status": "True", "since": stated(10)},
                    "Failed": {
                        "status": "True",
                        "reason": "PyTorchJobFailed",
                        "since": stated(50),
                    },
                }
            },
            "at 03:00:50: PyTorchJobFailed",
        ),
        (
            {"conditions": {"Failed": {"status": "True"}}},
            "by 03:02:00: Failed",
        ),
    ],
)
def test_work_that_a_list_shows_over_ended_when_it_states_or_before(
    state: Mapping[str, Any], said: str
) -> None:
    tale = Tale("n1")
    detail = {"created": False, "state": state}
    tale.add(120, FactKind.APPEARED, detail, node=None, about=OWNER)
    workload = Workload("Training", "train", "llm", "uid-llm")
    workloads = Workloads(tale.facts)
    life = Life(workload, [], facts_by_object(tale.facts), workloads)
    (ending,) = endings_of(life, [], [])
    sentence = f"Training train/llm failed {said}."
    assert ending_sentence(workload, ending) == sentence
    assert workloads.decided_at(workload) == ending.at


def test_a_pod_that_a_list_shows_over_ended_with_its_last_container() -> None:
    tale = Tale("n1")
    ends = {
        "a": {"exit_code": 0, "finished_at": stated(30)},
        "b": {"exit_code": 1, "finished_at": stated(50)},
    }
    seen = {"fields": {"phase": "Failed"}, "node": "n1", "ends": ends}
    detail = {"created": False, "state": seen}
    tale.add(120, FactKind.APPEARED, detail, about=a_pod("llm-0"))
    pods, workloads = [*Placements(tale.facts)], Workloads(tale.facts)
    alone = Workload("Pod", "train", "llm-0", "uid-llm-0")
    found = state_of(pods, alone, workloads, tale.facts, is_pod=True)
    assert found == (WorkloadState.FAILED, at(50))
