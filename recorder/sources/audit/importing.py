"""Importing audit records from files: each file once, from its beginning.

A file is read twice: first to see what it holds, so that nothing is written
for a file without a record, or with records of another cluster; then to put
it. Lines that are refused or cut are one gap of the log, after the records.

An audit log is a recording made by the API server: its records keep the times
at which they were logged, as the frames of a tape do.
"""

import asyncio
import hashlib
import stat
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from recorder.facts.classify import cluster_shown, record_moment
from recorder.intake.ports import Sink
from recorder.intake.receipts import Receipt
from recorder.model.observation import (
    AUDIT,
    AuditRecorded,
    Observation,
    PlaceReached,
    RecordsLost,
)
from recorder.sources.audit.exports import (
    Cut,
    Found,
    Other,
    Record,
    Refused,
    Thing,
    found_in,
    seems,
)
from recorder.sources.audit.imported import ImportedFile
from recorder.sources.files import (
    CutError,
    Document,
    State,
    Text,
    UnreadableError,
    documents,
    members,
)

PORTION_BYTES = 1 << 20
PROGRESS_DOCUMENTS = 1000
FIRST_LINE_BYTES_MAX = 16 << 20

REFUSED_IN_PART = "lines of a file were no audit records"


class Places(Protocol):
    """What an import needs from a log."""

    def resume_points(self) -> Mapping[str, str]:
        """Return how far each file was read, by the name of its stream."""


class AuditImport:
    """Imports audit records; records that the log has already add nothing."""

    finite = True

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        cluster_uid: str | None = None,
        among: Mapping[Path, Container[str]] | None = None,
        on_progress: Callable[[ImportedFile], None] = lambda _: None,
    ) -> None:
        """Prepare.

        Args:
            paths: of the files, in the order in which they are read.
            cluster_uid: of the log; records with another one are refused.
            among: names of the members of each file that have records, if
                the files have been examined; what else they hold is skipped.
            on_progress: called while files are read.
        """
        self._paths = paths
        self._cluster_uid = cluster_uid
        self._among = among
        self._on_progress = on_progress
        self.files: list[ImportedFile] = []
        """The result for each file, as far as they were read."""

        self.is_done = False
        """Whether every file was read to its end, and is in the log."""

    async def run(self, sink: Sink, known: Places) -> None:
        """Read every file; the result of an unreadable one has the reason."""
        places = dict(known.resume_points())
        receipt = None
        for path in self._paths:
            file = ImportedFile(path=str(path))
            self.files.append(file)
            try:
                _see_file(path)
                place = _place(path, places)
                await self._see(path, place, file)
                if file.records and file.trouble is None:
                    receipt = await self._put(path, place, file, sink)
                    places[place.stream] = str(place.offset)
            except (OSError, UnreadableError) as exc:
                file.trouble = str(exc)
        if receipt is not None:
            # A slow commit is not a stop that takes too long.
            await receipt.committed()
        self.is_done = True

    async def _see(
        self, path: Path, place: "_Place", file: ImportedFile
    ) -> None:
        """Count the contents of a file."""
        file.read_before = place.is_known
        for document, found in self._read(path, place):
            file.read_before = False
            match found:
                case Record(raw):
                    file.take(record_moment(raw))
                    self._compare(raw, document, file)
                case Other():
                    file.other += 1
                case Thing(about):
                    file.refuse(seems(about), document)
                case Refused(reason):
                    file.refuse(reason, document)
                case Cut(reason):
                    file.refuse(reason, document, cut=True)
            if (file.records + file.refused) % PROGRESS_DOCUMENTS == 0:
                self._on_progress(file)
                # Other tasks must get their turn.
                await asyncio.sleep(0)
        self._on_progress(file)

    def _read(
        self, path: Path, place: "_Place"
    ) -> Iterator[tuple[Document, Found]]:
        among = None if self._among is None else self._among.get(path, ())
        for document, found in _read(path, place, among):
            # Objects among records were imported beside them.
            if among is None or not isinstance(found, Thing):
                yield document, found

    def _compare(
        self, raw: bytes, document: Document, file: ImportedFile
    ) -> None:
        shown = cluster_shown(raw)
        if self._cluster_uid and shown and shown != self._cluster_uid:
            file.trouble = (
                f"line {document.line} is of another cluster: the UID of its"
                f" kube-system is {shown}, that of this log"
                f" {self._cluster_uid}; import it into the log of its cluster"
            )

    async def _put(
        self, path: Path, place: "_Place", file: ImportedFile, sink: Sink
    ) -> Receipt:
        portion: list[Observation] = []
        size, taken, line = 0, 0, 0
        # The gap is put at the end, so an import that was stopped starts
        # again.
        may_resume = place.is_of_lines and file.is_whole
        for document, found in self._read(path, place):
            # What was appended since it was counted is for the next import.
            if taken == file.records:
                break
            line = document.last_line
            if not isinstance(found, Record):
                continue
            if size >= PORTION_BYTES:
                if may_resume and document.end > place.offset:
                    portion.append(place.reached(place.offset, "live"))
                await sink.put(portion)
                portion, size = [], 0
                # A sink with room does not wait, and other tasks get their
                # turn.
                await asyncio.sleep(0)
            portion.append(_recorded(found.raw))
            size, taken = size + len(found.raw), taken + 1
            place.offset = document.end
        if taken < file.records:
            file.records = taken
            end = Document(b"", line, line, State.CUT, place.offset)
            file.refuse("it became shorter while it was read", end, cut=True)
        if file.refused or file.cut:
            portion.append(_lost(place.stream, path, file))
        return await sink.put([*portion, place.reached(place.offset, "ended")])


def _see_file(path: Path) -> None:
    """Check that a path is a regular file, which can be read twice.

    Raises:
        UnreadableError: it is a pipe, or a folder.
        OSError: it does not exist.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        msg = (
            f'cannot import "{path}": it is not a regular file; copy its'
            " content to one first"
        )
        raise UnreadableError(msg)


class _Place:
    """How far a file was read, and its name.

    A log is named by its first line, as when it is followed; another file by
    all its bytes, because exports have equal first lines.
    """

    def __init__(self, stream: str, offset: int, *, is_of_lines: bool) -> None:
        self.stream = stream
        self.offset = offset
        self.is_of_lines = is_of_lines
        self.is_known = bool(offset)

    def reached(self, offset: int, state: str) -> PlaceReached:
        """Return the place after what was put."""
        return PlaceReached(
            observed_at=datetime.now(UTC),
            source=AUDIT,
            stream=self.stream,
            place=str(offset),
            state="ended" if state == "ended" else "live",
        )


def _place(path: Path, places: Mapping[str, str]) -> _Place:
    first = _first_line(path)
    stream = f"file:{first}"
    if first is None:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        stream = f"file:{digest[:32]}"
    offset = int(places.get(stream) or 0)
    if offset and first is not None and not _is_between(path, offset):
        # Another file with the same first line, such as a filtered log.
        offset = 0
    return _Place(stream, offset, is_of_lines=first is not None)


def _first_line(path: Path) -> str | None:
    """Return the digest of the first line of a log; None if it is not one."""
    line = b""
    held = members(path)
    try:
        member = next(held)
        if not member.is_alone:
            return None
        while b"\n" not in line and len(line) < FIRST_LINE_BYTES_MAX:
            block = member.read(1 << 16)
            if not block:
                return None
            line += block
    except CutError:
        return None
    line = line.partition(b"\n")[0]
    one = iter([line, b""])
    found = [
        each
        for document in documents(lambda _: next(one, b""))
        for each in found_in(document)
    ]
    if len(found) != 1 or not isinstance(found[0], Record):
        return None
    return hashlib.sha256(line).hexdigest()[:32]


def _is_between(path: Path, offset: int) -> bool:
    """Return whether a log has a line that ends at this offset."""
    for member in members(path):
        return Text(member.read).skip(offset)
    return False


def _read(
    path: Path, place: _Place, among: Container[str] | None
) -> Iterator[tuple[Document, Found]]:
    """Yield the contents of a file after a place.

    A file that was read to its end in one piece holds nothing new.
    """
    if place.is_known and not place.is_of_lines:
        return
    offset, is_cut = place.offset, False
    try:
        for member in members(path):
            is_among = among is None or member.name in among
            if not (is_among or member.is_end):
                continue
            for document in documents(member.read, offset=offset):
                is_cut = document.state is State.CUT
                for found in found_in(document):
                    yield document, found
            offset = 0
    except CutError as exc:
        if not is_cut:
            yield Document(b"", 0, 0, State.CUT, 0), Cut(str(exc))


def _recorded(raw: bytes) -> AuditRecorded:
    now = datetime.now(UTC)
    at = record_moment(raw) or now
    # With a server clock that is ahead, nothing is observed before now.
    return AuditRecorded(observed_at=min(at, now), event=raw)


def _lost(stream: str, path: Path, file: ImportedFile) -> RecordsLost:
    at = file.last_at or datetime.now(UTC)
    return RecordsLost(
        observed_at=at,
        stream=stream,
        reason=REFUSED_IN_PART,
        since=file.first_at,
        proved=f"{path.name}: {'; '.join(file.says())}",
        possible=f"audit records in {path.name}",
    )
