"""The recording half, put together: a cluster or a tape, to the log.

This is also where it is decided what a failure costs: a lease held elsewhere
is waited for, a log that went on without us means starting anew, anything
else ends the process with its message.
"""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from datetime import timedelta
from pathlib import Path

from recorder.admin.redaction_key import load_key
from recorder.collector import calm_collector
from recorder.embedded.recording_lock import RecordingLock
from recorder.errors import (
    LogError,
    LogUnavailableError,
    StandingByError,
    Transient,
    UnknownStateError,
)
from recorder.health import HealthServer
from recorder.intake.committing import Policy
from recorder.intake.progress import Progress
from recorder.intake.recording import Recording
from recorder.model.observation import WATCH
from recorder.redact import Redaction, RedactionRules, key_id
from recorder.redact.rules import DEFAULT_PATTERNS
from recorder.settings import Settings
from recorder.sources.tape import (
    TapeWriter,
)
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import RequestError
from recorder.sources.watch.selection import Pattern, Selection
from recorder.sources.watch.settings import WatchSettings
from recorder.sources.watch.source import WatchSource
from recorder.store.translate import LogAccessError, SchemaError
from recorder.store.writer import LogSpec, Writer, holder_name
from recorder.wiring.database import Database, open_database
from recorder.wiring.disk import disk_guard
from recorder.wiring.live import LiveRecording
from recorder.wiring.taping import TapeTee

__all__ = [
    "cluster_client",
    "health",
    "identify",
    "only_recorder",
    "opened",
    "record_cluster",
    "selected",
]

STANDBY_POLL = timedelta(seconds=2)
CONNECT_RETRY = timedelta(seconds=5)


def make_redaction(settings: Settings, key: bytes) -> Redaction:
    """Make the redaction that the settings ask for."""
    patterns = DEFAULT_PATTERNS + settings.redact_names
    return Redaction(RedactionRules(patterns=patterns), key)


def selected(settings: Settings) -> Selection:
    """Return the choice of resources that the settings make."""
    return Selection(
        include=[Pattern.parse(text) for text in settings.include],
        exclude=[Pattern.parse(text) for text in settings.exclude],
    )


def cluster_client(settings: Settings) -> ClusterClient:
    """Make a client of the cluster that the settings name."""
    return ClusterClient.from_kubeconfig(
        settings.kubeconfig,
        settings.context,
        settings=WatchSettings(
            reconcile_every=settings.reconcile_every.total_seconds()
        ),
    )


async def record_cluster(
    settings: Settings,
    dsn: str,
    live: LiveRecording,
    *,
    client: ClusterClient,
    tape: Path | None = None,
) -> None:
    """Record a cluster until a stop is wanted.

    Stands by while another process writes the log, and starts anew when the
    log went on without this one.

    Args:
        settings: what to record and how.
        dsn: of the writer's role.
        live: kept up to date, and told when to stop.
        client: of the cluster, whose identity is in ``live`` already.
        tape: a file to record to beside the log.
    """
    assert live.identity is not None, "the cluster has been asked"
    calm_collector()
    key = load_key(settings)
    live.redaction_key_id = key_id(key)
    redaction = make_redaction(settings, key)
    spec = LogSpec(
        cluster_name=live.identity.name,
        cluster_uid=live.identity.uid,
        kubernetes=live.identity.server_version,
        redaction_key_id=key_id(key),
    )

    watch = WatchSource(
        client,
        cluster_uid=live.identity.uid,
        redact=lambda raw, name: redaction.document(raw, resource=name),
        selection=selected(settings),
    )

    async def once() -> None:
        holder = holder_name(socket.gethostname(), os.getpid())
        live.writer = Writer(dsn, spec, holder=holder)
        recording = Recording(
            live.writer,
            redaction,
            policy=Policy(
                event_ttl=settings.event_ttl,
                full_fidelity=settings.full_fidelity,
                served=True,
            ),
            progress=live.progress,
            has_room=disk_guard(settings),
        )
        live.recording = recording
        async with _taped(recording, tape, live):
            await recording.run({WATCH: watch}, live.stop)

    await _again_and_again(once, live)


async def _again_and_again(
    once: Callable[[], Awaitable[None]], live: LiveRecording
) -> None:
    """Record until a stop is wanted, whoever else may hold the log."""
    while not live.stop.is_set():
        try:
            await once()
        except StandingByError as exc:
            live.progress.stand_by(str(exc))
            await _pause(live.stop, STANDBY_POLL)
        except LogUnavailableError as exc:
            live.progress.wait_for(str(exc))
            await _pause(live.stop, STANDBY_POLL)
        except UnknownStateError as exc:
            # What we hold may be behind the log: read it anew.
            live.progress.wait_for(str(exc))
            await _pause(live.stop, STANDBY_POLL)
        else:
            return


async def _pause(stop: asyncio.Event, length: timedelta) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(length.total_seconds()):
            await stop.wait()


@asynccontextmanager
async def _taped(
    recording: Recording, tape: Path | None, live: LiveRecording
) -> AsyncIterator[None]:
    """Record to a tape as well, from the first observation."""
    if tape is None:
        yield
        return
    header = live.tape_header()
    with TapeWriter(tape, header) as writer:
        tee = TapeTee(writer)
        recording.tee_from_start(tee)
        yield
        tee.check()


@asynccontextmanager
async def health(address: str, progress: Progress) -> AsyncIterator[str]:
    """Serve health and metrics while entered, where an address is given."""
    if not address:
        yield ""
        return
    async with HealthServer(progress).listen(address) as bound:
        yield bound


@contextmanager
def only_recorder(settings: Settings) -> Iterator[None]:
    """Keep a second recorder out of the folder of the embedded server.

    With a server of somebody else's a second recorder stands by instead.
    """
    if settings.database_url is not None:
        yield
        return
    with RecordingLock(settings.data_dir):
        yield


async def opened(
    settings: Settings,
    live: LiveRecording,
    stack: AsyncExitStack,
    *,
    say: Callable[[str], None],
) -> Database | None:
    """Open the database, waiting for it as long as it takes.

    A process that ended instead would be started again and again, and its
    probes would not say why. None if a stop was wanted first.
    """
    while not live.stop.is_set():
        try:
            return await stack.enter_async_context(
                open_database(settings, on_wait=say)
            )
        except (LogError, LogAccessError, SchemaError) as exc:
            if settings.database_url is None and not isinstance(
                exc, Transient
            ):
                raise
            if live.progress.waiting_for != str(exc):
                say(f"{exc}; trying again")
            live.progress.wait_for(str(exc))
            await _pause(live.stop, CONNECT_RETRY)
    return None


async def identify(
    client: ClusterClient,
    live: LiveRecording,
    *,
    say: Callable[[str], None],
) -> None:
    """Ask which cluster answers, until one does or a stop is wanted."""
    while not live.stop.is_set():
        try:
            live.identity = await client.identity()
        except RequestError as exc:
            live.progress.wait_for(str(exc))
            say(f"{exc}; trying again")
            await _pause(live.stop, CONNECT_RETRY)
        else:
            return
