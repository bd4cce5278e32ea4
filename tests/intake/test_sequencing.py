"""Which observations become entries, in which order, or are counted.

What lists prove is in test_relisting.py, what the end of a stream means in
test_endings.py.
"""

import orjson
import pytest

from recorder.model.entry import Operation
from recorder.model.observation import WatchFrame
from tests.support.builders import (
    EVENTS,
    LEASES,
    NODES,
    PODS,
    a_bookmark,
    a_frame,
    a_lease,
    a_list,
    a_node,
    an_event,
    an_object,
    at,
)
from tests.support.story import Story


def test_a_list_enters_every_version_that_the_log_does_not_hold() -> None:
    story = Story(a_list(PODS, 9, an_object("a", 3), an_object("b", 7)))

    assert story.summaries() == ["listed a 3", "listed b 7"]


def test_frames_become_entries_in_their_order() -> None:
    story = Story(
        a_list(PODS, 9, an_object("a", 3)),
        a_frame(PODS, "ADDED", an_object("b", 10)),
        a_frame(PODS, "MODIFIED", an_object("a", 11)),
        a_frame(PODS, "DELETED", an_object("b", 12)),
    )

    assert story.summaries() == [
        "listed a 3", "added b 10", "modified a 11", "deleted b 12",
    ]  # fmt: skip


def test_a_document_is_kept_byte_for_byte() -> None:
    raw = (
        b'{ "metadata" : {"resourceVersion":"10","uid":"u",'
        b' "name":"a"},"x":1.0e3}'
    )
    frame = WatchFrame(
        observed_at=at(), resource=PODS, type="ADDED", object=raw
    )

    assert Story(frame).drafts[0].raw == raw


def test_objects_that_share_a_version_are_all_taken_once() -> None:
    """A lease that expires deletes many Events in one revision."""
    deletes = [
        a_frame(EVENTS, "DELETED", an_event(name, 50)) for name in "abc"
    ]
    story = Story(a_list(EVENTS, 9), *deletes[:2])

    assert story.resume_point(EVENTS) == "9"
    story = story.restarted(*deletes)

    assert story.summaries() == [
        "deleted a 50",
        "deleted b 50",
        "deleted c 50",
    ]


def test_a_version_is_complete_when_a_later_one_was_seen() -> None:
    story = Story(
        a_list(PODS, 9),
        a_frame(PODS, "ADDED", an_object("a", 10)),
        a_frame(PODS, "ADDED", an_object("b", 12)),
    )

    assert story.resume_point(PODS) == "10"


def test_a_bookmark_completes_its_version() -> None:
    story = Story(
        a_list(PODS, 9),
        a_frame(PODS, "ADDED", an_object("a", 10)),
        a_bookmark(PODS, 40),
    )

    assert story.resume_point(PODS) == "40"
    assert story.summaries() == ["added a 10"]


def test_a_bookmark_below_what_was_taken_makes_nothing_come_twice() -> None:
    """A server that is behind the one before sends its own version."""
    gone = a_frame(PODS, "DELETED", an_object("a", 15))
    story = Story(a_list(PODS, 9, an_object("a", 3)), gone)
    story = story.restarted(a_bookmark(PODS, 12), gone)

    assert story.summaries() == ["listed a 3", "deleted a 15"]
    assert story.resume_point(PODS) == "12"


def test_a_replayed_frame_adds_nothing_whatever_its_type() -> None:
    story = Story(
        a_list(PODS, 9, an_object("a", 3)),
        a_frame(PODS, "MODIFIED", an_object("a", 11)),
    )
    story = story.restarted(a_frame(PODS, "ADDED", an_object("a", 11)))

    assert story.summaries() == ["listed a 3", "modified a 11"]


def test_an_older_version_of_an_object_is_not_taken_again() -> None:
    story = Story(
        a_list(PODS, 20, an_object("a", 15)),
        a_frame(PODS, "MODIFIED", an_object("a", 11)),
    )

    assert story.summaries() == ["listed a 15"]


def test_an_object_without_uid_is_known_by_its_name() -> None:
    document = an_object("a", 10)
    del document["metadata"]["uid"]
    story = Story(a_list(PODS, 9), a_frame(PODS, "ADDED", document))
    story.take(a_list(PODS, 30, document, when=5))

    assert story.summaries("added", "listed") == ["added a 10"]


def test_a_frame_without_a_version_is_entered_and_moves_nothing() -> None:
    document = an_object("a", 10)
    del document["metadata"]["resourceVersion"]
    story = Story(a_list(PODS, 9), a_frame(PODS, "ADDED", document))

    assert len(story.drafts) == 1
    assert story.resume_point(PODS) == "9"


def test_heartbeats_of_a_node_are_counted() -> None:
    story = Story(
        a_list(NODES, 9, a_node("gpu-001", 3)),
        a_frame(NODES, "MODIFIED", a_node("gpu-001", 10, beat=5), when=10),
        a_frame(NODES, "MODIFIED", a_node("gpu-001", 11, beat=9), when=20),
    )

    (head,) = story.heads()
    assert story.summaries() == ["listed gpu-001 3"]
    assert (head.heartbeats, head.heartbeat_at) == (2, at(20))
    assert head.resource_version == "11"


def test_a_folded_heartbeat_is_counted_once_over_a_restart() -> None:
    beat = a_frame(NODES, "MODIFIED", a_node("gpu-001", 10, beat=5), when=9)
    story = Story(a_list(NODES, 9, a_node("gpu-001", 3)), beat)
    story = story.restarted(beat)

    assert [head.heartbeats for head in story.heads()] == [1]


def test_full_fidelity_stores_heartbeats() -> None:
    story = Story(
        a_list(NODES, 9, a_node("gpu-001", 3)),
        a_frame(NODES, "MODIFIED", a_node("gpu-001", 10, beat=5)),
        full_fidelity=True,
    )

    assert story.summaries() == ["listed gpu-001 3", "modified gpu-001 10"]


def test_a_condition_that_flips_is_never_folded() -> None:
    story = Story(
        a_list(NODES, 9, a_node("gpu-001", 3)),
        a_frame(NODES, "MODIFIED", a_node("gpu-001", 10, ready="False")),
    )

    assert story.summaries() == ["listed gpu-001 3", "modified gpu-001 10"]


def renewals(*times: float, first: int = 10) -> list[WatchFrame]:
    return [
        a_frame(
            LEASES,
            "MODIFIED",
            a_lease("gpu-001", first + number, renewed=time),
            when=time,
        )
        for number, time in enumerate(times)
    ]


def a_watched_lease() -> list[object]:
    return [
        a_list(NODES, 9, a_node("gpu-001", 3)),
        a_list(LEASES, 9, a_lease("gpu-001", 4, renewed=0)),
    ]


def test_regular_renewals_become_no_entry() -> None:
    story = Story(*a_watched_lease(), *renewals(10, 20, 30))

    assert story.summaries("renewed", "modified") == []


def test_the_renewal_before_a_late_one_becomes_an_entry() -> None:
    story = Story(*a_watched_lease(), *renewals(10, 20, 41))

    (draft,) = story.of("renewed")
    assert draft.resource_version == "11"
    assert draft.observed_at == at(20)
    assert draft.node == "gpu-001"


@pytest.mark.parametrize("ready", ["False", "Unknown"])
def test_the_last_renewal_is_entered_when_the_node_is_not_ready(
    ready: str,
) -> None:
    story = Story(
        *a_watched_lease(),
        *renewals(10, 20),
        a_frame(
            NODES,
            "MODIFIED",
            a_node("gpu-001", 40, ready=ready),
            when=34,
        ),
    )

    assert story.summaries("renewed", "modified") == [
        "renewed gpu-001 11", "modified gpu-001 40",
    ]  # fmt: skip


def test_the_last_renewal_is_entered_when_a_node_that_was_not_ready_dies() -> (
    None
):
    """Its kubelet renewed meanwhile, and what it reported is no silence."""

    def turned(version: int, ready: str, when: float) -> WatchFrame:
        document = a_node("gpu-001", version, ready=ready)
        document["metadata"]["labels"] = {"changed": f"{version}"}
        return a_frame(NODES, "MODIFIED", document, when=when)

    story = Story(
        *a_watched_lease(),
        *renewals(10, 20),
        turned(40, "False", 24),
        *renewals(30, 40, 50, first=12),
        turned(50, "False", 52),
        turned(60, "Unknown", 92),
        turned(70, "Unknown", 93),
    )

    assert story.summaries("renewed", "modified") == [
        "renewed gpu-001 11", "modified gpu-001 40", "modified gpu-001 50",
        "renewed gpu-001 14", "modified gpu-001 60", "modified gpu-001 70",
    ]  # fmt: skip


def test_the_last_renewal_is_entered_when_the_node_goes() -> None:
    story = Story(
        *a_watched_lease(),
        *renewals(10),
        a_frame(NODES, "DELETED", a_node("gpu-001", 40), when=12),
    )

    assert story.summaries("renewed", "deleted") == [
        "renewed gpu-001 10", "deleted gpu-001 40",
    ]  # fmt: skip


def test_a_folded_renewal_survives_a_restart() -> None:
    story = Story(*a_watched_lease(), *renewals(10))
    story = story.restarted(
        a_frame(NODES, "DELETED", a_node("gpu-001", 40), when=12)
    )

    assert story.summaries("renewed") == ["renewed gpu-001 10"]


def test_an_unreadable_document_is_refused_and_the_stream_goes_on() -> None:
    story = Story(
        a_list(PODS, 9),
        WatchFrame(
            observed_at=at(1), resource=PODS, type="ADDED", object=b'["x"]'
        ),
        a_frame(PODS, "ADDED", an_object("b", 12), when=2),
    )

    assert story.operations() == [
        "refused", "gap-opened", "gap-closed", "added",
    ]  # fmt: skip
    refused = orjson.loads(story.drafts[0].raw)
    assert refused["length"] == 5
    assert story.drafts[0].operation is Operation.REFUSED
