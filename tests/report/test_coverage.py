"""What streams vouch for, and where a window reaches beyond it.

Gaps and jumps of the clock are in `test_coverage_gaps`.
"""

from dataclasses import replace
from datetime import timedelta

from recorder.report.holes import STALE
from recorder.report.ports import Stream
from tests.report.judging import NODES, PODS, TAPE, Told, judged, reasons
from tests.support.builders import at


async def test_a_window_within_the_proof_is_complete() -> None:
    assert (await judged(Told(PODS), 10, 290)).complete


async def test_the_proof_itself_is_the_last_that_is_complete() -> None:
    assert (await judged(Told(PODS), 0, 300)).complete
    assert not (await judged(Told(PODS), 0, 300.000001)).complete


async def test_without_an_end_it_ends_at_the_least_proof() -> None:
    later = replace(NODES, vouched_until=at(280))

    coverage = await judged(Told(PODS, later))

    assert coverage.complete
    assert coverage.window.until == at(280)


async def test_a_proof_that_is_too_old_makes_it_incomplete() -> None:
    just_fresh = at(300) + STALE

    assert (await judged(Told(PODS), now=just_fresh)).complete
    stale = await judged(Told(PODS), now=just_fresh + timedelta(seconds=1))

    assert reasons(stale) == [
        "nothing vouches for it any more: is the recorder running?"
    ]


async def test_one_resource_that_lags_is_named() -> None:
    lagging = replace(NODES, vouched_until=at(20))

    coverage = await judged(Told(PODS, lagging))

    assert [hole.resource for hole in coverage.holes] == ["v1/nodes"]


async def test_a_tape_is_over_and_never_too_old() -> None:
    long_after = at(1_000_000)

    assert (await judged(Told(PODS, log=TAPE), now=long_after)).complete
    assert not (
        await judged(Told(PODS, log=TAPE), 0, 400, now=long_after)
    ).complete


async def test_before_the_first_list_nothing_was_recorded() -> None:
    coverage = await judged(Told(PODS), -60, 10)

    assert reasons(coverage) == ["recording began later"]
    assert coverage.holes[0].to == at(0)


async def test_a_window_that_ends_before_the_first_list_is_one_hole() -> None:
    coverage = await judged(Told(PODS), -60, -30)

    assert [(hole.since, hole.to) for hole in coverage.holes] == [
        (at(-60), at(-30))
    ]


async def test_a_list_that_is_not_complete_vouches_for_nothing() -> None:
    listing = replace(
        NODES, state="listing", began_at=None, vouched_until=None
    )

    assert reasons(await judged(Told(PODS, listing))) == [
        "its first list is not complete"
    ]


async def test_a_kind_that_is_not_served_is_covered() -> None:
    absent = replace(NODES, state="absent", began_at=None, vouched_until=at(1))

    coverage = await judged(Told(PODS, absent), now=at(400))

    assert coverage.complete
    assert coverage.window.until == at(300)


async def test_a_source_that_was_never_configured_is_absent() -> None:
    coverage = await judged(Told(PODS))

    assert coverage.document()["sources"] == {
        "watch": "recorded",
        "audit": "absent",
        "cloudevents": "absent",
        "slurm": "absent",
    }
    assert coverage.complete


async def test_a_source_that_is_handed_things_does_not_count() -> None:
    audit = Stream(source="audit", resource="audit", state="listing")

    coverage = await judged(Told(PODS, audit))

    assert coverage.complete
    assert coverage.sources["audit"] == "recorded"


async def test_a_log_without_streams_vouches_for_nothing() -> None:
    assert reasons(await judged(Told())) == ["nothing was recorded yet"]
    assert reasons(await judged(Told(log=TAPE))) == [
        "nothing was recorded yet"
    ]
