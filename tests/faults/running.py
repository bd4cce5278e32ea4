"""Playing many schedules, each in a process of its own.

The processes are forked from one that has imported everything, so that each
costs what it does and not what it needs. One that hangs is killed and counts
as failed; what one leaves behind, no other finds.
"""

import json
import multiprocessing
import os
import signal
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path

from tests.faults.schedule import Outcome, play

__all__ = ["Result", "run_each"]

PATIENCE_SECONDS = 240.0
"""For one schedule, on a machine that has other things to do."""

FORK = multiprocessing.get_context("fork")


@dataclass
class Result:
    """What is told of a schedule when its process has ended."""

    seed: int
    wrong: list[str] = field(default_factory=list)
    happened: list[str] = field(default_factory=list)
    injected: dict[str, int] = field(default_factory=dict)
    gaps: dict[str, int] = field(default_factory=dict)
    healed: int = 0
    entries: int = 0
    seconds: float = 0.0


def run_each(
    seeds: Iterable[int], *, at_once: int, keep: Path | None = None
) -> Iterator[Result]:
    """Play each seed; yield what became of it, in the order of ending.

    Of what failed, log, truth and story are kept in a folder, if one is
    given, each under its seed.
    """
    waiting = iter(seeds)
    running: dict[Connection, tuple[ForkProcess, int, float]] = {}
    while True:
        while len(running) < at_once:
            seed = next(waiting, None)
            if seed is None:
                break
            ours, theirs = FORK.Pipe(duplex=False)
            process = FORK.Process(target=_play, args=(seed, theirs, keep))
            process.start()
            theirs.close()
            running[ours] = process, seed, time.monotonic()
        if not running:
            return
        for ready in wait(list(running), timeout=1):
            assert isinstance(ready, Connection)
            process, seed, _ = running.pop(ready)
            yield _ended(ready, process, seed)
        _kill_those_that_hang(running)


def _kill_those_that_hang(
    running: dict[Connection, tuple[ForkProcess, int, float]],
) -> None:
    for process, _, began in running.values():
        if time.monotonic() - began > PATIENCE_SECONDS:
            process.kill()  # its end of the pipe closes with it


def _ended(pipe: Connection, process: ForkProcess, seed: int) -> Result:
    try:
        result = Result(**json.loads(pipe.recv_bytes()))
    except EOFError:
        process.join()
        status = process.exitcode or 0
        name = signal.Signals(-status).name if status < 0 else str(status)
        result = Result(seed, wrong=[f"its process ended with {name}"])
    pipe.close()
    process.join()
    return result


def _play(seed: int, pipe: Connection, keep: Path | None) -> None:
    os.environ.clear()  # each request looks there for a proxy
    began = time.monotonic()
    outcome = play(seed)
    if outcome.wrong and keep is not None:
        _keep(outcome, keep / f"seed-{seed}")
    result = Result(
        seed,
        wrong=outcome.wrong,
        happened=outcome.happened,
        injected=dict(outcome.injected),
        gaps=dict(outcome.gaps),
        healed=outcome.healed,
        entries=len(outcome.entries),
        seconds=time.monotonic() - began,
    )
    pipe.send_bytes(json.dumps(asdict(result)).encode())


def _keep(outcome: Outcome, folder: Path) -> None:
    """Write what somebody needs to find out why."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.ndjson").open("w") as log:
        for position, (epoch, draft) in enumerate(outcome.entries, 1):
            entry = {
                "entry": f"1/{position}",
                "epoch": epoch,
                "operation": draft.operation,
                "source": draft.source,
                "resource": draft.resource,
                "observed_at": draft.observed_at.isoformat(),
                "raw": _text(draft.raw),
            }
            log.write(json.dumps(entry) + "\n")
    with (folder / "oracle.ndjson").open("w") as oracle:
        for version in outcome.truth:
            oracle.write(json.dumps(asdict(version)) + "\n")
    said = ["what is wrong:", *outcome.wrong, "", "what happened:"]
    story = "\n".join([*said, *outcome.happened, ""])
    (folder / "story.txt").write_text(story)


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return b64encode(raw).decode()
