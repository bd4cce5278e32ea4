"""The archive as Iceberg tables: a list of its files for other engines.

No data is copied: a table lists the files of the manifests and their columns.
Columns are matched by name, so that files of releases with more or fewer
columns are one table. The caller decides which days to add; files that a
table has already are skipped.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from recorder.archive.columns import WHOSE, Schema
from recorder.archive.errors import (
    ArchiveError,
    ArchiveSettingError,
    CatalogError,
)
from recorder.archive.manifest import Manifest
from recorder.model.errors import RecorderError

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog
    from pyiceberg.table import Table, Transaction

LOCAL = "local"
"""The setting that asks for a catalog in a file beside the archive."""

NAME = "recorder"
"""The name of a catalog that is configured by its address."""

LAST = "entries"
"""The table to which a day is added last: a day that is in it is complete."""

IDENTITY = ("day", "log_uid")
"""Columns that partition the tables; each file has one value of each."""

SNAPSHOTS_KEPT = 50
"""How many snapshots of a table remain. The others are expired when there are
as many of them: each commit writes the list, one a day for each log."""

PROPERTIES = {
    "format-version": "2",
    # The files are the archive's: no engine may delete them.
    "gc.enabled": "false",
    # One commit a day for years: lists of files are put together.
    "commit.manifest-merge.enabled": "true",
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    # No query filters by a range of documents.
    "write.metadata.metrics.column.raw": "counts",
    "write.metadata.metrics.column.detail": "counts",
}


@dataclass(frozen=True, slots=True)
class ListedDay:
    """The files of a day, by the tables that they belong to."""

    location: str
    files: Mapping[str, Mapping[str, Schema]]


@contextmanager
def open_tables(
    catalog: str, namespace: str, place: str
) -> Iterator["IcebergTables"]:
    """Open the tables of a namespace, and create it if it does not exist.

    Args:
        catalog: `LOCAL`, the address of a catalog, or the name of one in
            the configuration of pyiceberg.
        namespace: of the tables.
        place: the address of the archive.

    Raises:
        ArchiveSettingError: the extra is not installed, or the catalog
            cannot be a file beside this archive.
        CatalogError: the catalog does not answer.
    """
    try:
        from pyiceberg.catalog import load_catalog  # noqa: PLC0415 - an extra
    except ImportError as exc:
        msg = (
            f'cannot open the Iceberg catalog "{_shown(catalog)}": it needs'
            " an extra: pip install 'kube-recorder[iceberg]'"
        )
        raise ArchiveSettingError(msg) from exc
    name, properties = _address(catalog, place)
    with _errors(f'open the Iceberg catalog "{_shown(catalog)}"'):
        found = load_catalog(name, **properties)
        found.create_namespace_if_not_exists(namespace)
    try:
        yield IcebergTables(found, namespace)
    finally:
        found.close()


class IcebergTables:
    """The tables of an archive in a catalog."""

    def __init__(self, catalog: "Catalog", namespace: str) -> None:
        self._catalog = catalog
        self._namespace = namespace

    def listed(self) -> frozenset[str]:
        """Return the locations of the days that are in the tables.

        Raises:
            CatalogError: the catalog does not answer.
        """
        with _errors("read the Iceberg tables"):
            table = self._load(LAST)
            files = () if table is None else _files(table)
            return frozenset(path.rpartition("/")[0] for path in files)

    def read_day(self, uri: str, manifest: Manifest) -> ListedDay:
        """Read the columns of the files of a day.

        Raises:
            ArchiveError: a file cannot be read, or has no columns by which
                it can be distinguished from those of other logs.
        """
        from pyiceberg.io import load_file_io  # noqa: PLC0415 - an extra

        location = location_of(uri)
        io = load_file_io(dict(self._catalog.properties), location)
        files: dict[str, dict[str, Schema]] = {}
        for part in manifest.files:
            if not part.rows:
                continue
            path = f"{location}/{part.name}"
            try:
                with io.new_input(path).open() as file:
                    schema = pq.read_schema(file)
            except (OSError, pa.ArrowException) as exc:
                msg = f'cannot read "{path}" of the archive: {exc}'
                raise ArchiveError(msg) from exc
            if not set(WHOSE.names) <= set(schema.names):
                msg = f'"{path}" does not name its log: archive it again'
                raise ArchiveError(msg)
            files.setdefault(table_of(part.name), {})[path] = _open(schema)
        return ListedDay(location, files)

    def add(self, days: Sequence[ListedDay]) -> None:
        """Add the files of days, in one commit for each table.

        After a failure at any point, add the same days again.

        Raises:
            CatalogError: the catalog does not answer, or refuses.
        """
        names = {name for day in days for name in day.files}
        for name in sorted(names, key=lambda name: (name == LAST, name)):
            files = {
                path: schema
                for day in days
                for path, schema in day.files.get(name, {}).items()
            }
            with _errors(f"add to the Iceberg table {self._namespace}.{name}"):
                self._add(name, files)

    def _add(self, name: str, files: Mapping[str, Schema]) -> None:
        table = self._load(name)
        known = frozenset(() if table is None else _files(table))
        fresh = [path for path in files if path not in known]
        if not fresh:
            return
        if table is not None:
            _expire(table)
        schemas = _different([files[path] for path in fresh])
        with self._change(name, table, schemas[0]) as change:
            with change.update_schema() as columns:
                for schema in schemas:
                    columns.union_by_name(schema)
            change.add_files(fresh, check_duplicate_files=False)

    @contextmanager
    def _change(
        self, name: str, table: "Table | None", schema: Schema
    ) -> Iterator["Transaction"]:
        """Yield a transaction on a table, which is created if it is None."""
        if table is not None:
            with table.transaction() as change:
                yield change
            return
        with self._catalog.create_table_transaction(
            (self._namespace, name), schema, properties=PROPERTIES
        ) as change:
            with change.update_spec() as partitions:
                for column in IDENTITY:
                    partitions.add_identity(column)
            yield change

    def _load(self, name: str) -> "Table | None":
        from pyiceberg.exceptions import NoSuchTableError  # noqa: PLC0415

        try:
            return self._catalog.load_table((self._namespace, name))
        except NoSuchTableError:
            return None


def table_of(file: str) -> str:
    """Return the table of a file: ``entries`` of ``entries-00000.parquet``."""
    return file.partition(".")[0].partition("-")[0]


def location_of(uri: str) -> str:
    """Return the location of a folder, as other engines name it."""
    return uri if "://" in uri else f"file://{Path(uri).absolute()}"


def _files(table: "Table") -> Iterator[str]:
    """Yield the paths of the files of a table."""
    snapshot = table.current_snapshot()
    if snapshot is None:
        return
    for manifest in snapshot.manifests(table.io):
        for entry in manifest.fetch_manifest_entry(table.io):
            yield entry.data_file.file_path


def _expire(table: "Table") -> None:
    """Expire old snapshots; queries that read one are not interrupted."""
    named = {ref.snapshot_id for ref in table.metadata.refs.values()}
    found = sorted(table.snapshots(), key=lambda one: one.timestamp_ms)
    old = [one.snapshot_id for one in found[:-SNAPSHOTS_KEPT]]
    old = [number for number in old if number not in named]
    if len(old) >= SNAPSHOTS_KEPT:
        table.maintenance.expire_snapshots().by_ids(old).commit()


def _open(schema: Schema) -> Schema:
    """Return a schema in which every column may be null.

    A table has the columns of all releases, and few files have all of them.
    """
    made: Schema = pa.schema([pa.field(one.name, one.type) for one in schema])
    return made


def _different(schemas: Sequence[Schema]) -> Sequence[Schema]:
    """Return schemas without duplicates."""
    found: list[Schema] = []
    for schema in schemas:
        if not any(schema.equals(other) for other in found):
            found.append(schema)
    return found


def _address(catalog: str, place: str) -> tuple[str, dict[str, str]]:
    """Return the name of a catalog, and its properties."""
    warehouse = f"{location_of(place)}/iceberg"
    if catalog == LOCAL:
        if "://" in place:
            msg = (
                f'iceberg_catalog is "{LOCAL}", a file beside the archive, but'
                f' "{place}" is no folder: name another catalog'
            )
            raise ArchiveSettingError(msg)
        folder = Path(place).absolute() / "iceberg"
        with _errors(f'make the folder "{folder}"'):
            folder.mkdir(parents=True, exist_ok=True)
        catalog = f"sqlite:///{folder}/catalog.db"
    if "://" not in catalog:
        return catalog, {}
    if catalog.startswith("http"):
        return NAME, {"uri": catalog}
    return NAME, {"uri": catalog, "warehouse": warehouse}


def _shown(catalog: str) -> str:
    """Return the address of a catalog without its password."""
    return re.sub(r"//[^/@\s]*@", "//", catalog)


@contextmanager
def _errors(action: str) -> Iterator[None]:
    """Raise any error of a catalog, of any library, as a CatalogError."""
    try:
        yield
    except RecorderError:
        raise
    except Exception as exc:
        said = (_shown(str(exc).strip()) or type(exc).__name__).splitlines()[0]
        msg = (
            f"cannot {action}: {said}; the archive itself is complete, and"
            " the next run adds what is missing"
        )
        raise CatalogError(msg) from exc
