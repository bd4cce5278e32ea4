"""The counters of API servers for their audit records, in each reading.

They start at zero with each process, which is identified by its start time,
and by the address of its server if that is read at its own address.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

PROCESSES_MAX = 64
"""Processes that are remembered, the most recently read ones."""

STARTED = "process_start_time_seconds"
EVENTS = "apiserver_audit_event_total"
ERRORS = "apiserver_audit_error_total"
SAMPLE = re.compile(
    rf"({STARTED}|{EVENTS}|{ERRORS})(\{{[^}}]*\}})? ([0-9.]+(?:e\+?[0-9]+)?)"
    .encode()
)  # fmt: skip
PLUGIN = re.compile(rb'plugin="(\w+)"')


class Counted(msgspec.Struct):
    """The counters of one process when they were read."""

    started: float = 0.0
    """0 for a server that never responded."""

    events: int = 0
    errors: dict[str, int] = {}
    """Records that a backend dropped, by its name."""

    at: float = 0.0
    """When it was read, by our clock; for a server that never responded, when
    it was first listed."""

    server: str = ""
    """Its own address; empty if it responded at the shared address."""

    seen: float = 0.0
    """The last round in which it responded, or in which its server was listed
    and did not."""

    def dropped_since(self, before: "Counted") -> dict[str, int]:
        """Return what each backend dropped since an earlier reading."""
        return {
            backend: count - before.errors.get(backend, 0)
            for backend, count in sorted(self.errors.items())
            if count > before.errors.get(backend, 0)
        }


class Round(msgspec.Struct):
    """The counters of all API servers in one round, as far as known."""

    at: float
    counted: list[Counted]
    unread: dict[str, str]
    """Why a server did not return its counters, by its address."""


_decode = msgspec.json.Decoder(list[Counted]).decode


def read_place(place: str | None) -> list[Counted]:
    """Parse the counters of the last round."""
    return [] if place is None else _decode(place)


def write_place(counted: Sequence[Counted]) -> str:
    """Return what the next round is compared with, as text."""
    return msgspec.json.encode(counted).decode()


def last_of(before: Iterable[Counted], now: Counted) -> Counted | None:
    """Return the last reading of the same process; None if it is new."""
    for counted in before:
        if counted.started == now.started and (
            counted.server == now.server or not (counted.server and now.server)
        ):
            return counted
    return None


def seen_last(before: Sequence[Counted]) -> Iterator[Counted]:
    """Yield the readings of the last round, of silent servers too."""
    newest = max((one.seen for one in before), default=0.0)
    yield from (one for one in before if one.seen == newest)


def servers_of(before: Sequence[Counted]) -> list[str]:
    """Return the addresses of the last round."""
    return sorted({one.server for one in seen_last(before)} - {""})


def identify(before: Iterable[Counted], now: Round) -> None:
    """Name the server of a process that responded at the shared address."""
    for counted in now.counted:
        last = last_of(before, counted)
        if last is not None and last.server:
            counted.server = last.server
            now.unread.pop(last.server, None)


def remember(before: Iterable[Counted], now: Round) -> list[Counted]:
    """Return what the next round is compared with, oldest first."""
    kept = list(before)
    for counted in now.counted:
        last = last_of(kept, counted)
        if last is not None:
            kept.remove(last)
        counted.seen = now.at
        kept.append(counted)
    for address in now.unread:
        silent = next(
            (one for one in reversed(kept) if one.server == address), None
        )
        if silent is None:
            silent = Counted(at=now.at, server=address)
        else:
            kept.remove(silent)
        silent.seen = now.at
        kept.append(silent)
    return kept[-PROCESSES_MAX:]


def take_line(counted: Counted, line: bytes) -> None:
    """Count a line of the metrics, if it is about audit records."""
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
