"""Importing exported Events, beside playing a tape that holds the same ones.

In turns, each into a log of its own: seconds, and the memory of the process
that imports, of a file and of one four times as large.
"""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import NAMESPACE_DNS, uuid5

from bench.importing import asked
from bench.measuring import Number, say, server_folder
from recorder.model.observation import WatchFrame
from recorder.model.reference import Resource
from recorder.sources.tape import TapeWriter
from tests.tape.builders import HEADER

__all__ = ["bench"]

EVENTS = 50_000
TIMES = 4
"""As many Events in the larger file."""

BEGAN = datetime(2026, 11, 20, 8, tzinfo=UTC)


def bench(runs: int) -> list[Number]:
    imported: list[float] = []
    played: list[float] = []
    memory: dict[int, list[float]] = {1: [], TIMES: []}
    for _ in range(runs):
        with server_folder() as folder:
            folder.chmod(0o755)
            tape = folder / "events.tape.jsonl.zst"
            _write_tape(tape, EVENTS)
            say(f"dump: {EVENTS:,} Events as a file, and as a tape")
            seconds, _ = asked(folder, "tape", "play", str(tape))
            played.append(EVENTS / seconds)
            for times in (1, TIMES):
                path = folder / f"events-{times}.json"
                write_events(path, EVENTS * times)
                seconds, peak = asked(folder, "import", str(path))
                memory[times].append(peak)
                if times == 1:
                    imported.append(EVENTS / seconds)
    return [
        Number(name="exported Events imported", unit="/s", values=imported),
        Number(
            name="  relative to playing a tape of them",
            unit="",
            values=[a / b for a, b in zip(imported, played, strict=True)],
            target=">= 0.5",
        ),
        Number(
            name=f"  memory at {TIMES} times as many Events, relative",
            unit="",
            values=[
                many / few
                for few, many in zip(memory[1], memory[TIMES], strict=True)
            ],
            target="<= 1.2",
        ),
    ]


def _events(count: int) -> Iterator[tuple[datetime, bytes]]:
    for number in range(count):
        at = BEGAN + timedelta(milliseconds=20 * number)
        when = at.strftime("%Y-%m-%dT%H:%M:%SZ")
        pod = f"worker-{number % 5000}"
        document = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"{pod}.{number:016x}",
                "namespace": "train",
                "uid": str(uuid5(NAMESPACE_DNS, f"event-{number}")),
                "resourceVersion": str(1000 + number),
                "creationTimestamp": when,
            },
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "namespace": "train",
                "name": pod,
                "uid": f"00000000-0000-4000-9000-{number % 5000:012x}",
            },
            "reason": ("Pulled", "Created", "Started", "BackOff")[number % 4],
            "message": f"Container main of {pod}, attempt {number // 5000}",
            "source": {"component": "kubelet", "host": f"gpu-{number % 500}"},
            "firstTimestamp": when,
            "lastTimestamp": when,
            "count": 1,
            "type": "Normal",
            "reportingComponent": "kubelet",
        }
        yield at, json.dumps(document, separators=(",", ":")).encode()


def write_events(path: Path, count: int) -> None:
    with path.open("wb") as file:
        file.writelines(raw + b"\n" for _, raw in _events(count))


def _write_tape(path: Path, count: int) -> None:
    resource = Resource.parse("v1/events")
    with TapeWriter(path, HEADER) as tape:
        for at, raw in _events(count):
            frame = WatchFrame(
                observed_at=at, resource=resource, type="ADDED", object=raw
            )
            tape.write([frame])
