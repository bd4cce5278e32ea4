"""To when what is lost and not over is counted, and what hides it."""

from dataclasses import replace

from recorder.coverage.unproven import STALE
from recorder.questions.loading.hits import _scope
from tests.coverage.judging import NODES, PODS, TAPE, Told, a_gap, judged
from tests.support.builders import at


async def test_what_stays_lost_costs_to_the_end_of_the_record() -> None:
    early = replace(PODS, vouched_until=at(10))
    told = Told(early, NODES, log=TAPE)

    coverage = await judged(told)
    scope = _scope({"gpu-001"}, coverage)

    assert not coverage.complete, "the proof ends long before the record"
    assert coverage.window.until is not None
    assert at(10) + STALE < coverage.window.until
    assert (scope.until, list(scope.unheard)) == (at(305), [])


async def test_an_end_behind_the_record_adds_nothing() -> None:
    told = Told(PODS, NODES, log=TAPE)

    scope = _scope({"gpu-001"}, await judged(told, 0, 9000))

    assert (scope.until, list(scope.unheard)) == (at(305), [])


async def test_an_end_within_the_record_is_taken_literally() -> None:
    scope = _scope({"gpu-001"}, await judged(Told(PODS, log=TAPE), 0, 100))

    assert scope.until == at(100)


async def test_a_gap_costs_nothing_while_nobody_heard_of_pods() -> None:
    still_open = replace(PODS, vouched_until=at(40), gap=a_gap(40, None))
    closed = Told(PODS, NODES, gaps=[a_gap(50, 60)], log=TAPE)

    (hole,) = _scope({"a"}, await judged(Told(still_open, NODES))).unheard
    assert (hole.since, hole.until) == (at(40), None)
    (hole,) = _scope({"a"}, await judged(closed)).unheard
    assert (hole.since, hole.until) == (at(50), at(60))


async def test_before_recording_began_nothing_was_heard() -> None:
    later = replace(PODS, began_at=at(100))

    coverage = await judged(Told(later, NODES, log=TAPE), 0)
    (hole,) = _scope({"gpu-001"}, coverage).unheard

    assert (hole.since, hole.until) == (at(0), at(100))
