"""Whether a day is kept as it was archived: its manifest, files and bytes.

It imports nothing that reads Parquet: commands that only ask start quickly.
"""

from hashlib import file_digest

from recorder.archive.errors import ArchiveError
from recorder.archive.manifest import Manifest, digest_of
from recorder.archive.place import Place

__all__ = [
    "MANIFEST",
    "check_kept",
    "check_manifest",
    "check_sizes",
    "check_whole",
    "read_manifest",
]

MANIFEST = "manifest.json"


def read_manifest(place: Place, folder: str) -> Manifest | None:
    """Return the manifest of a day, None if it has none."""
    content = place.read(f"{folder}/{MANIFEST}")
    if content is None:
        return None
    return Manifest.parse(content, f"{place.uri}/{folder}/{MANIFEST}")


def check_whole(place: Place, folder: str, sha256: str) -> None:
    """Check that every byte of an archived day is what was verified.

    Raises:
        ArchiveError: the manifest or a file is missing, or is another.
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
    """Check that an archived day is still there: its manifest and its files.

    Files are not read; return the manifest.

    Raises:
        ArchiveError: the manifest is missing or another, or a file is.
        PlaceError: the place does not answer.
    """
    manifest = check_manifest(place, folder, sha256)
    check_sizes(place, folder, manifest)
    return manifest


def check_sizes(place: Place, folder: str, manifest: Manifest) -> None:
    """Check that the files of a manifest are there, without reading them.

    Raises:
        ArchiveError: one is missing, or of another size.
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
        ArchiveError: it is missing, or another.
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
