"""Files of all kinds, put together with the log that they are imported into.

What is recognized decides the way: a tape is played, objects and Events are
put on a shelf and entered in the order of time, audit records are imported
from their files. A new log is a log as of a tape; it is found again by the
content of the files, so that an import can be continued or repeated.
"""

import asyncio
import hashlib
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from recorder.facts.coverage.ports import Log
from recorder.intake.committing import Policy
from recorder.intake.ports import Source
from recorder.intake.progress import Progress
from recorder.intake.recording import Recording
from recorder.intake.redact import key_id
from recorder.keeping.budget import room_guard
from recorder.keeping.collector import calm_collector
from recorder.keeping.playing import Playing, play_tape
from recorder.keeping.redaction_key import load_key, make_redaction
from recorder.model.errors import InputError
from recorder.model.observation import AUDIT, TAPE
from recorder.model.settings import Settings
from recorder.sources.audit import AuditImport, ImportedFile
from recorder.sources.dumps import (
    DumpImport,
    Examined,
    Shelf,
    Things,
    examine,
)
from recorder.sources.dumps.examining import begins_tape
from recorder.sources.dumps.things import Chooses
from recorder.sources.files import CutError, UnreadableError, members
from recorder.sources.tape import TapeReader
from recorder.store.writer import LogSpec, Writer, holder_name

UNKNOWN = "unknown"
"""The version of a cluster that no file shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importing:
    """What is imported, and where to."""

    paths: Sequence[Path]
    chooses: Chooses
    """Which objects are recorded."""

    into: Log | None = None
    """An existing log; None for one of the files' own."""

    name: str | None = None
    """Of a new log; None to name it after the files."""

    on_progress: Callable[[str, int], None] = lambda _name, _count: None
    """Called with the name of a file, or an empty one while the log is
    written, and a count."""


@dataclass(slots=True, kw_only=True)
class Found:
    """What was found in the files."""

    tape: Path | None = None
    examined: list[Examined] = field(default_factory=list)
    things: int = 0
    """Versions of objects, and Events, each counted once."""

    cluster_uid: str = ""
    kubernetes: str = ""

    @property
    def audit(self) -> Mapping[Path, set[str]]:
        """The members with audit records, by file."""
        return {
            path: names
            for one in self.examined
            for path, names in one.audit.items()
        }

    @property
    def files(self) -> Sequence[ImportedFile]:
        """Every file in which something was recognized or refused."""
        return [file for one in self.examined for file in one.files]


@dataclass(slots=True, kw_only=True)
class Imported:
    """The result of an import."""

    found: Found
    log: int = 0
    cluster: str = ""
    entries: int = 0
    """Entries that are new in the log."""

    audit: Sequence[ImportedFile] = ()
    """The result for each file with audit records."""

    repeated: int = 0
    """Audit records that the log had already."""

    refused: int = 0
    """What the log refused."""

    def add(self, progress: Progress) -> None:
        """Add what one recording did."""
        self.log = progress.log
        self.entries += progress.entries
        self.refused += progress.refused


async def find_all(
    importing: Importing, shelf: Shelf, stop: asyncio.Event
) -> Found:
    """Examine all files; write nothing.

    Raises:
        InputError: they cannot be imported into one log, or it was stopped.
    """
    found = Found()
    things = Things(importing.chooses)
    now = datetime.now(UTC)
    for number, path in enumerate(importing.paths):
        if _is_tape(path):
            if found.tape is not None or importing.into is not None:
                msg = f"{path} is a tape, which is a log of its own"
                advice = "import one tape, and add other files to its log"
                raise InputError(msg, advice=advice)
            found.tape = path
            continue
        examining = examine(
            path,
            shelf,
            number,
            things,
            now=now,
            on_progress=lambda f: importing.on_progress(f.path, f.taken),
        )
        for one in examining:
            if one.is_done:
                found.examined.append(one)
            # Other tasks must get their turn.
            await asyncio.sleep(0)
            _check_done(is_done=not stop.is_set())
    found.things = len(shelf)
    found.kubernetes = things.kubernetes
    found.cluster_uid = _one_cluster(things.cluster_uids, importing.into)
    return found


def _one_cluster(shown: set[str], into: Log | None) -> str:
    if len(shown) > 1:
        msg = (
            "the files are of several clusters: the UIDs of their kube-system"
            f" are {', '.join(sorted(shown)[:3])}"
        )
        raise InputError(
            msg,
            advice="import those of one cluster",
            code="input.other_cluster",
        )
    (uid,) = shown or {""}
    if into is not None and uid and into.cluster_uid not in {"", uid}:
        msg = (
            f"the files are of another cluster than log {into.id}: the UID of"
            f" their kube-system is {uid}, that of the log {into.cluster_uid}"
        )
        raise InputError(
            msg,
            advice="import them without --into",
            code="input.other_cluster",
        )
    return uid


def _is_tape(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        for member in members(path):
            return member.is_alone and begins_tape(member.read(1 << 10))
    except (OSError, UnreadableError, CutError):
        pass
    return False


async def import_all(
    importing: Importing,
    found: Found,
    shelf: Shelf,
    settings: Settings,
    dsn: str,
    stop: asyncio.Event,
) -> Imported:
    """Import what was found.

    Args:
        importing: the files and the log.
        found: what they hold.
        shelf: with the objects and Events.
        settings: of this installation.
        dsn: of a role that may write.
        stop: ends it.

    Raises:
        StandingByError: a recorder writes the log.
        InputError: it was stopped; what came before is in the log.
    """
    calm_collector()
    result = Imported(found=found)
    spec, played = await _spec(importing, found, settings, dsn, stop)
    result.cluster = spec.cluster_name
    if played is not None:
        result.add(played)
    if found.things:
        dumps = DumpImport(
            shelf,
            _digest(found),
            on_progress=lambda count: importing.on_progress("", count),
        )
        result.add(
            await record_finite({TAPE: dumps}, spec, settings, dsn, stop)
        )
        _check_done(is_done=dumps.is_done)
    if found.audit:
        audit = AuditImport(
            sorted(found.audit),
            cluster_uid=spec.cluster_uid or None,
            among=found.audit,
            on_progress=lambda f: importing.on_progress(f.path, f.records),
        )
        progress = await record_finite(
            {AUDIT: audit}, spec, settings, dsn, stop
        )
        _check_done(is_done=audit.is_done)
        result.add(progress)
        result.audit = audit.files
        result.repeated = progress.repeated
    return result


async def _spec(
    importing: Importing,
    found: Found,
    settings: Settings,
    dsn: str,
    stop: asyncio.Event,
) -> tuple[LogSpec, Progress | None]:
    """Return the log to write; play the tape first, if there is one."""
    if importing.into is not None:
        return existing(importing.into, load_key(settings)), None
    if found.tape is None:
        key = load_key(settings)
        return _new(importing, found, key), None
    with TapeReader(found.tape) as reader:
        header = reader.header
    if found.cluster_uid not in {"", header.cluster_uid}:
        msg = f"{found.tape} is a tape of another cluster than the files"
        raise InputError(
            msg, advice="import them apart", code="input.other_cluster"
        )
    playing = Playing(path=found.tape, cluster=importing.name)
    played = await play_tape(playing, settings, dsn, stop)
    _check_done(is_done=not stop.is_set())
    spec = LogSpec(
        cluster_name=played.cluster,
        cluster_uid=header.cluster_uid,
        kubernetes=header.kubernetes,
        redaction_key_id=header.redaction_key_id,
        log=played.progress.log,
    )
    return spec, played.progress


def _new(importing: Importing, found: Found, key: bytes) -> LogSpec:
    return LogSpec(
        cluster_name=importing.name or _name(importing.paths[0]),
        cluster_uid=found.cluster_uid,
        kubernetes=found.kubernetes or UNKNOWN,
        redaction_key_id=key_id(key),
        tape_uid=f"import:{_digest(found)}",
    )


def _name(path: Path) -> str:
    """Return the name of a log after its first file."""
    return path.resolve().name.partition(".")[0][:200] or "import"


def _digest(found: Found) -> str:
    """Return what identifies the content of the files."""
    digests = sorted(one.digest for one in found.examined)
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:32]


def _check_done(*, is_done: bool) -> None:
    if not is_done:
        msg = "the import was stopped before the end of the files"
        advice = "import them again; nothing is added twice"
        raise InputError(msg, advice=advice)


def existing(log: Log, key: bytes) -> LogSpec:
    """Return an existing log, of a cluster or of a tape, to be written."""
    return LogSpec(
        cluster_name=log.cluster_name,
        cluster_uid=log.cluster_uid,
        kubernetes=log.kubernetes,
        # A tape was redacted where it was recorded.
        redaction_key_id=log.redaction_key_id if log.is_tape else key_id(key),
        log=log.id,
    )


async def record_finite(
    sources: Mapping[str, Source],
    spec: LogSpec,
    settings: Settings,
    dsn: str,
    stop: asyncio.Event,
) -> Progress:
    """Record sources that end, into a log that no recorder writes."""
    holder = holder_name(socket.gethostname(), os.getpid())
    recording = Recording(
        Writer(dsn, spec, holder=holder),
        make_redaction(settings, load_key(settings)),
        policy=Policy(event_ttl=settings.event_ttl),
        has_room=room_guard(settings),
    )
    await recording.run(sources, stop)
    return recording.progress
