"""Writes a day of a log: its files, then its manifest, then a check.

What an interrupted run left is removed and written again. A day that already
has its manifest is only checked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from recorder.archive.columns import ENTRIES, FACTS_ORDER, ORDER, Schema
from recorder.archive.errors import ArchiveError
from recorder.archive.kept import MANIFEST, read_manifest
from recorder.archive.manifest import LogFile, Manifest, Part, digest_of
from recorder.archive.place import Place
from recorder.archive.sorting import Sorted, write_rows
from recorder.archive.verifying import verify_day

LOG = "log.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedDay:
    """A day in the archive that was verified after it was written."""

    manifest: Manifest
    sha256: str
    """Digest of the manifest, which has those of the files."""

    uri: str
    """The address of its folder."""

    bytes: int


class DayWriter:
    """Writes one day of one log into a place."""

    def __init__(
        self, place: Place, log: LogFile, day: str, scratch: Path
    ) -> None:
        self._place = place
        self._log = log
        self._folder = f"{log.uid}/{day}"
        self._day = day
        self._scratch = scratch
        self._parts: list[Part] = []
        self._whose = (log.uid, log.cluster_name, date.fromisoformat(day))
        self.entries = Sorted(scratch, "entries", ENTRIES, ORDER, self._whose)
        self._facts: Sorted | None = None

    @property
    def uri(self) -> str:
        """The address of the day's folder."""
        return f"{self._place.uri}/{self._folder}"

    def identify(self) -> None:
        """Write the identity of the log, or compare it with the one there.

        Raises:
            ArchiveError: the folder has another log.
        """
        name = f"{self._log.uid}/{LOG}"
        known = self._place.read(name)
        if known is None:
            self._put(name, self._log.document())
        else:
            self._check_log(LogFile.parse(known, f"{self._place.uri}/{name}"))

    def begin(self) -> None:
        """Remove what an interrupted run left."""
        self._place.clear(self._folder)

    def finished(self) -> Manifest | None:
        """Return the manifest if a run wrote it already."""
        return read_manifest(self._place, self._folder)

    def facts(self, schema: Schema) -> Sorted:
        """Return what collects the facts; its columns are the database's."""
        self._facts = Sorted(
            self._scratch, "facts", schema, FACTS_ORDER, self._whose
        )
        return self._facts

    def table(
        self, name: str, schema: Schema, rows: list[tuple[object, ...]]
    ) -> None:
        """Write a small table."""
        path = self._scratch / f"{name}.parquet"
        self._parts.append(write_rows(path, schema, rows, self._whose))
        self._place.put(f"{self._folder}/{path.name}", path)
        path.unlink()

    def write_sorted(self, on_file: Callable[[str], None]) -> None:
        """Write the entries and the facts in their order."""
        for rows in (self.entries, self._facts):
            if rows is None:
                continue
            for path, part in rows.files():
                on_file(part.name)
                self._place.put(f"{self._folder}/{part.name}", path)
                self._parts.append(part)

    @property
    def parts(self) -> list[Part]:
        """The files that were written."""
        return self._parts

    def finish(self, manifest: Manifest) -> ArchivedDay:
        """Write the manifest, then verify the day.

        Raises:
            ArchiveError: what is in the place differs from what was written.
        """
        self._put(f"{self._folder}/{MANIFEST}", manifest.document())
        return self.check(manifest)

    def check_own(self, manifest: Manifest) -> None:
        """Check that a manifest is of this day of this log.

        Raises:
            ArchiveError: it is of another day or log, and is not replaced.
        """
        if (manifest.origin, manifest.day) != (self._log.origin, self._day):
            msg = (
                f'"{self.uri}" holds {manifest.day} of {manifest.origin},'
                f" not {self._day} of {self._log.origin}: name another place"
            )
            raise ArchiveError(msg)

    def check(self, manifest: Manifest) -> ArchivedDay:
        """Verify the day from its files alone."""
        self.check_own(manifest)
        verify_day(self._place, self._folder, manifest)
        content = self._place.read(f"{self._folder}/{MANIFEST}") or b""
        return ArchivedDay(
            manifest=manifest,
            sha256=digest_of(content),
            uri=self.uri,
            bytes=sum(part.bytes for part in manifest.files),
        )

    def _check_log(self, known: LogFile) -> None:
        if (known.origin, known.cluster_uid, known.kind) != (
            self._log.origin,
            self._log.cluster_uid,
            self._log.kind,
        ):
            msg = (
                f'"{self._place.uri}/{self._log.uid}" is the archive of'
                f' {known.origin} of cluster "{known.cluster_name}"'
                f" ({known.cluster_uid}), not of this log: name another place"
            )
            raise ArchiveError(msg)

    def _put(self, name: str, content: bytes) -> None:
        path = self._scratch / "document.json"
        path.write_bytes(content)
        self._place.put(name, path)
        path.unlink()
