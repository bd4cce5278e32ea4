"""Old audit log files, put together with the log that they belong to."""

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from recorder.admin.redaction_key import load_key
from recorder.collector import calm_collector
from recorder.coverage.ports import Log
from recorder.errors import ConfigError
from recorder.intake.committing import Policy
from recorder.intake.progress import Progress
from recorder.intake.recording import Recording
from recorder.model.observation import AUDIT
from recorder.redact import key_id
from recorder.settings import Settings
from recorder.sources.audit import AuditImport
from recorder.store.writer import LogSpec, Writer, holder_name
from recorder.wiring.recording import make_redaction
from recorder.wiring.room import room_guard

__all__ = ["NotLiveError", "import_audit"]


class NotLiveError(ConfigError):
    """The log holds a tape, to which nothing is added."""

    code = "audit.not_live"


async def import_audit(
    paths: Sequence[Path],
    log: Log,
    settings: Settings,
    dsn: str,
    *,
    on_progress: Callable[[Path, int], None],
    stop: asyncio.Event,
) -> Progress:
    """Import audit log files into the log of a cluster; return what came.

    Raises:
        NotLiveError: the log holds a tape.
        StandingByError: a recorder writes the log.
        UnreadableError: a file cannot be read to its end; what came before
            is in the log.
    """
    if log.kind != "live":
        msg = f'log {log.id} of "{log.cluster_name}" holds a tape'
        raise NotLiveError(
            msg, advice="name the log of a cluster with --cluster or --log"
        )
    calm_collector()
    key = load_key(settings)
    spec = LogSpec(
        cluster_name=log.cluster_name,
        cluster_uid=log.cluster_uid,
        kubernetes=log.kubernetes,
        redaction_key_id=key_id(key),
    )
    holder = holder_name(socket.gethostname(), os.getpid())
    recording = Recording(
        Writer(dsn, spec, holder=holder),
        make_redaction(settings, key),
        policy=Policy(event_ttl=settings.event_ttl),
        has_room=room_guard(settings),
    )
    source = AuditImport(paths, on_progress=on_progress)
    await recording.run({AUDIT: source}, stop)
    return recording.progress
