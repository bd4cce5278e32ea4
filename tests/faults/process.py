"""A recorder as a process: it starts, stands by, records, and is killed.

Source and intake are the real ones, under the timeouts of life; only their
clocks are ours. What passes from the source into intake is noted for the
oracle, which must know what was offered before it can say what is missing.
"""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from recorder.intake.committing import Policy
from recorder.intake.ports import Known, Sink
from recorder.intake.progress import ClaimCounts
from recorder.intake.receipts import Receipt
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.errors import (
    LogUnavailableError,
    StandingByError,
    UnknownStateError,
)
from recorder.model.observation import CLOUDEVENTS, WATCH, Observation
from recorder.sources.claims import ClaimDoor
from recorder.sources.watch import (
    Clock,
    ClusterClient,
    Selection,
    WatchSettings,
    WatchSource,
)
from recorder.sources.watch.selection import Pattern
from tests.faults.claims import rights
from tests.faults.database import Database, Session

__all__ = ["Note", "Process"]

REDACTION = Redaction(RedactionRules(), b"0" * 32)
SELECTION = Selection(include=[Pattern.parse("example.com/widgets")])
SETTINGS = WatchSettings(reconcile_every=600, walk_stage=30)
STANDBY_POLL = 2.0


@dataclass(frozen=True)
class Note:
    """One observation on its way from the source into intake."""

    at: float
    session: int
    epoch: int
    """Of the cluster."""

    what: Observation


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What every process of one schedule shares."""

    kubeconfig: Path
    cluster_uid: str
    cluster_epoch: Callable[[], int]
    database: Database
    clock: Clock
    dice: random.Random
    notes: list[Note]
    failed: list[str]


class Process:
    """One recorder, from its start to its end."""

    def __init__(self, name: str, around: Surroundings) -> None:
        self.name = name
        self._around = around
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.session: Session | None = None
        self.recording: Recording | None = None
        self.door = ClaimDoor(
            rights, counts=ClaimCounts(), now=around.clock.now
        )

    @property
    def is_recording(self) -> bool:
        """Whether it holds the lease, as far as it knows."""
        return self.recording is not None and self.recording.is_recording

    def start(self, group: asyncio.TaskGroup) -> None:
        self._task = group.create_task(self._run(), name=self.name)

    async def kill(self) -> None:
        """As SIGKILL would: no client is notified."""
        if self.session is not None:
            self.session.is_dead = True
        await self._end()

    async def stop(self) -> None:
        """As SIGTERM would."""
        self._stop.set()
        assert self._task is not None
        await asyncio.wait({self._task}, timeout=60)
        await self._end()

    async def _end(self) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        around = self._around
        client = ClusterClient.from_kubeconfig(
            str(around.kubeconfig), settings=SETTINGS, clock=around.clock
        )
        try:
            while not self._stop.is_set():
                try:
                    await self._record(client)
                except (
                    StandingByError,
                    LogUnavailableError,
                    UnknownStateError,
                ):
                    with suppress(TimeoutError):
                        async with asyncio.timeout(STANDBY_POLL):
                            await self._stop.wait()
                except Exception as exc:  # noqa: BLE001 - each is a finding
                    around.failed.append(f"{self.name} failed: {exc!r}")
                    return
                else:
                    return
        finally:
            await client.close()

    async def _record(self, client: ClusterClient) -> None:
        around = self._around
        database = around.database
        session = self.session = database.session(self.name)
        self.recording = Recording(
            session,
            REDACTION,
            policy=Policy(served=True),
            has_room=lambda: database.disk,
            now=around.clock.now,
        )
        source = WatchSource(
            client,
            cluster_uid=around.cluster_uid,
            redact=lambda raw, name: REDACTION.document(raw, resource=name),
            selection=SELECTION,
            jitter=around.dice,
        )
        tapped = _Tapped(source, session.number, around)
        await self.recording.run(
            {WATCH: tapped, CLOUDEVENTS: self.door}, self._stop
        )


@dataclass(frozen=True)
class _Tapped:
    """A source; everything that it puts is noted."""

    finite: ClassVar[bool] = False

    source: WatchSource
    session: int
    around: Surroundings

    async def run(self, sink: Sink, known: Known) -> None:
        await self.source.run(_Tap(sink, self.session, self.around), known)


@dataclass(frozen=True)
class _Tap:
    sink: Sink
    session: int
    around: Surroundings

    async def put(self, observations: Sequence[Observation]) -> Receipt:
        around = self.around
        now, epoch = around.database.steady(), around.cluster_epoch()
        around.notes.extend(
            Note(now, self.session, epoch, what) for what in observations
        )
        return await self.sink.put(observations)
