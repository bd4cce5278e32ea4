"""The facts of an archived day: those archived with it, or derived later.

Archived files never change. Facts that later rules derived are in a folder
``rules-N`` beside them, with the names that they refer to and a manifest. The
manifest is written last: a folder without one is unfinished.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from recorder.archive.errors import ArchiveError
from recorder.archive.manifest import (
    FORMAT,
    Count,
    DayName,
    Description,
    Digest,
    Manifest,
    Part,
    digest_of,
)
from recorder.archive.place import Place
from recorder.archive.sorting import Sorted, part_of

MANIFEST = "manifest.json"
KINDS = frozenset({"facts", "objects", "nodes", "words"})
"""The kinds of files in a set; it has no entries."""


class FactsManifest(Description, frozen=True, kw_only=True):
    """The facts of one day, as rules of one number derived them."""

    named: ClassVar[str] = "the manifest "

    origin: str
    day: DayName
    rules: int
    facts: Count
    manifest_sha256: Digest
    """Digest of the manifest of the day, which has the entries."""

    files: Sequence[Part]
    written_at: datetime
    release: str
    format: int = FORMAT


@dataclass(frozen=True, slots=True, kw_only=True)
class FactsSet:
    """Where the facts of a day are, and which rules derived them."""

    folder: str
    rules: int | None
    facts: int
    files: Sequence[Part]
    """The files of facts, and of the names that they refer to."""

    sha256: str | None = None
    """Digest of the manifest; None if they were archived with their day."""

    def paths(self, kind: str) -> Sequence[str]:
        """Return the names of its files of a kind, with their folder."""
        return [
            f"{self.folder}/{part.name}"
            for part in self.files
            if _kind(part.name) == kind
        ]


def write_facts(
    place: Place,
    folder: str,
    scratch: Path,
    manifest: FactsManifest,
    rows: Sorted,
) -> str:
    """Write the facts of a day beside it; return the digest of the manifest.

    The manifest has the files of names, which are in the scratch folder.

    Raises:
        PlaceError: a file cannot be written.
    """
    into = facts_folder(folder, manifest.rules)
    parts = list(manifest.files)
    for part in parts:
        place.put(f"{into}/{part.name}", scratch / part.name)
    for path, part in rows.files():
        place.put(f"{into}/{part.name}", path)
        parts.append(part)
    content = replace(manifest, files=parts, facts=rows.rows).document()
    path = scratch / MANIFEST
    path.write_bytes(content)
    place.put(f"{into}/{MANIFEST}", path)
    return digest_of(content)


def facts_folder(folder: str, rules: int) -> str:
    """Return the folder of the facts that rules derived for a day."""
    return f"{folder}/rules-{rules}"


def facts_of(
    place: Place, folder: str, manifest: Manifest, most: int
) -> FactsSet:
    """Return the newest complete facts of a day, by rules up to ``most``.

    Raises:
        ArchiveError: a manifest cannot be read, or is of another day.
        PlaceError: the place does not answer.
    """
    for rules in sorted(_rules(place, folder), reverse=True):
        if (manifest.rules or 0) < rules <= most:
            found = read_facts(place, folder, manifest, rules)
            if found is not None:
                return found
    return own_facts(folder, manifest)


def own_facts(folder: str, manifest: Manifest) -> FactsSet:
    """Return the facts that were archived with a day."""
    return FactsSet(
        folder=folder,
        rules=manifest.rules,
        facts=manifest.facts,
        files=[part for part in manifest.files if _kind(part.name) in KINDS],
    )


def read_facts(
    place: Place, folder: str, manifest: Manifest, rules: int
) -> FactsSet | None:
    """Return the facts of a day by rules; None if they are not complete.

    Raises:
        ArchiveError: the manifest cannot be read, or is of another day.
    """
    name = f"{facts_folder(folder, rules)}/{MANIFEST}"
    content = place.read(name)
    if content is None:
        return None
    found = FactsManifest.parse(content, f"{place.uri}/{name}")
    if (found.origin, found.day, found.rules) != (
        manifest.origin,
        manifest.day,
        rules,
    ) or not {_kind(part.name) for part in found.files} <= KINDS:
        msg = f'"{place.uri}/{name}" is of another day, or of other rules'
        raise ArchiveError(msg)
    return FactsSet(
        folder=facts_folder(folder, rules),
        rules=rules,
        facts=found.facts,
        files=found.files,
        sha256=digest_of(content),
    )


def check_facts(place: Place, found: FactsSet) -> None:
    """Compare the files of facts that were derived later with their manifest.

    Raises:
        ArchiveError: a file differs, or is not in the manifest.
        PlaceError: one cannot be read.
    """
    named = {part.name: part for part in found.files}
    for name in place.files(found.folder):
        if name.endswith(".parquet") and name not in named:
            msg = f'"{place.uri}/{found.folder}/{name}" is not in its manifest'
            raise ArchiveError(msg)
    for name, part in named.items():
        with place.local(f"{found.folder}/{name}") as path:
            if part_of(path, part.rows) != part:
                msg = (
                    f'"{place.uri}/{found.folder}/{name}" is not the file that'
                    " was written: its SHA-256 differs from the manifest's"
                )
                raise ArchiveError(msg)


def _kind(name: str) -> str:
    return name.removesuffix(".parquet").partition("-")[0]


def _rules(place: Place, folder: str) -> Sequence[int]:
    """Return the numbers of the rules that have a folder for a day."""
    return [
        int(number)
        for name in place.folders(folder)
        if name.startswith("rules-")
        and (number := name.removeprefix("rules-")).isdecimal()
    ]
