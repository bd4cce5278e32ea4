"""Two who undo each other's cordon are named as such, others are not."""

from recorder.explain.contests import with_contests
from recorder.explain.tracks.episodes import episodes_of
from recorder.explain.verdict import Verdict
from recorder.knowledge import shipped
from tests.explain.tale import Tale

OPERATOR, KURED = "node-maintenance-operator", "kured"
CORDON = '{"spec":{"unschedulable":true}}'


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
        assert contest is not None
        assert contest.cordoned_by.name == OPERATOR
        assert contest.uncordoned_by.name == KURED
        assert len(contest.entries) == 6
        assert verdict.sentence.endswith(
            "node-maintenance-operator and kured undid each other's cordon:"
            " 6 changes from 03:00:10 to 03:02:20."
        )


def test_one_who_cordons_and_one_who_gives_back_do_not_fight() -> None:
    (verdict,) = judged(a_fight(1))

    assert verdict.contest is None


def test_what_lies_hours_apart_is_no_fight() -> None:
    assert [v.contest for v in judged(a_fight(3, every=7200))] == [None] * 3


def test_one_who_changes_its_mind_does_not_fight() -> None:
    tale = Tale()
    for turn in range(3):
        tale.cordons(10 + turn * 60, OPERATOR)
        tale.uncordons(20 + turn * 60, "node-maintenance")

    assert {v.contest for v in judged(tale)} == {None}


def test_three_who_take_turns_are_no_fight_of_two() -> None:
    tale = Tale().cordons(10, OPERATOR).uncordons(20, KURED)
    tale.cordons(30, "karpenter").uncordons(40, "descheduler")

    assert {v.contest for v in judged(tale)} == {None}


def test_audit_names_the_person_in_it() -> None:
    tale = Tale()
    for turn in range(2):
        tale.asks(10 + turn * 60, "alice@example.com", "patch", CORDON)
        tale.cordons(10 + turn * 60, "kubectl")
        tale.uncordons(40 + turn * 60, KURED)

    first, second = judged(tale)

    assert first.contest is not None
    assert first.contest == second.contest
    assert first.contest.cordoned_by.name == "alice@example.com"
