"""Which missing Events the oracle excuses.

One scene is excused: the log held an old Event, another came and went in an
absence whose history the server forgot, and the list that ended it
shows the old one alone. Every other test changes one thing of it, after which
the log must have a gap or hold the versions.
"""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from recorder.intake.relisting import EVENT_TTL
from recorder.model.entry import Draft, Operation
from recorder.model.observation import WATCH, EpochBegan, Observation
from tests.cluster.comparison import Version
from tests.faults.process import Note
from tests.faults.truth import Truth
from tests.faults.unseen import unseen_events
from tests.faults.world import World
from tests.support.builders import (
    EVENTS,
    PODS,
    a_bookmark,
    a_frame,
    a_list,
    an_event,
    an_object,
    at,
)

MADE, GONE, LISTED = 100.0, 110.0, 120.0
HALF_A_LIFE = EVENT_TTL.total_seconds() / 2
OLD = an_event("old", 5)


def a_version(name: str, revision: int, **more: Any) -> Version:
    return Version(
        epoch=1,
        group="",
        resource="events",
        namespace="train",
        name=name,
        uid=f"uid-{name}",
        revision=revision,
        **more,
    )


CAME = a_version("brief", 20)
WENT = a_version("brief", 22, deleted=True)


def a_note(when: float, what: Observation) -> Note:
    return Note(when, 1, 0, what)


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The history of the cluster, the input of intake, and the log."""

    truth: Truth = field(
        default_factory=lambda: {
            a_version("old", 5): 50.0,
            CAME: MADE,
            WENT: GONE,
        }
    )
    notes: tuple[Note, ...] = (
        a_note(60, a_frame(EVENTS, "ADDED", OLD)),
        a_note(LISTED, a_list(EVENTS, 30, OLD)),
    )
    held: tuple[dict[str, Any], ...] = (OLD,)
    forgot: tuple[int, ...] = (25,)

    def unseen(self) -> set[Version]:
        entries = [
            (
                1,
                Draft(
                    source=WATCH,
                    operation=Operation.ADDED,
                    observed_at=at(60),
                    raw=orjson.dumps(document),
                    resource=str(EVENTS),
                ),
            )
            for document in self.held
        ]
        world = SimpleNamespace(
            notes=list(self.notes),
            database=SimpleNamespace(log=SimpleNamespace(entries=entries)),
            cluster=SimpleNamespace(forgot=[(0, r) for r in self.forgot]),
        )
        ordered = sorted(self.truth.items(), key=lambda v: v[0].revision)
        return unseen_events(cast("World", world), dict(ordered))


SCENE = Scene()
BEFORE, LIST = SCENE.notes


def test_an_event_that_came_and_went_unseen_is_excused() -> None:
    assert SCENE.unseen() == {CAME, WENT}


def test_what_passed_of_other_resources_changes_nothing() -> None:
    frame = a_frame(PODS, "ADDED", an_object("a", 21))
    scene = replace(SCENE, notes=(BEFORE, a_note(105, frame), LIST))

    assert scene.unseen() == {CAME, WENT}


def test_every_version_of_a_life_is_excused_and_no_other_life() -> None:
    again, other = a_version("brief", 21), a_version("other", 26)
    truth = {**SCENE.truth, again: 105.0, other: 130.0}

    assert replace(SCENE, truth=truth).unseen() == {CAME, again, WENT}


TRUTH = SCENE.truth
GONE_EARLY = a_version("old", 24, deleted=True)
NOT_EXCUSED = {
    "it still lives": replace(
        SCENE, truth={a_version("old", 5): 50.0, CAME: MADE}
    ),
    "it is no Event": replace(
        SCENE,
        truth={
            replace(CAME, resource="pods"): MADE,
            replace(WENT, resource="pods"): GONE,
        },
    ),
    "a snapshot brought it": replace(SCENE, truth={**TRUTH, CAME: None}),
    "the log knows it": replace(SCENE, held=(OLD, an_event("brief", 20))),
    "it went after the list": replace(SCENE, truth={**TRUTH, WENT: 121.0}),
    "the list is of a time before it went": replace(
        SCENE, notes=(BEFORE, a_note(LISTED, a_list(EVENTS, 21, OLD)))
    ),
    "no list followed": replace(SCENE, notes=(BEFORE,)),
    "the list is of another resource": replace(
        SCENE, notes=(BEFORE, a_note(LISTED, a_list(PODS, 30)))
    ),
    "the list has more pages": replace(
        SCENE,
        notes=(BEFORE, a_note(LISTED, a_list(EVENTS, 30, OLD, more=True))),
    ),
    "the server held the history": replace(SCENE, forgot=()),
    "the server forgot only what was before": replace(SCENE, forgot=(19,)),
    "the server forgot only what came after": replace(SCENE, forgot=(31,)),
    "the absence was as long as half a life": replace(
        SCENE,
        notes=(BEFORE, a_note(MADE + HALF_A_LIFE, a_list(EVENTS, 30, OLD))),
    ),
    "an Event was observed meanwhile": replace(
        SCENE,
        notes=(
            BEFORE,
            a_note(115, a_frame(EVENTS, "ADDED", an_event("new", 23))),
            LIST,
        ),
    ),
    "a bookmark was observed meanwhile": replace(
        SCENE, notes=(BEFORE, a_note(115, a_bookmark(EVENTS, 23)), LIST)
    ),
    "history was rewound meanwhile": replace(
        SCENE,
        notes=(
            BEFORE,
            a_note(115, EpochBegan(observed_at=at(115), reason="restored")),
            LIST,
        ),
    ),
    "the list shows an Event that is not held": replace(
        SCENE,
        notes=(
            BEFORE,
            a_note(LISTED, a_list(EVENTS, 30, OLD, an_event("new", 19))),
        ),
    ),
    "the list shows a version that is not held": replace(
        SCENE,
        notes=(BEFORE, a_note(LISTED, a_list(EVENTS, 30, an_event("old", 6)))),
    ),
    "the list shows one that was made later": replace(
        SCENE,
        notes=(
            BEFORE,
            a_note(LISTED, a_list(EVENTS, 30, OLD, an_event("new", 28))),
        ),
        held=(OLD, an_event("new", 28)),
    ),
    "one that was held went as well, and is lacking": replace(
        SCENE,
        truth={**TRUTH, GONE_EARLY: 112.0},
        notes=(BEFORE, a_note(LISTED, a_list(EVENTS, 30))),
    ),
}


@pytest.mark.parametrize("scene", NOT_EXCUSED.values(), ids=NOT_EXCUSED)
def test_nothing_is_excused_if(scene: Scene) -> None:
    assert scene.unseen() == set()


def test_an_end_after_the_list_takes_no_excuse_away() -> None:
    late = a_version("old", 31, deleted=True)

    scene = replace(SCENE, truth={**TRUTH, late: 130.0})

    assert scene.unseen() == {CAME, WENT}
