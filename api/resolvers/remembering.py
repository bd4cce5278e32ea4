"""Incidents of logs that are over, judged once however many ask.

What a server judges is made from the log as it stands, by knowledge that it
has for as long as it runs. So it is kept under all of how a log stands: the
size, the derivation and where its facts end, what each stream vouches for,
and the window. Of a live log nothing is kept: its proof ends now, which is
another time for whoever asks next. Nor of a log of which retention took out
anything, or of what a reader with rights may see, which may be less tomorrow.
"""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from typing import Self

from msgspec import structs

from api.access import Principal
from recorder.answers.incidents import Incidents
from recorder.answers.ports import Reading
from recorder.facts.coverage.ports import Log, Stream
from recorder.model.window import Window

__all__ = ["Found", "JudgedOnce", "Stand"]

VERDICTS_MAX = 500
"""That are kept of all logs; one takes about 22 KiB with its evidence."""

Places = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Found:
    """What happened in a window of a log, and where its nodes stand."""

    incidents: Incidents
    places: Places


@dataclass(frozen=True, slots=True)
class Stand:
    """All that an answer about a log that is over is made from."""

    name: str
    """With the cluster of its database: numbers alone are equal."""

    log: Log
    streams: tuple[Stream, ...]
    window: Window

    @classmethod
    async def of(
        cls, reading: Reading, who: Principal, window: Window
    ) -> Self | None:
        """Return where a log stands; None where nothing may be kept of it."""
        log = reading.log
        if who.rights is not None or not log.is_over:
            return None
        elsewhere = await reading.archived(Window())
        if elsewhere.read or elsewhere.holes or elsewhere.thinned:
            return None
        return cls(
            str(log.id),
            log,
            tuple(reading.streams),
            window,
        )


class JudgedOnce:
    """What was judged, of which the least recently asked goes first.

    It is asked from several threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, Window], tuple[Stand, Found]] = (
            OrderedDict()
        )

    def at(self, stand: Stand, now: datetime) -> Found | None:
        """Return what was found where a log stands, as if asked now."""
        place = stand.name, stand.window
        with self._lock:
            known, found = self._kept.get(place, (None, None))
            if found is None or known != stand:
                return None
            self._kept.move_to_end(place)
        answer = found.incidents
        coverage = structs.replace(answer.coverage, now=now)
        return replace(
            found, incidents=structs.replace(answer, coverage=coverage)
        )

    def keep(self, stand: Stand, found: Found) -> None:
        """Keep what was found; what was found before it stood there goes."""
        place = stand.name, stand.window
        with self._lock:
            self._kept.pop(place, None)
            self._kept[place] = stand, found
            while self._count() > VERDICTS_MAX:
                self._kept.popitem(last=False)

    def _count(self) -> int:
        """Return how many are kept; an answer without any is one too."""
        return sum(
            1 + sum(len(one.verdicts) for one in found.incidents.incidents)
            for _, found in self._kept.values()
        )
