"""To when what is lost and not over is counted, and what hides it."""

from dataclasses import replace
from typing import cast

from recorder.answers.loading.hits import _scope, _unheard
from recorder.answers.ports import Reading
from recorder.explain.hit import Scope
from recorder.facts.coverage.account import read_account
from recorder.facts.coverage.unproven import STALE
from recorder.model.window import Window
from tests.coverage.judging import (
    NODES,
    NOW,
    PODS,
    TAPE,
    CoveredLog,
    a_gap,
    judged,
)
from tests.support.builders import at


async def scope_of(
    recorded: CoveredLog,
    since: float | None = None,
    until: float | None = None,
) -> Scope:
    begin = None if since is None else at(since)
    end = None if until is None else at(until)
    reading = cast("Reading", recorded)
    window = Window(begin, end)
    account = await read_account(reading, window, now=NOW)
    unheard = await _unheard(reading, [], Window(begin, None), account)
    return _scope({"gpu-001"}, window, account, unheard)


async def test_what_stays_lost_costs_to_the_end_of_the_record() -> None:
    early = replace(PODS, vouched_until=at(10))
    recorded = CoveredLog(early, NODES, log=TAPE)

    coverage = await judged(recorded)
    scope = await scope_of(recorded)

    assert not coverage.complete, "the proof ends long before the record"
    assert coverage.window.until is not None
    assert at(10) + STALE < coverage.window.until
    assert (scope.until, list(scope.unheard)) == (at(305), [])


async def test_an_end_behind_the_record_adds_nothing() -> None:
    scope = await scope_of(CoveredLog(PODS, NODES, log=TAPE), 0, 9000)

    assert (scope.until, list(scope.unheard)) == (at(305), [])


async def test_an_end_within_the_record_is_taken_literally() -> None:
    scope = await scope_of(CoveredLog(PODS, log=TAPE), 0, 100)

    assert scope.until == at(100)


async def test_a_gap_costs_nothing_before_the_first_pod_is_recorded() -> None:
    still_open = replace(PODS, vouched_until=at(40), gap=a_gap(40, None))
    closed = CoveredLog(PODS, NODES, gaps=[a_gap(50, 60)], log=TAPE)

    (hole,) = (await scope_of(CoveredLog(still_open, NODES))).unheard
    assert (hole.since, hole.until) == (at(40), None)
    for since in (None, 0, 100):
        (hole,) = (await scope_of(closed, since)).unheard
        assert (hole.since, hole.until) == (at(50), at(60)), "in any window"


async def test_of_the_time_before_the_first_list_what_was_read_counts() -> (
    None
):
    later = CoveredLog(replace(PODS, began_at=at(100)), NODES, log=TAPE)

    for since in (None, 0):
        assert not (await scope_of(later, since)).unheard
