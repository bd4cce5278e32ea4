"""Resume points, against a model that remembers every frame in a set.

A stream gives frames in the order of their versions; several may
share one. Wherever it is cut, it comes again from behind the completed
version; what of it is new is exactly what the model does not have.
"""

from copy import deepcopy

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
)

from recorder.intake.state import ResumePoint, StreamState
from recorder.intake.streams import advance, complete
from tests.intake.lives import BOUNDED

Frame = tuple[int, str]
KEYS = st.sampled_from(["a", "b", "c", "-a", "-b", "-c"])


class ResumePoints(RuleBasedStateMachine):
    """One stream, and what was taken of it."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[Frame] = []
        self.version, self.place = 9, 0
        self.point = ResumePoint(state=StreamState.LIVE)
        complete(self.point, "9")
        self.taken: set[Frame] = set()
        self.commit()

    def take(self, frame: Frame) -> None:
        version, key = frame
        is_new = advance(self.point, str(version), key)
        assert is_new == (frame not in self.taken)
        self.taken.add(frame)

    @rule(skipped=st.integers(1, 90), keys=st.sets(KEYS, min_size=1))
    def happens(self, skipped: int, keys: set[str]) -> None:
        """Send what one version changed; it need not arrive at once."""
        self.version += skipped
        self.sent += [(self.version, key) for key in sorted(keys)]

    @rule(many=st.integers(1, 5))
    def arrives(self, many: int) -> None:
        for frame in self.sent[self.place :][:many]:
            self.take(frame)
            self.place += 1

    @rule(skipped=st.integers(0, 9))
    def a_bookmark(self, skipped: int) -> None:
        self.arrives(len(self.sent))
        self.version += skipped
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
        self.place = sum(version <= completed for version, _ in self.sent)

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
