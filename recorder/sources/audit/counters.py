"""What API servers count of their own audit records, read and compared.

An API server that cannot deliver a record, or not write it, drops it and
counts that. The counters begin at zero with each process, which is known by
when it started; behind one address there may be several.
"""

import asyncio
import re
from collections.abc import AsyncIterable, Callable
from datetime import UTC, datetime

import msgspec

from recorder.errors import ClusterError
from recorder.intake.ports import Known, Sink
from recorder.intake.progress import Received
from recorder.model.observation import AUDIT, PlaceReached, RecordsLost

__all__ = ["AuditCounters"]

STREAM = "counters"

READ_SECONDS = 60.0
"""Their answer has megabytes in a large cluster."""

PROCESSES_MAX = 16
"""That are remembered, those that were read last."""

LINE_BYTES_MAX = 64 << 10
STARTED = "process_start_time_seconds"
EVENTS = "apiserver_audit_event_total"
ERRORS = "apiserver_audit_error_total"
SAMPLE = re.compile(
    rf"({STARTED}|{EVENTS}|{ERRORS})(\{{[^}}]*\}})? ([0-9.]+(?:e\+?[0-9]+)?)"
    .encode()
)  # fmt: skip
PLUGIN = re.compile(rb'plugin="(\w+)"')


class Counted(msgspec.Struct):
    """What one API server had counted when it was read."""

    started: float = 0.0
    events: int = 0
    errors: dict[str, int] = {}
    """Records that a backend did not take, by its name."""

    at: float = 0.0
    """When it was read, by our clock."""


_decode = msgspec.json.Decoder(list[Counted]).decode


def _now() -> datetime:
    return datetime.now(UTC)


class AuditCounters:
    """Reads the counters until it is cancelled."""

    finite = False

    def __init__(
        self,
        answer: Callable[[], AsyncIterable[bytes]],
        *,
        received: Received,
        now: Callable[[], datetime] = _now,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        """Prepare.

        Args:
            answer: asks for the metrics; raises `ClusterError`.
            received: where to count.
            now: the clock by which observations are made.
            read_seconds: between two readings.
        """
        self._answer = answer
        self._received = received
        self._now = now
        self._read_seconds = read_seconds

    async def run(self, sink: Sink, known: Known) -> None:
        """Read and compare until cancelled."""
        before = _remembered(known.resume_points().get(STREAM))
        while True:
            try:
                counted = await self._read()
            except ClusterError as exc:
                self._received.uncounted = str(exc)
            else:
                self._received.uncounted = None
                await self._compare(sink, before, counted)
            await asyncio.sleep(self._read_seconds)

    async def _compare(
        self, sink: Sink, before: dict[float, Counted], counted: Counted
    ) -> None:
        """Put what was lost since an API server was read last.

        One that is new may have lost records since it started; what it
        counted before it was ever read came before the log began.
        """
        last = before.pop(counted.started, None)
        if last is None and before:
            last = Counted(counted.started, at=counted.started)
        before[counted.started] = counted
        while len(before) > PROCESSES_MAX:
            del before[next(iter(before))]
        at = datetime.fromtimestamp(counted.at, UTC)
        place = PlaceReached(
            observed_at=at,
            source=AUDIT,
            stream=STREAM,
            place=msgspec.json.encode(list(before.values())).decode(),
        )
        if last is None:
            await sink.put([place])
            return
        lost = {
            backend: count - last.errors.get(backend, 0)
            for backend, count in sorted(counted.errors.items())
            if count > last.errors.get(backend, 0)
        }
        self._received.generated += max(counted.events - last.events, 0)
        if not lost:
            await sink.put([place])
            return
        self._received.lost += sum(lost.values())
        said = ", ".join(
            f"{count} of its {name}" for name, count in lost.items()
        )
        told = RecordsLost(
            observed_at=at,
            stream=STREAM,
            reason=f"an API server dropped audit records: {said}",
            since=datetime.fromtimestamp(last.at, UTC),
        )
        await sink.put([told, place])

    async def _read(self) -> Counted:
        counted = Counted(at=self._now().timestamp())
        rest = b""
        async for chunk in self._answer():
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > LINE_BYTES_MAX:
                rest = b""
            for line in lines:
                _take(counted, line)
        return counted


def _take(counted: Counted, line: bytes) -> None:
    sample = SAMPLE.fullmatch(line.strip())
    if sample is None:
        return
    name, labels, value = sample[1].decode(), sample[2] or b"", sample[3]
    if name == STARTED:
        counted.started = float(value)
    elif name == EVENTS:
        counted.events += round(float(value))
    else:
        plugin = PLUGIN.search(labels)
        backend = plugin[1].decode() if plugin is not None else "backends"
        counted.errors[backend] = round(float(value))


def _remembered(place: str | None) -> dict[float, Counted]:
    if place is None:
        return {}
    return {counted.started: counted for counted in _decode(place)}
