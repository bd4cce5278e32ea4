"""Following audit log files: what is written, as it is written.

Each API server writes a log of its own, which goes through many files as it
is rotated. Where lines were lost, because a file was rotated away or replaced
before it was read to its end, that is put as a loss.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from recorder.intake.ports import Known, Sink
from recorder.model.observation import AUDIT, PlaceReached, RecordsLost
from recorder.sources.audit.lines import head_of, rotated
from recorder.sources.audit.reading import FileReader

__all__ = ["AuditTail"]

LOOK_SECONDS = 0.5
"""How often a file is looked at; the API server writes each record at once."""

ROTATED_AWAY = "an audit log was rotated away before it was read to its end"
REPLACED = "an audit log was replaced before it was read to its end"


class AuditTail:
    """Follows audit log files until it is cancelled."""

    finite = False

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        missing: set[str] | None = None,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """Prepare; logs that are not there are put into ``missing``."""
        self._paths = paths
        self._missing = set() if missing is None else missing
        self._look_seconds = look_seconds

    async def run(self, sink: Sink, known: Known) -> None:
        """Follow until cancelled; a file that is missing is waited for."""
        places = known.resume_points()
        async with asyncio.TaskGroup() as group:
            for path in self._paths:
                follower = _Follower(path, sink, places)
                group.create_task(self._follow(follower))

    async def _follow(self, follower: "_Follower") -> None:
        while True:
            # A file that is being compressed is cut off, and is there again.
            with suppress(EOFError):
                try:
                    await follower.catch_up()
                except FileNotFoundError:
                    self._missing.add(follower.name)
                    await follower.missing()
                else:
                    self._missing.discard(follower.name)
            await asyncio.sleep(self._look_seconds)


class _Follower:
    """One log, through all the files that it is rotated to.

    Its place names the file that it is in, and behind that those that it was
    rotated to, for as long as they are there: what is known of them goes with
    them.
    """

    def __init__(
        self, path: Path, sink: Sink, places: Mapping[str, str]
    ) -> None:
        self._path = path
        self._sink = sink
        self._reader = FileReader(sink, places, now=_now)
        heads = places.get(str(path), "").split()
        self._head = heads[0] if heads else None
        """Of the file that it was in; None before the first time."""

        self._older = set(heads[1:])
        self._is_there: bool | None = None
        """What was put last; None before it was looked for."""

    @property
    def name(self) -> str:
        """The path of the log."""
        return str(self._path)

    async def catch_up(self) -> None:
        """Read whatever there is now, the oldest first.

        Raises:
            FileNotFoundError: the log is not there, or went meanwhile.
        """
        *finished, (path, head, why) = self._left()
        for other, ended, _ in finished:
            self._older.add(self._head or ended)
            await self._reader.read(
                other, ended, behind=[self._at(ended)], is_finished=True
            )
            self._head = ended
        if head and self._head not in {None, head}:
            await self._turn()
        before = [] if why is None else [self._lost(why)]
        at = [self._at(head)] if head else []
        await self._reader.read(path, head, before=before, behind=at)
        if head:
            self._head = head
            if not self._is_there:
                await self._sink.put(at)
            self._is_there = True

    async def missing(self) -> None:
        """Put that the log is not there, once."""
        if self._is_there is not False and self._head is not None:
            waiting = replace(self._at(self._head), state="backing-off")
            await self._sink.put([waiting])
        self._is_there = False

    async def _turn(self) -> None:
        """Forget what is known of files that are no longer there."""
        known = self._older | {self._head or ""}
        there = {head_of(other) for other in rotated(self._path)}
        self._older = known & there
        await self._reader.forget(known - there)

    def _left(self) -> Sequence[tuple[Path, str, str | None]]:
        """Return what to read on, with its head, and what was lost before it.

        What was there before a log was first followed is for an import.
        """
        path, head = self._path, head_of(self._path)
        if self._head is None or head == self._head:
            return [(path, head, None)]
        older = [(other, head_of(other), None) for other in rotated(path)]
        heads = [known for _, known, _ in older]
        if self._head in heads:
            read = heads.index(self._head)
            return [*older[read:], (path, head, None)]
        return [(path, head, ROTATED_AWAY if older else REPLACED)]

    def _lost(self, why: str) -> RecordsLost:
        return RecordsLost(
            observed_at=_now(), stream=str(self._path), reason=why
        )

    def _at(self, head: str) -> PlaceReached:
        """Say which file the log is in."""
        return PlaceReached(
            observed_at=_now(),
            source=AUDIT,
            stream=str(self._path),
            place=" ".join([head, *sorted(self._older - {head})]),
        )


def _now() -> datetime:
    return datetime.now(UTC)
