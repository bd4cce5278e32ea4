"""What went before its day is a hole of the questions that read it."""

from collections.abc import Sequence

from recorder.facts.coverage.account import everything
from recorder.facts.coverage.ports import Reads, Thinned
from recorder.facts.coverage.unproven import thinned_out
from recorder.model.window import Window
from tests.support.builders import at

PLACE = "/archive"


def gone(name: str, day: int, *, reason: str = "", facts: int = 1) -> Thinned:
    return Thinned(
        day=f"day {day}",
        since=at(100 * day),
        until=at(100 * day + 99),
        rule=f"{name}/{reason}" if reason else name,
        name=name,
        days=day + 1,
        facts=facts,
        archive=PLACE if day else None,
    )


def holes(
    *found: Thinned,
    since: float | None = 0,
    until: float | None = 1000,
    reads: Reads = everything,
    facts: bool = False,
) -> Sequence[tuple[object, ...]]:
    window = Window(
        None if since is None else at(since),
        None if until is None else at(until),
    )
    return [
        (hole.resource or hole.source, hole.since, hole.until)
        for hole in thinned_out(found, window, reads, facts=facts)
    ]


def watched(source: str, resource: str) -> bool:
    return (source, resource) == ("watch", "v1/events")


def test_days_of_one_rule_are_one_hole_within_the_window() -> None:
    found = holes(gone("Event", 0), gone("Event", 2), since=50, until=250)
    assert found == [("v1/events", at(50), at(250))]
    assert holes(gone("Event", 2), until=150) == []
    assert holes(gone("Event", 0), since=150) == []


def test_a_question_without_a_beginning_asks_for_what_is_kept() -> None:
    assert holes(gone("Event", 0), since=None) == []


def test_only_what_a_question_reads_is_missing_from_it() -> None:
    lease, event, audit = (
        gone(name, 0) for name in ("Lease", "Event", "audit")
    )
    found = holes(lease, event, audit, reads=watched)
    assert [hole[0] for hole in found] == ["v1/events"]


def test_questions_of_facts_lack_only_facts_those_of_requests_too() -> None:
    found = (
        gone("Event", 0, facts=0),
        gone("audit", 0, reason="get", facts=0),
        gone("audit", 0, reason="delete"),
    )
    holes = thinned_out(found, Window(at(0), None), watched, facts=True)
    (reason,) = [hole.reason for hole in holes]
    assert reason == (
        "audit records (delete) older than a day went by policy,"
        " retention_shorter audit/delete=1"
    )


def test_a_hole_says_where_what_is_missing_is() -> None:
    (hole,) = thinned_out(
        [gone("Lease", 1)], Window(at(0), None), everything, facts=False
    )
    assert hole.reason == (
        "silences of leases older than 2 days went by policy,"
        " retention_shorter Lease=2; they are in the archive, /archive"
    )
