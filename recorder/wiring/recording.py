"""The recording half, put together: a cluster or a tape, to the log.

It also decides what follows a failure: a lease held elsewhere is waited for, a
log that grew without this process is read again, anything else ends the
process with its message.
"""

import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

from recorder.doctor.health import HealthServer
from recorder.embedded.locks import RecordingLock
from recorder.intake.committing import Policy
from recorder.intake.ports import Source
from recorder.intake.progress import Progress
from recorder.intake.recording import Recording
from recorder.intake.redact import key_id
from recorder.keeping.budget import room_guard
from recorder.keeping.collector import calm_collector
from recorder.keeping.redaction_key import load_key, make_redaction
from recorder.model.decoding import prepare_decoding
from recorder.model.errors import (
    LogUnavailableError,
    StandingByError,
    UnknownStateError,
)
from recorder.model.observation import (
    AUDIT,
    CLOUDEVENTS,
    RECORDER,
    SLURM,
    WATCH,
)
from recorder.model.settings import Settings
from recorder.sources.tape import (
    TapeTee,
    TapeWriter,
)
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import RequestError
from recorder.sources.watch.selection import Pattern, Selection
from recorder.sources.watch.settings import WatchSettings
from recorder.sources.watch.source import WatchSource
from recorder.store.notices import NoticeSource
from recorder.store.translate import LogAccessError, SchemaError
from recorder.store.writer import LogSpec, Writer, holder_name
from recorder.wiring.live import LiveRecording
from recorder.wiring.polling import slurm_source
from recorder.wiring.receiving import audit_source
from recorder.wiring.waiting import CONNECT_RETRY, pause

STANDBY_POLL = timedelta(seconds=2)


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
            reconcile_every=settings.reconcile_every.total_seconds(),
            walk_time=settings.reach_back.total_seconds(),
            walk_first_time=settings.reach_back.total_seconds(),
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

    Stands by while another process writes the log, and reads the log again
    if it grew without this process.

    Args:
        settings: what to record and how.
        dsn: of the writer's role.
        live: kept up to date; its ``stop`` ends the recording.
        client: of the cluster, whose identity is in ``live`` already.
        tape: a file to record to beside the log.
    """
    prepare_decoding()
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
    live.watch = watch

    async def once() -> None:
        live.writer = Writer(dsn, spec, holder=holder(settings))
        recording = Recording(
            live.writer,
            redaction,
            policy=Policy(
                event_ttl=settings.event_ttl,
                full_fidelity=settings.full_fidelity,
                served=True,
            ),
            progress=live.progress,
            has_room=room_guard(
                settings, lambda: live.progress.database_bytes
            ),
        )
        live.recording = recording
        writer = live.writer
        notices = NoticeSource(dsn, lambda: writer.log)
        async with _taped(recording, tape, live):
            sources: dict[str, Source] = {WATCH: watch, RECORDER: notices}
            audit = audit_source(settings, live, client)
            if audit is not None:
                sources[AUDIT] = audit
            if live.claims is not None:
                sources[CLOUDEVENTS] = live.claims
            slurm = slurm_source(settings, client, live.slurm_nodes)
            if slurm is not None:
                sources[SLURM] = slurm
            await recording.run(sources, live.stop)

    await _again_and_again(once, live)


def holder(settings: Settings) -> str:
    """Name this process in the lease of the log.

    With the embedded server the name is the same after a restart:
    `only_recorder` holds the lock of the data folder, so the process that
    had this name before is dead, and its lease need not end first.
    """
    host = socket.gethostname()
    if settings.database_url is None:
        return f"{host}/embedded"
    return holder_name(host, os.getpid())


async def _again_and_again(
    once: Callable[[], Awaitable[None]], live: LiveRecording
) -> None:
    """Record until a stop is wanted; wait while another holds the log."""
    while not live.stop.is_set():
        try:
            await once()
        except StandingByError as exc:
            live.progress.stand_by(str(exc))
            await pause(live.stop, STANDBY_POLL)
        except (LogUnavailableError, LogAccessError, SchemaError) as exc:
            live.progress.wait_for(str(exc))
            await pause(live.stop, STANDBY_POLL)
        except UnknownStateError as exc:
            # Our state may be behind the log: read it again.
            live.progress.wait_for(str(exc))
            await pause(live.stop, STANDBY_POLL)
        else:
            return


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

    With an external server a second recorder stands by instead.
    """
    if settings.database_url is not None:
        yield
        return
    with RecordingLock(settings.data_dir):
        yield


async def identify(
    client: ClusterClient,
    live: LiveRecording,
    *,
    say: Callable[[str], None],
) -> bool:
    """Ask which cluster answers, until it is known.

    Return whether it is; it is not if a stop came first.
    """
    while live.identity is None and not live.stop.is_set():
        try:
            live.identity = await client.identity()
        except RequestError as exc:
            if live.progress.waiting_for != str(exc):
                say(f"{exc}; trying again")
            live.progress.wait_for(str(exc))
            await pause(live.stop, CONNECT_RETRY)
    return live.identity is not None
