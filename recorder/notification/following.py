"""Following a log: judged again as it grows, and what is new put out.

It reads the log as anybody who asks does, and holds nothing that the
recording needs. What it found is compared with the outbox, which remembers
up to where the log was judged: after a pause of any length it goes on there.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Final

from recorder.answers.gaps import ask_gaps
from recorder.answers.growing import Bell, attend
from recorder.answers.incidents import ask_incidents
from recorder.answers.loading.fleet import states_at
from recorder.answers.node_questions import IncidentsQuestion
from recorder.answers.ports import Reading
from recorder.explain.knowledge import Knowledge
from recorder.model.moment import FIRST, shifted
from recorder.model.window import Window
from recorder.notification.message import (
    FOLLOWED,
    Subject,
    Told,
    of_gap,
    of_incident,
)
from recorder.notification.ports import Begun, Outbox
from recorder.notification.rules import Rule
from recorder.notification.telling import Found, Settling, Standing, news_of

__all__ = ["Following", "Judged"]

DAY: Final = timedelta(days=1)
LOOK: Final = 10.0
"""Seconds after which it is judged again although nothing came: a gap grows
by itself, and a verdict settles."""

LONG_LOOK: Final = 600.0
"""The same for incidents that have lasted for more than a day."""

SEEN_LATE: Final = timedelta(minutes=1)
"""How long after it joined the labels of a node are looked for."""


Judged = Callable[[int, datetime], None]
"""Called with a log, and when it was judged."""


class Following:
    """Judges one log, and puts what is new into the outbox."""

    def __init__(
        self,
        rules: Mapping[str, Rule],
        knowledge: Knowledge,
        outbox: Outbox,
        *,
        kick: Callable[[], None],
        judged: Judged,
    ) -> None:
        """Take whom to tell that there is news, and that it was judged."""
        self._rules = rules
        self._knowledge = knowledge
        self._outbox = outbox
        self._kick = kick
        self._judged = judged
        self._settling = Settling()
        self._labels: dict[str, Standing] = {}
        """By incident, the labels of its nodes."""

        self._incidents: Sequence[Subject] = ()
        self._position = -1
        self._since = FIRST

    async def follow(
        self,
        reading: Reading,
        bell: AbstractAsyncContextManager[Bell],
        *,
        since: datetime,
    ) -> None:
        """Judge whenever facts came, until cancelled.

        Args:
            reading: the log.
            bell: rings when it grows.
            since: from when on a new rule tells.
        """
        looked_long = -LONG_LOOK

        async def judge(reading: Reading) -> bool:
            nonlocal looked_long
            began = time.monotonic()
            long = began - looked_long > LONG_LOOK
            new = await self.judge(reading, since=since, long=long)
            looked_long = began if long else looked_long
            # Soon again where another process was quicker.
            return new is not None

        async with bell as rings:
            await attend(reading, rings, judge, look=LOOK)

    async def judge(
        self, reading: Reading, *, since: datetime, long: bool = True
    ) -> int | None:
        """Judge a log once; return how many messages are new.

        None where another process told something meanwhile: what is new is
        to be found again.

        Args:
            reading: the log as it stands.
            since: from when on a new rule tells.
            long: whether incidents of more than a day are looked at too.

        Raises:
            LogError: the database does not answer.
        """
        number, end = reading.log.id, reading.log.observed_at
        if end is None:
            return 0
        now = datetime.now(UTC)
        begun = await self._outbox.begin(number, self._rules.keys(), since)
        known = await self._outbox.known(number)
        told = [one for some in known.told.values() for one in some]
        window = Window(_since(end, begun, told if long else ()), None)
        found = await self._found(reading, window, now=now, anew=long)
        if not long and _concerns_older(found, told):
            # What lasts for days is judged whole, or it would seem changed.
            window = Window(_since(end, begun, told), None)
            found = await self._found(reading, window, now=now, anew=True)
        messages = [
            (message, rule.post.given_up_after)
            for name, rule in self._rules.items()
            for message in news_of(
                rule,
                found,
                known.told.get(name, ()),
                begun=begun[name].since,
                settling=self._settling,
                now=now,
            )
        ]
        new = await self._outbox.put(
            number,
            messages,
            known=known,
            position=found.position,
        )
        if new is not None:
            await self._outbox.judged(number, self._rules.keys(), end)
            self._judged(number, now)
        if new:
            self._kick()
        return new

    async def _found(
        self, reading: Reading, window: Window, *, now: datetime, anew: bool
    ) -> Found:
        """Return what a log shows; incidents anew where facts came."""
        if anew or reading.log.facts_to != self._position:
            answer = await ask_incidents(
                reading,
                IncidentsQuestion(window=window),
                self._knowledge,
                now=now,
            )
            self._incidents = [
                of_incident(one, reading.log, answer.coverage)
                for one in answer.incidents
            ]
            self._position = reading.log.facts_to
            self._since = window.since or FIRST
        gaps: Sequence[Subject] = ()
        if any(rule.when.gap for rule in self._rules.values()):
            of_window = await ask_gaps(reading, window, now=now)
            gaps = [of_gap(gap, reading.log) for gap in of_window.gaps]
        end = reading.log.observed_at
        return Found(
            subjects=[*self._incidents, *gaps],
            standing=await self._standing(reading),
            position=self._position,
            since=self._since,
            until=end if reading.log.is_over and end else now,
        )

    async def _standing(self, reading: Reading) -> Mapping[str, Standing]:
        """Return by incident the labels that its nodes had at the time."""
        if not any(r.when.labels or r.when.rack for r in self._rules.values()):
            return {}
        known, self._labels = self._labels, {}
        for one in self._incidents:
            labels = known.get(one.id)
            if labels is None or set(one.nodes) - set(labels):
                labels = await _labels_of(reading, one)
            self._labels[one.id] = labels
        return self._labels


async def _labels_of(reading: Reading, one: Subject) -> Standing:
    states = await states_at(reading, one.nodes, one.at)
    # A node that joined had none before.
    young = [node for node in one.nodes if node not in states]
    states |= await states_at(reading, young, shifted(one.at, SEEN_LATE))
    return {
        node: states[node].labels if node in states else {}
        for node in one.nodes
    }


def _concerns_older(found: Found, told: Iterable[Told]) -> bool:
    """Return whether nodes have incidents that began before what was read."""
    nodes = {node for one in found.subjects for node in one.nodes}
    first = shifted(found.until, -FOLLOWED)
    return any(
        not nodes.isdisjoint(one.subject.nodes)
        for one in told
        if one.subject.is_lasting
        and first < one.subject.began_at < found.since
    )


def _since(
    end: datetime, begun: Mapping[str, Begun], told: Iterable[Told]
) -> datetime:
    """Return from when on a log is judged.

    From a day before where it was judged last, and from the beginning of
    what is not over.
    """
    judged = (one.judged_until for one in begun.values())
    since = shifted(min((*judged, end)), -DAY)
    lasting = [one.subject.began_at for one in told if one.subject.is_lasting]
    followed = [at for at in lasting if at > shifted(end, -FOLLOWED)]
    return min((since, *followed))
