"""A recording as others see it while it runs."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from recorder.errors import LogError
from recorder.intake.progress import Progress
from recorder.intake.recording import Recording
from recorder.sources.tape import TapeHeader
from recorder.sources.watch.client import ClusterIdentity
from recorder.store.writer import Writer

__all__ = ["LiveRecording"]


@dataclass(slots=True)
class LiveRecording:
    """What the process that records shares between its parts."""

    progress: Progress = field(default_factory=Progress)
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    identity: ClusterIdentity | None = None
    redaction_key_id: str | None = None
    recording: Recording | None = None
    """The one that holds the lease at the moment."""

    writer: Writer | None = None
    """What it writes with."""

    async def measure(self) -> None:
        """Look at what is not counted: the size of the database."""
        if self.writer is None or self.progress.state != "recording":
            return
        with suppress(LogError):
            self.progress.database_bytes = await self.writer.database_bytes()

    def tape_header(self) -> TapeHeader:
        """Return the first line of a tape that begins now."""
        assert self.identity is not None, "the cluster has been asked"
        return TapeHeader(
            cluster=self.identity.name,
            cluster_uid=self.identity.uid,
            kubernetes=self.identity.server_version,
            started_at=datetime.now(UTC),
            redaction_key_id=self.redaction_key_id,
        )
