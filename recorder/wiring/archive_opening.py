"""Opening days of the archive; imported by who does, since that takes long."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from recorder.archive.errors import ArchiveError
from recorder.archive.opening import is_near, open_day
from recorder.archive.place import open_place
from recorder.archive.tables import ArchiveTables, Codes
from recorder.errors import RecorderError
from recorder.store.archive_engine import Asked
from recorder.store.codes import OPERATION_CODES, SOURCE_CODES
from recorder.store.read_archived import ArchivedDay

__all__ = ["find_days", "read_days"]


class Day(Protocol):
    """A day, and what was found of it."""

    row: ArchivedDay
    found: Any
    why: str | None


class Kept(Protocol):
    """Where days stay open."""

    folder: Path
    kept: dict[object, Asked]

    def keep(self, key: object, tables: Asked) -> None:
        """Keep days open."""


def find_days(
    days: Sequence[Day], folder: Path, *, hashed: bool = True
) -> bool:
    """Look for days; return whether their files need not be fetched."""
    near = True
    for day in days:
        row = day.row
        if row.uri is None or row.sha256 is None:
            continue
        try:
            place = open_place(row.place)
            near = near and is_near(place)
            found = open_day(
                place,
                row.folder,
                row.sha256,
                span=(row.lower, row.upper),
                cache=folder / "fetched",
                hashed=hashed,
                later=_later(row),
            )
            day.found = replace(found, only_statements=row.is_here)
        except RecorderError as exc:
            day.why = str(exc)
    return near


def _later(row: ArchivedDay) -> tuple[int, str] | None:
    """Return the rules and the digest of facts that were derived later."""
    if row.later_rules is None or row.later_sha256 is None:
        return None
    return row.later_rules, row.later_sha256


def read_days(
    days: Sequence[Day], log: int, derivation: int, shelf: Kept
) -> Asked | None:
    """Return the tables of those days that can be read, if any can.

    What cannot be opened after all is noted at its day.
    """
    while True:
        there = [day for day in days if day.found is not None and not day.why]
        if not there:
            return None
        shown = (
            (day.row.sha256, day.row.later_sha256, day.row.is_here)
            for day in there
        )
        key = log, derivation, *shown
        known = shelf.kept.get(key)
        if known is None:
            known = _tables(
                there,
                Codes(int(log), derivation, OPERATION_CODES, SOURCE_CODES),
                shelf.folder,
            )
        if known is not None:
            shelf.keep(key, known)
            return known


def _tables(
    there: Sequence[Day], codes: Codes, folder: Path
) -> ArchiveTables | None:
    found = [day.found for day in there]
    try:
        return ArchiveTables(found, codes, folder / "spilled")
    except ArchiveError as exc:
        for day in there:
            # One of them cannot be opened: it is found by opening each.
            try:
                ArchiveTables([day.found], codes, folder / "spilled").close()
            except ArchiveError as own:
                day.why = str(own)
        if not any(day.why for day in there):
            for day in there:
                day.why = str(exc)
        return None
