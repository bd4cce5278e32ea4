"""The benchmarks: one table, and JSON.

``python -m bench`` runs all, ``python -m bench mixed bytes`` some. Each names
its target; ``docs/performance.md`` explains the numbers and has earlier ones.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from bench import (
    auditing,
    behind,
    beside,
    claims,
    cold,
    completing,
    copying,
    deep,
    dumping,
    first_paint,
    flaps,
    importing,
    jobs,
    latency,
    listing,
    mixed,
    processor,
    proving,
    questions,
    redact,
    rederiving,
    restart,
    retaining,
    reviewing,
    sending,
    serving,
    size,
    start_up,
    takeover,
    thirty_days,
    timeline,
    walking,
)
from bench.measuring import Number, machine, say, summary

BENCHES: dict[str, Callable[[int], list[Number]]] = {
    "mixed": mixed.bench,
    "bytes": size.bench,
    "questions": questions.bench,
    "jobs": jobs.bench,
    "cold": cold.bench,
    "deep": deep.bench,
    "list": listing.bench,
    "latency": latency.bench,
    "claims": claims.bench,
    "flaps": flaps.bench,
    "copy": copying.bench,
    "behind": behind.bench,
    "processor": processor.bench,
    "redact": redact.bench,
    "rederive": rederiving.bench,
    "prove": proving.bench,
    "retain": retaining.bench,
    "days": thirty_days.bench,
    "dump": dumping.bench,
    "import": importing.bench,
    "restart": restart.bench,
    "takeover": takeover.bench,
    "walk": walking.bench,
    "audit": auditing.bench,
    "webhook": sending.bench,
    "help": start_up.bench,
    "timeline": timeline.bench,
    "paint": first_paint.bench,
    "api": serving.bench,
    "beside": beside.bench,
    "columns": completing.bench,
    "access": reviewing.bench,
}
RUNS = 3


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=", ".join(BENCHES)
    )
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--json", type=Path, default=Path("build/bench.json"))
    arguments = parser.parse_args()
    names = arguments.names or list(BENCHES)
    if unknown := set(names) - BENCHES.keys():
        parser.error(f"no benchmark {', '.join(unknown)}")
    numbers = []
    for name in names:
        say(f"--- {name}")
        numbers.extend(BENCHES[name](arguments.runs))
    about = machine()
    results = {
        "machine": about,
        "numbers": [number.as_json() for number in numbers],
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(results, indent=1) + "\n")
    print(summary(numbers, about))


if __name__ == "__main__":
    main()
