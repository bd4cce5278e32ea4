"""Importing an audit log, beside playing a tape that holds the same records.

In turns, each into a log of its own: seconds, and the memory of the process
that imports, of a file and of one four times as large.
"""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.measuring import Number, say, server_folder
from bench.records import harvested, varied
from recorder.model.observation import AuditRecorded
from recorder.sources.tape import TapeWriter
from tests.tape.builders import HEADER

__all__ = ["asked", "bench"]

RECORDS = 40_000
TIMES = 4
"""As many records in the larger file."""

ASKED = """
import resource, sys, time
from recorder.cli.main import run
began = time.perf_counter()
try:
    run(sys.argv[1:])
except SystemExit as ended:
    assert not ended.code, ended.code
used = resource.getrusage(resource.RUSAGE_SELF)
print(time.perf_counter() - began, used.ru_maxrss * 1024, file=sys.stderr)
"""


def bench(runs: int) -> list[Number]:
    imported: list[float] = []
    played: list[float] = []
    memory: dict[int, list[float]] = {1: [], TIMES: []}
    for _ in range(runs):
        with server_folder() as folder:
            folder.chmod(0o755)
            tape = folder / "records.tape.jsonl.zst"
            _write_tape(tape)
            say(f"import: {RECORDS:,} records as a file, and as a tape")
            seconds, _ = asked(folder, "tape", "play", str(tape))
            played.append(RECORDS / seconds)
            asked(folder, "tape", "play", str(_empty(folder)))
            for times in (1, TIMES):
                path = folder / f"audit-{times}.log"
                _write_log(path, times)
                seconds, peak = asked(
                    folder, "audit", "import", "--cluster", "empty", str(path)
                )
                memory[times].append(peak)
                if times == 1:
                    imported.append(RECORDS / seconds)
    return [
        Number(name="audit records imported", unit="/s", values=imported),
        Number(
            name="  relative to playing a tape of them",
            unit="",
            values=[a / b for a, b in zip(imported, played, strict=True)],
            target=">= 0.5",
        ),
        Number(
            name=f"  memory at {TIMES} times as many records, relative",
            unit="",
            values=[
                many / few
                for few, many in zip(memory[1], memory[TIMES], strict=True)
            ],
            target="<= 1.2",
        ),
    ]


def _records(times: int) -> Iterator[bytes]:
    records, number = harvested(), 0
    left = RECORDS * times
    while left > 0:
        for raw in varied(records[:left], f"import {times} {number}"):
            left -= 1
            yield raw
        number += 1


def _write_log(path: Path, times: int) -> None:
    with path.open("wb") as file:
        file.writelines(raw + b"\n" for raw in _records(times))


def _write_tape(path: Path) -> None:
    now = datetime.now(UTC)
    with TapeWriter(path, HEADER) as tape:
        for raw in _records(1):
            tape.write([AuditRecorded(observed_at=now, event=raw)])


def _empty(folder: Path) -> Path:
    path = folder / "empty.tape.jsonl"
    with TapeWriter(path, HEADER) as tape:
        record = next(_records(1))
        at = datetime.now(UTC)
        tape.write([AuditRecorded(observed_at=at, event=record)])
    return path


def asked(folder: Path, *words: str) -> tuple[float, float]:
    """Run a command; return its seconds and its peak of memory."""
    cluster = ("--cluster", words[-1].rpartition("/")[2].partition(".")[0])
    ran = subprocess.run(
        [
            *(sys.executable, "-c", ASKED),
            *("--data-dir", str(folder / "data"), *words),
            *(cluster if words[0] == "tape" else ()),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, peak = ran.stderr.split()[-2:]
    return float(seconds), float(peak)
