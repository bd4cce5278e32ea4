"""Account for versions that are never entered: renewals and heartbeats.

A Lease is written every ten seconds and none of its renewals becomes an entry,
so neither the log nor the walk of another resource accounts for them. The log
also lacks the heartbeats of Nodes that an earlier recorder counted. Each of
these objects is read back once, from the version at which a walk ends, and its
versions are noted in `Owners`. Nothing is put.

Bounded by the allowance of the walk; what was read is kept for the next walk.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial

from recorder.intake.ports import HeldVersion
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.evidence import in_parallel
from recorder.sources.watch.owners import Owners
from recorder.sources.watch.past import (
    Allowance,
    CompactedError,
    Memo,
    Reader,
    WalkEndedError,
)
from recorder.sources.watch.span import Span
from recorder.sources.watch.target import Target
from recorder.sources.watch.versions import as_int64

RENEWED = ("coordination.k8s.io", "leases")
BEATING = ("", "nodes")

READERS = 8
"""Objects that are read in parallel."""

Note = Callable[[Iterable[int]], None]


class Heartbeats:
    """Accounts for versions that are not entered."""

    def __init__(self, client: ClusterClient, owners: Owners) -> None:
        """Start with nothing accounted for."""
        self._client = client
        self._owners = owners
        self._followed: dict[Target, int | None] = {}
        self._memos: dict[Target, Memo] = {}
        self._of: int | None = None
        self._reading = asyncio.Lock()

    def follow(self, target: Target, since: str | None) -> None:
        """Note that a resource is followed; from a version, if it resumes.

        The walk of the Nodes itself notes their versions after that one.
        """
        key = target.resource.group, target.resource.plural
        if key == RENEWED:
            self._followed[target] = None
        elif key == BEATING and since is not None:
            self._followed[target] = as_int64(since)

    async def account(
        self, asking: Target, span: Span, allowance: Allowance, *, epoch: int
    ) -> None:
        """Note the versions in a span that are heartbeats.

        As many as the allowance of the calling walk permits.
        """
        async with self._reading:
            if epoch != self._of:
                self._of = epoch
                self._memos.clear()
            for target, upto in self._followed.items():
                until = span.until if upto is None else min(upto, span.until)
                if target == asking or until <= span.since:
                    continue
                memo = self._memos.setdefault(
                    target, Memo(self._client.settings.walk_bytes)
                )
                reader = Reader(self._client, target, allowance, memo)
                note = partial(self._owners.note, target.resource, epoch=epoch)
                with suppress(CompactedError, WalkEndedError):
                    await _read(reader, span.since, until, note)


async def _read(reader: Reader, since: int, until: int, note: Note) -> None:
    """Note all versions in a span of the objects that exist at its end."""
    shown = await reader.snapshot(until)
    jobs: list[Callable[[], Awaitable[None]]] = [
        partial(_chain, reader, held, since, note) for held in shown.values()
    ]
    await in_parallel(jobs, READERS)


async def _chain(
    reader: Reader, held: HeldVersion, since: int, note: Note
) -> None:
    """Note the versions of one object, newest first."""
    version = as_int64(held.resource_version)
    with suppress(CompactedError, WalkEndedError):
        while version is not None and version > since:
            note((version,))
            then = await reader.read(held, version - 1)
            version = None if then is None else then.version
