"""What was carried forward of dropped days, compared with the archive.

Its batches are gone, and their hashes with them: the entries are those of the
archive, or they are not what was recorded. `verify --archive` proves that the
archive itself is.
"""

import asyncio
from collections.abc import Sequence
from random import Random

import asyncpg

from recorder.admin.following_days import opened_day
from recorder.admin.rederiving_archive import day_of
from recorder.admin.verifying_facts import Proving, mode_of
from recorder.archive.verifying import draft_of
from recorder.errors import RecorderError
from recorder.integrity.chain import Problem
from recorder.integrity.leaves import entry_hash, micros
from recorder.integrity.verified import Verified
from recorder.store.entry_drafts import EntryDrafts, UnreadableEntryError
from recorder.store.later_facts import OldDay, old_days
from recorder.store.read_batches import LogEnd

__all__ = ["verify_carried"]

AT_ONCE = 2_000
DAYS = 30
"""Of which as many are compared where a sample is."""

CARRIED = """
    select position from recorder.entry
    where log_id = $1 and position <= $2 order by 1
"""


async def verify_carried(
    connection: asyncpg.Connection, end: LogEnd, found: Verified, how: Proving
) -> None:
    """Compare entries that were carried forward with those of the archive."""
    if how.mode == "none" or not end.pruned_positions:
        return
    rows = await connection.fetch(CARRIED, end.log, end.pruned_positions)
    positions = [position for (position,) in rows]
    days = [day for day in await old_days(connection, end.log) if day.uri]
    if mode_of(how, end.size) == "sample" and len(days) > DAYS:
        by = f"{end.identity.origin}/{how.seed}"
        days = Random(by).sample(days, DAYS)  # noqa: S311 - it hides nothing
    drafts = await EntryDrafts.opened(connection, end.log)
    for day in days if positions else ():
        try:
            found.note_all(await _day(drafts, end, day, positions))
        except UnreadableEntryError as exc:
            says = f"what was carried forward of {day.name}: {exc}"
            found.note_all([Problem(kind="carried-altered", says=says)])
        except RecorderError as exc:
            # That it is missing or damaged is found where days are looked for.
            found.derived.not_compared.append(
                f"what was carried forward of {day.name}: {exc}"
            )


async def _day(
    drafts: EntryDrafts, end: LogEnd, day: OldDay, positions: Sequence[int]
) -> Sequence[Problem]:
    place, folder, manifest = await asyncio.to_thread(day_of, day)
    first, last = manifest.first_position, manifest.last_position
    wanted = [one for one in positions if first <= one <= last]
    problems: list[Problem] = []
    if not wanted:
        return problems
    with opened_day(place, folder, manifest, None) as opened:
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            archived = {
                row["position"]: entry_hash(
                    draft_of(row),
                    position=row["position"],
                    epoch=row["epoch"],
                    recorded=row["recorded_at"],
                )
                for row in await asyncio.to_thread(opened.entries_at, some)
            }
            rows, made = await drafts.at(some)
            for row, draft in zip(rows, made, strict=True):
                position = row["position"]
                kept = entry_hash(
                    draft,
                    position=position,
                    epoch=row["epoch"],
                    recorded=micros(row["recorded_at"]),
                )
                if kept != archived.get(position):
                    problems.append(_altered(end, position, day))
    return problems


def _altered(end: LogEnd, position: int, day: OldDay) -> Problem:
    return Problem(
        kind="carried-altered",
        position=position,
        says=f"entry {end.log}/{position}, which was carried forward of"
        f" {day.name}, is not the one in {day.uri}",
    )
