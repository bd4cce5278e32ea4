"""Following a log: keep the metrics of each incident once.

The log says which are kept, so that there is no other state: what was asked
for and not posted when a process ended is asked for again, and the door knows
an event by its id.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from recorder.answers.growing import Bell, attend
from recorder.answers.incidents import Incident, ask_incidents
from recorder.answers.node_questions import IncidentsQuestion
from recorder.answers.nouns import Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import FactListQuery, FactQuery, Purpose
from recorder.answers.sentences import counted
from recorder.explain.knowledge import Knowledge
from recorder.facts.metrics import Kept, kept_of
from recorder.facts.projections import Placements
from recorder.measuring.asking import (
    LAG,
    PATIENCE,
    Asked,
    asked_about,
    event_of,
    taken,
)
from recorder.measuring.ports import Door, Store, StoreError
from recorder.measuring.store_file import MetricsStore
from recorder.model.fact import FactKind
from recorder.model.facts import Claimed
from recorder.model.moment import shifted
from recorder.model.observation import CLOUDEVENTS
from recorder.model.window import Window

log = logging.getLogger("recorder.metrics")

INTERVAL: Final = 15.0
"""Seconds after which a log is judged again although it has not grown: a
window ends meanwhile."""

DAY: Final = timedelta(days=1)
RETRY: Final = timedelta(minutes=5)
"""After which a question is asked again that the store did not answer."""

LATE: Final = "not kept while the store remembered it"
TROUBLES_MAX: Final = 3
"""Questions without an answer after which a store is taken to be away."""


class Measuring:
    """Keeps the metrics of the incidents of one log."""

    def __init__(
        self,
        description: MetricsStore,
        store: Store,
        door: Door,
        knowledge: Knowledge,
    ) -> None:
        self._description = description
        self._store = store
        self._door = door
        self._knowledge = knowledge
        self._done: dict[tuple[str, str], datetime] = {}
        self._later: dict[tuple[str, str], datetime] = {}
        """When to ask again."""

        self._begun = False
        self.waiting = 0
        """Questions that are due and not answered."""

        self.trouble: str | None = None
        """Why the last question was not answered."""

    async def follow(
        self, reading: Reading, bell: AbstractAsyncContextManager[Bell]
    ) -> None:
        """Keep what is due whenever the log grows, until cancelled."""

        async def judge(reading: Reading) -> bool:
            await self.keep(reading, now=datetime.now(UTC))
            return True

        async with bell as rings:
            await attend(reading, rings, judge, interval=INTERVAL)

    async def keep(self, reading: Reading, *, now: datetime) -> int:
        """Ask for what is due, and post it; return how many were kept.

        Raises:
            LogError: the database does not answer.
            MetricsError: a file of the store's description cannot be used.
        """
        since = shifted(now, -DAY)
        if self.waiting or not self._begun:
            since = shifted(since, -self._description.remembered_for)
        answer = await ask_incidents(
            reading,
            IncidentsQuestion(window=Window(since, None)),
            self._knowledge,
            now=now,
        )
        due = [
            asked
            for incident in answer.incidents
            for asked in await self._asked(reading, incident, now=now)
        ]
        self._begun, self.waiting = True, len(due)
        troubles: list[str] = []
        kept = 0
        for asked in due:
            if len(troubles) >= TROUBLES_MAX:
                break
            if self._later.get(asked.name, now) > now:
                continue
            if await self._answer(asked, troubles, now=now):
                self._done[asked.name] = asked.end
                self.waiting -= 1
                kept += 1
        if (unsent := await self._door.flush()) is not None:
            troubles.append(unsent)
        self.trouble = troubles[0] if troubles else None
        if self.waiting:
            nodes = counted(self.waiting, "node")
            log.warning("still to ask: the metrics of %s", nodes)
        self._forget(since)
        return kept

    async def _asked(
        self, reading: Reading, incident: Incident, *, now: datetime
    ) -> Sequence[Asked]:
        """Return what is due about an incident, and not kept yet."""
        due = [
            one
            for one in asked_about(incident)
            if shifted(one.end, LAG) <= now
        ]
        if not due or all(one.name in self._done for one in due):
            return ()
        every = asked_about(incident, await _peers(reading, incident))
        due = [one for one in every if shifted(one.end, LAG) <= now]
        for one in due:
            if one.name not in self._done:
                self._done |= await _known(reading, one)
        return [one for one in due if one.name not in self._done]

    async def _answer(
        self, asked: Asked, troubles: list[str], *, now: datetime
    ) -> bool:
        """Ask once, and post the answer; return whether that is done."""
        patient = now < shifted(asked.end, PATIENCE)
        is_late = now >= shifted(asked.end, self._description.remembered_for)
        try:
            found = await taken(
                asked,
                self._description,
                self._store,
                self._knowledge,
                patient=patient,
            )
        except StoreError as exc:
            troubles.append(str(exc))
            self._later[asked.name] = shifted(now, RETRY)
            if not is_late:
                return False
            found = [_lost(asked, f"{LATE}: {exc}")]
        else:
            if found is None:
                self._later[asked.name] = shifted(asked.end, PATIENCE)
                return False
            if is_late and not any(one["data"]["series"] for one in found):
                found = [_lost(asked, LATE)]
        for event in found:
            await self._door.put(event)
        return True

    def _forget(self, since: datetime) -> None:
        """Forget what is before every incident that is judged again."""
        limit = shifted(since, -DAY)
        self._done = {
            name: end for name, end in self._done.items() if end >= limit
        }
        self._later = {
            name: at for name, at in self._later.items() if at >= limit
        }


def _lost(asked: Asked, trouble: str) -> Mapping[str, Any]:
    """Return the event that says that nothing was kept."""
    kept = Kept(
        incident=asked.incident,
        node=asked.node,
        begin=asked.begin,
        end=asked.end,
        peer_of=asked.peer_of,
        trouble=trouble,
    )
    return event_of(asked, kept, ())


async def _known(
    reading: Reading, asked: Asked
) -> dict[tuple[str, str], datetime]:
    """Return what the log has of the node of an incident, since it began."""
    selection = Selection(
        node=asked.node,
        source=CLOUDEVENTS,
        kinds=(FactKind.CLAIMED,),
        since=asked.begin,
    )
    known = {}
    async for page in reading.pages(FactListQuery(selection), after=0):
        for stored in page:
            claim = stored.fact.detail
            kept = kept_of(claim) if isinstance(claim, Claimed) else None
            if kept is not None:
                known[kept.incident, kept.node] = kept.end
    return known


async def _peers(reading: Reading, incident: Incident) -> Sequence[str]:
    """Return the other nodes of the first gang that an incident hit."""
    uids = [hit.uid for hit in incident.hits if hit.uid and hit.gang_size > 1]
    if not uids:
        return ()
    at = incident.judged[0].at
    family = FactQuery(purpose=Purpose.FAMILY, uids=uids[:1], until=at)
    pods = Placements(await reading.facts(family))
    return sorted({pod.node for pod in pods if pod.node and pod.runs_at(at)})
