"""The counters of API servers for their audit records, read and compared.

An API server drops a record that it cannot deliver or write, and counts that.
Several may share one address, so each is read at its own.
"""

import asyncio
from collections.abc import AsyncIterable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Protocol

from recorder.intake.ports import Known, Sink
from recorder.intake.progress import Received
from recorder.model.errors import ClusterError
from recorder.model.observation import AUDIT, PlaceReached, RecordsLost
from recorder.sources.audit.counted import (
    Counted,
    Round,
    identify,
    last_of,
    read_place,
    remember,
    servers_of,
    take_line,
    write_place,
)
from recorder.sources.audit.proving import LOST, Proof, gone_since, prove

STREAM = "counters"

READ_SECONDS = 60.0
"""The response has megabytes in a large cluster."""

PROOF_SECONDS = 20.0
"""Batches are rejected meanwhile, and API servers repeat them for longer."""

SERVER_SECONDS = 15.0
"""For one of several, so that the counters of the others arrive in time."""

SERVERS_MAX = 32
"""Servers that are read at their own addresses; a control plane has three or
five."""

UNREAD_SECONDS = 180.0
"""If a server did not respond for longer before it was removed, the number of
records it dropped is unknown; a restarted one is away for less."""

LINE_BYTES_MAX = 64 << 10


class ApiServers(Protocol):
    """The API servers of a cluster. Every method raises `ClusterError`."""

    async def addresses(self) -> Sequence[str]:
        """Return their own addresses; none if they are unknown."""

    async def leases(self) -> int | None:
        """Return how many servers renew a Lease; None if unknown."""

    def metrics(self, server: str) -> AsyncIterable[bytes]:
        """Yield the metrics of a server; ``""`` for whichever responds."""


def _now() -> datetime:
    return datetime.now(UTC)


class AuditCounters:
    """Reads the counters until it is cancelled."""

    finite = False

    def __init__(
        self,
        servers: ApiServers,
        *,
        received: Received,
        now: Callable[[], datetime] = _now,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        """Prepare."""
        self._servers = servers
        self._received = received
        self._now = now
        self._read_seconds = read_seconds

    async def run(self, sink: Sink, known: Known) -> None:
        """Read and compare until cancelled."""
        before = read_place(known.resume_points().get(STREAM))
        is_read = None
        while True:
            try:
                now = await self._read(before)
            except ClusterError as exc:
                self._received.uncounted = str(exc)
                if is_read is not False:
                    is_read = False
                    await sink.put([self._place(before, is_live=False)])
            else:
                is_read = True
                before = await self._compare(sink, before, now)
            await asyncio.sleep(self._read_seconds)

    async def proof(self, known: Known) -> Proof:
        """Prove what was lost since the last reading, as far as possible.

        What is known is looked up at once, before the next reading.
        """
        before = read_place(known.resume_points().get(STREAM))
        try:
            async with asyncio.timeout(PROOF_SECONDS):
                now = await self._read(before)
                leases = await self._servers.leases()
        except ClusterError as exc:
            return Proof(f"nothing: {exc}", LOST)
        except TimeoutError:
            return Proof("nothing: the API server did not answer", LOST)
        return prove(before, now, leases)

    async def _compare(
        self, sink: Sink, before: list[Counted], now: Round
    ) -> list[Counted]:
        """Put what was lost since each API server was read last.

        Returns what the next round is compared with.
        """
        identify(before, now)
        self._received.uncounted = next(iter(now.unread.values()), None)
        lost = [
            *self._dropped(before, now),
            *(self._ended(one, now) for one in _unread(before, now)),
        ]
        after = remember(before, now)
        await sink.put([*lost, self._place(after, is_live=not now.unread)])
        return after

    def _dropped(
        self, before: Sequence[Counted], now: Round
    ) -> Iterator[RecordsLost]:
        """Yield what each API server counted as dropped.

        A new one may have lost records since it started; what it counted
        before it was ever read happened before the log began.
        """
        for counted in now.counted:
            last = last_of(before, counted)
            if last is None and before:
                last = Counted(counted.started, at=counted.started)
            if last is None:
                continue
            self._received.generated += max(counted.events - last.events, 0)
            dropped = counted.dropped_since(last)
            if not dropped:
                continue
            self._received.lost += sum(dropped.values())
            said = ", ".join(
                f"{count} of its {name}" for name, count in dropped.items()
            )
            name = _named(counted.server)
            yield RecordsLost(
                observed_at=datetime.fromtimestamp(counted.at, UTC),
                stream=STREAM,
                reason=f"{name} dropped audit records: {said}",
                since=datetime.fromtimestamp(last.at, UTC),
            )

    def _ended(self, one: Counted, now: Round) -> RecordsLost:
        """Report that it is unknown what a server dropped before it ended."""
        return RecordsLost(
            observed_at=datetime.fromtimestamp(now.at, UTC),
            stream=STREAM,
            reason=f"{_named(one.server)} is gone, and its counters could not"
            " be read before",
            since=datetime.fromtimestamp(one.at, UTC),
            possible=f"audit records of {_named(one.server)}",
        )

    def _place(
        self, counted: Sequence[Counted], *, is_live: bool
    ) -> PlaceReached:
        """Return what to compare with next, and whether all were read."""
        return PlaceReached(
            observed_at=self._now(),
            source=AUDIT,
            stream=STREAM,
            place=write_place(counted),
            state="live" if is_live else "backing-off",
        )

    async def _read(self, before: Sequence[Counted]) -> Round:
        """Read each of several at its own address, one at the shared.

        If none of several can be reached, whichever responds is read.
        """
        try:
            addresses = await self._servers.addresses()
        except ClusterError:
            addresses = servers_of(before)
        now = Round(self._now().timestamp(), [], {})
        if len(addresses) > 1:
            unread = addresses[SERVERS_MAX:]
            now.unread = dict.fromkeys(unread, "there are too many to ask")
            async with asyncio.TaskGroup() as group:
                for address in addresses[:SERVERS_MAX]:
                    group.create_task(self._read_into(now, address))
            now.counted.sort(key=lambda counted: counted.server)
        if not now.counted:
            now.counted.append(await self._read_one(""))
        return now

    async def _read_into(self, now: Round, address: str) -> None:
        try:
            async with asyncio.timeout(SERVER_SECONDS):
                now.counted.append(await self._read_one(address))
        except ClusterError as exc:
            now.unread[address] = str(exc)
        except TimeoutError:
            now.unread[address] = f"no answer in {SERVER_SECONDS:.0f} s"

    async def _read_one(self, server: str) -> Counted:
        counted = Counted(at=self._now().timestamp(), server=server)
        rest = b""
        async for chunk in self._servers.metrics(server):
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > LINE_BYTES_MAX:
                rest = b""
            for line in lines:
                take_line(counted, line)
        return counted


def _unread(before: Sequence[Counted], now: Round) -> Iterator[Counted]:
    """Yield servers that were removed, and had not been read for long."""
    for one in gone_since(before, now):
        if one.server and one.seen - one.at > UNREAD_SECONDS:
            yield one


def _named(server: str) -> str:
    return f"the API server {server}" if server else "an API server"
