"""The watch source: every recorded resource that a cluster serves.

One task for each resource, one for discovery, one that checks for rewinds, one
that reconciles and one for the clock, all in one TaskGroup. A failure of one
resource is an observation; only another cluster behind our address, or a fault
of our own, ends the source.
"""

import asyncio
import random

from recorder.intake.ports import Known, Sink
from recorder.model.errors import RecorderError
from recorder.model.observation import ClockJumped
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.clock import report_jumps
from recorder.sources.watch.evidence import Redact
from recorder.sources.watch.outlet import Outlet
from recorder.sources.watch.reconcile import Reconciler
from recorder.sources.watch.reflector import Shared
from recorder.sources.watch.rewind import RewindGuard
from recorder.sources.watch.roster import Roster
from recorder.sources.watch.selection import Selection
from recorder.sources.watch.walks import Walks


class WatchSource:
    """Observes one cluster."""

    finite = False

    def __init__(
        self,
        client: ClusterClient,
        *,
        cluster_uid: str,
        redact: Redact,
        selection: Selection | None = None,
        jitter: random.Random | None = None,
    ) -> None:
        self._client = client
        self._cluster_uid = cluster_uid
        self._redact = redact
        self._selection = selection or Selection()
        self._random = jitter or random.Random()  # noqa: S311 - no secret
        self.walks: Walks | None = None
        """How far the past was read; None before it runs."""

    async def run(self, sink: Sink, known: Known) -> None:
        """Observe until cancelled.

        Raises:
            WrongClusterError: another cluster responds.
            KubeconfigError: the credentials could never be read.
        """
        outlet = Outlet(sink)
        roster = Roster(self._selection, known)
        guard = RewindGuard(
            self._client,
            outlet,
            known=known,
            cluster_uid=self._cluster_uid,
            redact=self._redact,
            followers=roster.followers,
        )
        reconciler = Reconciler(
            self._client,
            known,
            guard,
            followers=roster.followers,
            jitter=self._random,
        )
        settings = self._client.settings
        self.walks = Walks(self._client, known, lambda: outlet.epoch)
        shared = Shared(
            client=self._client,
            outlet=outlet,
            guard=guard,
            lists=asyncio.Semaphore(settings.concurrent_lists),
            random=self._random,
            served_changed=roster.served_changed,
            walks=self.walks,
        )

        async def put(jumped: ClockJumped) -> None:
            await outlet.put([jumped])

        jumps = report_jumps(
            put,
            self._client.clock,
            tick=settings.clock_tick,
            jump=settings.clock_jump,
        )
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(guard.run())
                group.create_task(reconciler.run())
                group.create_task(jumps)
                group.create_task(roster.run(group, shared))
        except BaseExceptionGroup as failures:
            if ours := failures.subgroup(RecorderError):
                raise _first(ours) from failures
            raise


def _first(failures: BaseExceptionGroup[RecorderError]) -> RecorderError:
    """Return the error that ended the source, without its exception group."""
    inner = failures.exceptions[0]
    if isinstance(inner, BaseExceptionGroup):
        return _first(inner)
    return inner
