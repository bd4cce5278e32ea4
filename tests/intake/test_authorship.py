"""Which writes are on record is counted while audit is read, and said."""

from collections.abc import Iterator
from datetime import timedelta

import orjson
import pytest

from recorder.facts.coverage.authorship import HOURS_MAX, Tally, unaudited
from recorder.facts.coverage.hole import Hole
from recorder.facts.coverage.ports import Stream
from recorder.model.observation import (
    AUDIT,
    AUDITED,
    AuditRecorded,
    PlaceReached,
    WatchFrame,
)
from recorder.model.window import Window
from tests.audit.receiving import a_record
from tests.support.builders import NODES, PODS, a_frame, a_list, an_object, at
from tests.support.story import Story

LISTENING = PlaceReached(
    observed_at=at(), source=AUDIT, stream="webhook", place="now"
)


def writes(
    many: int, resource: str = "pods", **more: object
) -> Iterator[AuditRecorded]:
    for number in range(many):
        about = {"resource": resource, "name": f"p{number}", **more}
        record = a_record(f"{resource}{number}", objectRef=about)
        yield AuditRecorded(observed_at=at(), event=orjson.dumps(record))


def versions(many: int, *, first: int = 10) -> Iterator[WatchFrame]:
    for number in range(first, first + many):
        yield a_frame(PODS, "MODIFIED", an_object("p", number))


def missing(story: Story) -> list[Hole]:
    point = story.log.streams.get((AUDITED, str(PODS)))
    stream = Stream(
        source="watch",
        resource=str(PODS),
        state="live",
        audited=None if point is None else point.completed,
    )
    return [*unaudited([stream], Window(), lambda name: name == str(PODS))]


def test_versions_without_a_record_lack_their_authors() -> None:
    story = Story(a_list(PODS, 9), LISTENING).take(*versions(10))

    (hole,) = missing(story)

    assert (hole.source, hole.resource) == (AUDIT, str(PODS))
    assert "none of 10 versions have an audit record" in hole.reason


def test_of_a_log_without_audit_nothing_is_said() -> None:
    assert not missing(Story(a_list(PODS, 9)).take(*versions(50)))


def test_a_few_versions_prove_nothing_as_records_come_later() -> None:
    story = Story(a_list(PODS, 9), LISTENING).take(*versions(9))

    assert not missing(story)


def test_a_policy_that_keeps_evictions_alone_leaves_writes_out() -> None:
    evictions = writes(2, subresource="eviction")
    story = Story(a_list(PODS, 9), LISTENING).take(*versions(50), *evictions)

    (hole,) = missing(story)

    assert "at most 4 of 50 versions" in hole.reason


def test_writes_on_record_are_no_hole_whichever_came_first() -> None:
    listed = Story(a_list(PODS, 9), LISTENING)

    assert not missing(listed.take(*writes(10), *versions(10)))


@pytest.mark.parametrize(
    "record",
    [
        {"resource": "pods", "verb": "get"},
        {"resource": "nodes"},
        {"resource": "pods", "subresource": "exec"},
    ],
)
def test_what_writes_no_pod_does_not_count(record: dict[str, str]) -> None:
    verb = record.pop("verb", "update")
    noted = [
        AuditRecorded(
            observed_at=at(),
            event=orjson.dumps(
                a_record(str(number), objectRef=record, verb=verb)
            ),
        )
        for number in range(10)
    ]
    story = Story(a_list(PODS, 9), a_list(NODES, 9), LISTENING)

    assert missing(story.take(*versions(10), *noted))


def test_counts_go_on_over_a_restart() -> None:
    story = Story(a_list(PODS, 9), LISTENING).take(*versions(6))
    story = story.restarted(LISTENING).take(*versions(4, first=16))

    assert "none of 10 versions" in missing(story)[0].reason


def test_a_policy_is_judged_by_the_hours_that_are_asked_about() -> None:
    tally = Tally()
    hour = timedelta(hours=1)
    tally.add(at(), versions=20, writes=20)
    tally.add(at() + hour, versions=20)
    again = Tally.parse(tally.written())

    assert not again.within(Window(None, at())).left_out
    assert again.within(Window(at() + hour, None)).left_out


def test_hours_that_are_long_over_are_one() -> None:
    tally = Tally()
    for hour in range(3 * HOURS_MAX):
        tally.add(at() + timedelta(hours=hour), versions=1)

    assert len(orjson.loads(tally.written())) == HOURS_MAX
    assert tally.within(Window()).versions == 3 * HOURS_MAX
