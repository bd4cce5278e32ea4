"""Documents are written in the words and the order of the contract."""

import json

import pytest

from recorder.facts.coverage.coverage import Coverage
from recorder.facts.coverage.hole import Gap, Hole
from recorder.model.document import json_bytes, plain
from recorder.model.reference import EntryName
from recorder.model.window import Window
from tests.support.builders import at

HOLE = Hole(since=at(0), resource="v1/nodes", reason="the recorder was down")
GAP = Gap(
    since=None,
    until=at(60),
    source="watch",
    resource="v1/pods",
    reason="expired",
    opened=EntryName(1, 7),
    resource_version_before="3",
    resource_version_after=None,
    proved="a list",
    possible=("an object that came and went",),
)


def test_a_time_has_microseconds_and_a_zone() -> None:
    shown = json.loads(json_bytes(HOLE))

    assert shown["from"] == "2026-11-21T03:00:00.000000Z"
    assert shown["to"] is None


def test_only_a_hole_with_an_entry_says_what_was_proved_about_it() -> None:
    without = plain(HOLE)
    gap = plain(GAP)

    assert [*without] == [
        "id", "source", "resource", "from", "to", "reason", "proved",
    ]  # fmt: skip
    assert [*gap] == [
        "id", "source", "resource", "from", "to", "reason",
        "resource_version_before", "resource_version_after", "proved",
        "possible",
    ]  # fmt: skip
    assert gap["id"] == "1/7"
    assert gap["from"] is gap["resource_version_after"] is None


@pytest.mark.parametrize("more", [0, 3])
def test_how_many_gaps_are_not_listed_is_said_where_there_are_any(
    more: int,
) -> None:
    shown = plain(Coverage.of(Window(), more=more))

    assert shown.get("more_gaps", 0) == more
    assert ("more_gaps" in shown) == bool(more)


def test_documents_are_plain_within_what_holds_them() -> None:
    document = HOLE

    shown = plain({"more": True, "gaps": [document]})

    assert shown == {"more": True, "gaps": [plain(document)]}
    assert json.loads(json_bytes({"gaps": [document]}, indented=True)) == {
        "gaps": [plain(document)]
    }


def test_a_hole_without_a_beginning_begins_before_everything() -> None:
    assert GAP.begin < HOLE.begin == at(0)
