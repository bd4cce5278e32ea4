"""What an API server counts of its audit records, and what two readings prove.

The counters begin at zero with each process, which is known by when it
started. A process that counted nothing as dropped dropped nothing, as long as
there is no other that was not asked.
"""

import re
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from recorder.model.moment import written

__all__ = [
    "LOST",
    "Counted",
    "Proof",
    "prove",
    "read_places",
    "take_line",
]

LOST = "audit records between the two"

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

    def dropped_since(self, before: "Counted") -> dict[str, int]:
        """Return what each backend did not take since an earlier reading."""
        return {
            backend: count - before.errors.get(backend, 0)
            for backend, count in sorted(self.errors.items())
            if count > before.errors.get(backend, 0)
        }


class Proof(NamedTuple):
    """What counters prove of a time in which nobody received."""

    proved: str
    possible: str | None
    """What may be missing; None where nothing is."""


_decode = msgspec.json.Decoder(list[Counted]).decode


def read_places(place: str | None) -> dict[float, Counted]:
    """Read what was counted when it was read last, by process."""
    if place is None:
        return {}
    return {counted.started: counted for counted in _decode(place)}


def take_line(counted: Counted, line: bytes) -> None:
    """Take what a line of the metrics says of audit records, if anything."""
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


def prove(
    before: dict[float, Counted], counted: Counted, servers: int | None
) -> Proof:
    """Compare what was counted before nobody received with what is now.

    Args:
        before: the last readings, by process.
        counted: of the process that answers now.
        servers: how many API servers there are; None where that is unknown.
    """
    last = before.get(counted.started)
    if last is None:
        since = _moment(counted.started)
        return Proof(
            f"nothing: the API server that answers started at {since}, and"
            " was not read before",
            LOST,
        )
    dropped = sum(counted.dropped_since(last).values())
    made = max(counted.events - last.events, 0)
    said = (
        f"the API server, the same process, made {made} audit records since"
        f" {_moment(last.at)} and counted {dropped} as dropped"
    )
    if servers != 1:
        many = (
            "how many there are is unknown"
            if servers is None
            else (f"it is one of {servers}")
        )
        return Proof(f"{said}; {many}", LOST)
    if not dropped:
        return Proof(f"{said}: nothing is missing", None)
    return Proof(said, f"at most {dropped} audit records")


def _moment(seconds: float) -> str:
    return written(datetime.fromtimestamp(seconds, UTC))
