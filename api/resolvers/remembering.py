"""A cache of the incidents of logs that are over.

An answer depends on the state of the log, and on knowledge that does not
change while the server runs. So the key is the whole state: the size, the
derivation and where its facts end, what each stream vouches for, and the
window. Not cached are live logs, whose coverage ends now; logs from which
retention removed anything; and answers for callers with rights, which may
change.
"""

from collections import OrderedDict
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock
from typing import Self

from msgspec import structs

from api.access import Principal
from recorder.answers.incidents import Incidents
from recorder.answers.loading.places import Whereabouts
from recorder.answers.ports import Reading
from recorder.facts.coverage.ports import Log, Stream
from recorder.model.window import Window

VERDICTS_MAX = 500
"""Kept of all logs; one takes about 22 KiB with its evidence."""


@dataclass(frozen=True, slots=True)
class Found:
    """The incidents in a window of a log, and the places of their nodes."""

    incidents: Incidents
    places: Whereabouts


@dataclass(frozen=True, slots=True)
class LogState:
    """All that determines an answer about a log that is over."""

    name: str
    """With the cluster of its database: numbers alone are ambiguous."""

    log: Log
    streams: tuple[Stream, ...]
    window: Window

    @classmethod
    async def of(
        cls, reading: Reading, who: Principal, window: Window
    ) -> Self | None:
        """Return the state of a log; None if nothing of it may be cached."""
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
    """A cache of judged incidents; the least recently used is removed first.

    Safe for use from several threads.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, Window], tuple[LogState, Found]] = (
            OrderedDict()
        )

    def at(self, state: LogState, now: datetime) -> Found | None:
        """Return the cached answer for a state, with the time of now."""
        place = state.name, state.window
        with self._lock:
            known, found = self._kept.get(place, (None, None))
            if found is None or known != state:
                return None
            self._kept.move_to_end(place)
        answer = found.incidents
        coverage = structs.replace(answer.coverage, now=now)
        return replace(
            found, incidents=structs.replace(answer, coverage=coverage)
        )

    def keep(self, state: LogState, found: Found) -> None:
        """Cache an answer, in place of one for an earlier state."""
        place = state.name, state.window
        with self._lock:
            self._kept.pop(place, None)
            self._kept[place] = state, found
            while self._count() > VERDICTS_MAX:
                self._kept.popitem(last=False)

    def _count(self) -> int:
        """Return the number of verdicts; an empty answer counts as one."""
        return sum(
            1 + sum(len(one.verdicts) for one in found.incidents.incidents)
            for _, found in self._kept.values()
        )
