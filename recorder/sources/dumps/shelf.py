"""What was found in dumps, put in order on disk until it is imported.

The order is that of time, and everything is on the shelf once, whatever number
of files has it. A temporary file without a name, so memory does not grow, and
nothing is left of a process that is killed.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Self

from recorder.model.errors import InputError
from recorder.model.reference import Resource
from recorder.sources.dumps.things import Item

BYTES_MAX = 16 << 30
"""On disk: hours of the largest clusters."""

AT_ONCE = 500
_FOLDERS = ("/var/tmp", "/usr/tmp", "/tmp")  # noqa: S108 - as SQLite does
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Placed(NamedTuple):
    """One version of one object, in its place."""

    at: datetime
    resource: Resource
    kind: str
    uid: str
    raw: bytes


class Shelf:
    """The versions of objects, and Events, of some dumps."""

    def __init__(self) -> None:
        self._bytes = 0
        self._pending: list[tuple[object, ...]] = []
        # SQLite creates the file in `_folder`, and unlinks it at once.
        self._file = sqlite3.connect("", isolation_level=None)
        self._file.executescript("""
            pragma journal_mode = off;
            pragma temp_store = file;
            create table thing (
              dump integer, at integer, is_event integer, resource text,
              kind text, uid text, version integer, collection text,
              raw blob);
            create unique index once on thing (collection, uid, version, dump)
              where not is_event;
            create unique index event on thing (collection, uid, version)
              where is_event;
            begin
        """)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._file.close()

    def put(self, item: Item, dump: int) -> None:
        """Put one version of an object of a dump.

        Raises:
            InputError: there is no room for it.
        """
        self._bytes += len(item.raw)
        if self._bytes > BYTES_MAX:
            msg = (
                f"the dumps hold more than {BYTES_MAX >> 30} GiB of objects;"
                " import a part of them"
            )
            raise InputError(msg, code="input.too_large")
        collection = (
            "events"
            if item.is_event
            else f"{item.resource.group}/{item.resource.plural}"
        )
        at = None if item.at is None else _ticks(item.at)
        self._pending.append((
            dump, at, item.is_event, str(item.resource), item.kind, item.uid,
            item.version, collection, item.raw,
        ))  # fmt: skip
        if len(self._pending) >= AT_ONCE:
            self._flush()

    def date(self, dump: int, at: datetime) -> None:
        """Set the time of a dump: that of everything without one.

        Raises:
            InputError: there is no room for it.
        """
        self._flush()
        with _on_disk():
            self._file.execute(
                "update thing set at = ? where dump = ? and at is null",
                (_ticks(at), dump),
            )
            self._file.execute(
                "update thing set at = ?"
                " where dump = ? and is_event and at > ?",
                (_ticks(at), dump, _ticks(at)),
            )

    def __len__(self) -> int:
        """Count what is on it."""
        self._flush()
        with _on_disk():
            counted = self._file.execute("select count(*) from thing")
            return int(counted.fetchone()[0])

    def placed(self, first: int = 0) -> Iterator[Placed]:
        """Yield everything in the order of time, from a place on.

        Of one time: Events first, by their versions.

        Raises:
            InputError: there is no room to sort it.
        """
        self._flush()
        resources: dict[str, Resource] = {}
        with _on_disk():
            found = self._file.execute(
                "select at, resource, kind, uid, raw from thing order by at,"
                " not is_event, resource, version, uid, dump"
                " limit -1 offset ?",
                (first,),
            )
            for at, resource, kind, uid, raw in found:
                named = resources.get(resource)
                if named is None:
                    named = resources[resource] = Resource.parse(resource)
                yield Placed(_moment(at), named, kind, uid, raw)

    def _flush(self) -> None:
        rows, self._pending = self._pending, []
        if not rows:
            return
        with _on_disk():
            self._file.executemany(
                "insert or ignore into thing values (?,?,?,?,?,?,?,?,?)", rows
            )


@contextmanager
def _on_disk() -> Iterator[None]:
    """Report a temporary file that cannot be written or read."""
    try:
        yield
    except sqlite3.OperationalError as exc:
        msg = (
            "cannot keep what was read, in order, in a temporary file in"
            f" {_folder()}: {exc}; set TMPDIR to a folder with more room"
        )
        raise InputError(msg, code="input.too_large") from exc


def _folder() -> str:
    """Return the folder that SQLite chooses for temporary files."""
    chosen = (os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR"))
    return next(
        (
            folder
            for folder in (*chosen, *_FOLDERS)
            if folder and os.access(folder, os.W_OK | os.X_OK)
        ),
        ".",
    )


def _ticks(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


def _moment(ticks: int) -> datetime:
    return _EPOCH + timedelta(microseconds=ticks)
