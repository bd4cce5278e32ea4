"""Lists of hosts as Slurm writes them: ``gpu-[001-003,007],login1``."""

import re
from collections.abc import Iterator
from typing import Final

HOSTS_MAX: Final = 20_000
"""Hosts of one list; more than the nodes of any Slurm cluster."""

NOTHING: Final = frozenset({"", "None assigned", "(null)"})
PART: Final = re.compile(r"[^,\[\]]*(?:\[[^\]]*\][^,\[\]]*)*")
RANGES: Final = re.compile(r"\[([^\]]*)\]")


def hosts_of(text: str | None) -> tuple[str, ...]:
    """Return the hosts of a list, in its order; at most `HOSTS_MAX`."""
    if text is None or text in NOTHING:
        return ()
    found: dict[str, None] = {}
    for part in PART.findall(text):
        for host in _expanded(part):
            if len(found) == HOSTS_MAX:
                return tuple(found)
            found[host] = None
    return tuple(found)


def _expanded(part: str) -> Iterator[str]:
    ranges = RANGES.search(part)
    if ranges is None:
        if part:
            yield part
        return
    head, tail = part[: ranges.start()], part[ranges.end() :]
    for number in _numbers(ranges[1]):
        for rest in _expanded(tail) if tail else ("",):
            yield f"{head}{number}{rest}"


def _numbers(text: str) -> Iterator[str]:
    """Yield the numbers of ranges, with the zeros before them."""
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not dash or not (first.isdecimal() and last.isdecimal()):
            yield part
            continue
        end = min(int(last), int(first) + HOSTS_MAX)
        for number in range(int(first), end + 1):
            yield str(number).zfill(len(first))
