"""A chain needs only those facts of evicted Pods that are within its reach.

Reading these alone gives the same verdicts as reading all of them.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.explain.knowledge import shipped
from recorder.explain.tracks.episodes import episodes_of
from recorder.model.fact import StoredFact
from recorder.model.facts import ConditionChanged
from tests.explain.tale import Tale
from tests.explain.test_any_story import STEPS, WAITS, Step

GONE: tuple[Step, ...] = (
    lambda t, s: t.pod(s, "EvictionByEvictionAPI"),
    lambda t, s: t.pod(s, "DeletionByTaintManager"),
    lambda t, s: t.pod(s, "PreemptionByScheduler"),
    lambda t, s: t.pod(s, "TerminationByKubelet", "Pod was shutdown"),
)
EVERY = (*STEPS, *GONE * 5)
stories = st.lists(
    st.tuples(WAITS, st.integers(0, len(EVERY) - 1)), max_size=25
)


def had_to_go(stored: StoredFact) -> bool:
    fact = stored.fact
    return (
        isinstance(fact.detail, ConditionChanged)
        and fact.detail.type == "DisruptionTarget"
    )


def within_reach(facts: list[StoredFact]) -> list[StoredFact]:
    others = [stored for stored in facts if not had_to_go(stored)]
    mine = [stored for stored in others if stored.fact.node == "n1"]
    spans = [chain.reach() for chain in episodes_of("n1", mine, shipped())]
    return [
        stored
        for stored in facts
        if not had_to_go(stored)
        or any(since <= stored.observed_at <= until for since, until in spans)
    ]


@settings(max_examples=400, deadline=None)
@given(stories)
def test_pods_that_went_at_other_times_change_no_verdict(
    story: list[tuple[float, int]],
) -> None:
    tale, seconds = Tale("n1", "n2"), 10.0
    for wait, step in story:
        seconds += wait
        EVERY[step](tale, seconds)

    found = tale.verdicts(facts=within_reach(tale.facts))

    assert repr(found) == repr(tale.verdicts())


def test_pods_that_went_at_other_times_are_left_out() -> None:
    tale = Tale("n1", "n2").pod(10, "EvictionByEvictionAPI")
    tale.cordons(5000, "kubectl").pod(5001, "EvictionByEvictionAPI")
    tale.uncordons(5100).pod(9000, "EvictionByEvictionAPI")

    left = [s for s in within_reach(tale.facts) if had_to_go(s)]

    assert [stored.entry.position for stored in left] == [
        tale.facts[-3].entry.position
    ]
