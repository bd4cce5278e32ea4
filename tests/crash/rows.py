"""The rows of the crash matrix: every write of the store, and its fates.

What is done with a row is in `test_matrix`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from recorder.model.observation import (
    CloudEventPosted,
    EpochBegan,
    Observation,
    PlaceReached,
)
from tests.support.builders import (
    EVENTS,
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

__all__ = ["BEFORE", "COMMIT", "MATRIX", "Fate", "Write"]

Fate = Literal["lost", "silent"]
COMMIT = "COMMIT;"

BEFORE = (
    a_list(PODS, 9, an_object("a", 1), an_object("b", 2)),
    a_list(NODES, 9, a_node("gpu-001", 3)),
)
EXPIRED = a_closed_stream(PODS, "410", when=2)


@dataclass(frozen=True, kw_only=True)
class Write:
    """One row: a write, and the statements that it consists of."""

    name: str
    statements: Sequence[str]
    step: Literal["take", "append", "release", "behind"] = "append"
    cut: str = COMMIT
    before: Sequence[Observation] = BEFORE
    observed: Sequence[Observation] = ()
    other_rules: bool = False
    """Whether the facts before are of another release."""


TAKING = (
    Write(
        name="make the log",
        statements=["writer.MAKE_LOG"],
        step="take",
        cut="writer.MAKE_LOG",
    ),
    Write(
        name="make the head of the log",
        statements=["lease.MAKE_HEAD"],
        step="take",
        cut="lease.MAKE_HEAD",
    ),
    Write(
        name="take the lease",
        statements=["lease.TAKE"],
        step="take",
        cut="lease.TAKE",
    ),
    Write(
        name="make the derivation",
        statements=["derivation.MAKE_DERIVATION"],
        step="take",
        cut="derivation.MAKE_DERIVATION",
    ),
    Write(
        name="insert a dictionary",
        statements=["shipped.MAKE_DICTIONARY"],
        step="take",
        cut="shipped.MAKE_DICTIONARY",
    ),
)


def a_place(state: Literal["ended", "gone"]) -> PlaceReached:
    """Return what a source says of a stream that it leaves."""
    return PlaceReached(
        observed_at=at(3),
        source="audit",
        stream="file:audit.log",
        place="1",
        state=state,
    )


APPENDING = (
    Write(
        name="make a partition, in the first batch",
        statements=[
            "append.ADD_PARTITION",
            "COPY entry",
            "COPY fact",
        ],
        before=(),
        observed=BEFORE,
    ),
    Write(
        name="append entries",
        statements=[
            "append.ADVANCE",
            "bookkeeping.FOLLOW",
            "COPY entry",
        ],
        observed=[a_frame(PODS, "MODIFIED", an_object("a", 10))],
    ),
    Write(
        name="name things",
        statements=[
            "dimension.MAKE_KINDS",
            "dimension.MAKE_NODES",
            "dimension.MAKE_RESOURCES",
            "dimension.MAKE_WORDS",
            "dimension.NEXT_OBJECTS",
            "COPY object",
        ],
        before=(),
        observed=[
            a_list(EVENTS, 9, an_event("e", 1)),
            a_list(NODES, 9, a_node("gpu-007", 2)),
        ],
    ),
    Write(
        name="append claims, with the keys that recognize them",
        statements=["dimension.NEXT_OBJECTS", "COPY object", "COPY entry"],
        observed=[
            CloudEventPosted(
                observed_at=at(3),
                event=b'{"id":"%d","source":"pdu/b3","type":"a"}' % number,
                key=f"key-{number}",
            )
            for number in range(2)
        ],
    ),
    Write(
        name="append proofs only",
        statements=["append.ADVANCE", "bookkeeping.FOLLOW"],
        observed=[a_bookmark(PODS, 50, when=3)],
    ),
    Write(
        name="renew the lease, with nothing to say",
        statements=["append.ADVANCE"],
    ),
    Write(
        name="count heartbeats",
        statements=["bookkeeping.FOLLOW"],
        observed=[a_frame(NODES, "MODIFIED", a_node("gpu-001", 11, beat=9))],
    ),
    Write(
        name="open a gap",
        statements=["COPY entry", "bookkeeping.FOLLOW"],
        observed=[EXPIRED],
    ),
    Write(
        name="close a gap",
        statements=["COPY entry", "bookkeeping.FOLLOW"],
        before=[*BEFORE, EXPIRED],
        observed=[a_list(PODS, 20, an_object("a", 15), when=3)],
    ),
    Write(
        name="begin an epoch",
        statements=["append.ADVANCE", "COPY entry"],
        observed=[EpochBegan(observed_at=at(3), reason="restored")],
    ),
    Write(
        name="remove heads",
        statements=["bookkeeping.DELETE_HEADS", "COPY fact"],
        observed=[a_frame(PODS, "DELETED", an_object("b", 12))],
    ),
    Write(
        name="forget a stream",
        statements=["bookkeeping.FORGET_STREAMS", "bookkeeping.FOLLOW"],
        before=[*BEFORE, a_place("ended")],
        observed=[a_place("gone")],
    ),
    Write(
        name="end a derivation by other rules",
        statements=["derivation.LEAVE_DERIVATION"],
        observed=[a_frame(PODS, "DELETED", an_object("b", 12))],
        other_rules=True,
    ),
)
RELEASE = Write(
    name="release the lease",
    statements=["writer.RELEASE"],
    step="release",
    cut="writer.RELEASE",
)
BEHIND = Write(
    name="append, and another takes the log before it is tried again",
    statements=["append.ADVANCE"],
    step="behind",
    observed=[a_frame(PODS, "MODIFIED", an_object("a", 10))],
)

MATRIX: Sequence[tuple[Write, Fate, bool, bool]] = (
    # write, fate; does the process go on, must it begin anew
    *((write, "lost", True, False) for write in (*TAKING, *APPENDING)),
    *((write, "silent", True, False) for write in (*TAKING, *APPENDING)),
    # A writer that releases is about to end: others wait for the lease.
    (RELEASE, "lost", False, False),
    (RELEASE, "silent", True, False),
    (BEHIND, "lost", False, True),
    (BEHIND, "silent", False, True),
)
