"""What a second list proves, and which gap it leaves."""

from datetime import timedelta

import pytest

from recorder.intake.known_events import KnownEvent
from tests.support.builders import (
    EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    a_bookmark,
    a_closed_stream,
    a_frame,
    a_list,
    a_node,
    an_event,
    an_object,
    at,
)
from tests.support.story import Story

__all__ = ["KnownEvent"]


def an_expired_watch() -> list[object]:
    return [
        a_list(PODS, 9, an_object("a", 3), an_object("b", 4), when=0),
        a_bookmark(PODS, 20, when=60),
        a_closed_stream(PODS, "410", when=90),
    ]


def test_a_first_list_is_no_gap() -> None:
    story = Story(a_list(PODS, 9, an_object("a", 3)))

    assert story.operations() == ["listed"]
    assert story.point(PODS).began_at == at(0)


def test_an_expired_watch_opens_a_gap_at_the_last_proof() -> None:
    story = Story(*an_expired_watch())

    gap = story.point(PODS).gap
    assert gap is not None
    assert (gap.since, gap.reason) == (at(60), "watch expired (410)")
    assert gap.resource_version == "20"


def test_the_list_closes_the_gap_with_what_it_proved() -> None:
    story = Story(
        *an_expired_watch(),
        a_list(PODS, 50, an_object("a", 30), an_object("c", 31), when=95),
    )

    assert story.summaries("listed", "absent") == [
        "listed a 3", "listed b 4", "listed a 30", "listed c 31", "absent b",
    ]  # fmt: skip
    (gap,) = story.gaps()
    assert gap["from"] == "2026-11-21T03:01:00.000000Z"
    assert gap["to"] == "2026-11-21T03:01:35.000000Z"
    assert gap["resource_version_before"] == "20"
    assert gap["resource_version_after"] == "50"
    assert (
        "0 objects unchanged, 1 changed, 1 new and 1 absent" in (gap["proved"])
    )
    assert len(gap["possible"]) == 4
    assert story.point(PODS).gap is None


def test_a_relist_with_no_change_still_leaves_what_came_and_went() -> None:
    story = Story(
        *an_expired_watch(),
        a_list(PODS, 50, an_object("a", 3), an_object("b", 4), when=95),
    )

    assert story.summaries("listed") == ["listed a 3", "listed b 4"]
    (gap,) = story.gaps()
    assert gap["possible"] == [
        "an object that was created and deleted in between"
    ]


def test_a_gap_stays_open_over_a_restart_until_a_list_is_complete() -> None:
    story = Story(*an_expired_watch())
    story = story.restarted(
        a_list(PODS, 50, an_object("a", 3), more=True, when=95)
    )
    assert story.gaps() == []

    story = story.restarted(
        a_list(PODS, 51, an_object("a", 3), more=True, when=97),
        a_list(PODS, 51, an_object("b", 4), when=98),
    )
    (gap,) = story.gaps()
    assert gap["to"] == "2026-11-21T03:01:37.000000Z"
    assert story.operations().count("gap-opened") == 1


def test_pages_of_a_list_that_was_given_up_infer_nothing() -> None:
    story = Story(
        *an_expired_watch(),
        a_list(PODS, 50, an_object("a", 3), more=True, when=95),
        a_list(PODS, 60, an_object("a", 3), more=True, when=97),
        a_list(PODS, 60, an_object("b", 4), when=98),
    )

    assert story.summaries("absent") == []


def test_an_event_of_a_list_that_is_begun_again_is_entered_once() -> None:
    first = a_list(EVENTS, 80, an_event("f", 70), more=True, when=602)
    again = a_list(EVENTS, 80, an_event("f", 70), more=True, when=603)
    other = a_list(EVENTS, 81, an_event("e", 5), an_event("f", 70), when=604)
    story = Story(*quiet_events(), first, again, other)

    assert story.summaries("listed") == [
        "listed train 2", "listed e 5", "listed f 70",
    ]  # fmt: skip


def test_nothing_is_absent_before_the_last_page() -> None:
    story = Story(
        *an_expired_watch(),
        a_list(PODS, 50, an_object("a", 3), more=True, when=95),
    )
    assert story.summaries("absent") == []
    assert story.resume_point(PODS) == "20"


def test_an_inferred_delete_has_no_version() -> None:
    story = Story(*an_expired_watch(), a_list(PODS, 50, when=95))

    assert [d.resource_version for d in story.of("absent")] == [None, None]


def test_a_deleted_name_that_returns_is_another_object() -> None:
    story = Story(
        a_list(PODS, 9, an_object("a", 3, uid="first")),
        a_frame(PODS, "DELETED", an_object("a", 10, uid="first")),
        a_frame(PODS, "ADDED", an_object("a", 11, uid="second")),
    )

    assert [d.identity.uid for d in story.drafts if d.identity] == [
        "first", "first", "second",
    ]  # fmt: skip


def quiet_events() -> list[object]:
    return [
        a_list(NAMESPACES, 9, an_object("train", 2), when=0),
        a_list(EVENTS, 9, an_event("e", 5), when=0),
        a_closed_stream(EVENTS, "timeout", when=600),
        a_closed_stream(EVENTS, "410", when=601),
    ]


def test_a_silent_event_stream_under_compaction_is_no_gap() -> None:
    story = Story(*quiet_events(), a_list(EVENTS, 80, an_event("e", 5)))

    assert story.operations() == ["listed", "listed"]


COMPACTED_EVERY = 300.0


def silent_under_compaction(event_ttl: timedelta, times: int) -> list[str]:
    """Return where gaps start of a stream on which nothing ever comes."""
    story = Story(a_list(EVENTS, 9, when=0), event_ttl=event_ttl)
    for number in range(1, times + 1):
        when = number * COMPACTED_EVERY
        story.take(
            a_closed_stream(EVENTS, "timeout", when=when - 1),
            a_closed_stream(EVENTS, "410", when=when),
            a_list(EVENTS, 9 + number, when=when),
        )
    return [gap["from"] for gap in story.gaps()]


@pytest.mark.parametrize("minutes", [6, 15, 60])
def test_each_list_after_a_compaction_proves_the_time_since_the_last(
    minutes: int,
) -> None:
    assert silent_under_compaction(timedelta(minutes=minutes), 13) == []


@pytest.mark.parametrize("minutes", [1, 5])
def test_events_that_live_shorter_than_a_compaction_takes_prove_nothing(
    minutes: int,
) -> None:
    """One may have been made and have expired while the server stalled."""
    starts = silent_under_compaction(timedelta(minutes=minutes), 3)

    assert starts == [
        "2026-11-21T03:00:00.000000Z",
        "2026-11-21T03:05:00.000000Z",
        "2026-11-21T03:10:00.000000Z",
    ]


def test_an_event_that_its_ttl_removed_is_no_gap() -> None:
    story = Story(
        a_list(EVENTS, 9, an_event("e", 5), when=0),
        a_frame(EVENTS, "ADDED", an_event("f", 10), when=3000),
        a_closed_stream(EVENTS, "410", when=3601),
        a_list(EVENTS, 80, an_event("f", 10), when=3602),
    )

    assert story.summaries("gap-opened") == []
    assert len(story.of("absent")) == 1


def test_an_event_that_went_too_early_is_a_gap() -> None:
    story = Story(*quiet_events(), a_list(EVENTS, 80, when=602))

    (gap,) = story.gaps()
    assert gap["reason"] == "watch expired (410)"
    assert gap["from"] == "2026-11-21T03:00:00.000000Z"


def a_stream_that_was_quiet_for(seconds: float) -> Story:
    return Story(
        a_list(EVENTS, 9, an_event("e", 5), when=0),
        a_frame(EVENTS, "MODIFIED", an_event("e", 10), when=600),
        a_closed_stream(EVENTS, "timeout", when=600 + seconds),
        a_closed_stream(EVENTS, "410", when=601 + seconds),
        a_list(EVENTS, 80, an_event("e", 10), when=602 + seconds),
    )


def test_an_event_stream_that_was_quiet_within_the_ttl_is_no_gap() -> None:
    """Whatever was made since the last news would be in the list."""
    assert not a_stream_that_was_quiet_for(3000).of("gap-opened")


def test_an_event_stream_that_was_quiet_for_longer_is_a_gap() -> None:
    """A server that stalled would have been as quiet, and Events expire."""
    (gap,) = a_stream_that_was_quiet_for(3600).gaps()

    assert gap["from"] == "2026-11-21T03:10:00.000000Z"


def test_a_new_event_in_a_relist_is_a_gap() -> None:
    story = Story(
        *quiet_events(),
        a_list(EVENTS, 80, an_event("e", 5), an_event("f", 70), when=602),
    )

    assert len(story.gaps()) == 1
    assert story.summaries("listed")[-1] == "listed f 70"


def test_a_namespace_that_went_meanwhile_makes_it_a_gap() -> None:
    """Its Events went with it, whatever their age."""
    story = Story(
        *quiet_events()[:-1],
        a_frame(NAMESPACES, "DELETED", an_object("train", 70), when=650),
        a_closed_stream(EVENTS, "410", when=660),
        a_list(EVENTS, 80, an_event("e", 5), when=661),
    )

    assert len(story.gaps()) == 1


def test_a_long_absence_of_events_is_a_gap() -> None:
    """After half their TTL an Event may have come and gone unseen."""
    story = Story(
        a_list(EVENTS, 9, an_event("e", 5), when=0),
        a_closed_stream(EVENTS, "410", when=1900),
        a_list(EVENTS, 80, an_event("e", 5), when=1901),
    )

    assert len(story.gaps()) == 1


def test_the_last_renewal_of_an_absent_node_is_entered() -> None:
    story = Story(
        a_list(NODES, 9, a_node("gpu-001", 3)),
        a_closed_stream(NODES, "410", when=5),
        a_list(NODES, 60, when=6),
    )

    assert [d.node for d in story.of("absent")] == ["gpu-001"]
