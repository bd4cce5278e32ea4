"""What a source receives of what the log knows."""

from datetime import timedelta
from typing import Any

from recorder.intake.knowledge import Knowledge
from recorder.intake.queue import IntakeQueue
from recorder.model.observation import TAPE, WATCH, EpochBegan, PlaceReached
from tests.support.builders import NODES, PODS, a_list, a_node, an_object, at
from tests.support.memory_log import MemoryWriter
from tests.support.story import Story


def known(story: Story, source: str = WATCH) -> Knowledge:
    async def commit() -> None:
        """There is nothing that is not committed."""

    return Knowledge(
        source=source,
        ledger=story.ledger,
        log=MemoryWriter(story.log),
        queue=IntakeQueue(),
        commit=commit,
        event_ttl=timedelta(hours=1),
    )


async def newest(story: Story) -> list[Any]:
    return [
        (each.name, each.resource_version)
        for each in await known(story).newest(9)
    ]


async def test_a_rewound_version_is_no_evidence_after_a_restart() -> None:
    """It would prove again, in each life, what begins an epoch only once."""
    story = Story(
        a_list(PODS, 90, an_object("a", 80)),
        a_list(NODES, 90, a_node("gpu-001", 89)),
        EpochBegan(observed_at=at(1), reason="restored"),
        a_list(PODS, 50, an_object("a", 40), when=2),
    )

    assert await newest(story.restarted()) == [("a", "40")]


async def test_the_newest_come_first() -> None:
    story = Story(
        a_list(PODS, 90, an_object("a", 9), an_object("b", 80)),
        a_list(NODES, 90, a_node("gpu-001", 10)),
    )

    assert await newest(story) == [("b", "80"), ("gpu-001", "10"), ("a", "9")]


def test_a_source_receives_its_own_streams_alone() -> None:
    at_nine = PlaceReached(
        observed_at=at(1), source=TAPE, stream="tape", place="9"
    )
    story = Story(a_list(PODS, 90, an_object("a", 80)), at_nine).restarted()

    assert known(story).resume_points() == {"v1/pods": "90"}
    assert known(story, TAPE).resume_points() == {"tape": "9"}
    assert known(story, "another").resume_points() == {}
