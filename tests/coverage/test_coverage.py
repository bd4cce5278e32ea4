"""What streams vouch for, and where a window reaches beyond it.

Gaps and jumps of the clock are in `test_coverage_gaps`.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from recorder.facts.coverage.ports import Stream
from recorder.facts.coverage.unproven import STALE
from recorder.model.document import plain
from recorder.model.moment import written
from tests.coverage.judging import (
    LIVE,
    NODES,
    NOW,
    PODS,
    TAPE,
    CoveredLog,
    judged,
    reasons,
)
from tests.support.builders import at

A_SECOND = timedelta(seconds=1)


async def test_a_window_within_the_proof_is_complete() -> None:
    assert (await judged(CoveredLog(PODS), 10, 290)).complete


async def test_the_proof_itself_is_the_last_that_is_complete() -> None:
    assert (await judged(CoveredLog(PODS), 0, 300)).complete
    assert not (await judged(CoveredLog(PODS), 0, 300.000001)).complete


async def test_the_record_its_proof_and_now_are_three_things() -> None:
    later = replace(NODES, vouched_until=at(280))

    coverage = await judged(CoveredLog(PODS, later))

    assert coverage.complete
    assert coverage.window.until == NOW
    assert plain(coverage) | {
        "gaps": [],
        "sources": {},
    } == {
        "complete": True,
        "since": None,
        "until": written(NOW),
        "recorded_until": written(at(305)),
        "proven_until": written(at(280)),
        "now": written(NOW),
        "gaps": [],
        "sources": {},
    }


async def test_a_tape_without_an_end_ends_with_its_record() -> None:
    recorded = CoveredLog(
        PODS, replace(NODES, vouched_until=at(200)), log=TAPE
    )

    coverage = await judged(recorded, now=at(1_000_000))

    assert coverage.complete
    assert coverage.window.until == at(305) + timedelta(microseconds=1)


async def test_what_a_tape_proves_behind_its_last_entry_is_of_it() -> None:
    recorded = CoveredLog(replace(PODS, vouched_until=at(400)), log=TAPE)

    assert (await judged(recorded)).window.until == at(400)


async def test_only_what_follows_the_proof_of_a_tape_is_doubtful() -> None:
    early = replace(NODES, vouched_until=at(305) - STALE - A_SECOND)

    coverage = await judged(CoveredLog(PODS, early, log=TAPE))

    (hole,) = coverage.holes
    assert (hole.resource, hole.since) == ("v1/nodes", early.vouched_until)
    assert hole.until == coverage.window.until
    assert coverage.counted_until == at(305)


async def test_a_window_behind_the_record_of_a_tape_is_a_hole() -> None:
    recorded = CoveredLog(PODS, log=TAPE)

    assert reasons(await judged(recorded, 306)) == ["the tape ends before"]
    assert (await judged(recorded, 304)).complete


@pytest.mark.parametrize(
    ("until", "counted"), [(100, 100), (303, 303), (900, 305), (None, 305)]
)
async def test_losses_count_to_the_end_of_what_is_known(
    until: float | None, counted: float
) -> None:
    for log in (LIVE, TAPE):
        coverage = await judged(CoveredLog(PODS, log=log), 0, until)

        assert coverage.counted_until == at(counted)


async def test_a_proof_that_is_too_old_makes_it_incomplete() -> None:
    just_fresh = at(300) + STALE

    assert (await judged(CoveredLog(PODS), now=just_fresh)).complete
    stale = await judged(
        CoveredLog(PODS), now=just_fresh + timedelta(seconds=1)
    )

    assert reasons(stale) == [
        "not confirmed complete since then: is the recorder running?"
    ]


async def test_a_log_without_a_writer_is_complete_to_its_proof_alone() -> None:
    stopped = CoveredLog(PODS, log=replace(LIVE, holder=None))

    assert (await judged(stopped, now=at(300))).complete
    assert reasons(await judged(stopped, now=at(300) + A_SECOND)) == [
        "not confirmed complete since then: is the recorder running?"
    ]


async def test_the_last_moments_are_complete_before_they_are_proven() -> None:
    now = at(300) + STALE

    found = await judged(CoveredLog(PODS), now=now)
    asked = await judged(
        CoveredLog(PODS), 0, 300 + STALE.total_seconds(), now=now
    )

    assert found.complete
    assert (found.proven_until, found.window.until) == (at(300), now)
    assert reasons(asked) == ["not confirmed complete"]


async def test_one_resource_that_lags_is_named() -> None:
    lagging = replace(NODES, vouched_until=at(20))

    coverage = await judged(CoveredLog(PODS, lagging))

    assert [hole.resource for hole in coverage.holes] == ["v1/nodes"]


async def test_a_tape_is_over_and_never_too_old() -> None:
    long_after = at(1_000_000)

    assert (await judged(CoveredLog(PODS, log=TAPE), now=long_after)).complete
    assert not (
        await judged(CoveredLog(PODS, log=TAPE), 0, 400, now=long_after)
    ).complete


async def test_before_the_first_list_nothing_was_recorded() -> None:
    coverage = await judged(CoveredLog(PODS), -60, 10)

    assert reasons(coverage) == ["recording started later"]
    assert coverage.holes[0].until == at(0)


async def test_a_window_that_ends_before_the_first_list_is_one_hole() -> None:
    coverage = await judged(CoveredLog(PODS), -60, -30)

    assert [(hole.since, hole.until) for hole in coverage.holes] == [
        (at(-60), at(-30))
    ]


async def test_a_list_that_is_not_complete_vouches_for_nothing() -> None:
    listing = replace(
        NODES, state="listing", began_at=None, vouched_until=None
    )

    assert reasons(await judged(CoveredLog(PODS, listing))) == [
        "its first list is not complete"
    ]


async def test_a_kind_that_is_not_served_is_covered() -> None:
    absent = replace(NODES, state="absent", began_at=None, vouched_until=at(1))

    coverage = await judged(CoveredLog(PODS, absent), now=at(400))

    assert coverage.complete
    assert coverage.proven_until == at(300)


async def test_a_source_that_was_never_configured_is_absent() -> None:
    coverage = await judged(CoveredLog(PODS))

    assert plain(coverage)["sources"] == {
        "watch": "recorded",
        "audit": "absent",
        "cloudevents": "absent",
        "slurm": "absent",
    }
    assert coverage.complete


async def test_a_source_that_is_handed_things_does_not_count() -> None:
    audit = Stream(source="audit", resource="audit", state="listing")

    coverage = await judged(CoveredLog(PODS, audit))

    assert coverage.complete
    assert coverage.sources["audit"] == "recorded"


async def test_a_log_without_streams_vouches_for_nothing() -> None:
    assert reasons(await judged(CoveredLog())) == ["nothing recorded yet"]
    assert reasons(await judged(CoveredLog(log=TAPE))) == [
        "nothing recorded yet"
    ]


async def test_what_claims_a_time_that_has_not_come_makes_a_hole() -> None:
    coverage = await judged(CoveredLog(PODS, log=TAPE))
    end = coverage.window.until
    assert end is not None

    assert coverage.reaching(at(305)) is coverage
    coverage = coverage.reaching(at(700))

    (hole,) = coverage.holes
    assert (hole.since, hole.until) == (end, coverage.window.until)
    assert coverage.window.until == at(700) + timedelta(microseconds=1)
