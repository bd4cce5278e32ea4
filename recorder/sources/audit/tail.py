"""Following audit log files: records are read as they are written.

Each API server writes a log of its own, which goes through many files as it is
rotated. If lines were lost, because a file was rotated away, replaced or
damaged before it was read to its end, that is put as a loss.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from recorder.intake.ports import Known, Sink
from recorder.model.observation import AUDIT, PlaceReached, RecordsLost
from recorder.sources.audit.cut_off import WAIT_SECONDS, Patience, loss_of
from recorder.sources.audit.lines import UnreadableError, head_of, rotated
from recorder.sources.audit.reading import FileReader

LOOK_SECONDS = 0.5
"""How often to check a file; the API server writes each record at once."""

ROTATED_AWAY = "an audit log was rotated away before it was read to its end"
REPLACED = "an audit log was replaced before it was read to its end"


class UnfinishedError(Exception):
    """A rotated file cannot be read to its end yet."""


class AuditTail:
    """Follows audit log files until it is cancelled."""

    finite = False

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        unread: dict[str, str] | None = None,
        look_seconds: float = LOOK_SECONDS,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        """Prepare.

        Args:
            paths: of the logs.
            unread: gets the reason why a log cannot be read, as text, while it
                cannot.
            look_seconds: between two checks of a log.
            wait_seconds: for a rotated file that cannot be read to its end,
                once it does not change any more.
        """
        self._paths = paths
        self._unread = {} if unread is None else unread
        self._look_seconds = look_seconds
        self._wait_seconds = wait_seconds

    async def run(self, sink: Sink, known: Known) -> None:
        """Follow until cancelled; a missing file is waited for."""
        places = known.resume_points()
        async with asyncio.TaskGroup() as group:
            for path in self._paths:
                patience = Patience(self._wait_seconds)
                follower = _Follower(path, sink, places, patience)
                group.create_task(self._follow(follower))

    async def _follow(self, follower: "_Follower") -> None:
        while True:
            try:
                await follower.catch_up()
            except (FileNotFoundError, UnreadableError) as exc:
                is_there = isinstance(exc, UnreadableError)
                says = str(exc) if is_there else "it is not there"
                self._unread[follower.name] = says
                await follower.missing()
            except UnfinishedError as exc:
                self._unread[follower.name] = str(exc)
            else:
                self._unread.pop(follower.name, None)
            await asyncio.sleep(self._look_seconds)


class _Follower:
    """One log, through all the files that it is rotated to.

    Its place names its current file, and after that those that it was rotated
    to, as long as they exist: their places are removed with them.
    """

    def __init__(
        self,
        path: Path,
        sink: Sink,
        places: Mapping[str, str],
        patience: Patience,
    ) -> None:
        self._path = path
        self._patience = patience
        self._sink = sink
        self._reader = FileReader(sink, places, now=_now)
        heads = places.get(str(path), "").split()
        self._head = heads[0] if heads else None
        """Of the current file; None before the first time."""

        self._older = set(heads[1:])
        self._is_there: bool | None = None
        """What was put last; None before the first check."""

    @property
    def name(self) -> str:
        """The path of the log."""
        return str(self._path)

    async def catch_up(self) -> None:
        """Read what there is now, the oldest first.

        Raises:
            FileNotFoundError: the log does not exist, or was removed
                meanwhile.
            UnreadableError: the log cannot be read.
            UnfinishedError: a rotated file cannot be read yet, and is waited
                for.
        """
        head = head_of(self._path)
        finished, why = self._left(head)
        self._reader.before = [] if why is None else [self._lost(why)]
        await self._read_on(finished)
        if head and self._head not in {None, head}:
            await self._turn()
        at = [self._at(head)] if head else []
        await self._reader.read(self._path, head, behind=at)
        if head:
            self._head = head
            if not self._is_there:
                await self._sink.put(at)
            self._is_there = True
            self._patience.forget()

    async def _read_on(
        self, finished: Sequence[tuple[Path, str | None]]
    ) -> None:
        for other, _ in finished:
            if (waits := self._patience.waits_for(other)) is not None:
                raise UnfinishedError(str(waits)) from waits
        whole = set[str]()
        for place, (other, ended) in enumerate(finished):
            self._older |= {self._head or "", ended or ""} - {""}
            try:
                # Also if its first line could not be read a moment ago.
                await self._reader.read(
                    other,
                    head_of(other) if ended is None else ended,
                    behind=[self._at(ended)] if ended else [],
                    is_finished=True,
                )
            except UnreadableError as exc:
                later = {known for _, known in finished[place + 1 :]}
                if ended is None or ended not in whole | later:
                    await self._lose_rest(finished[: place + 1], exc)
            else:
                whole.add(ended or "")
            self._head = ended or self._head

    async def _lose_rest(
        self,
        until: Sequence[tuple[Path, str | None]],
        why: UnreadableError,
    ) -> None:
        """Continue after a file, unless it may become readable."""
        *before, (path, head) = until
        if not self._patience.is_over(path, why):
            raise UnfinishedError(str(why)) from why
        others = [other for other, _ in before]
        self._reader.before.append(
            await asyncio.to_thread(loss_of, self.name, path, why, others)
        )
        if head:
            self._reader.before.append(self._reader.ended(head))

    async def missing(self) -> None:
        """Put that the log does not exist, once."""
        if self._is_there is not False and self._head is not None:
            waiting = replace(self._at(self._head), state="backing-off")
            await self._sink.put([waiting])
        self._is_there = False

    async def _turn(self) -> None:
        """Forget the places of files that no longer exist."""
        known = self._older | {self._head or ""}
        there = {_head_or_none(other) for other in rotated(self._path)}
        self._older = known & there
        await self._reader.forget(known - there)

    def _left(
        self, head: str
    ) -> tuple[Sequence[tuple[Path, str | None]], str | None]:
        """Return the files to read before the log, and what was lost.

        Each with its head, None if that cannot be read. Files from before a
        log was first followed are for an import.
        """
        if self._head is None or head == self._head:
            return [], None
        files = rotated(self._path)
        older = [
            (other, known)
            for other in files
            # The original of a file that is being compressed exists until that
            # is done.
            if (known := _head_or_none(other)) is not None
            or other.with_suffix("") not in files
        ]
        heads = [known for _, known in older]
        for begins in (self._head, None):
            if begins in heads:
                return older[heads.index(begins) :], None
        return [], ROTATED_AWAY if older else REPLACED

    def _lost(self, why: str) -> RecordsLost:
        return RecordsLost(
            observed_at=_now(), stream=str(self._path), reason=why
        )

    def _at(self, head: str) -> PlaceReached:
        """Return the file that the log is in."""
        return PlaceReached(
            observed_at=_now(),
            source=AUDIT,
            stream=str(self._path),
            place=" ".join([head, *sorted(self._older - {head})]),
        )


def _head_or_none(path: Path) -> str | None:
    try:
        return head_of(path)
    except UnreadableError:
        return None


def _now() -> datetime:
    return datetime.now(UTC)
