"""Gaps of one reason and time are one outage."""

from datetime import UTC, datetime, timedelta

from recorder.answers.outages import length_of, outage_lines
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.outages import outages_of
from recorder.model.reference import EntryName

BEGIN = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
CAME_AND_WENT = "an object that was created and deleted in between"


def gap(
    position: int, resource: str, begin: int, end: int | None, reason: str
) -> Gap:
    """Make a gap with ends in seconds."""
    return Gap(
        opened=EntryName(1, position),
        source="watch",
        resource=resource,
        since=BEGIN + timedelta(seconds=begin),
        until=None if end is None else BEGIN + timedelta(seconds=end),
        reason=reason,
        resource_version_before="1",
        resource_version_after=None if end is None else "2",
        possible=(CAME_AND_WENT,),
    )


def test_one_outage_of_a_recorder_is_one() -> None:
    gaps = [
        gap(12, "v1/pods", 3, 131, "expired"),
        gap(11, "v1/nodes", 0, 130, "expired"),
        gap(20, "v1/nodes", 300, 310, "expired"),
        gap(13, "v1/events", 5, 60, "rewound"),
    ]

    first, other, later = outages_of(gaps)

    assert [str(one) for one in first.gaps] == ["1/11", "1/12"]
    assert first.resources == ["v1/nodes", "v1/pods"]
    assert first.since == BEGIN
    assert length_of(first) == "2m11s"
    assert other.reason == "rewound"
    assert [str(one) for one in later.gaps] == ["1/20"]
    assert outage_lines(first) == [
        "2m11s from 1/11, v1/nodes, v1/pods: known to differ: nothing",
        f"  may be missing: {CAME_AND_WENT} (v1/nodes, v1/pods)",
    ]


def test_an_outage_is_open_as_long_as_one_of_its_gaps() -> None:
    gaps = [
        gap(11, "v1/nodes", 0, 130, "expired"),
        gap(12, "v1/pods", 3, None, "expired"),
        gap(20, "v1/nodes", 300, 310, "expired"),
    ]

    (one,) = outages_of(gaps)

    assert one.until is None
    assert length_of(one) == "open"
    assert len(one.gaps) == 3
