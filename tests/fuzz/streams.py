"""Watch streams, from portions of bytes to a batch of entries."""

import json
import random
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, cast

from recorder.intake.ledger import Ledger
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import Sequencer
from recorder.intake.state import Recovered
from recorder.model.observation import InputRefused, Observation
from recorder.model.reference import Resource
from recorder.sources.watch.clock import Clock
from recorder.sources.watch.errors import (
    Asked,
    ExpiredError,
    StreamLostError,
)
from recorder.sources.watch.frames import Frame, Refused
from recorder.sources.watch.settings import WatchSettings
from recorder.sources.watch.stream import WatchStream
from recorder.sources.watch.target import Target
from recorder.sources.watch.telling import Observer
from tests.fuzz.checks import (
    check_admitted,
    check_batch,
    check_masked,
    loaded,
    refusals,
)
from tests.fuzz.mutation import cut_up, mutated, seeded

__all__ = ["check_stream", "make_stream", "sequenced"]

AT = datetime(2026, 11, 21, 3, 18, tzinfo=UTC)
TYPES = (b"ADDED", b"MODIFIED", b"MODIFIED", b"DELETED", b"BOOKMARK")
STRANGE_LINES = (
    b"",
    b"\r",
    b"\x00",
    b"\xef\xbb\xbf",
    b"[]",
    b"{}",
    b"7",
    b'{"type":"ADDED"}',
    b'{"type":7,"object":{}}',
    b'{"type":"ADDED","object":null}',
    b'{"type":"ADDED","object":[]}',
    b'{"type":"ADDED","object":{"metadata":[]}}',
    b'{"type":"ADDED","object":{},"type":"DELETED"}',
    b'{"object":{"metadata":{"uid":"a"}},"type":"ADDED"}',
    b'{"type":"EXPLODED","object":{}}',
    b'{"type":"ERROR","object":{"code":500,"message":"etcd is away"}}',
    b'{"type":"ERROR","object":{"code":"410"}}',
    b'{"type":"ERROR","object":{"code":410,"message":"too old"}}',
    b'{"type":"ADDED","object":{}}{"type":"ADDED","object":{}}',
)
HEAD_BYTES = 4_096


def make_stream(chance: random.Random) -> bytes:
    """Make a stream of a few frames, most of them whole."""
    frames = []
    for _ in range(chance.choice((1, 1, 2, 4))):
        if chance.random() < 0.1:
            frames.append(chance.choice(STRANGE_LINES))
            continue
        raw = seeded(chance)[0]
        if chance.random() < 0.7:
            raw = mutated(raw, chance)
        frames.append(
            b'{"type":"%b","object":%b}' % (chance.choice(TYPES), raw)
        )
    stream = b"\n".join(frames)
    if chance.random() < 0.9:
        stream += b"\n"
    if chance.random() < 0.2:
        stream = mutated(stream, chance)
    if chance.random() < 0.02:
        stream = stream.replace(b"\n", b"\r\n")
    return stream


class _Connection:
    """Stands for the client and the answer of a watch that was accepted."""

    def __init__(self, portions: Sequence[bytes], bound: int) -> None:
        self.settings = WatchSettings(
            frame_bytes_max=bound, refused_head_bytes=HEAD_BYTES
        )
        self.clock = Clock(now=lambda: AT, monotonic=lambda: 0.0)
        self._portions = portions

    async def chunks(self) -> AsyncIterator[bytes]:
        for portion in self._portions:
            yield portion


def check_stream(data: bytes, chance: random.Random) -> list[str]:
    """Check a stream; return its refusals, and how it ended."""
    bound = chance.choice((500, 5_000, 16 << 20))
    read, ended = _read(cut_up(data, chance), bound)
    _check_conservation(data, read, ended, bound)
    resource = Resource.parse(
        chance.choice(("v1/pods", "v1/events", "v1/nodes", "v1/secrets"))
    )
    teller = Observer(
        Target(resource=resource, kind="Pod"), Clock(now=lambda: AT)
    )
    served = chance.random() < 0.5
    admitted: list[Observation] = []
    for item, observed in zip(read, teller.portion(read), strict=True):
        if isinstance(item, Refused):
            assert isinstance(observed, InputRefused)
            assert len(item.head) <= HEAD_BYTES
        passed = check_admitted(observed, served=served)
        if isinstance(item, Refused):
            for one in passed:
                assert isinstance(one, InputRefused)
                assert one.length == item.length
                if chance.random() < 0.3:
                    check_masked(one.head, item.head)
        admitted += passed
    sequenced(admitted)
    endings = [] if ended == "whole" else [f"stream {ended}"]
    return refusals(admitted) + endings


def _read(
    portions: Sequence[bytes], bound: int
) -> tuple[list[Frame | Refused], str]:
    """Read a stream to its end, without an event loop."""
    connection = cast("Any", _Connection(portions, bound))
    asked = Asked(cluster="fuzz", verb="watch", what="v1/pods")
    frames = WatchStream(connection, connection, asked).portions()
    read: list[Frame | Refused] = []
    try:
        while True:
            try:
                frames.__anext__().send(None)
            except StopIteration as portion:
                read += portion.value
    except StopAsyncIteration:
        return read, "whole"
    except ExpiredError:
        return read, "expired"
    except StreamLostError:
        return read, "cut"


def _check_conservation(
    data: bytes, read: Sequence[Frame | Refused], ended: str, bound: int
) -> None:
    """Fail unless every byte is in a frame, a refusal or a separator."""
    *lines, rest = data.split(b"\n")
    full = [line for line in lines if line]
    if ended == "expired":
        assert b"410" in full[len(read)], "expired by another frame"
        full = full[: len(read)]
    else:
        assert ended == ("cut" if rest else "whole")
    assert len(read) == len(full), "lines and answers differ in number"
    accounted = 0
    for line, item in zip(full, read, strict=True):
        if isinstance(item, Refused):
            assert item.sha256 == sha256(line).hexdigest()
            assert line.startswith(item.head)
            assert len(item.head) >= min(bound, HEAD_BYTES, len(line))
            accounted += item.length
        else:
            assert len(line) <= bound, "a frame beyond the bound"
            _check_frame(line, item)
            accounted += len(line)
    assert accounted == sum(map(len, full))


def _check_frame(line: bytes, frame: Frame) -> None:
    assert frame.object in line
    try:
        frame_read = loaded(line)
        body = loaded(frame.object)
    except RecursionError:
        return
    assert frame_read["type"] == frame.type
    assert frame_read["object"] == body or _has_nan(body)
    metadata = body.get("metadata") or {}
    assert metadata.get("uid", "") == frame.uid
    assert metadata.get("resourceVersion", "") == frame.version


def _has_nan(body: Any) -> bool:
    return "NaN" in json.dumps(body)


def sequenced(observations: Sequence[Observation]) -> None:
    """Put observations in order and check the batch that they make."""
    recovered = Recovered(log=1, size=0, epoch=1, heads=[], streams={})
    ledger = Ledger(recovered)
    sequencer = Sequencer(ledger, Relisting(ledger))
    for observation in observations:
        sequencer.take(observation)
    check_batch(sequencer.seal(), observations)
