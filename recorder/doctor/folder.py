"""The data folder: whether it, its disk and its server can be used."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from recorder.doctor.check import Check, untried
from recorder.model.settings import Settings

FOLDER, DISK, PROGRAMS = "data folder", "disk", "embedded server"
PERCENT = 100
GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFacts:
    """The data folder, inspected without creating it."""

    path: Path
    user: str
    """The user who would use it."""

    exists: bool
    is_folder: bool
    is_writable: bool
    """It, or the folder that it would be created in."""

    foreign_owner: str | None
    """The owner of PostgreSQL's data, if we may not use them."""

    closed_at: Path | None = None
    """A folder above it that PostgreSQL's own user cannot access."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFacts:
    """The embedded server's programs, and the version of the data."""

    folder: Path
    """PostgreSQL's own."""

    version: str | None
    """Of the programs; None if there are none."""

    trouble: str | None
    """Why there are none, as text."""

    major: int
    """The major version whose data they read."""

    found: str | None
    """The major version that made the data; None if there is no data."""

    is_readable: bool = True
    """Whether the data is PostgreSQL's at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFacts:
    """The filesystem that the data folder is on."""

    folder: Path
    free: int
    total: int


async def look_at_folder(
    settings: Settings,
    find_folder: Callable[[], FolderFacts],
    find_programs: Callable[[], ProgramFacts],
) -> AsyncIterator[Check]:
    """Check the folder.

    Its disk and the programs only if the embedded server is used.
    """
    facts = find_folder()
    yield judge_folder(FOLDER, facts)
    if settings.database_url is not None:
        return
    yield judge_disk(DISK, _disk(facts.path), settings.disk_free_min)
    if facts.foreign_owner is not None:
        yield untried(PROGRAMS, FOLDER)
    else:
        # The programs are run once, to see whether they work.
        yield judge_programs(PROGRAMS, await asyncio.to_thread(find_programs))


def _disk(folder: Path) -> DiskFacts:
    place = next(path for path in (folder, *folder.parents) if path.is_dir())
    usage = shutil.disk_usage(place)
    return DiskFacts(folder=folder, free=usage.free, total=usage.total)


def judge_folder(name: str, facts: FolderFacts) -> Check:
    """Judge whether the folder can be used, or created."""
    path, user = facts.path, facts.user
    elsewhere = "or name another folder with RECORDER_DATA_DIR"

    def wrong(says: str, remedy: str) -> Check:
        return Check(
            name=name, ok=False, says=says, remedy=f"{remedy}, {elsewhere}"
        )

    if facts.exists and not facts.is_folder:
        return wrong(f'"{path}" is not a folder', "move it away")
    if facts.foreign_owner is not None:
        owner = facts.foreign_owner
        return wrong(
            f'"{path}/postgres" belongs to "{owner}", and this is "{user}"',
            f'run as that user: sudo -u "{owner}" recorder ...',
        )
    if facts.closed_at is not None:
        return wrong(
            f'PostgreSQL\'s own user cannot access "{facts.closed_at}"',
            f"allow it: chmod o+x {facts.closed_at}",
        )
    if not facts.is_writable:
        return wrong(
            f'"{path}" cannot be {"written" if facts.exists else "created"} by'
            f' "{user}"',
            f'run: install -d -m 700 -o "{user}" {path}, on a filesystem'
            " that is mounted writable",
        )
    says = f'"{path}"' if facts.exists else f'"{path}" will be created'
    return Check(name=name, ok=True, says=says)


def judge_disk(name: str, facts: DiskFacts, free_min: float) -> Check:
    """Judge the free space, against the share below which recording pauses."""
    share = facts.free / facts.total * PERCENT
    least = facts.total * free_min / PERCENT
    return Check(
        name=name,
        ok=share >= free_min,
        says=f"{share:.1f} % free ({facts.free / GIB:.1f} GiB) where"
        f' "{facts.folder}" is; recording pauses below {free_min:g} %'
        f" ({least / GIB:.1f} GiB)",
        remedy=f"free {(least - facts.free) / GIB:.1f} GiB or more, move the"
        " folder to a larger disk, or set RECORDER_DISK_FREE_MIN",
    )


def judge_programs(name: str, facts: ProgramFacts) -> Check:
    """Judge whether the embedded server can run on the data."""
    if facts.trouble is not None:
        return Check(
            name=name,
            ok=False,
            says=facts.trouble,
            remedy="name a PostgreSQL 15 or newer with RECORDER_DATABASE_URL",
        )
    folder, says = facts.folder, f"PostgreSQL {facts.version}"
    if not facts.is_readable:
        return Check(
            name=name,
            ok=False,
            says=f'"{folder}" is not a PostgreSQL data folder: it has no'
            " PG_VERSION",
            remedy="restore it from a backup, or move it away to begin a new"
            " log",
        )
    if facts.found is None:
        return Check(name=name, ok=True, says=f"{says}, not used yet")
    fits = facts.found == str(facts.major)
    return Check(
        name=name,
        ok=fits,
        says=f'{says}, the version of "{folder}"'
        if fits
        else f'"{folder}" was made by PostgreSQL {facts.found}, and the'
        f" embedded one is {facts.major}; the data are untouched",
        remedy=f"dump it with PostgreSQL {facts.found} (pg_dump -Fc) and"
        " restore the dump into a new folder, or run a PostgreSQL"
        f" {facts.found} on it and name that with RECORDER_DATABASE_URL",
    )
