"""Verifying a day of the archive from its files alone.

The hashes of entries make the root of each batch, the hashes of the headers
of batches make the range that the manifest has. PostgreSQL is not needed.

Each entry has names, which are hashed, and the numbers by which facts and
statements find them, which are not: the numbers are compared with the names.
"""

import mmap
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from recorder.archive.columns import WHOSE
from recorder.archive.errors import ArchiveError
from recorder.archive.kept import day_at, read_manifest
from recorder.archive.manifest import Manifest
from recorder.archive.place import Place
from recorder.archive.sorting import part_of
from recorder.integrity.leaves import BatchHeader, entry_hash, from_micros
from recorder.integrity.tree import HASH_BYTES, CompactRange, tree_hash
from recorder.model.columns import ARCHIVED, OBJECT, Holds
from recorder.model.entry import Draft, Operation
from recorder.model.reference import ObjectIdentity

Row = Mapping[str, Any]

NAMES: Mapping[str, tuple[str, Callable[[Row], object]]] = {
    "objects.parquet": ("object_id", itemgetter(*OBJECT)),
    "nodes.parquet": ("node_id", itemgetter("name")),
    "words.parquet": ("word_id", itemgetter("text")),
}
"""By file of names, the column of the number and the name of a row."""

REFERENCES = tuple(
    (
        f"{one.names}s.parquet",
        itemgetter(one.name),
        itemgetter(*(OBJECT if one.names == "object" else (one.field,))),
    )
    for one in ARCHIVED
    if f"{one.names}s.parquet" in NAMES
)
"""File, number and name of each reference of an entry."""

NOTHING = (None, (None,) * len(OBJECT))


class Names:
    """The names of one day, by their numbers."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], object] = {}

    def add(self, file: str, rows: Iterable[Row]) -> None:
        """Add the rows of a file; a number that comes twice fits no name."""
        number, named = NAMES[file]
        for row in rows:
            key = file, row[number]
            self._known[key] = () if key in self._known else named(row)

    def agree(self, entry: Row) -> bool:
        """Return whether the numbers of an entry are those of its names."""
        for file, numbered, named in REFERENCES:
            number, name = numbered(entry), named(entry)
            if number is None:
                if name not in NOTHING:
                    return False
            elif self._known.get((file, number), ()) != name:
                return False
        return True


BATCHES = "batches.parquet"
ROWS_AT_ONCE = 2048
MISSING = bytes(HASH_BYTES)
TIMES = tuple(one.name for one in ARCHIVED if one.holds is Holds.TIME)
LACKING = dict.fromkeys(one.name for one in ARCHIVED)
COLUMNS = len(LACKING) + len(WHOSE)
HEADER_TIMES = ("recorded_at", "observed_min", "observed_max", "sealed_at")

MALFORMED = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    OSError,
    TypeError,
    ValueError,
    pa.ArrowException,
)
"""What reading a malformed file may raise."""


def verify_day(place: Place, folder: str, manifest: Manifest) -> CompactRange:
    """Recompute everything of a day, file by file, in bounded memory.

    Returns:
        The range over its batches, as recomputed.

    Raises:
        ArchiveError: a file differs from the manifest, or its entries from
            the batches; the batch is named.
        PlaceError: a file cannot be read.
    """
    whole = f"{place.uri}/{folder}"
    check_files(place, folder, manifest)
    try:
        made = _verified(place, folder, manifest)
    except MALFORMED as exc:
        msg = f'what is in "{whole}" is not of its form: {exc!r}'
        raise ArchiveError(msg) from exc
    if made.pack().hex() != manifest.range:
        msg = f'the batches in "{whole}" are not those of its manifest'
        raise ArchiveError(msg)
    return made


def check_files(place: Place, folder: str, manifest: Manifest) -> None:
    """See that a day has the files of its manifest, each once, and no others.

    Programs that read it by its folder would read what is beside them.

    Raises:
        ArchiveError: it has others, or the manifest contradicts itself.
        PlaceError: the place does not answer.
    """
    whole = f"{place.uri}/{folder}"
    named = [part.name for part in manifest.files]
    beside = {
        name
        for name in place.files(folder)
        if name.endswith(".parquet") and name not in named
    }
    if beside:
        msg = f'"{whole}/{min(beside)}" is not in its manifest'
        raise ArchiveError(msg)
    size = manifest.last_position - manifest.first_position + 1
    if len({*named}) != len(named) or manifest.entries != size:
        msg = f'the manifest in "{whole}" contradicts itself'
        raise ArchiveError(msg)


def _verified(place: Place, folder: str, manifest: Manifest) -> CompactRange:
    whole = f"{place.uri}/{folder}"
    # Names first: entries are compared with them.
    parts = sorted(manifest.files, key=lambda part: part.name not in NAMES)
    names = Names()
    with _Leaves(manifest, names) as leaves:
        batches: Sequence[Row] = []
        for part in parts:
            with place.local(f"{folder}/{part.name}") as path:
                found = part_of(path, part.rows)
                if (found.sha256, found.bytes) != (part.sha256, part.bytes):
                    msg = (
                        f'"{whole}/{part.name}" is not the file that was'
                        " archived: its SHA-256 differs from the manifest's"
                    )
                    raise ArchiveError(msg)
                if part.name.startswith("entries-"):
                    leaves.add(path)
                elif part.name == BATCHES:
                    batches = _header_rows(path)
                elif part.name in NAMES:
                    names.add(part.name, _rows(path, ()))
        return _range(manifest, batches, leaves, whole)


def _range(
    manifest: Manifest, batches: Sequence[Row], leaves: "_Leaves", whole: str
) -> CompactRange:
    made = CompactRange(manifest.first_batch - 1, manifest.first_batch - 1)
    position = manifest.first_position
    for row in batches:
        header = _header_of(manifest, row)
        expected = (made.end + 1, position)
        if (header.batch, header.first_position) != expected:
            msg = f'batch {expected[0]} is missing in "{whole}"'
            raise ArchiveError(msg)
        if leaves.root(header) != header.root:
            msg = (
                f'the entries of batch {header.batch} in "{whole}" are not'
                " those that were recorded: their hash differs"
            )
            raise ArchiveError(msg)
        made.append(header.hash())
        position += header.entries
    last = (made.end, position - 1)
    if last != (manifest.last_batch, manifest.last_position):
        msg = f'batches after {made.end} are missing in "{whole}"'
        raise ArchiveError(msg)
    return made


class _Leaves:
    """The hashes of a day's entries by position, in a temporary file.

    Entries come in the order of nodes, and batches in that of the log. The
    file is mapped, so that the system writes to disk what memory lacks.
    """

    def __init__(self, manifest: Manifest, names: Names) -> None:
        self._names = names
        self._first = manifest.first_position
        self._count = manifest.last_position - manifest.first_position + 1
        self._file = tempfile.TemporaryFile(prefix="rec-")  # noqa: SIM115

    def __enter__(self) -> Self:
        self._file.truncate(max(self._count, 1) * HASH_BYTES)
        self._map = mmap.mmap(self._file.fileno(), 0)
        return self

    def __exit__(self, *failure: object) -> None:
        self._map.close()
        self._file.close()

    def add(self, path: Path) -> None:
        """Hash the entries of a file."""
        for row in entry_rows(path):
            place = row["position"] - self._first
            if not 0 <= place < self._count:
                msg = f'"{path.name}" has entries of another day'
                raise ArchiveError(msg)
            at = place * HASH_BYTES
            if self._map[at : at + HASH_BYTES] != MISSING:
                msg = f'entry {row["position"]} is twice in "{path.name}"'
                raise ArchiveError(msg)
            if not self._names.agree(row):
                msg = (
                    f'the numbers of entry {row["position"]} in "{path.name}"'
                    " do not stand for its names"
                )
                raise ArchiveError(msg)
            self._map[at : at + HASH_BYTES] = leaf_of_row(row)

    def root(self, header: BatchHeader) -> bytes | None:
        """Return the root of a batch; None if an entry is missing."""
        at = (header.first_position - self._first) * HASH_BYTES
        hashes = [
            self._map[begin : begin + HASH_BYTES]
            for begin in range(
                at, at + header.entries * HASH_BYTES, HASH_BYTES
            )
        ]
        return None if MISSING in hashes else tree_hash(hashes)


def entry_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a file of entries.

    A column that was added after the file was archived is null.
    """
    for row in _rows(path, TIMES):
        yield row if len(row) >= COLUMNS else {**LACKING, **row}


def draft_of(row: Row) -> Draft:
    """Return the draft of a row of a file of entries.

    A column that was added after the file was archived is null.
    """
    try:
        return _draft_of(row)
    except KeyError:
        return _draft_of({**LACKING, **row})


def _generated() -> Callable[[Row], Draft]:
    """Return a function that makes a draft of a row with all columns.

    It is generated from the table of columns: a loop over them for each row
    takes twice as long.
    """
    values = {}
    for one in ARCHIVED:
        value = f"row[{one.name!r}]"
        if one.name not in Draft.__struct_fields__:
            continue
        if one.holds is Holds.TIME:
            value = f"None if {value} is None else from_micros({value})"
        values[one.name] = value
    values["operation"] = "Operation(row['operation'])"
    parts = ", ".join(f"row[{name!r}]" for name in OBJECT)
    values["identity"] = (
        f"None if row['kind'] is None else ObjectIdentity({parts})"
    )
    fields = ", ".join(f"{name}={value}" for name, value in values.items())
    named = {
        one.__name__: one
        for one in (Draft, ObjectIdentity, Operation, from_micros)
    }
    made: Callable[[Row], Draft] = eval(  # noqa: S307 - of constants
        f"lambda row: Draft({fields})", named
    )
    return made


_draft_of = _generated()


def leaf_of_row(row: Row) -> bytes:
    """Return the hash of an entry as a row of a file has it."""
    return entry_hash(
        draft_of(row),
        position=row["position"],
        epoch=row["epoch"],
        recorded=row["recorded_at"],
    )


def read_headers(
    place: Place, folder: str, manifest: Manifest
) -> Sequence[tuple[BatchHeader, bytes | None]]:
    """Return the headers of a day, each with its stored tree.

    Raises:
        ArchiveError: they are missing or damaged.
        PlaceError: the place cannot be read.
    """
    with place.local(f"{folder}/{BATCHES}") as path:
        rows = _header_rows(path)
    return [(_header_of(manifest, row), row["tree"]) for row in rows]


def _header_rows(path: Path) -> Sequence[Row]:
    return list(_rows(path, HEADER_TIMES))


def _header_of(manifest: Manifest, row: Row) -> BatchHeader:
    """Return the header of a row of ``batches.parquet``."""

    def moment(name: str) -> datetime | None:
        count = row[name]
        return None if count is None else from_micros(count)

    recorded, first = moment("recorded_at"), moment("observed_min")
    last = moment("observed_max")
    assert recorded is not None, "the schema says so"
    assert first is not None, "likewise"
    assert last is not None, "likewise"
    return BatchHeader(
        origin=manifest.origin,
        cluster_uid=manifest.cluster_uid,
        batch=row["batch"],
        first_position=row["first_position"],
        entries=row["entries"],
        term=row["term"],
        recorded_at=recorded,
        observed_min=first,
        observed_max=last,
        root=row["root"],
        sealed_at=moment("sealed_at"),
    )


def _rows(path: Path, times: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a file, its times as microseconds since 1970."""
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS_AT_ONCE):
                names = batch.schema.names
                columns = [
                    column.cast(pa.int64()) if name in times else column
                    for name, column in zip(names, batch.columns, strict=True)
                ]
                values = [column.to_pylist() for column in columns]
                for row in zip(*values, strict=True):
                    yield dict(zip(names, row, strict=True))
    except (pa.ArrowException, OSError, KeyError, ValueError) as exc:
        msg = f'cannot read "{path.name}" of the archive: {exc}'
        raise ArchiveError(msg) from exc


def day_headers(uri: str) -> Sequence[BatchHeader]:
    """Return the headers of the batches of an archived day, in order.

    Raises:
        ArchiveError: the day is missing or damaged.
        PlaceError: its place cannot be read.
    """
    place, folder, manifest = _day(uri)
    return [header for header, _ in read_headers(place, folder, manifest)]


def day_entries(
    uri: str, header: BatchHeader
) -> Sequence[tuple[int, int, int, Draft]]:
    """Return position, epoch, recording time and draft of a batch's entries.

    Recording times are in microseconds since 1970.

    Raises:
        ArchiveError: an entry is missing, or the day is damaged.
        PlaceError: its place cannot be read.
    """
    place, folder, manifest = _day(uri)
    wanted = range(header.first_position, header.last_position + 1)
    found = {}
    for part in manifest.files:
        if not part.name.startswith("entries-"):
            continue
        with place.local(f"{folder}/{part.name}") as path:
            for row in entry_rows(path):
                position = row["position"]
                if position in wanted:
                    found[position] = (
                        position,
                        row["epoch"],
                        row["recorded_at"],
                        draft_of(row),
                    )
    if len(found) != len(wanted):
        msg = f'entries of batch {header.batch} are missing in "{uri}"'
        raise ArchiveError(msg)
    return [found[position] for position in wanted]


def _day(uri: str) -> tuple[Place, str, Manifest]:
    place, folder = day_at(uri)
    manifest = read_manifest(place, folder)
    if manifest is None:
        msg = f'"{uri}" has no manifest any more: restore it'
        raise ArchiveError(msg)
    return place, folder, manifest
