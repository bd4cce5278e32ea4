"""Whether days that were archived are still there, without reading them.

Cheap enough for every run of retention: a small file for each day, and on
demand the size of each of its files. A place that does not answer is asked
once.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from recorder.archive.errors import ArchiveError, PlaceError
from recorder.archive.kept import check_kept, check_manifest
from recorder.archive.manifest import Manifest
from recorder.archive.place import Place, open_place

__all__ = ["Absent", "KeptDay", "absent_days", "place_of", "says_missing"]

AT_ONCE = 8
"""Requests to a bucket that are under way at the same time."""


class KeptDay(NamedTuple):
    """A day that is said to be archived."""

    uri: str
    """Of its folder."""

    sha256: str
    """Of its manifest, in hexadecimal."""

    range: str | None = None
    """Of its batches, in hexadecimal, where that is compared too."""


class Absent(NamedTuple):
    """A day that is not there as it was archived."""

    day: KeptDay
    why: str
    is_away: bool
    """Whether the place does not answer, so that the day may be there."""


def absent_days(days: Iterable[KeptDay], *, sizes: bool) -> Sequence[Absent]:
    """Return the days that are missing or altered, in their order.

    Args:
        days: that are said to be archived.
        sizes: whether the size of every file is compared too.
    """
    places: dict[str, Place] = {}
    away: dict[str, str] = {}

    def ask(day: KeptDay) -> Absent | None:
        root = place_of(day.uri)
        folder = day.uri.removeprefix(root).lstrip("/")
        if root in away:
            return Absent(day, away[root], is_away=True)
        try:
            if root not in places:
                places[root] = open_place(root)
            look = check_kept if sizes else check_manifest
            _compare(look(places[root], folder, day.sha256), day)
        except PlaceError as exc:
            away[root] = str(exc)
            return Absent(day, str(exc), is_away=True)
        except ArchiveError as exc:
            return Absent(day, str(exc), is_away=False)
        return None

    with ThreadPoolExecutor(AT_ONCE) as workers:
        found = list(workers.map(ask, days))
    return [one for one in found if one is not None]


def says_missing(missing: Sequence[Absent], of: int) -> str:
    """Say how many archived days are missing, and why the first one is."""
    first = missing[0]
    return (
        f"{len(missing)} of {of} archived days are not where they were"
        f" written, the first is {first.day.uri}: {first.why}; `recorder"
        " verify` names all of them"
    )


def place_of(uri: str) -> str:
    """Return the address of the archive that the folder of a day is in."""
    log, _, _ = uri.rpartition("/")
    return log.rpartition("/")[0]


def _compare(manifest: Manifest, day: KeptDay) -> None:
    if day.range is not None and manifest.range != day.range:
        msg = (
            f'the manifest in "{day.uri}" is of other batches than the'
            " database says"
        )
        raise ArchiveError(msg)
