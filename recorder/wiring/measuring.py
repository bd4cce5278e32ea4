"""Keeping metrics, put together: the logs, the store, the spool and the door.

The claims are posted to the recorder as any sender posts them, with a token
that may post events of type `metrics.range` from `recorder/metrics`.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any

import msgspec

from recorder.answers.queries import NodeNames
from recorder.answers.sentences import counted
from recorder.doctor.health.server import listening
from recorder.explain.knowledge import load
from recorder.facts.coverage.ports import Log
from recorder.keeping.sending import Receiver, flush, receiver_at
from recorder.keeping.spool import Spool, SpoolError, spool_folder
from recorder.measuring.checking import Checked, check_store
from recorder.measuring.following import Measuring
from recorder.measuring.prometheus import prometheus
from recorder.measuring.store_file import (
    MetricsError,
    MetricsStore,
    load_store,
)
from recorder.model.settings import Settings
from recorder.wiring.following import follow_each
from recorder.wiring.reading import open_logs
from recorder.wiring.waiting import opened

log = logging.getLogger("recorder.metrics")

SEND_SECONDS = 30.0


def store_of(settings: Settings) -> MetricsStore:
    """Return the description of the metrics store.

    Raises:
        MetricsError: there is none, or it is wrong.
    """
    if settings.metrics_file is None:
        msg = "there is no metrics store to ask"
        advice = "describe it in a file, and name the file in the setting"
        advice += " metrics_file or in RECORDER_METRICS_FILE"
        raise MetricsError(msg, advice=advice)
    return load_store(settings.metrics_file)


class SpooledDoor:
    """The door of a recorder, behind a spool on disk."""

    def __init__(self, spool: Spool, receiver: Receiver) -> None:
        self._spool = spool
        self._receiver = receiver

    async def put(self, event: Mapping[str, Any]) -> None:
        """Keep an event, on disk when this returns.

        Raises:
            SpoolError: it cannot be kept, or there is no room.
        """
        document = msgspec.json.encode(event)
        try:
            await asyncio.to_thread(self._spool.put, document)
        except SpoolError:
            # Full: what can be sent makes room.
            await self.flush()
            await asyncio.to_thread(self._spool.put, document)

    async def flush(self) -> str | None:
        """Send what waits; return why something still waits, if it does."""
        sent = await asyncio.to_thread(
            flush, self._spool, self._receiver, SEND_SECONDS
        )
        for one in sent.refused:
            log.error("refused: %s (%s)", one.reason, one.place)
        return sent.trouble


class MeasureProgress:
    """What probes and scrapes get of a process that measures."""

    def __init__(self) -> None:
        self.waiting_for = "the database"
        self.works: list[Measuring] = []

    def ready(self) -> tuple[str, bool]:
        """Return what it waits for, and whether it follows the logs."""
        return self.waiting_for or "measuring", not self.waiting_for

    def exposition(self) -> bytes:
        """Return how many questions wait, in the format of Prometheus."""
        waiting = sum(work.waiting for work in self.works)
        name = "recorder_measure_waiting"
        help_ = "Nodes whose metrics are due and not kept."
        return (
            f"# HELP {name} {help_}\n# TYPE {name} gauge\n{name} {waiting}\n"
        ).encode()


async def measure(
    settings: Settings,
    stop: asyncio.Event,
    *,
    log_id: int | None,
    once: bool,
    say: Callable[[str], None],
) -> None:
    """Keep the metrics of incidents until a stop is wanted.

    Raises:
        MetricsError: the store cannot be used as it is described.
        ConfigError: there is no recorder to post to.
    """
    description, knowledge = store_of(settings), load(settings.knowledge)
    receiver = receiver_at(
        settings.send_url, settings.send_token_file, settings.send_ca_file
    )
    folder = spool_folder(settings.send_spool) / receiver.name
    door, progress = SpooledDoor(Spool(folder), receiver), MeasureProgress()
    async with AsyncExitStack() as stack:
        if settings.notify_listen and not once:
            await stack.enter_async_context(
                listening(
                    settings.notify_listen,
                    progress.ready,
                    progress.exposition,
                    setting="notify_listen",
                )
            )
        logs = await opened(
            lambda: open_logs(settings),
            stack,
            stop,
            settings=settings,
            waits=lambda exc: setattr(progress, "waiting_for", str(exc)),
            say=say,
        )
        if logs is None:
            return
        progress.waiting_for = ""
        store = await stack.enter_async_context(prometheus(description))

        def measuring() -> Measuring:
            work = Measuring(description, store, door, knowledge)
            progress.works.append(work)
            return work

        async def meant() -> Sequence[Log]:
            found = await logs.meant(log_id)
            return [one for one in found if log_id or not one.is_tape]

        async def follow(one: Log) -> None:
            reading = await logs.read(one.id)
            await measuring().follow(reading, logs.bell(reading))

        if not once:
            await follow_each(meant, follow, stop, say=say, log=log)
            return
        for one in await meant():
            work = measuring()
            reading = await logs.read(one.id)
            kept = await work.keep(reading, now=datetime.now(UTC))
            say(_said(one, kept, work))


async def checked(
    settings: Settings, log_id: int | None = None
) -> Sequence[Checked]:
    """Ask the store about some of the nodes of a log; return a row a metric.

    Raises:
        MetricsError: the store cannot be used as it is described.
    """
    description, knowledge = store_of(settings), load(settings.knowledge)
    async with (
        open_logs(settings) as logs,
        prometheus(description) as store,
    ):
        nodes: set[str] = set()
        for one in await logs.meant(log_id):
            reading = await logs.read(one.id)
            nodes |= {*await reading.names(NodeNames())}
        return await check_store(
            description,
            store,
            knowledge,
            sorted(nodes),
            now=datetime.now(UTC),
        )


def _said(one: Log, kept: int, work: Measuring) -> str:
    text = f"{one.cluster_name}: kept the metrics of {counted(kept, 'node')}"
    if work.waiting:
        text += f"; {work.waiting} still to ask"
    return f"{text}: {work.trouble}" if work.trouble else text
