"""Examining what is to be imported: what each file holds, put on a shelf.

Folders are walked without following links, archives are read as streams and
never unpacked to disk. What is recognized is counted for each file, and so is
what is refused; nothing is written to a log meanwhile. In a bundle, files in
which nothing is recognized, mostly logs, are counted apart.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from recorder.facts.classify import record_moment
from recorder.facts.classify.times import moment
from recorder.model.kinds import BUILT_IN_KINDS
from recorder.sources.audit.exports import (
    Cut,
    Found,
    Other,
    Record,
    Refused,
    Thing,
    found_in,
)
from recorder.sources.audit.imported import ImportedFile
from recorder.sources.dumps.folders import files_of
from recorder.sources.dumps.shelf import Shelf
from recorder.sources.dumps.things import Item, Things, newest_moment
from recorder.sources.files import (
    CutError,
    Document,
    Member,
    UnreadableError,
    documents,
    members,
)
from recorder.sources.files.unpacking import UNPACKED_BYTES_MAX
from recorder.sources.files.yaml import is_yaml, yaml_documents

BEGINNING = 1 << 14
"""Bytes by which a file of a bundle is recognized."""

UNKNOWN_MAX = 1000
"""So many documents of a file of a bundle are read while none is recognized;
then it is a log of something else."""

NO_RECORD, NO_NAME = ", not an audit record", " without a name"
"""What is wrong with a document that states its kind."""

BUILT_IN = frozenset(BUILT_IN_KINDS.values())

FILES_SHOWN_MAX = 1000
PROGRESS_DOCUMENTS = 1000

TAPE = b'{"tape":"recorder/'
_AUDIT = b"audit.k8s.io/"
_STATED = b'"apiVersion"'
_JSON = re.compile(rb"\s*[\[{]")
_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(\.\d{1,6})?\d*"
    r"\s?(Z|[+-]\d\d:?\d\d)"
)
_DATE = re.compile(
    r"\w{3} (\w{3}) +(\d{1,2}) (\d\d:\d\d:\d\d) (?:UTC|GMT) (\d{4})"
)
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"

LAYOUTS = (
    ("must-gather", "cluster-scoped-resources/"),
    ("a support bundle of troubleshoot.sh", "cluster-resources/"),
    ("an sos report", "sos_commands/"),
    ("kubectl cluster-info dump", "kube-system/pods."),
)
"""What a bundle is, by a part of the names in it."""

Chooses = Callable[[str, str, str], bool]


@dataclass
class Examined:
    """What was found below one path."""

    path: Path
    layout: str = "a file"
    at: datetime | None = None
    """The time of its objects."""

    dated_by: str = ""
    """What the time was taken from."""

    files: list[ImportedFile] = field(default_factory=list)
    """Those in which something was recognized or refused, the first ones."""

    more_files: int = 0
    unknown: int = 0
    """Files in which nothing was recognized."""

    unknown_some: list[str] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    """What is no file, by what it is: links, devices, folders too deep."""

    audit: dict[Path, set[str]] = field(default_factory=dict)
    """The members with audit records, by file."""

    trouble: str | None = None
    """Why it was not read to its end."""

    digest: str = ""
    """Of the content of all files."""

    is_done: bool = False
    """Whether everything was examined."""

    def skip(self, what: str) -> None:
        """Count what is no file."""
        self.skipped[what] = self.skipped.get(what, 0) + 1

    @property
    def total(self) -> ImportedFile:
        """The sum of its files."""
        total = ImportedFile(path=str(self.path))
        for file in self.files:
            total.records += file.records
            total.objects += file.objects
            total.events += file.events
            total.refused += file.refused
            total.cut += file.cut
            total.other += file.other
            for kind, count in file.left_out.items():
                total.left_out[kind] = total.left_out.get(kind, 0) + count
            for at in (file.first_at, file.last_at):
                if at is not None:
                    total.first_at = min(at, total.first_at or at)
                    total.last_at = max(at, total.last_at or at)
        return total


def examine(
    path: Path,
    shelf: Shelf,
    dump: int,
    things: Things,
    *,
    now: datetime,
    on_progress: Callable[[ImportedFile], None] = lambda _: None,
) -> Iterator[Examined]:
    """Examine what is below a path; yield it from time to time, and at last.

    Args:
        path: a file, an archive or a folder.
        shelf: takes the objects and Events.
        dump: the number of the path.
        things: reads objects.
        now: later times are wrong.
        on_progress: called while files are read.

    Raises:
        InputError: it is neither, or too large.
    """
    examiner = _Examiner(path, shelf, dump, things, now, on_progress)
    yield from examiner.run()


class _Examiner:
    def __init__(
        self,
        path: Path,
        shelf: Shelf,
        dump: int,
        things: Things,
        now: datetime,
        on_progress: Callable[[ImportedFile], None],
    ) -> None:
        self.found = Examined(path)
        self._shelf, self._dump, self._things = shelf, dump, things
        self._now, self._on_progress = now, on_progress
        self._newest: datetime | None = None
        self._digest = hashlib.sha256()
        self._documents = 0
        self._is_bundle = False

    def run(self) -> Iterator[Examined]:
        found = self.found
        for path in files_of(found.path, found.skip):
            self._is_bundle = self._is_bundle or path != found.path
            if self._is_bundle and found.layout == "a file":
                found.layout = "a folder"
            try:
                self._identify(path)
                for member in members(path):
                    yield from self._member(path, member)
            except (OSError, UnreadableError, CutError) as exc:
                self._refuse_file(path, str(exc))
        self._date()
        found.digest = self._digest.hexdigest()
        found.is_done = True
        yield found

    def _identify(self, path: Path) -> None:
        """Add a file to the identity of the path."""
        if path.stat().st_size > UNPACKED_BYTES_MAX:
            msg = f"{path} is larger than {UNPACKED_BYTES_MAX >> 30} GiB"
            raise UnreadableError(msg)
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").digest()
        name = os.fsencode(path.relative_to(self.found.path))
        self._digest.update(len(name).to_bytes(4) + name + content)

    def _refuse_file(self, path: Path, why: str) -> None:
        file = ImportedFile(path=str(path), trouble=why)
        self._keep(file)

    def _keep(self, file: ImportedFile) -> None:
        if len(self.found.files) < FILES_SHOWN_MAX or file.taken:
            self.found.files.append(file)
        else:
            self.found.more_files += 1

    def _member(self, path: Path, member: Member) -> Iterator[Examined]:
        self._lay_out(member)
        try:
            begins, read = _begun(member.read)
        except CutError as exc:  # the next file of a zip may be whole
            why = f"{exc}; copy it again, or unpack what can be read of it"
            self._keep(ImportedFile(path=member.name, trouble=why))
            return
        if not self._is_read(member, begins):
            return
        file = ImportedFile(path=member.name)
        of_kubernetes = is_yaml(begins)
        may_be_foreign = self._is_bundle and not of_kubernetes
        split = yaml_documents if of_kubernetes else documents
        for document in split(read):
            for one in found_in(document):
                self._take(file, one, document, path)
            self._documents += 1
            if self._documents % PROGRESS_DOCUMENTS == 0:
                self._on_progress(file)
                yield self.found
            if may_be_foreign and _is_foreign(file, UNKNOWN_MAX):
                break
        if (
            may_be_foreign
            and _is_foreign(file, 1)  # else it is an empty list
            and not (
                # What was cut off, or is too large, may be one of these.
                (file.cut or file.refused) and _STATED in begins
            )
        ):
            self._unknown(member.name)
        else:
            self._keep(file)

    def _is_read(self, member: Member, begins: bytes) -> bool:
        """Return whether a file is read on, by its beginning."""
        if member.skipped:
            self.found.skip(member.skipped)
            return False
        if not (begins or member.is_alone):
            return False  # an empty file, or the end of an archive
        self._look_for_time(member.name, begins)
        if begins_tape(begins):
            why = "it is a tape: name it itself, beside the other files"
            self._keep(ImportedFile(path=member.name, trouble=why))
            return False
        if self._is_bundle and not _may_hold(begins):
            self._unknown(member.name)
            return False
        return True

    def _unknown(self, name: str) -> None:
        self.found.unknown += 1
        if len(self.found.unknown_some) < 3:  # noqa: PLR2004 - as examples
            self.found.unknown_some.append(name)

    def _lay_out(self, member: Member) -> None:
        found = self.found
        if not member.is_alone:
            self._is_bundle = True
            if found.layout in {"a file", "a folder"}:
                found.layout = "an archive"
        if found.layout not in {"an archive", "a folder"}:
            return
        for layout, part in LAYOUTS:
            if part in member.name:
                found.layout = layout
                return

    def _take(
        self,
        file: ImportedFile,
        found: Found,
        document: Document,
        path: Path,
    ) -> None:
        match found:
            case Record(raw):
                file.take(record_moment(raw))
                self.found.audit.setdefault(path, set()).add(file.path)
            case Thing(about, raw):
                self._thing(file, about, raw, document)
            case Other():
                file.other += 1
            case Refused(reason):
                self._refuse(file, reason, document)
            case Cut(reason):
                file.refuse(reason, document, cut=True)

    def _refuse(
        self, file: ImportedFile, reason: str, document: Document
    ) -> None:
        """Count what is neither; in a bundle, its own files are left out."""
        kind = reason.removesuffix(NO_RECORD).rpartition(" ")[2]
        is_named = reason.endswith(NO_RECORD)
        if is_named and self._is_bundle and kind not in BUILT_IN:
            file.leave_out(kind)
            return
        file.refuse(reason.replace(NO_RECORD, NO_NAME), document)

    def _thing(
        self,
        file: ImportedFile,
        about: "dict[str, object] | object",
        raw: bytes | None,
        document: Document,
    ) -> None:
        assert isinstance(about, dict), "an object is one of JSON"
        try:
            item = self._things.read(about, raw, file.path)
        except (ValueError, TypeError) as exc:
            file.refuse(str(exc), document)
            return
        if isinstance(item, str):
            file.leave_out(item)
            return
        self._count(file, item)
        self._shelf.put(item, self._dump)

    def _count(self, file: ImportedFile, item: Item) -> None:
        if item.is_event:
            file.events += 1
            file.date(item.at)
            newest = item.at if item.at and item.at <= self._now else None
        else:
            file.objects += 1
            newest = newest_moment(item.raw, until=self._now)
        if newest is not None and (
            self._newest is None or newest > self._newest
        ):
            self._newest = newest

    def _look_for_time(self, name: str, begins: bytes) -> None:
        """Take the time of a dump from the file that it keeps it in.

        must-gather has `timestamp`, with its begin and its end; an sos report
        has `date`.
        """
        if not self._is_bundle:
            return
        base = PurePosixPath(name.replace(":", "/")).name
        if base not in {"timestamp", "date"}:
            return
        at = _newest_stated(begins.decode(errors="replace"))
        if at is not None and at <= self._now:
            found = self.found
            if found.at is None or found.at < at:
                found.at, found.dated_by = at, name

    def _date(self) -> None:
        found = self.found
        if found.at is None:
            found.at = self._newest
            found.dated_by = "the newest time in it"
        if found.at is None:
            # Of objects without any time, which no API server wrote.
            found.at = datetime(1970, 1, 1, tzinfo=UTC)
            found.dated_by = "nothing: it has no times"
        self._shelf.date(self._dump, found.at)


def _newest_stated(text: str) -> datetime | None:
    stated = [
        moment(f"{day}T{time}{part or ''}{zone}")
        for day, time, part, zone in _TIME.findall(text)
    ]
    for month, day, time, year in _DATE.findall(text):
        if month in _MONTHS:
            number = _MONTHS.index(month) // 3 + 1
            stated.append(moment(f"{year}-{number:02}-{int(day):02}T{time}Z"))
    return max((at for at in stated if at is not None), default=None)


def begins_tape(begins: bytes) -> bool:
    """Return whether a text is a tape, by its beginning."""
    return begins[:100].replace(b" ", b"").startswith(TAPE)


def _may_hold(begins: bytes) -> bool:
    """Return whether a file may hold objects or audit records."""
    return bool(_JSON.match(begins) or is_yaml(begins) or _AUDIT in begins)


def _begun(
    read: Callable[[int], bytes],
) -> tuple[bytes, Callable[[int], bytes]]:
    """Return the beginning of a text, and a reader of all of it."""
    held, trouble = b"", None
    try:
        while len(held) < BEGINNING and (block := read(BEGINNING)):
            held += block
    except CutError as exc:
        trouble = exc
    if trouble is not None and not held:
        raise trouble
    pending = [held]

    def again(size: int) -> bytes:
        if pending:
            if pending[0]:
                return pending.pop()
            pending.pop()
        if trouble is not None:
            raise trouble
        return read(size)

    return held, again


def _is_foreign(file: ImportedFile, least: int) -> bool:
    """Return whether so many documents of a file are nothing that is read."""
    unread = file.refused + file.cut + file.other
    return unread >= least and not (file.taken or file.left_out)
