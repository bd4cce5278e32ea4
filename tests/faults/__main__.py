"""``python -m tests.faults``: many schedules on the fake cluster.

Strings are hashed alike in each run: the order of a set would differ else,
and with it what a seed means.
"""

import argparse
import os
import sys
from pathlib import Path
from tempfile import mkdtemp

from tests.faults.playing import play_each
from tests.faults.soak import add_options, report

AT_ONCE = 2


def main() -> int:
    """Play; return 1 if any schedule failed."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        command = [sys.executable, "-m", "tests.faults", *sys.argv[1:]]
        os.execve(
            sys.executable, command, os.environ | {"PYTHONHASHSEED": "0"}
        )
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    add_options(parser, schedules=300, first=0)
    given = parser.parse_args()
    keep = given.keep or Path(mkdtemp(prefix="recorder-faults-"))
    seeds = range(given.first, given.first + given.schedules)
    return report(
        play_each(seeds, at_once=AT_ONCE, keep=keep),
        len(seeds),
        lines=given.lines,
        again="python -m tests.faults --schedules 1 --seed",
    )


if __name__ == "__main__":
    sys.exit(main())
