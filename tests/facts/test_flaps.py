"""Flaps of a port: bounded for each run, whatever is claimed between."""

import random
from collections.abc import Sequence

import pytest

from recorder.facts.flaps import BEAT_SECONDS, CLAIMS_MAX, without_flaps
from recorder.model.fact import FactKind, StoredFact
from tests.explain.history import History

NODE = "n1"


def port(
    tale: History, seconds: float, state: str, name: str = "p1"
) -> History:
    detail = {
        "type": "link.state",
        "source": "ufm",
        "subject": f"port/{name}",
        "data": {"state": state, "node": NODE},
    }
    return tale.add(seconds, FactKind.CLAIMED, detail, occurred=seconds)


def states(facts: Sequence[StoredFact]) -> list[str]:
    return [
        one.fact.detail.data["state"]  # type: ignore[union-attr]
        for one in facts
        if one.fact.kind is FactKind.CLAIMED
    ]


def test_an_hour_of_flaps_is_how_it_began_and_how_it_ended() -> None:
    tale = History()
    for number in range(36_000):
        port(tale, number / 10, ("down", "up")[number % 2])
    tale.lost(3_601)
    kept = without_flaps(tale.facts)
    assert [kept[1], kept[2]] == [tale.facts[1], tale.facts[-2]]
    assert states(kept) == ["down", "up"]
    assert [one.fact.kind for one in kept[3:]] == [FactKind.CONDITION_CHANGED]


def test_a_port_that_ends_as_it_began_was_otherwise_between() -> None:
    tale = History()
    for number in range(2 * CLAIMS_MAX + 1):
        port(tale, number, ("up", "down")[number % 2])
    assert states(without_flaps(tale.facts)) == ["up", "down", "up"]


def test_transitions_of_a_restart_are_all_kept() -> None:
    tale = History()
    for number in range(4_000):
        port(tale, number * 60 / 4_000, "down", f"p{number}")
    assert without_flaps(tale.facts) == tale.facts


@pytest.mark.parametrize("seed", range(20))
def test_each_run_keeps_its_ends_and_no_more_than_is_bounded(
    seed: int,
) -> None:
    chance = random.Random(seed)
    tale, seconds = History(), 0.0
    runs: list[list[StoredFact]] = []
    for _ in range(chance.randrange(1, 6)):
        begin = len(tale.facts)
        for _ in range(chance.choice([1, 2, CLAIMS_MAX, CLAIMS_MAX + 1, 60])):
            port(tale, seconds, chance.choice(["down", "up", "degraded"]))
            seconds += chance.random()
        runs.append(tale.facts[begin:])
        seconds += 2 * BEAT_SECONDS
    kept = without_flaps(tale.facts)
    assert kept == [one for one in tale.facts if one in kept]
    for run in runs:
        of_run = [one for one in run if one in kept]
        assert (of_run[0], of_run[-1]) == (run[0], run[-1])
        assert of_run == run or len(run) > CLAIMS_MAX
        assert len(of_run) <= 2 * max(3, CLAIMS_MAX)


def test_claims_that_name_no_state_are_no_flaps() -> None:
    tale = History()
    for number in range(3 * CLAIMS_MAX):
        detail = {
            "type": "place.relation",
            "source": "dc",
            "subject": "port/p1",
            "data": {"parent": f"switch/{number}"},
        }
        tale.add(number, FactKind.CLAIMED, detail)
    assert without_flaps(tale.facts) == tale.facts
