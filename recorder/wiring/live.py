"""A recording as others see it while it runs."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from recorder.intake.progress import Progress
from recorder.intake.recording import Recording
from recorder.model.errors import LogError
from recorder.sources.audit import AuditReceiver
from recorder.sources.claims import ClaimDoor
from recorder.sources.slurm import NodeMapping
from recorder.sources.tape import TapeHeader
from recorder.sources.watch import WatchSource
from recorder.sources.watch.client import ClusterIdentity
from recorder.store.translate import LogAccessError
from recorder.store.writer import Writer

MEASURED = frozenset({"recording", "waiting"})
"""States in which the size is read; ``waiting`` may wait for room."""


def _unlimited(_: int) -> int | None:
    return None


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

    receiver: AuditReceiver | None = None
    """Where an audit webhook is served; it outlives recordings."""

    claims: ClaimDoor | None = None
    """Where events are accepted; it outlives recordings."""

    slurm_nodes: NodeMapping = field(default_factory=NodeMapping)
    """Finds the Nodes of nodes of Slurm, for what is polled and pushed."""

    watch: WatchSource | None = None
    """What observes the cluster."""

    budget: Callable[[int], int | None] = _unlimited
    """Returns the size budget of a database of a size."""

    async def measure(self) -> None:
        """Read what is not counted: the size of the database, its days."""
        if self.writer is None or self.progress.state not in MEASURED:
            return
        with suppress(LogError, LogAccessError):
            size, until = await self.writer.measured()
            self.progress.database_bytes = size
            self.progress.archived_until = until
            self.progress.budget_bytes = self.budget(size)

    def reached(self) -> tuple[int, datetime] | None:
        """Return how much was read of the cluster's past, and since when.

        None if nothing was.
        """
        walks = None if self.watch is None else self.watch.walks
        if walks is None or walks.reached is None or not walks.recovered:
            return None
        return walks.recovered, walks.reached

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
