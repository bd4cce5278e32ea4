"""Opens a day of the archive for queries, and checks it.

The manifest is compared with the digest that the database has, and the files
with the manifest: by their size, and small ones by their hash. Files of a
folder are read in place, those of a bucket are cached in a folder of bounded
size.
"""

import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import file_digest
from pathlib import Path

from recorder.archive.errors import ArchiveError, PlaceError
from recorder.archive.facts_set import facts_folder, read_facts
from recorder.archive.kept import check_kept, read_manifest
from recorder.archive.manifest import Manifest, Part
from recorder.archive.place import FolderPlace, Place
from recorder.archive.tables import TableDay

HASHED_BYTES_MAX = 64 << 20
"""Files up to this size are hashed each time they are opened: 40 ms. A larger
one that is damaged fails when it is read."""

CACHE_BYTES_MAX = 8 << 30
"""Of files of buckets; the least recently used are removed."""

IN_USE_SECONDS = 600
"""A file that was used this recently may be being read: it is not removed."""


def is_near(place: Place) -> bool:
    """Return whether files are on this machine already."""
    return isinstance(place, FolderPlace)


def open_day(  # noqa: PLR0913 - each by its name
    place: Place,
    folder: str,
    sha256: str,
    *,
    span: tuple[datetime, datetime],
    cache: Path,
    hashed: bool,
    later: tuple[int, str] | None = None,
) -> TableDay:
    """Return a day, with its files on this machine.

    Args:
        place: the archive.
        folder: of the day.
        sha256: digest of its manifest, in hexadecimal.
        span: begin and end of the day.
        cache: the folder that caches files of a bucket.
        hashed: whether to hash the files that are small.
        later: the rules of facts that were derived later, which are read in
            place of those archived, and the digest of their manifest.

    Raises:
        ArchiveError: it differs from what was archived.
        PlaceError: it cannot be read.
    """
    check_kept(place, folder, sha256)
    manifest = read_manifest(place, folder)
    assert manifest is not None, "it was there a moment ago"
    parts = {part.name: (folder, part) for part in manifest.files}
    if later is not None:
        parts = _with_later(place, folder, manifest, parts, later)
    files = {}
    for name, (where, part) in parts.items():
        files[name] = _local(place, f"{where}/{part.name}", part, cache)
        if hashed and part.bytes <= HASHED_BYTES_MAX:
            _check(files[name], part, f"{place.uri}/{where}")
    return TableDay(manifest, *span, files)


def _with_later(
    place: Place,
    folder: str,
    manifest: Manifest,
    parts: Mapping[str, tuple[str, Part]],
    later: tuple[int, str],
) -> dict[str, tuple[str, Part]]:
    """Return the files of a day with rebuilt facts in place of its own.

    The names that these refer to are beside those of the day.

    Args:
        place: of the archive.
        folder: of the day in it.
        manifest: of the day.
        parts: its files by the name under which they are opened, with the
            folder of each.
        later: the derivation of the rebuilt facts, and the SHA-256 of their
            manifest.

    Raises:
        ArchiveError: the manifest of the rebuilt facts is another one.
    """
    rules, sha256 = later
    found = read_facts(place, folder, manifest, rules)
    where = facts_folder(folder, rules)
    if found is None or found.sha256 != sha256:
        msg = (
            f'the manifest in "{place.uri}/{where}" is not the one that was'
            " written: restore it"
        )
        raise ArchiveError(msg)
    kept = {
        name: part
        for name, part in parts.items()
        if not name.startswith("facts-")
    }
    for part in found.files:
        stem = part.name.removesuffix(".parquet").replace("-", "_")
        kind = stem.partition("_")[0]
        kept[f"{kind}-later-{stem}.parquet"] = (where, part)
    return kept


def _check(path: Path, part: Part, where: str) -> None:
    try:
        with path.open("rb") as file:
            found = file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        msg = f'cannot read "{where}/{part.name}": {exc.strerror}'
        raise PlaceError(msg) from exc
    if found != part.sha256:
        msg = f'"{where}/{part.name}" is damaged: restore it'
        raise ArchiveError(msg)


def _local(place: Place, name: str, part: Part, cache: Path) -> Path:
    if is_near(place):
        with place.local(name) as path:
            return path
    kept = cache / f"{part.sha256}.parquet"
    if kept.is_file() and kept.stat().st_size == part.bytes:
        kept.touch()
        return kept
    with place.local(name) as path:
        try:
            cache.mkdir(parents=True, exist_ok=True)
            _make_room(cache, part.bytes)
            fresh = kept.with_suffix(".unfinished")
            shutil.copyfile(path, fresh)
            fresh.replace(kept)
        except OSError as exc:
            msg = f'cannot keep "{place.uri}/{name}" in "{cache}": {exc}'
            raise PlaceError(msg) from exc
    return kept


def _make_room(cache: Path, wanted: int) -> None:
    files = sorted(
        (path.stat().st_mtime, path.stat().st_size, path)
        for path in cache.iterdir()
    )
    excess = sum(size for _, size, _ in files) + wanted - CACHE_BYTES_MAX
    recent = time.time() - IN_USE_SECONDS
    for used_at, size, path in files:
        if excess <= 0 or used_at > recent:
            return
        with suppress(FileNotFoundError):
            path.unlink()
        excess -= size
