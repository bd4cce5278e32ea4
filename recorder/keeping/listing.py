"""Listing the archive in Iceberg tables, day by day.

After everything else of a run, and apart from it: a catalog that is away
keeps no day from being archived or dropped. What is missing in the tables,
also of days that were archived before there was a catalog, is added by the
next run that can.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recorder.archive.errors import ArchiveError
from recorder.archive.iceberg import (
    IcebergTables,
    ListedDay,
    location_of,
    open_tables,
)
from recorder.archive.kept import check_kept, read_manifest
from recorder.archive.manifest import Manifest
from recorder.archive.place import open_place
from recorder.model.errors import RecorderError

DAYS_AT_ONCE = 30
"""Of a long archive: a commit for each day takes longer than its files, and
one for all of them would begin again from nothing after a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Iceberg:
    """Where the tables are."""

    catalog: str
    namespace: str


@dataclass(slots=True, kw_only=True)
class Listed:
    """What was added to the tables."""

    days: int = 0
    failure: str | None = None
    """Why days are missing in them; the first reason."""


def list_days(
    iceberg: Iceberg,
    place: str,
    kept: Sequence[tuple[str, str]],
    on_progress: Callable[[str, int, int], None] = lambda *_: None,
) -> Listed:
    """Add the days that the tables lack."""
    done = Listed()
    try:
        with open_tables(iceberg.catalog, iceberg.namespace, place) as tables:
            listed = tables.listed()
            missing = [
                day for day in kept if location_of(day[0]) not in listed
            ]
            for begin in range(0, len(missing), DAYS_AT_ONCE):
                on_progress(
                    f"listing {len(missing)} days in Iceberg tables", 0, 0
                )
                days = missing[begin : begin + DAYS_AT_ONCE]
                found = _readable(tables, days, done)
                tables.add(found)
                done.days += len(found)
    except RecorderError as exc:
        done.failure = done.failure or str(exc)
    return done


def _readable(
    tables: IcebergTables, days: Sequence[tuple[str, str]], done: Listed
) -> Sequence[ListedDay]:
    """Return the days that are in the archive as they were written."""
    found = []
    for uri, sha256 in days:
        try:
            found.append(tables.read_day(uri, _manifest(uri, sha256)))
        except RecorderError as exc:
            done.failure = done.failure or str(exc)
    return found


def _manifest(uri: str, sha256: str) -> Manifest:
    rest, _, day = uri.rpartition("/")
    root, _, log = rest.rpartition("/")
    place, folder = open_place(root), f"{log}/{day}"
    check_kept(place, folder, sha256)
    manifest = read_manifest(place, folder)
    if manifest is None:
        msg = f'"{uri}" has no manifest any more: restore it'
        raise ArchiveError(msg)
    return manifest
