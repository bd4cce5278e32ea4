"""Notifying, put together: the logs, the outbox and the webhooks."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from recorder.doctor.health.notifying import notify_exposition
from recorder.doctor.health.server import listening
from recorder.explain.knowledge import Knowledge, load
from recorder.facts.coverage.ports import Log
from recorder.model.settings import Settings
from recorder.notification.following import Following
from recorder.notification.listing import Notification
from recorder.notification.loading import NotifyError, load_rules
from recorder.notification.ports import State
from recorder.notification.posting import webhooks
from recorder.notification.rules import Rule
from recorder.notification.sending import (
    Counters,
    NotifyProgress,
    Sending,
    Tried,
    try_rule,
)
from recorder.store.outbox import StoredOutbox, outbox
from recorder.wiring.database import open_database
from recorder.wiring.following import follow_each
from recorder.wiring.reading import Logs, open_logs
from recorder.wiring.waiting import opened

log = logging.getLogger("recorder.notify")

FORGET_EVERY = timedelta(hours=1)
RETRIED_FOR = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyOptions:
    """What one run does."""

    log: int | None = None
    """Only this log; None: every cluster, or that of the settings."""

    since: datetime | None = None
    """From when on a new rule applies; None: from now on."""

    once: bool = False
    """Whether to end once everything that is due was tried."""


def rules_of(settings: Settings) -> Mapping[str, Rule]:
    """Return the rules by name.

    Raises:
        NotifyError: there is no file of rules, or it is wrong.
    """
    if settings.notify_file is None:
        msg = "there are no rules of notifications"
        advice = "name their file in the setting notify_file"
        advice += " or in RECORDER_NOTIFY_FILE"
        raise NotifyError(msg, advice=advice)
    return {one.name: one for one in load_rules(settings.notify_file).rules}


async def tested(rules: Mapping[str, Rule]) -> Sequence[Tried]:
    """Post a message that says it is a test, once for each rule."""
    now = datetime.now(UTC)
    async with webhooks() as poster:
        return [await try_rule(rule, poster, now) for rule in rules.values()]


@asynccontextmanager
async def opened_outbox(settings: Settings) -> AsyncIterator[StoredOutbox]:
    """Yield the outbox."""
    async with (
        open_database(settings) as database,
        outbox(database.dsn("notifier")) as kept,
    ):
        yield kept


async def listed(
    settings: Settings,
    *,
    states: Sequence[State],
    rule: str | None,
    log_id: int | None,
    limit: int | None,
) -> Sequence[Notification]:
    """Return messages of the outbox, newest first."""
    async with opened_outbox(settings) as kept:
        return await kept.listed(
            states=states, rule=rule, log=log_id, limit=limit
        )


async def posted_again(settings: Settings, number: int) -> bool:
    """Queue a failed message again; return whether there is one."""
    async with opened_outbox(settings) as kept:
        return await kept.retry(number, RETRIED_FOR)


async def notify(
    settings: Settings,
    stop: asyncio.Event,
    options: NotifyOptions,
    *,
    say: Callable[[str], None],
) -> NotifyProgress:
    """Post incidents and gaps until a stop is wanted; return the progress.

    Raises:
        NotifyError: the rules cannot be used.
    """
    rules, knowledge = rules_of(settings), load(settings.knowledge)
    progress = NotifyProgress(Counters.of(rules), sorted(rules))
    async with AsyncExitStack() as stack:
        if settings.notify_listen and not options.once:
            address = await stack.enter_async_context(
                listening(
                    settings.notify_listen,
                    progress.ready,
                    lambda: notify_exposition(progress),
                    setting="notify_listen",
                )
            )
            say(f"health and metrics at http://{address}/metrics")
        logs = await opened(
            lambda: open_logs(settings),
            stack,
            stop,
            settings=settings,
            waits=lambda exc: setattr(progress, "waiting_for", str(exc)),
            say=say,
        )
        if logs is None:
            return progress
        progress.waiting_for = ""
        kept = await stack.enter_async_context(outbox(logs.dsn("notifier")))
        poster = await stack.enter_async_context(webhooks())
        sending = Sending(rules, kept, poster, luck=random.random)
        progress.counters = sending.counters
        one = _Notifier(
            rules, knowledge, logs, kept, sending, progress, options
        )
        await (one.once(say) if options.once else one.run(stop, say))
    return progress


@dataclass(slots=True)
class _Notifier:
    """One process that notifies."""

    rules: Mapping[str, Rule]
    knowledge: Knowledge
    logs: Logs
    kept: StoredOutbox
    sending: Sending
    progress: NotifyProgress
    options: NotifyOptions

    async def once(self, say: Callable[[str], None]) -> None:
        """Judge every log once, and post what is due."""
        unsettled: list[datetime] = []
        for one in await self._meant():
            reading = await self.logs.read(one.id)
            following = self._following()
            while await following.judge(reading, since=self._since()) is None:
                following = self._following()
            unsettled += following.settling.settles_at
        for name in await self.kept.due(self.rules.keys()):
            while await self.sending.send_next(self.rules[name]):
                pass
        say(_said(self.sending.counters, unsettled))
        await self._count()

    async def run(
        self, stop: asyncio.Event, say: Callable[[str], None]
    ) -> None:
        """Follow every log, and post, until a stop is wanted."""
        since, forgotten = self._since(), datetime.min.replace(tzinfo=UTC)

        async def follow(one: Log) -> None:
            reading = await self.logs.read(one.id)
            await self._following().follow(
                reading, self.logs.bell(reading), since=since
            )

        async def tidy() -> None:
            nonlocal forgotten
            await self._count()
            if datetime.now(UTC) - forgotten > FORGET_EVERY:
                await self.kept.forget()
                forgotten = datetime.now(UTC)

        async with asyncio.TaskGroup() as posting:
            posting.create_task(self.sending.run(stop))
            await follow_each(
                self._meant, follow, stop, say=say, log=log, meanwhile=tidy
            )

    def _following(self) -> Following:
        return Following(
            self.rules,
            self.knowledge,
            self.kept,
            kick=self.sending.kick,
            judged=self.progress.judged,
            once=self.options.once,
        )

    def _since(self) -> datetime:
        return self.options.since or datetime.now(UTC)

    async def _meant(self) -> Sequence[Log]:
        number = self.options.log
        found = await self.logs.meant(number)
        if number is not None:
            return found
        return [one for one in found if not one.is_tape]

    async def _count(self) -> None:
        tallies = await self.kept.tallies()
        self.progress.tallies = {one.rule: one for one in tallies}


def _said(counters: Counters, unsettled: Sequence[datetime]) -> str:
    """Return what one run posted, and when to run it again for the rest."""
    posted = sum(counters.posted.values())
    failed = sum(counters.failed.values())
    parts = [f"{posted or 'nothing'} posted"]
    if failed:
        parts.append(f"{failed} failed: `recorder notifications` lists them")
    if unsettled:
        until = max(unsettled).astimezone(UTC)
        parts.append(
            f"the rest settles by {until:%H:%M:%S} UTC: run this again then"
        )
    return "; ".join(parts)
