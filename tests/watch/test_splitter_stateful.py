"""The frame splitter, against a model that keeps every byte it was fed."""

import hashlib

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from recorder.sources.watch.splitter import Oversized, Splitter

BOUND = 12
HEAD = 5

BYTES = st.lists(
    st.sampled_from([b"a", b"b", b"\r", b"\n", b"\n\n", b"0123456789"]),
    max_size=6,
).map(b"".join)


class Splitting(RuleBasedStateMachine):
    """Portions that are fed, and frames that come out."""

    def __init__(self) -> None:
        super().__init__()
        self.fed = b""
        self.frames: list[bytes | Oversized] = []
        self.splitter = Splitter(frame_bytes_max=BOUND, head_bytes=HEAD)

    @rule(portion=BYTES)
    def feed(self, portion: bytes) -> None:
        self.fed += portion
        self.frames += self.splitter.feed(portion)

    @rule(portion=BYTES)
    def feed_byte_by_byte(self, portion: bytes) -> None:
        for byte in portion:
            self.feed(bytes([byte]))

    @invariant()
    def the_frames_are_the_lines(self) -> None:
        *lines, rest = self.fed.split(b"\n")
        assert self.frames == [expected(line) for line in lines if line]
        assert self.splitter.partial == len(rest)

    @invariant()
    def what_is_held_is_bounded(self) -> None:
        assert sum(map(len, self.splitter._parts)) <= BOUND


def expected(line: bytes) -> bytes | Oversized:
    if len(line) <= BOUND:
        return line
    return Oversized(line[:HEAD], hashlib.sha256(line).hexdigest(), len(line))


TestSplitting = Splitting.TestCase
TestSplitting.settings = settings(
    derandomize=True, deadline=None, max_examples=60, stateful_step_count=25
)
