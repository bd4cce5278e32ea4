"""Playing schedules by the hundred, and the table of what became of them.

The seeds are ``--first`` and those after it; one that failed is played again
with ``--first 17 --schedules 1``. Strings are hashed alike in each run: the
order of a set would differ else, and with it what a seed means.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import mkdtemp

from tests.faults.running import Result, run_each

__all__ = ["main", "table"]

AT_ONCE = 2
WRONG_SHOWN = 5


def main() -> int:
    """Play; return 1 if any schedule failed."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        command = [sys.executable, "-m", "tests.faults", *sys.argv[1:]]
        os.execve(
            sys.executable, command, os.environ | {"PYTHONHASHSEED": "0"}
        )
    arguments = _arguments()
    keep = arguments.keep or Path(mkdtemp(prefix="recorder-faults-"))
    seeds = range(arguments.first, arguments.first + arguments.schedules)
    began = time.monotonic()
    results: list[Result] = []
    for result in run_each(seeds, at_once=AT_ONCE, keep=keep):
        results.append(result)
        if arguments.lines:
            print(json.dumps(asdict(result)), flush=True)
        elif result.wrong:
            print("\n".join(_said(result)), flush=True)
    failed = sorted(result.seed for result in results if result.wrong)
    if not arguments.lines:
        print("\n".join(table(results, time.monotonic() - began)))
        if failed:
            print(f"\nfailed: {failed}; kept in {keep}")
    return int(bool(failed))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--schedules", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--keep", type=Path, help="a folder for failures")
    parser.add_argument(
        "--lines", action="store_true", help="a line of JSON for each"
    )
    return parser.parse_args()


def _said(result: Result) -> Iterator[str]:
    yield f"seed {result.seed}:"
    yield from (f"  {why}" for why in result.wrong[:WRONG_SHOWN])
    if len(result.wrong) > WRONG_SHOWN:
        yield f"  and {len(result.wrong) - WRONG_SHOWN} more"


def table(results: Sequence[Result], seconds: float) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    failed = sum(bool(result.wrong) for result in results)
    yield "| what | how often |"
    yield "|---|---|"
    yield f"| schedules passed | {len(results) - failed} |"
    yield f"| schedules failed | {failed} |"
    for name, count in _total(r.injected for r in results):
        yield f"| fault: {name.replace('_', ' ')} | {count} |"
    for name, count in _total(r.gaps for r in results):
        yield f"| gap: {name} | {count} |"
    yield f"| gap that healed | {sum(r.healed for r in results)} |"
    yield f"| entries | {sum(r.entries for r in results)} |"
    yield f"| seconds | {seconds:.0f} |"


def _total(counts: Iterable[dict[str, int]]) -> list[tuple[str, int]]:
    found: Counter[str] = Counter()
    for one in counts:
        found.update(one)
    return sorted(found.items())
