"""The machine, for `recorder doctor`: folder, disk, programs, limits."""

import asyncio
import resource
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

from recorder.embedded.looking import look_at_folder, look_at_programs
from recorder.report.checks import Check, untried
from recorder.report.checks.machine import (
    DiskFacts,
    KernelFacts,
    judge_disk,
    judge_files,
    judge_folder,
    judge_programs,
    judge_shared_memory,
)
from recorder.settings import Settings
from recorder.sources.watch.catalog import BUILT_IN

__all__ = ["look_at_files", "look_at_machine"]

KERNEL = Path("/proc/sys/kernel")
SEGMENTS = Path("/proc/sysvipc/shm")


async def look_at_machine(settings: Settings) -> AsyncIterator[Check]:
    """Look at what lies on this machine.

    The disk and the programs only where the embedded server is used.
    """
    embedded = settings.database_url is None
    facts = look_at_folder(settings.data_dir, embedded=embedded)
    folder = judge_folder("data folder", facts)
    yield folder
    if not embedded:
        return
    yield judge_disk("disk", _disk(facts.path), settings.disk_free_min)
    name = "embedded server"
    if facts.foreign_owner is not None:
        yield untried(name, folder.name)
    else:
        # The programs are run once, to see whether they do.
        programs = await asyncio.to_thread(look_at_programs, facts.path)
        yield judge_programs(name, programs)
    kernel = _kernel()
    if kernel is not None:
        yield judge_shared_memory("shared memory", kernel)


def look_at_files(resources: int | None) -> Check:
    """Look at the limit of open files.

    Args:
        resources: how many would be watched; None counts those of the
            built-in list, of which no cluster serves all.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    listed = sum(map(len, BUILT_IN.values()))
    count = listed if resources is None else resources
    most = 1 << 30
    return judge_files(
        "open files",
        soft=most if soft == resource.RLIM_INFINITY else soft,
        hard=most if hard == resource.RLIM_INFINITY else hard,
        resources=count,
    )


def _disk(folder: Path) -> DiskFacts:
    place = next(path for path in (folder, *folder.parents) if path.is_dir())
    usage = shutil.disk_usage(place)
    return DiskFacts(folder=folder, free=usage.free, total=usage.total)


def _kernel() -> KernelFacts | None:
    """Read the kernel's limits; None where it does not tell them."""
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
