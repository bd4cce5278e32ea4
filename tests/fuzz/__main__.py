"""Fuzzing: mutated frames, documents and tapes, by the million.

``python -m tests.fuzz`` runs over all cores and prints a table; interrupted,
of what it has done by then. An input that breaks a rule is kept in
``build/fuzz`` with the seed that makes it again, and the exit status is 1.
``--only NUMBER`` runs one input and shows what it met.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from tests.fuzz.running import TARGETS, Job, Tally, check, work

INPUTS = 1_000_000
SEED = 20_261_121
CHUNK = 1_000
FAILURES_MAX = 200
"""Enough to see what is wrong; the first of each kind says it."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--inputs", type=int, default=INPUTS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="NUMBER")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"))
    arguments = parser.parse_args()
    if arguments.only is not None:
        check(arguments.seed, arguments.only, Tally())
        return 0
    first, end = arguments.first, arguments.first + arguments.inputs
    jobs = [
        Job(arguments.seed, start, min(start + CHUNK, end), arguments.keep)
        for start in range(first, end, CHUNK)
    ]
    began = time.monotonic()
    total, peak_kib = Tally(), 0
    # A fresh interpreter in each: what a worker holds is its own.
    with (
        multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool,
        suppress(KeyboardInterrupt),
    ):
        for tally, kib in pool.imap_unordered(work, jobs):
            total.add(tally)
            peak_kib = max(peak_kib, kib)
            _say(total, arguments.inputs, began)
            if len(total.failures) >= FAILURES_MAX:
                break
    print(file=sys.stderr)
    print(_table(total, peak_kib, time.monotonic() - began))
    return 1 if total.failures else 0


def _say(total: Tally, inputs: int, began: float) -> None:
    done = sum(total.inputs.values())
    rate = done / (time.monotonic() - began)
    print(
        f"\r{done:,} of {inputs:,}, {rate:,.0f}/s,"
        f" {len(total.failures)} failures, {(inputs - done) / rate:,.0f} s"
        " to go ",
        end="",
        file=sys.stderr,
        flush=True,
    )


def _table(total: Tally, peak_kib: int, seconds: float) -> str:
    head = f"{'target':14}{'inputs':>11}{'MB':>8}{'refused':>10}"
    lines = [f"{head}{'failed':>8}{'us each':>9}{'worst ms':>10}{'KiB':>7}"]
    failed = Counter(failure.target for failure in total.failures)
    for name in TARGETS:
        count = max(1, total.inputs[name])
        refused = sum(n for (of, _), n in total.met.items() if of == name)
        lines.append(
            f"{name:14}{total.inputs[name]:11,}"
            f"{total.bytes[name] / 1e6:8,.0f}{refused:10,}"
            f"{failed[name]:8,}{total.seconds[name] / count * 1e6:9,.0f}"
            f"{total.slowest.get(name, 0) * 1e3:10,.1f}"
            f"{total.largest.get(name, 0) / 1024:7,.0f}"
        )
    done = sum(total.inputs.values())
    lines.append(
        f"{'all':14}{done:11,}{sum(total.bytes.values()) / 1e6:8,.0f}"
        f"{total.met.total():10,}{len(total.failures):8,}"
    )
    lines.append(
        f"{seconds:,.0f} s, {done / seconds:,.0f} inputs/s; a process took"
        f" {peak_kib / 1024:,.0f} MiB at most"
    )
    lines += [f"{n:9,} {of}: {kind}" for (of, kind), n in _sorted(total)]
    kinds = Counter(
        (failure.target, failure.error, failure.report.splitlines()[-1][:90])
        for failure in total.failures
    )
    lines += [f"{n:9,} FAILED {kind}" for kind, n in kinds.most_common()]
    return "\n".join(lines)


def _sorted(total: Tally) -> list[tuple[tuple[str, str], int]]:
    return sorted(total.met.items(), key=lambda one: (one[0][0], -one[1]))


if __name__ == "__main__":
    sys.exit(main())
