"""Following a log: judge it again as it grows, and queue what is new.

It reads the log as any reader does, and locks nothing that recording needs.
What it finds is compared with the outbox, which stores up to where the log
was judged: after a pause of any length it continues there.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from typing import Final

from recorder.answers.creators import creators_of, name_of
from recorder.answers.gaps import ask_gaps
from recorder.answers.growing import Bell, attend
from recorder.answers.incidents import ask_incidents
from recorder.answers.job_questions import ANY_ENDING, JobFilter
from recorder.answers.jobs import Span, Survey, covered
from recorder.answers.loading.fleet import states_at
from recorder.answers.node_questions import IncidentsQuestion
from recorder.answers.ports import Reading
from recorder.explain.knowledge import Knowledge
from recorder.model.moment import FIRST, shifted
from recorder.model.window import Window
from recorder.notification.message import (
    FOLLOWED,
    Reported,
    Subject,
    of_ending,
    of_incident,
    of_outage,
)
from recorder.notification.ports import Begun, Outbox
from recorder.notification.rules import Rule
from recorder.notification.telling import Found, NodeLabels, Settling, news_of

DAY: Final = timedelta(days=1)
INTERVAL: Final = 10.0
"""Seconds after which a log is judged again although it has not grown: a gap
lasts longer meanwhile, and a verdict settles."""

LONG_INTERVAL: Final = 600.0
"""The same for incidents that have lasted for more than a day."""

SEEN_LATE: Final = timedelta(minutes=1)
"""How long after a node joined its labels are read."""


Judged = Callable[[int, datetime], None]
"""Called with a log, and when it was judged."""


class Following:
    """Judges one log, and puts new messages into the outbox."""

    def __init__(
        self,
        rules: Mapping[str, Rule],
        knowledge: Knowledge,
        outbox: Outbox,
        *,
        kick: Callable[[], None],
        judged: Judged,
        once: bool = False,
    ) -> None:
        """Take what to call when messages are queued, and after judging.

        With ``once`` the log is judged once, not again and again.
        """
        self._rules = rules
        self._knowledge = knowledge
        self._outbox = outbox
        self._kick = kick
        self._judged = judged
        self.settling = Settling(by_incident=once)
        self._labels: dict[str, NodeLabels] = {}
        """Labels of the nodes, by incident."""

        self._incidents: Sequence[Subject] = ()
        self._endings: Sequence[Subject] = ()
        self._position = -1
        self._since = FIRST

    async def follow(
        self,
        reading: Reading,
        bell: AbstractAsyncContextManager[Bell],
        *,
        since: datetime,
    ) -> None:
        """Judge the log whenever it has new facts, until cancelled."""
        judged_long_at = -LONG_INTERVAL

        async def judge(reading: Reading) -> bool:
            nonlocal judged_long_at
            began = time.monotonic()
            long = began - judged_long_at > LONG_INTERVAL
            new = await self.judge(reading, since=since, long=long)
            judged_long_at = began if long else judged_long_at
            # Again soon if another process was quicker.
            return new is not None

        async with bell as rings:
            await attend(reading, rings, judge, interval=INTERVAL)

    async def judge(
        self, reading: Reading, *, since: datetime, long: bool = True
    ) -> int | None:
        """Judge a log once; return how many messages are new.

        None if another process has queued messages meanwhile: judge again.

        Raises:
            LogError: the database does not answer.
        """
        number, end = reading.log.id, reading.log.observed_at
        if end is None:
            return 0
        now = datetime.now(UTC)
        begun = await self._outbox.begin(number, self._rules.keys(), since)
        known = await self._outbox.known(number)
        reported = [one for some in known.reported.values() for one in some]
        window = Window(_since(end, begun, reported if long else ()), None)
        found = await self._found(reading, window, now=now, anew=long)
        if not long and _concerns_older(found, reported):
            # An incident that lasts for days would seem changed if only a part
            # of it were judged.
            window = Window(_since(end, begun, reported), None)
            found = await self._found(reading, window, now=now, anew=True)
        messages = [
            (message, rule.post.given_up_after)
            for name, rule in self._rules.items()
            for message in news_of(
                rule,
                found,
                known.reported.get(name, ()),
                begun=begun[name].since,
                settling=self.settling,
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
        """Return what a log shows; new facts cause a new judgement."""
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
            if any(r.when.is_of_workloads for r in self._rules.values()):
                self._endings = await self._ended(reading, window, now=now)
            self._position = reading.log.facts_to
            self._since = window.since or FIRST
        gaps: Sequence[Subject] = ()
        if any(rule.when.gap for rule in self._rules.values()):
            of_window = await ask_gaps(reading, window, now=now)
            gaps = [of_outage(one, reading.log) for one in of_window.outages]
        end = reading.log.observed_at
        return Found(
            subjects=[*self._incidents, *self._endings, *gaps],
            labels=await self._labels_by_incident(reading),
            position=self._position,
            since=self._since,
            until=end if reading.log.is_over and end else now,
        )

    async def _ended(
        self, reading: Reading, window: Window, *, now: datetime
    ) -> Sequence[Subject]:
        """Return what ended workloads in a window, if a rule reports it."""
        rules = self._rules.values()
        by = {word for rule in rules for word in rule.when.ended_by}
        survey = Survey(
            reading=reading,
            wanted=JobFilter(ended_by={ANY_ENDING, *by}),
            span=Span(window),
            knowledge=self._knowledge,
            now=now,
        )
        await reading.reach(window.since, window.until)
        account = await survey.account()
        found = await survey.disruptions()
        families = {family.workload: family for _, family, _ in found}
        owners: Mapping[str, str | None] = {}
        if any(rule.when.owner for rule in rules):
            owners = await creators_of(
                reading, [*families.values()], self._knowledge
            )
        coverage = covered(account, families.values())
        return [
            of_ending(
                await survey.disruption(family, ending),
                reading.log,
                coverage,
                name=name_of(family),
                owner=owners.get(name_of(family)),
            )
            for _, family, ending in found
        ]

    async def _labels_by_incident(
        self, reading: Reading
    ) -> Mapping[str, NodeLabels]:
        """Return the labels that the nodes of each incident had then."""
        if not any(r.when.labels or r.when.rack for r in self._rules.values()):
            return {}
        known, self._labels = self._labels, {}
        for one in self._incidents:
            labels = known.get(one.id)
            if labels is None or set(one.nodes) - set(labels):
                labels = await _labels_of(reading, one)
            self._labels[one.id] = labels
        return self._labels


async def _labels_of(reading: Reading, one: Subject) -> NodeLabels:
    states = await states_at(reading, one.nodes, one.at)
    # A node that joined had none before.
    young = [node for node in one.nodes if node not in states]
    states |= await states_at(reading, young, shifted(one.at, SEEN_LATE))
    return {
        node: states[node].labels if node in states else {}
        for node in one.nodes
    }


def _concerns_older(found: Found, reported: Iterable[Reported]) -> bool:
    """Return whether nodes found have incidents from before the window."""
    nodes = {node for one in found.subjects for node in one.nodes}
    first = shifted(found.until, -FOLLOWED)
    return any(
        not nodes.isdisjoint(one.subject.nodes)
        for one in reported
        if one.subject.is_lasting
        and first < one.subject.began_at < found.since
    )


def _since(
    end: datetime,
    begun: Mapping[str, Begun],
    reported: Iterable[Reported],
) -> datetime:
    """Return from when on to judge a log.

    From a day before the time up to which it was judged, or earlier, from
    the beginning of incidents that are not over.
    """
    judged = (one.judged_until for one in begun.values())
    since = shifted(min((*judged, end)), -DAY)
    lasting = [
        one.subject.began_at for one in reported if one.subject.is_lasting
    ]
    followed = [at for at in lasting if at > shifted(end, -FOLLOWED)]
    return min((since, *followed))
