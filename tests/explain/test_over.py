"""Work whose end is in a phase, not in a condition."""

import pytest

from recorder.explain.impact import Scope, hits
from recorder.facts.projections import Placements, Workloads
from recorder.model.fact import FactKind
from recorder.model.outcomes import Outcome
from recorder.model.reference import ObjectIdentity
from tests.explain.tale import Tale
from tests.support.builders import at

OWNER = ObjectIdentity("x.example.net", "Training", "train", "llm", "uid-llm")


@pytest.mark.parametrize(
    ("phase", "outcome", "until"),
    [
        ("FAILED", Outcome.FAILED, 220),
        ("Aborted", Outcome.FAILED, 220),
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
