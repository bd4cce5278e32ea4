"""Spans of batches whose rows are checked, and the progress of a run.

Each span is checked by one process. A run that was interrupted is resumed
from a file that is signed by the log's key: what an earlier run read is
believed if the signature holds and no row that it read was written again
since. The rest is read again. Without a signing key on this machine nothing
is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
)

from recorder.integrity.chain import Problem
from recorder.integrity.notes import NoteError, SignedNote, VerifierKey, sign
from recorder.keeping.workers import Report
from recorder.store.checking import check_batches
from recorder.store.long_work import connect_to
from recorder.store.read_batches import LogEnd
from recorder.store.read_marks import entries_mark, names_mark
from recorder.store.statement import Statement
from recorder.store.translate import translate_errors

ENTRIES = 50_000
"""Entries of a span: a second of work, which an interruption may cost."""

SPANS = Statement.of("""
    select min(batch) - 1, max(batch), sum(entries)::int8 from (
      select batch, entries,
        (sum(entries) over (order by batch) - 1) / :entries as span
      from recorder.batch
      where log_id = :log and batch <= :batches and batch > :pruned
        and (:since::timestamptz is null or observed_max >= :since)
        and (:until::timestamptz is null or observed_min < :until)) b
    group by span order by 1
""")


class Span(msgspec.Struct):
    """Consecutive batches, and what is wrong with them."""

    after: int
    until: int
    entries: int
    problems: list[Problem] = []
    mark: str = ""
    """State of its rows before they were read, which shows later changes."""


async def spans_of(
    connection: asyncpg.Connection,
    end: LogEnd,
    since: datetime | None,
    until: datetime | None,
) -> Sequence[Span]:
    """Return the batches of a window, divided into spans."""
    rows = await SPANS.fetch(
        connection,
        log=end.log,
        batches=end.batches,
        since=since,
        until=until,
        entries=ENTRIES,
        pruned=end.pruned_batches,
    )
    return [Span(*row) for row in rows]


async def check_spans(
    dsn: str, end: LogEnd, spans: Sequence[Span], *, report: Report
) -> None:
    """Check spans in a process of its own; report each when it is done."""
    with translate_errors("verify a part of the log"):
        connection = await connect_to(dsn)
        try:
            for span in spans:
                await check_span(connection, end, span)
                report(span)
        finally:
            connection.terminate()


async def check_span(
    connection: asyncpg.Connection, end: LogEnd, span: Span
) -> None:
    """Check the rows of a span, and add what is wrong to it."""
    span.mark = await entries_mark(connection, end, span.after, span.until)
    checked = check_batches(
        connection, end, after=span.after, until=span.until
    )
    async for batch in checked:
        span.problems.extend(batch.problems)


NAME = "kube-recorder/verify"
"""Name of the key in the file: it signs no checkpoint."""

Window = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True)
class ResumeFile:
    """Its file, and the key that signs it."""

    path: Path
    key: Ed25519PrivateKey


class _Kept(msgspec.Struct):
    """The content of the file."""

    origin: str
    window: Window
    begun_at: datetime
    names_upto: dict[str, int | None]
    names: str
    done: list[Span]


class Progress:
    """The progress of a run, kept after each of its spans."""

    def __init__(
        self,
        file: ResumeFile | None,
        kept: _Kept,
        *,
        resumed: tuple[int, datetime | None] = (0, None),
        refused: str | None = None,
    ) -> None:
        self._file = file
        self._kept = kept
        self.resumed = resumed
        self.refused = refused

    @classmethod
    async def opened(
        cls,
        connection: asyncpg.Connection,
        end: LogEnd,
        file: ResumeFile | None,
        window: Window,
        spans: Sequence[Span],
    ) -> "Progress":
        """Return the valid part of an earlier run, or an empty progress."""
        origin = end.identity.origin
        now = datetime.now(UTC)
        if file is None:
            return cls(None, _Kept(origin, window, now, {}, "", []))
        kept, refused = _read(file, origin, window)
        if kept is not None:
            _, names = await names_mark(connection, end, kept.names_upto)
            known = {(span.after, span.until): span for span in kept.done}
            done = [
                known[span.after, span.until]
                for span in spans
                if names == kept.names and (span.after, span.until) in known
            ]
            kept.done = [
                span for span in done if await _holds(connection, end, span)
            ]
            if kept.done:
                entries = sum(span.entries for span in kept.done)
                resumed = entries, kept.begun_at
                return cls(file, kept, resumed=resumed)
        upto, names = await names_mark(connection, end)
        fresh = _Kept(origin, window, now, upto, names, [])
        return cls(file, fresh, refused=refused)

    @property
    def done(self) -> Sequence[Span]:
        """The spans that were read."""
        return self._kept.done

    def add(self, span: Span) -> None:
        """Note that a span was read."""
        self._kept.done.append(span)

    def keep(self) -> None:
        """Write it to the file, signed."""
        if self._file is None:
            return
        text = msgspec.json.encode(self._kept).decode()
        path = self._file.path
        draft = path.with_name(f"{path.name}.new")
        draft.write_text(str(sign(f"{text}\n", self._file.key, NAME)))
        draft.replace(path)

    def forget(self) -> None:
        """Remove the file of a finished run."""
        if self._file is not None:
            self._file.path.unlink(missing_ok=True)


async def _holds(
    connection: asyncpg.Connection, end: LogEnd, span: Span
) -> bool:
    mark = await entries_mark(connection, end, span.after, span.until)
    return mark == span.mark


def _read(
    file: ResumeFile, origin: str, window: Window
) -> tuple[_Kept | None, str | None]:
    """Return the content of a file, or why it is not trusted."""
    key = VerifierKey(NAME, file.key.public_key().public_bytes_raw())
    try:
        note = SignedNote.parse(file.path.read_text())
        if not note.is_signed_by(key):
            return None, f'"{file.path}" is not signed by the signing key'
        kept = msgspec.json.decode(note.text, type=_Kept)
    except FileNotFoundError:
        return None, None
    except (OSError, ValueError, NoteError) as exc:
        return None, f'"{file.path}" is not as it was signed: {exc}'
    if (kept.origin, kept.window) != (origin, window):
        return None, None
    return kept, None
