"""Checks that archived days are still there: manifests, files and bytes.

The check is cheap enough for every run of retention: it reads a small file of
each day and, on demand, the size of each of its files. A place that does not
answer is asked once. Nothing here reads Parquet, so that commands that only
check days start quickly.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import file_digest
from typing import NamedTuple

from recorder.archive.errors import ArchiveError, PlaceError
from recorder.archive.manifest import Manifest, digest_of
from recorder.archive.place import Place, open_place

MANIFEST = "manifest.json"
AT_ONCE = 8
"""How many requests to a bucket are made at the same time."""


def read_manifest(place: Place, folder: str) -> Manifest | None:
    """Return the manifest of a day, None if it has none."""
    content = place.read(f"{folder}/{MANIFEST}")
    if content is None:
        return None
    return Manifest.parse(content, f"{place.uri}/{folder}/{MANIFEST}")


def check_whole(place: Place, folder: str, sha256: str) -> None:
    """Check that every byte of an archived day is what was verified.

    Raises:
        ArchiveError: the manifest or a file is missing, or differs.
        PlaceError: the place does not answer.
    """
    for part in check_kept(place, folder, sha256).files:
        name = f"{folder}/{part.name}"
        with place.local(name) as path, path.open("rb") as file:
            found = file_digest(file, "sha256").hexdigest()
        if found != part.sha256:
            msg = f'"{place.uri}/{name}" is not what was written: restore it'
            raise ArchiveError(msg)


def check_kept(place: Place, folder: str, sha256: str) -> Manifest:
    """Check that an archived day is still there, and return its manifest.

    The sizes of its files are compared; they are not read.

    Raises:
        ArchiveError: the manifest or a file is missing, or differs.
        PlaceError: the place does not answer.
    """
    manifest = check_manifest(place, folder, sha256)
    check_sizes(place, folder, manifest)
    return manifest


def check_sizes(place: Place, folder: str, manifest: Manifest) -> None:
    """Check that the files of a manifest are there, without reading them.

    Raises:
        ArchiveError: a file is missing, or its size differs.
        PlaceError: the place does not answer.
    """
    for part in manifest.files:
        name = f"{folder}/{part.name}"
        if place.size(name) != part.bytes:
            msg = f'"{place.uri}/{name}" is missing or damaged: restore it'
            raise ArchiveError(msg)


def check_manifest(place: Place, folder: str, sha256: str) -> Manifest:
    """Check that the manifest of an archived day is there, and return it.

    Raises:
        ArchiveError: it is missing, or differs.
        PlaceError: the place does not answer.
    """
    where = f"{place.uri}/{folder}"
    content = place.read(f"{folder}/{MANIFEST}")
    if content is None:
        msg = f'"{where}" has no manifest any more: restore it'
        raise ArchiveError(msg)
    if digest_of(content) != sha256:
        msg = f'the manifest in "{where}" is not the one that was written'
        raise ArchiveError(msg)
    return Manifest.parse(content, where)


class KeptDay(NamedTuple):
    """A day that should be in the archive."""

    uri: str
    """The address of its folder."""

    sha256: str
    """The digest of its manifest, in hexadecimal."""

    range: str | None = None
    """The range of its batches, in hexadecimal, if that is compared too."""


class Absent(NamedTuple):
    """A day that is missing from the archive, or altered."""

    day: KeptDay
    why: str
    is_away: bool
    """Whether the place does not answer, so that the day may be there."""


def absent_days(days: Iterable[KeptDay], *, sizes: bool) -> Sequence[Absent]:
    """Return the days that are missing or altered, in their order."""
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
            check = check_kept if sizes else check_manifest
            _compare(check(places[root], folder, day.sha256), day)
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
    """Return how many archived days are missing, and why the first is."""
    first = missing[0]
    return (
        f"{len(missing)} of {of} archived days are not where they were"
        f" written, the first is {first.day.uri}: {first.why}; `recorder"
        " verify` names all of them"
    )


def day_at(uri: str) -> tuple[Place, str]:
    """Return the archive that the folder of a day is in, and the folder."""
    root = place_of(uri)
    return open_place(root), uri.removeprefix(root).lstrip("/")


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
