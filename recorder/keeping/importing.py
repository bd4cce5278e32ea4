"""Files with audit records, put together with the log that they belong to."""

import asyncio
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from recorder.facts.coverage.ports import Log
from recorder.intake.admission import admit
from recorder.intake.committing import Policy
from recorder.intake.known_requests import KnownRequests
from recorder.intake.receipts import Receipt, Receipts
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction
from recorder.intake.state import Recovered
from recorder.keeping.budget import room_guard
from recorder.keeping.collector import calm_collector
from recorder.keeping.importing_files import existing
from recorder.keeping.redaction_key import load_key, make_redaction
from recorder.model.errors import InputError
from recorder.model.observation import AUDIT, AuditRecorded, Observation
from recorder.model.settings import Settings
from recorder.sources.audit import AuditImport, ImportedFile
from recorder.store.writer import Writer, holder_name

__all__ = ["Imported", "import_audit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The result of importing files."""

    files: Sequence[ImportedFile]
    repeated: int
    """Records that the log had already."""

    refused: int
    """Records that the log refused."""

    @property
    def added(self) -> int:
        """Records that are new in the log."""
        taken = sum(file.records for file in self.files if not file.trouble)
        return taken - self.repeated - self.refused


async def import_audit(  # noqa: PLR0913 - each is a choice of its own
    paths: Sequence[Path],
    log: Log,
    settings: Settings,
    dsn: str,
    *,
    dry_run: bool,
    on_progress: Callable[[ImportedFile], None],
    stop: asyncio.Event,
) -> Imported:
    """Import audit records into a log, of a cluster or of a tape.

    Args:
        paths: of the files.
        log: where they go.
        settings: of this installation.
        dsn: of a role that may write.
        dry_run: whether to count only, and write nothing.
        on_progress: called while a file is read.
        stop: ends it.

    Raises:
        StandingByError: a recorder writes the log.
        InputError: it was stopped; what came before is in the log.
    """
    calm_collector()
    key = load_key(settings)
    spec = existing(log, key)
    holder = holder_name(socket.gethostname(), os.getpid())
    writer, redaction = (
        Writer(dsn, spec, holder=holder),
        make_redaction(settings, key),
    )
    source = AuditImport(
        paths, cluster_uid=log.cluster_uid, on_progress=on_progress
    )
    if dry_run:
        return await _rehearsed(source, writer, redaction)
    recording = Recording(
        writer,
        redaction,
        policy=Policy(event_ttl=settings.event_ttl),
        has_room=room_guard(settings),
    )
    await recording.run({AUDIT: source}, stop)
    if not source.is_done:
        msg = "the import was stopped before the end of the files"
        advice = "import them again; no record is added twice"
        raise InputError(msg, advice=advice)
    progress = recording.progress
    return Imported(
        files=source.files,
        repeated=progress.repeated,
        refused=progress.refused,
    )


async def _rehearsed(
    source: AuditImport, writer: Writer, redaction: Redaction
) -> Imported:
    """Return the result that an import would have."""
    try:
        rehearsal = _Rehearsal(await writer.recovered(), writer, redaction)
        await source.run(rehearsal, rehearsal)
    finally:
        await writer.close()
    return Imported(
        files=source.files,
        repeated=rehearsal.requests.repeated,
        refused=rehearsal.refused,
    )


class _Rehearsal:
    """A sink that writes nothing, and knows what the log knows."""

    def __init__(
        self, found: Recovered, writer: Writer, redaction: Redaction
    ) -> None:
        self._found = found
        self._writer = writer
        self._redaction = redaction
        self.requests = KnownRequests(found.newest_request)
        self.refused = 0

    def resume_points(self) -> Mapping[str, str]:
        return {
            stream: point.completed
            for (source, stream), point in self._found.streams.items()
            if source == AUDIT and point.completed is not None
        }

    async def put(self, observations: Sequence[Observation]) -> Receipt:
        admitted = admit(observations, self._redaction)
        moments = self.requests.wanted(admitted)
        self.requests.know(await self._writer.requests(moments))
        for observation in admitted:
            if isinstance(observation, AuditRecorded):
                self.requests.is_new(observation.event)
        handed = sum(isinstance(o, AuditRecorded) for o in observations)
        taken = sum(isinstance(o, AuditRecorded) for o in admitted)
        self.refused += handed - taken
        return Receipt(Receipts(), batch=0)
