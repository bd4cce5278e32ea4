"""Two who undo each other's change of a field are named, whatever it is."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from recorder.answers.authors import Attribution
from recorder.answers.history import Version
from recorder.answers.who import FieldContest, FieldContests
from recorder.facts.classify.changes import changes
from recorder.model.author import Author, KnownBy
from recorder.model.entry import Operation
from tests.answers.test_joining import a_line
from tests.support.builders import at

HPA, ALICE = "system:serviceaccount:kube-system:hpa", "alice@example.com"
MINUTE = timedelta(minutes=1)


def fought(
    states: Sequence[dict[str, Any]],
    who: Sequence[str],
    *,
    every: timedelta = MINUTE,
    operation: Operation = Operation.MODIFIED,
    known_by: Sequence[KnownBy] = (KnownBy.AUDIT,),
) -> Sequence[FieldContest]:
    """Return each state after the first, with its author."""
    contests = FieldContests()
    for turn, (old, new) in enumerate(pairwise(states)):
        author = Author(
            known_by=known_by[turn % len(known_by)], name=who[turn % len(who)]
        )
        line = a_line(
            turn + 1, operation=operation, observed_at=at() + turn * every
        )
        contests.take(
            Version(
                line=line,
                changed=changes(old, new),
                managers=(),
                attribution=Attribution(author),
                begins=False,
                before=None,
            )
        )
    return contests.found()


def replicas(*counts: int) -> list[dict[str, Any]]:
    return [{"spec": {"replicas": count}} for count in counts]


def node(**more: Any) -> dict[str, Any]:
    return {"metadata": {"labels": {"a": "b"}}, "spec": {"taints": []}, **more}


def condition(status: str) -> dict[str, Any]:
    condition = {"type": "Ready", "status": status}
    return {"status": {"conditions": [condition]}}


TAINT = {"key": "a", "effect": "NoSchedule"}
FIELDS = {
    "spec.replicas": replicas(3, 5),
    "metadata.labels.pool": [
        node(),
        node(metadata={"labels": {"a": "b", "pool": "x"}}),
    ],
    "spec.taints[key=a,effect=NoSchedule]": [
        node(spec={"taints": [{"key": "b", "effect": "NoSchedule"}]}),
        node(
            spec={"taints": [{"key": "b", "effect": "NoSchedule"}, TAINT]},
        ),
    ],
    "status.conditions[type=Ready].status": [
        condition("True"),
        condition("False"),
    ],
}


@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_two_set_in_turn_is_contested(field: str) -> None:
    (contest,) = fought(FIELDS[field] * 2, [HPA, ALICE])

    assert contest.path.replace("'", "") == field
    assert [side.author.name for side in contest.sides] == [HPA, ALICE]
    assert len(contest.entries) == 3
    assert contest.until - contest.since == 2 * MINUTE


def test_a_taint_that_is_set_again_has_another_time() -> None:
    clean = {"spec": {"taints": [{"key": "b", "effect": "NoSchedule"}]}}
    states = [
        {"spec": {"taints": [*clean["spec"]["taints"], TAINT | {"t": time}]}}
        for time in range(2)
    ]
    (contest,) = fought([clean, states[0], clean, states[1]], [HPA, ALICE])

    assert [side.value for side in contest.sides] == [True, None]


@pytest.mark.parametrize(
    "more",
    [
        {"who": [HPA]},
        {"who": [HPA, ALICE, "bob@example.com"]},
        {"every": timedelta(hours=1)},
        {"operation": Operation.LISTED},
        {"known_by": [KnownBy.UNKNOWN]},
        {"known_by": [KnownBy.AUDIT, KnownBy.MANAGED_FIELDS]},
    ],
)
def test_others_who_change_a_field_do_not_fight(more: dict[str, Any]) -> None:
    assert not fought(replicas(3, 5, 3, 5, 3), **{"who": [HPA, ALICE], **more})


def test_who_scales_on_does_not_undo() -> None:
    assert not fought(replicas(3, 5, 4, 6, 5), [HPA, ALICE])


def test_an_unknown_condition_claims_nothing() -> None:
    states = [condition("True"), condition("Unknown")] * 3

    assert not fought(states, [HPA, ALICE])


def test_what_begins_again_after_a_while_is_another_contest() -> None:
    states = replicas(3, 5, 3, 5, 9, 5, 9, 5)

    first, second = fought(states, [HPA, ALICE])

    assert [side.value for side in first.sides] == [5, 3]
    assert [side.value for side in second.sides] == [9, 5]
