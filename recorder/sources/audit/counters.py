"""What API servers count of their own audit records, read and compared.

An API server that cannot deliver a record, or not write it, drops it and
counts that. Behind one address there may be several.
"""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from datetime import UTC, datetime

import msgspec

from recorder.errors import ClusterError
from recorder.intake.ports import Known, Sink
from recorder.intake.progress import Received
from recorder.model.observation import AUDIT, PlaceReached, RecordsLost
from recorder.sources.audit.counted import (
    LOST,
    Counted,
    Proof,
    prove,
    read_places,
    take_line,
)

__all__ = ["AuditCounters"]

STREAM = "counters"

READ_SECONDS = 60.0
"""Their answer has megabytes in a large cluster."""

PROOF_SECONDS = 15.0
"""Batches are refused meanwhile, and repeated for longer."""

PROCESSES_MAX = 16
"""That are remembered, those that were read last."""

LINE_BYTES_MAX = 64 << 10


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
        servers: Callable[[], Awaitable[int | None]],
        now: Callable[[], datetime] = _now,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        """Prepare.

        Args:
            answer: asks for the metrics; raises `ClusterError`.
            received: where to count.
            servers: asks how many API servers there are, None where they
                do not say; raises `ClusterError`.
            now: the clock by which observations are made.
            read_seconds: between two readings.
        """
        self._answer = answer
        self._received = received
        self._servers = servers
        self._now = now
        self._read_seconds = read_seconds

    async def run(self, sink: Sink, known: Known) -> None:
        """Read and compare until cancelled."""
        before = read_places(known.resume_points().get(STREAM))
        is_read = None
        while True:
            try:
                counted = await self._read()
            except ClusterError as exc:
                self._received.uncounted = str(exc)
                if is_read is not False:
                    is_read = False
                    await sink.put([self._unread(before)])
            else:
                is_read = True
                self._received.uncounted = None
                await self._compare(sink, before, counted)
            await asyncio.sleep(self._read_seconds)

    async def proof(self, known: Known) -> Proof:
        """Prove what was lost since they were read last, as far as they can.

        What is known is looked up at once, before anybody reads them again.
        """
        before = read_places(known.resume_points().get(STREAM))
        try:
            async with asyncio.timeout(PROOF_SECONDS):
                counted = await self._read()
                servers = await self._servers()
        except ClusterError as exc:
            return Proof(f"nothing: {exc}", LOST)
        except TimeoutError:
            return Proof("nothing: the API server did not answer", LOST)
        return prove(before, counted, servers)

    def _unread(self, before: dict[float, Counted]) -> PlaceReached:
        """Say that they cannot be read, and where to go on when they can."""
        return PlaceReached(
            observed_at=self._now(),
            source=AUDIT,
            stream=STREAM,
            place=_place(before),
            state="backing-off",
        )

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
            place=_place(before),
        )
        if last is None:
            await sink.put([place])
            return
        lost = counted.dropped_since(last)
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
                take_line(counted, line)
        return counted


def _place(before: dict[float, Counted]) -> str:
    return msgspec.json.encode(list(before.values())).decode()
