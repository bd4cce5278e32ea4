"""Two who undo each other's cordon are named as such, others are not."""

import pytest
from msgspec.structs import replace

from recorder.explain.contests import with_contests
from recorder.explain.knowledge import shipped
from recorder.explain.tracks.episodes import episodes_of
from recorder.explain.verdict import Verdict
from recorder.model.document import plain
from recorder.model.fact import FactKind
from tests.explain.tale import Tale
from tests.support.builders import at

OPERATOR, KURED = "node-maintenance-operator", "kured"
CORDON = '{"spec":{"unschedulable":true}}'
GIVEN_BACK = '{"spec":{"unschedulable":null}}'


def judged(tale: Tale) -> list[Verdict]:
    mine = [fact for fact in tale.facts if fact.fact.node == "n1"]
    chains = episodes_of("n1", mine, shipped(), None)
    return with_contests(chains, tale.verdicts())


def a_fight(rounds: int, *, every: float = 60) -> Tale:
    tale = Tale()
    for turn in range(rounds):
        tale.cordons(10 + turn * every, OPERATOR)
        tale.uncordons(20 + turn * every, KURED)
    return tale


def test_two_controllers_that_fight_are_named_in_each_verdict() -> None:
    verdicts = judged(a_fight(3))

    assert len(verdicts) == 3
    for verdict in verdicts:
        contest = verdict.contest
        assert contest
        assert contest.cordoned_by.name == OPERATOR
        assert contest.uncordoned_by.name == KURED
        assert len(contest.entries) == 6
        assert verdict.sentence.endswith(
            "node-maintenance-operator and kured undid each other's cordon:"
            " 6 changes from 03:00:10 to 03:02:20."
        )


def test_a_fight_lasts_to_its_latest_change() -> None:
    """Who restores the taints of a node restores the times in them."""
    key, effect = "example.com/drain", "NoSchedule"
    taint = {"key": key, "value": None, "effect": effect}
    tale = Tale().cordons(5, OPERATOR)
    tale.taints(10, key, actor=OPERATOR)
    for turn in range(2):
        tale.taints(20 + turn * 60, key, actor=KURED, off=True)
        tale.add(
            30 + turn * 60,
            FactKind.TAINTED,
            taint,
            actor=OPERATOR,
            occurred=10,
        )
    (verdict,) = judged(tale)

    (contest,) = verdict.contests or ()
    assert (contest.since, contest.until) == (at(10), at(80))


def test_one_who_cordons_and_one_who_gives_back_do_not_fight() -> None:
    (verdict,) = judged(a_fight(1))

    assert not verdict.contest


def test_what_lies_hours_apart_is_no_fight() -> None:
    assert not any(v.contest for v in judged(a_fight(3, every=7200)))


def test_one_who_changes_its_mind_does_not_fight() -> None:
    tale = Tale()
    for turn in range(3):
        tale.cordons(10 + turn * 60, OPERATOR)
        tale.uncordons(20 + turn * 60, "node-maintenance")

    assert not any(v.contest for v in judged(tale))


def test_three_who_take_turns_are_no_fight_of_two() -> None:
    tale = Tale().cordons(10, OPERATOR).uncordons(20, KURED)
    tale.cordons(30, "karpenter").uncordons(40, "descheduler")

    assert not any(v.contest for v in judged(tale))


def test_audit_names_the_person_in_it() -> None:
    tale = Tale()
    for turn in range(2):
        tale.asks(10 + turn * 60, "alice@example.com", "patch", CORDON)
        tale.cordons(10 + turn * 60, "kubectl")
        tale.uncordons(40 + turn * 60, KURED)

    first, second = judged(tale)

    assert first.contest
    assert first.contest == second.contest
    assert first.contest.cordoned_by.name == "alice@example.com"


def fought_over(field: str, key: str, value: str) -> Tale:
    """A reboot while two undo each other's changes of something else."""
    tale = Tale().cordons(5, OPERATOR)
    for start in (10, 70):
        if field == "taints":
            tale.taints(start, key, actor=OPERATOR)
            tale.taints(start + 20, key, actor=KURED, off=True)
            continue
        note = field == "annotations"
        tale.labels(start, key, value, actor=OPERATOR, annotation=note)
        tale.labels(
            start + 20, key, None, old=value, actor=KURED, annotation=note
        )
    return tale.boots(170).ready(175).uncordons(200, OPERATOR)


@pytest.mark.parametrize(
    ("field", "key", "value", "by"),
    [
        ("taints", "pool", "", OPERATOR),
        (
            "labels",
            "nvidia.com/gpu-driver-upgrade-state",
            "drain-required",
            "gpu-operator",  # whose label it is, by its rule
        ),
        ("annotations", "example.com/reboot", "now", OPERATOR),
    ],
)
def test_a_contest_over_any_field_that_bears_on_a_verdict_is_reported(
    field: str, key: str, value: str, by: str
) -> None:
    (verdict,) = judged(fought_over(field, key, value))

    (contest,) = verdict.contests or ()
    assert key in contest.path
    assert field in contest.path
    assert [(side.actor.name, side.value) for side in contest.sides] == [
        (by, value or True),
        (KURED, None),
    ]
    assert len(contest.entries) == 4
    assert not verdict.contest  # not over its cordon
    assert verdict.sentence.endswith(
        f"{by} and {KURED} undid each other's changes of {contest.path}:"
        " 4 changes from 03:00:10 to 03:01:30."
    )


def test_who_is_in_managed_fields_is_not_taken_for_who_asked_then() -> None:
    """A taint has the second in which it was added, when others asked too."""
    body = '{"taints":[{"key":"pool"}]}'
    tale = Tale().cordons(5, OPERATOR)
    tale.asks(10.2, "alice@example.com", "patch", body)
    tale.taints(10.2, "pool", actor="kubectl")
    tale.asks(10.8, KURED, "patch", body)
    tale.taints(10.8, "pool", actor=KURED, off=True)
    tale.asks(10.9, KURED, "patch", body)
    again = {"key": "pool", "value": None, "effect": "NoSchedule"}
    tale.add(10.9, FactKind.TAINTED, again, actor=KURED, occurred=10)

    (verdict,) = judged(tale.boots(170).ready(175).uncordons(200, OPERATOR))

    assert not verdict.contests


def test_a_contest_that_no_verdict_rests_on_is_left_to_who() -> None:
    """Two other authors take turns over a label meanwhile."""
    tale = Tale().cordons(5, "alice")
    for turn in range(3):
        tale.labels(10 + turn * 60, "team", "a", actor="red")
        tale.labels(20 + turn * 60, "team", None, old="a", actor="blue")
    tale.uncordons(300, "alice")

    assert not any(v.contests for v in judged(tale))


def test_a_person_who_gives_a_node_back_is_named_by_audit() -> None:
    tale = Tale()
    for turn in range(2):
        tale.cordons(10 + turn * 60, OPERATOR)
        tale.asks(40 + turn * 60, "alice@example.com", "patch", GIVEN_BACK)
        tale.uncordons(40 + turn * 60, "kubectl")

    first, _ = judged(tale)

    assert first.contest
    assert first.contest.uncordoned_by.name == "alice@example.com"


def test_a_contest_is_shown_with_both_sides() -> None:
    (verdict,) = judged(fought_over("taints", "pool", ""))

    (contest,) = verdict.contests or ()
    (shown,) = plain(verdict)["contests"]

    assert shown["entries"] == [str(one) for one in contest.entries]
    assert [
        (side["actor"]["name"], side["value"]) for side in shown["sides"]
    ] == [(OPERATOR, True), (KURED, None)]


def test_an_empty_label_is_not_one_that_was_removed() -> None:
    (verdict,) = judged(fought_over("annotations", "example.com/reboot", "a"))
    (contest,) = verdict.contests or ()
    one, other = contest.sides
    empty = replace(contest, sides=[replace(one, value=""), other])

    assert [side["value"] for side in plain(empty)["sides"]] == ["", None]
