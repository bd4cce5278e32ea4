"""Resume points, against a model that remembers every frame in a set.

A stream gives frames in the order of their versions, several of which may
share one. Wherever it is cut, it comes again from behind the completed
version; what of it is new is exactly what the model does not have.
"""

from copy import deepcopy

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)

from recorder.intake.state import ResumePoint, StreamState
from recorder.intake.streams import advance, complete
from tests.intake.lives import BOUNDED

Frame = tuple[int, str]


class ResumePoints(RuleBasedStateMachine):
    """One stream, and what was taken of it."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Frame] = []
        self.version = self.marked = 9
        self.point = ResumePoint(state=StreamState.LIVE)
        complete(self.point, "9")
        self.taken: set[Frame] = set()
        self.commit()

    def take(self, frame: Frame) -> None:
        version, key = frame
        is_new = advance(self.point, str(version), key)
        assert is_new == (frame not in self.taken)
        self.taken.add(frame)

    @rule(skipped=st.integers(1, 90), key=st.sampled_from("abc"))
    def a_later_version(self, skipped: int, key: str) -> None:
        self.version += skipped
        self.sent.append((self.version, key))
        self.take(self.sent[-1])

    @precondition(lambda self: self.sent)
    @rule(key=st.sampled_from(["a", "b", "c", "-a", "-b", "-c"]))
    def the_same_version(self, key: str) -> None:
        frame = self.version, key
        if frame not in self.sent and self.marked != self.version:
            self.sent.append(frame)
            self.take(frame)

    @rule(skipped=st.integers(0, 9))
    def a_bookmark(self, skipped: int) -> None:
        self.version += skipped
        self.marked = self.version
        complete(self.point, str(self.version))

    @rule()
    def commit(self) -> None:
        self.committed = deepcopy(self.point), set(self.taken)

    @rule(dies=st.booleans())
    def comes_again(self, *, dies: bool) -> None:
        """After a cut, or in the next life, from where it is complete."""
        if dies:
            self.point, self.taken = deepcopy(self.committed)
        completed = int(self.point.completed or 0)
        for frame in self.sent:
            if frame[0] > completed:
                self.take(frame)

    @invariant()
    def nothing_below_is_missing(self) -> None:
        completed = int(self.point.completed or 0)
        assert {f for f in self.sent if f[0] <= completed} <= self.taken

    @invariant()
    def what_is_remembered_is_of_the_last_version(self) -> None:
        version = int(self.point.pending or 0)
        if version != int(self.point.completed or 0):
            taken = {key for v, key in self.taken if v == version}
            assert self.point.seen == taken


TestResumePoints = ResumePoints.TestCase
TestResumePoints.settings = BOUNDED
