"""One log in one day, on its way into the archive.

Every entry is hashed on its way; a batch with another hash than the recorded
one stops the day, and the error names it.
"""

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterator,
    Sequence,
)
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import asyncpg

from recorder import __version__
from recorder.archive.columns import (
    BATCHES,
    NODES,
    OBJECTS,
    WORDS,
    schema_of,
)
from recorder.archive.errors import ArchiveError, PlaceError
from recorder.archive.manifest import LogFile, Manifest
from recorder.archive.place import Place
from recorder.archive.writing import ArchivedDay, DayWriter
from recorder.integrity.leaves import origin_of
from recorder.integrity.tree import CompactRange
from recorder.model.columns import ARCHIVED, OBJECT, Column, Holds
from recorder.model.errors import LogError
from recorder.store.codes import FACTS
from recorder.store.entry_drafts import UnreadableEntryError
from recorder.store.read_day import (
    Day,
    DayEntry,
    DayReader,
    StoredBatch,
    batch_root,
    names_of_day,
)


class AlteredError(LogError):
    """What is in the log is not what was recorded."""

    code = "log.altered"
    exit_status = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LogDay:
    """One log in one day: its batches, and the range over them."""

    day: Day
    log: int
    reader: DayReader
    identity: asyncpg.Record
    batches: Sequence[StoredBatch]
    made: CompactRange
    on_progress: Callable[[str, int, int], None]
    now: Callable[[], datetime]
    check_tree: Callable[[], Awaitable[None]]
    """Compares the batches with the tree of the log, once all are read."""

    @property
    def name(self) -> str:
        """The day as its folder is named."""
        return f"{self.day.lower:%Y-%m-%d}"

    async def write(self, place: Place, scratch: Path) -> ArchivedDay:
        """Write the day, or check what a run before this one wrote."""
        log = _log_file(self.identity)
        writer = DayWriter(place, log, self.name, scratch)
        writer.identify()
        known = writer.finished()
        if known is not None:
            writer.check_own(known)
            self._check_same(known, writer)
            await self.check_tree()
            # One that is damaged was never said to be whole.
            with suppress(ArchiveError):
                return writer.check(known)
        writer.begin()
        async for entries in self.verified():
            with _on_disk(self.name):
                writer.entries.add(_columns(entries))
        columns, pages = await self.reader.facts()
        kind = [name for name, _ in columns].index("kind")
        facts = writer.facts(schema_of([*columns, ("fact", "text")]))
        async for rows in pages:
            named: list[object] = [FACTS[row[kind]].value for row in rows]
            values = [list(column) for column in zip(*rows, strict=True)]
            with _on_disk(self.name):
                facts.add([*values, named])
        names = await names_of_day(self.reader.connection, self.log, self.day)
        with _on_disk(self.name):
            self._write_tables(writer, names)
            writer.write_sorted(
                lambda name: self._report(f"writing {name}", 0)
            )
        manifest = await self._manifest(log, writer, facts.rows)
        self._report("reading it again", 0)
        with _on_disk(self.name):
            return writer.finish(manifest)

    def _check_same(self, known: Manifest, writer: DayWriter) -> None:
        if (
            known.range != self.made.pack().hex()
            or known.last_batch != self.made.end
        ):
            msg = (
                f'"{writer.uri}" holds another history of this day than the'
                " database: was one of them restored from a backup? Move it"
                " away, or name another place"
            )
            raise ArchiveError(msg)

    async def verified(self) -> AsyncIterator[Sequence[DayEntry]]:
        """Yield the entries, batches at a time, after hashing each.

        Raises:
            AlteredError: a batch is not what was recorded.
        """
        first = self.batches[0].header.first_position
        last = self.batches[-1].header.last_position
        waiting = list(reversed(self.batches))
        held: list[DayEntry] = []
        async for page in self._pages(first, last):
            held += page
            passed: list[DayEntry] = []
            reached = held[-1].row["position"] if held else 0
            while waiting and waiting[-1].header.last_position <= reached:
                header = waiting.pop().header
                count = sum(
                    one.row["position"] <= header.last_position
                    for one in held[: header.entries]
                )
                of_batch, held = held[:count], held[count:]
                if (
                    count != header.entries
                    or batch_root(of_batch, header.recorded_at) != header.root
                ):
                    raise altered(self.log, header.batch, self.day)
                passed += of_batch
            self._report("archiving", reached - first + 1)
            if passed:
                yield passed
        if waiting:
            raise altered(self.log, waiting[-1].header.batch, self.day)
        await self.check_tree()

    async def _pages(
        self, first: int, last: int
    ) -> AsyncIterator[Sequence[DayEntry]]:
        try:
            async for page in self.reader.entries(first, last):
                yield page
        except UnreadableEntryError as exc:
            position = exc.name.position
            batch = max(
                one.header.batch
                for one in self.batches
                if one.header.first_position <= max(position, first)
            )
            raise altered(self.log, batch, self.day) from exc

    def _write_tables(
        self, writer: DayWriter, names: dict[str, list[tuple[Any, ...]]]
    ) -> None:
        writer.table(
            "batches",
            BATCHES,
            [
                (
                    one.header.batch,
                    one.header.first_position,
                    one.header.entries,
                    one.header.term,
                    one.header.recorded_at,
                    one.header.observed_min,
                    one.header.observed_max,
                    one.header.root,
                    one.tree,
                    one.header.sealed_at,
                )
                for one in self.batches
            ],
        )
        for name, schema in (
            ("objects", OBJECTS),
            ("nodes", NODES),
            ("words", WORDS),
        ):
            writer.table(name, schema, names[name])

    async def _manifest(
        self, log: LogFile, writer: DayWriter, facts: int
    ) -> Manifest:
        first, last = self.batches[0].header, self.batches[-1]
        return Manifest(
            origin=log.origin,
            cluster_name=log.cluster_name,
            cluster_uid=log.cluster_uid,
            day=self.name,
            first_batch=first.batch,
            last_batch=last.header.batch,
            first_position=first.first_position,
            last_position=last.header.last_position,
            entries=writer.entries.rows,
            facts=facts,
            rules=await self.reader.rules(),
            range=self.made.pack().hex(),
            tree=None if last.tree is None else last.tree.hex(),
            files=sorted(writer.parts, key=lambda part: part.name),
            written_at=self.now(),
            release=__version__,
        )

    def _report(self, doing: str, done: int) -> None:
        first = self.batches[0].header.first_position
        last = self.batches[-1].header.last_position
        self.on_progress(
            f"{self.name} of log {self.log}: {doing}", done, last - first + 1
        )


@contextmanager
def _on_disk(day: str) -> Iterator[None]:
    """Report a scratch folder that cannot be written."""
    try:
        yield
    except OSError as exc:
        msg = (
            f"cannot archive {day}: the scratch files: {exc.strerror or exc};"
            " make room, or name another folder with TMPDIR. The next run"
            " begins this day again"
        )
        raise PlaceError(msg) from exc


def altered(log: int, batch: int, day: Day) -> AlteredError:
    """Return the error of a batch that has another hash."""
    return AlteredError(
        f"batch {batch} of log {log} in {day.name} is not what was recorded:"
        " its hash differs. The day stays as it is; compare it with"
        " a backup"
    )


def _log_file(row: asyncpg.Record) -> LogFile:
    return LogFile(
        origin=origin_of(row["uid"]),
        uid=str(row["uid"]),
        kind=row["kind"],
        cluster_name=row["cluster_name"],
        cluster_uid=row["cluster_uid"],
        kubernetes=row["kubernetes"],
        tape_uid=row["tape_uid"],
        redaction_key_id=row["redaction_key_id"],
        created_at=row["created_at"],
    )


def _columns(entries: Sequence[DayEntry]) -> list[list[object]]:
    """Return entries column by column, in the order of the schema."""
    return [_values(column, entries) for column in ARCHIVED]


def _values(column: Column, entries: Sequence[DayEntry]) -> list[object]:
    name = column.name
    if column.holds is Holds.PART:
        part = OBJECT.index(name)
        things = (entry.identity for _, entry in entries)
        return [None if thing is None else thing[part] for thing in things]
    if column.holds in {Holds.NUMBER, Holds.PLACE}:
        return [row[name] for row, _ in entries]
    return [getattr(entry, column.field) for _, entry in entries]
