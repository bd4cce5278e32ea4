"""Reads of the served API, recorded in a log of their own."""

import asyncio
import logging
import os
import socket
from collections.abc import (
    AsyncIterator,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from datetime import timedelta
from http import HTTPStatus
from typing import Any

import orjson

from recorder.intake.committing import Policy
from recorder.intake.progress import Received
from recorder.intake.recording import Recording
from recorder.intake.redact import key_id
from recorder.keeping.budget import room_guard
from recorder.keeping.redaction_key import load_key, make_redaction
from recorder.model.errors import LogUnavailableError, RecorderError
from recorder.model.observation import AUDIT
from recorder.model.reads import uid_of_reads
from recorder.model.settings import Settings
from recorder.sources.audit import AuditReceiver
from recorder.store.writer import LogSpec, Writer, holder_name
from recorder.wiring.places import Place
from recorder.wiring.routing import answering

log = logging.getLogger("recorder.api")

LINGER = timedelta(milliseconds=5)
"""How long an answer waits for others to be committed with it."""

COMMIT_SECONDS = 5.0
AGAIN_SECONDS = 1.0


class ReadLog:
    """Satisfies the port `Reads`."""

    def __init__(self) -> None:
        self.receiver = AuditReceiver(
            repeated_for=timedelta(minutes=1),
            received=Received(),
            commit_seconds=COMMIT_SECONDS,
        )

    def begun(self) -> "ReadLog":
        """Return what records one answer: the log of all."""
        return self

    async def record(self, record: Mapping[str, Any]) -> None:
        """Commit a record.

        Raises:
            LogUnavailableError: it is not.
        """
        body = orjson.dumps(
            {
                "kind": "EventList",
                "apiVersion": "audit.k8s.io/v1",
                "items": [record],
            }
        )
        answer = self.receiver.room_for(len(body))
        if answer is None:
            answer = await self.receiver.receive(body)
        if answer.status != HTTPStatus.OK:
            raise LogUnavailableError(answer.says)


class _RoutedReads:
    """Satisfies the port `Reads`, in the databases that an answer is of."""

    def __init__(
        self,
        log_of: Callable[[Place], ReadLog],
        asked: Collection[Place] = (),
    ) -> None:
        self._log_of = log_of
        self._asked = asked

    def begun(self) -> "_RoutedReads":
        """Return what records the answer that begins here."""
        asked: set[Place] = set()
        answering.set(asked)
        return _RoutedReads(self._log_of, asked)

    async def record(self, record: Mapping[str, Any]) -> None:
        """Commit a record in each database that was read.

        Raises:
            LogUnavailableError: it is not, in one of them.
        """
        failed: list[LogUnavailableError] = []

        async def one(log: ReadLog) -> None:
            try:
                await log.record(record)
            except LogUnavailableError as exc:
                failed.append(exc)

        async with asyncio.TaskGroup() as group:
            for place in tuple(self._asked):
                group.create_task(one(self._log_of(place)))
        if failed:
            raise failed[0]


@asynccontextmanager
async def routed_reads(
    places: Sequence[Place], stop: asyncio.Event
) -> AsyncIterator[_RoutedReads | None]:
    """Record reads where they are answered, as `recorded_reads` does."""
    if not all(place.settings.serve_read_log for place in places):
        yield None
        return
    # By the database: a place may go and come back with other clusters.
    logs: dict[str, ReadLog] = {}
    async with asyncio.TaskGroup() as group:

        def log_of(place: Place) -> ReadLog:
            """Return the log of reads there; start it if there is none."""
            url = place.url
            if url not in logs:
                logs[url] = ReadLog()
                recording = _record(place.settings, url, logs[url], stop)
                group.create_task(recording)
            return logs[url]

        for place in places:
            log_of(place)
        try:
            yield _RoutedReads(log_of)
        finally:
            stop.set()


@asynccontextmanager
async def recorded_reads(
    settings: Settings, dsn: str, stop: asyncio.Event
) -> AsyncIterator[ReadLog | None]:
    """Record reads while entered; yield None if the settings do not ask."""
    if not settings.serve_read_log:
        yield None
        return
    reads = ReadLog()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_record(settings, dsn, reads, stop))
        try:
            yield reads
        finally:
            stop.set()
            await asyncio.wait([task])


async def _record(
    settings: Settings, dsn: str, reads: ReadLog, stop: asyncio.Event
) -> None:
    """Record until a stop is wanted; start again if the recording ends."""
    key = load_key(settings)
    name = settings.serve_read_log
    spec = LogSpec(
        cluster_name=name,
        cluster_uid=uid_of_reads(name),
        kubernetes="",
        redaction_key_id=key_id(key),
    )
    warned = ""
    while not stop.is_set():
        holder = holder_name(socket.gethostname(), os.getpid())
        recording = Recording(
            Writer(dsn, spec, holder=holder),
            make_redaction(settings, key),
            policy=Policy(linger=LINGER),
            has_room=room_guard(settings),
        )
        try:
            await recording.run({AUDIT: reads.receiver}, stop)
        except* RecorderError as failed:
            why = str(failed.exceptions[0])
            if why != warned:
                log.warning("reads cannot be recorded: %s", why)
            warned = why
        try:
            async with asyncio.timeout(AGAIN_SECONDS):
                await stop.wait()
        except TimeoutError:
            continue
