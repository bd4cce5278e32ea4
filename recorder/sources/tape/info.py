"""The description of a tape, for people who receive one.

Reads the whole tape once and keeps counts, not frames. A tape that is cut or
damaged is described as far as it can be read, with the error.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import file_digest
from pathlib import Path

from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    EpochBegan,
    InputRefused,
    ListPage,
    Observation,
    Polled,
    RequestFailed,
    StreamClosed,
    WatchFrame,
)
from recorder.sources.tape.errors import TapeError, translate_reading
from recorder.sources.tape.gaps import GapFold, TapeGap
from recorder.sources.tape.header import TapeHeader
from recorder.sources.tape.reader import TapeReader

_KINDS: Mapping[type, str] = {
    ListPage: "list",
    WatchFrame: "watch",
    StreamClosed: "closed",
    AuditRecorded: "audit",
    CloudEventPosted: "cloudevent",
    Polled: "poll",
    InputRefused: "refused",
    RequestFailed: "failed",
    EpochBegan: "epoch",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeInfo:
    """What a tape holds."""

    header: TapeHeader
    identity: str
    """Its UID, or the hash of the file."""

    frames: int
    counts: Mapping[tuple[str, str], int]
    """Frames by kind and resource, "" if a frame has no resource."""

    documents: int
    """Objects, Events and records in all frames together."""

    first_at: datetime | None
    last_at: datetime | None
    """Earliest and latest arrival; None on a tape without frames."""

    gaps: Sequence[TapeGap]
    gaps_count: int
    """More than ``gaps`` has, if not all were kept."""

    bytes_file: int
    bytes_content: int
    """Bytes of all frames, decompressed."""

    trouble: TapeError | None
    """Why it cannot be read to its end; None for an intact tape."""


def describe(path: Path) -> TapeInfo:
    """Read a tape to its end, or to the first damage.

    Raises:
        TapeError: the file is not a tape, or its header is missing.
    """
    fold = _Fold()
    trouble: TapeError | None = None
    with TapeReader(path) as tape:
        try:
            for _, observation in tape.frames():
                fold.add(observation)
        except TapeError as exc:
            trouble = exc
        return TapeInfo(
            header=tape.header,
            identity=tape_identity(path),
            frames=fold.counts.total(),
            counts=dict(fold.counts),
            documents=fold.documents,
            first_at=fold.first_at,
            last_at=fold.last_at,
            gaps=fold.gaps.gaps(),
            gaps_count=fold.gaps.count,
            bytes_file=tape.size,
            bytes_content=tape.bytes_played,
            trouble=trouble,
        )


class _Fold:
    """What is counted on the way."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self.documents = 0
        self.first_at: datetime | None = None
        self.last_at: datetime | None = None
        self.gaps = GapFold()

    def add(self, observation: Observation) -> None:
        resource = getattr(observation, "resource", None)
        written = "" if resource is None else str(resource)
        self.counts[_KINDS[type(observation)], written] += 1
        self.documents += _documents(observation)
        at = observation.observed_at
        # A clock that was set back leaves an earlier time on a later frame.
        if self.first_at is None or at < self.first_at:
            self.first_at = at
        if self.last_at is None or at > self.last_at:
            self.last_at = at
        self.gaps.add(observation)


def _documents(observation: Observation) -> int:
    match observation:
        case ListPage(items=items) | Polled(items=items):
            return len(items)
        case WatchFrame() | AuditRecorded() | CloudEventPosted():
            return 1
        case _:
            return 0


def tape_identity(path: Path) -> str:
    """Return the UID in the header, else ``sha256:`` and the file's hash.

    The log must recognize the same tape under any name, so that playing
    resumes where it stopped and a second playing adds nothing. Reads the whole
    file if there is no UID, in bounded memory.

    Raises:
        TapeError: the file is not a tape.
    """
    with TapeReader(path) as tape:
        if tape.header.tape_uid is not None:
            return tape.header.tape_uid
    with translate_reading(path), path.open("rb") as file:
        return f"sha256:{file_digest(file, 'sha256').hexdigest()}"
