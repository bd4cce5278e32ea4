"""The kernel's limits: shared memory, and open files."""

import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recorder.doctor.check import Check

KERNEL = Path("/proc/sys/kernel")
SEGMENTS = Path("/proc/sysvipc/shm")
MIB = 1 << 20

FILES_BESIDE = 64
"""Open files of a recorder beside its watches: PostgreSQL, lists, probes, a
tape, Python itself."""

FILES_LEAST = 256
"""PostgreSQL's processes have the same limit as the recorder."""

SEGMENT_MIN = 64 * MIB
SEGMENTS_MIN = 32
"""What parallel queries of a few commands take at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFacts:
    """System V shared memory, as the kernel allows it."""

    segment_max: int
    total_max: int
    segments_max: int
    segments: int
    """How many there are."""


def look_at_shared_memory() -> Iterator[Check]:
    """Check the kernel's limits, if it reports them."""
    facts = _kernel()
    if facts is not None:
        yield judge_shared_memory("shared memory", facts)


def _kernel() -> KernelFacts | None:
    try:
        most, pages, count = (
            int((KERNEL / name).read_text())
            for name in ("shmmax", "shmall", "shmmni")
        )
        segments = len(SEGMENTS.read_text().splitlines()) - 1
    except (OSError, ValueError):
        return None
    return KernelFacts(
        segment_max=most,
        total_max=pages * resource.getpagesize(),
        segments_max=count,
        segments=segments,
    )


def judge_shared_memory(name: str, facts: KernelFacts) -> Check:
    """Judge what parallel queries to the embedded server need.

    Its buffers are anonymous memory and its semaphores are in them, so
    kernel.sem does not matter.
    """
    limits = (
        ("kernel.shmmax", facts.segment_max, SEGMENT_MIN),
        ("kernel.shmall", facts.total_max, SEGMENT_MIN),
        (
            "kernel.shmmni",
            facts.segments_max,
            facts.segments + SEGMENTS_MIN,
        ),
    )
    short = [
        (setting, has, needed)
        for setting, has, needed in limits
        if has < needed
    ]
    if not short:
        return Check(name=name, ok=True, says="enough for the embedded server")
    return Check(
        name=name,
        ok=False,
        says=", ".join(
            f"{setting} allows {has}, and {needed} are needed"
            for setting, has, needed in short
        ),
        remedy="run: sysctl -w "
        + " ".join(
            f"{setting}={_units(setting, n)}" for setting, _, n in short
        ),
    )


PAGE = 4096


def _units(setting: str, needed: int) -> int:
    """Return a limit in the unit of its setting: shmall counts pages."""
    return needed // PAGE if setting == "kernel.shmall" else needed


def look_at_files(resources: int) -> Check:
    """Check the limit of open files, for so many watched resources."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 1 << 30
    return judge_files(
        "open files",
        soft=most if soft == resource.RLIM_INFINITY else soft,
        hard=most if hard == resource.RLIM_INFINITY else hard,
        resources=resources,
    )


def judge_files(name: str, *, soft: int, hard: int, resources: int) -> Check:
    """Judge the limit of open files.

    Each watch holds a connection, and twice as many are open while credentials
    change.
    """
    needed = max(2 * resources + FILES_BESIDE, FILES_LEAST)
    remedy = f"run: ulimit -n {needed}"
    if hard < needed:
        remedy = (
            f"the hard limit is {hard}: set"
            f" LimitNOFILE={needed} in the unit, or raise the limit of the"
            " container"
        )
    return Check(
        name=name,
        ok=soft >= needed,
        says=f"{soft} are allowed; up to {resources} resources need {needed}",
        remedy=remedy,
    )
