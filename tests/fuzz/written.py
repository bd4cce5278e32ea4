"""Written tapes are read back equal, for any observations."""

import random
from datetime import UTC, datetime
from hashlib import sha256

from recorder.model.observation import (
    InputRefused,
    ListPage,
    Observation,
    Polled,
    StreamClosed,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.tape import TapeWriter
from tests.fuzz.checks import documents_of, refusals
from tests.fuzz.mutation import mutated, seeded
from tests.fuzz.tapes import LINE_BYTES_MAX, folder, read_tape
from tests.tape.builders import HEADER

__all__ = ["check_written", "make_written"]

AT = datetime(2026, 11, 21, 3, 18, tzinfo=UTC)
PODS = Resource("", "v1", "pods")


def make_written(chance: random.Random) -> bytes:
    return mutated(seeded(chance)[0], chance)


def check_written(raw: bytes, chance: random.Random) -> list[str]:
    """Check that a tape is read back equal; return what was refused."""
    wrote: list[Observation] = [_watch(raw)]
    if chance.random() < 0.4:
        wrote.append(
            ListPage(
                observed_at=AT,
                resource=PODS,
                resource_version="7",
                items=[b'{"a":1}', raw, b"{}"],
                more=chance.random() < 0.5,
            )
        )
    if chance.random() < 0.2:
        text = raw[:500].decode("utf-8", "surrogateescape")
        wrote.append(StreamClosed(observed_at=AT, resource=PODS, reason=text))
        wrote.append(
            Polled(observed_at=AT, resource="slurm/jobs", items=[raw])
        )
    name = chance.choice(("a.tape.jsonl", "a.tape.jsonl", "a.tape.jsonl.zst"))
    path = folder() / name
    with TapeWriter(path, HEADER, overwrite=True) as tape:
        tape.write(wrote)
    seen, trouble = read_tape(path, LINE_BYTES_MAX)
    assert trouble is None, f"what was written cannot be read: {trouble}"
    refused = [one for one in seen if isinstance(one, InputRefused)]
    _check_round_trip(raw, wrote, seen, refused)
    return refusals(refused)


def _check_round_trip(
    raw: bytes,
    wrote: list[Observation],
    seen: list[Observation],
    refused: list[InputRefused],
) -> None:
    came = [place[0] for one in wrote for place in documents_of(one)]
    left = [place[0] for one in seen for place in documents_of(one)]
    for one in refused:
        assert one.length == len(raw)
        assert one.sha256 == sha256(raw).hexdigest()
    assert len(came) == len(left) + len(refused), "documents were lost"
    if refused:
        assert len(refused) == came.count(raw)
        came = [one for one in came if one != raw]
    assert left == [
        one.strip(b" \t\r\n").replace(b"\n", b" ") for one in came
    ], "another document was read than was written"


def _watch(raw: bytes) -> WatchFrame:
    return WatchFrame(
        observed_at=AT, resource=PODS, type="MODIFIED", object=raw
    )
