"""Walking back: the versions of one resource that no watch delivered.

Between two moments, the last that is proven and that of a new list, every
object that changed is read as it was just before each known version of it,
until one that the log holds, or its creation. An absent object is found in its
last version by bisection. Objects that came and went are found in lists at
some versions in between, then at versions that nothing else accounts for. An
object that was created and deleted in between has two versions, since the API
server writes one object at a time (only Events expire together, and they are
not walked). So nothing can be missing if there is a list between any two
unaccounted versions.

Decides what to read and what follows from it; reads nothing itself. A walk
whose budget ends, or that the server rejects half-way, keeps what it found.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import (
    Awaitable,
    Callable,
    Container,
    Iterable,
    Iterator,
    Sequence,
)
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise

import orjson

from recorder.intake.ports import HeldVersion
from recorder.sources.watch.errors import UnreachableError
from recorder.sources.watch.evidence import in_parallel
from recorder.sources.watch.past import (
    CompactedError,
    Past,
    Then,
    WalkEndedError,
)
from recorder.sources.watch.span import Found, Span, Walked
from recorder.sources.watch.witnesses import Witness

READERS = 8
"""Objects that are read in parallel."""

SPAN_MAX = 100_000
"""Versions in a span beyond which not each of them is examined."""

ROUNDS = 1000
"""Of so many versions without an owner, one is examined before all of them are
tried again."""

Job = Callable[[], Awaitable[None]]


@dataclass(slots=True)
class _Life:
    """The end of an object that is not in the new list."""

    held: HeldVersion
    """As it was then."""

    alive_at: int
    """The highest version at which it is known to have existed."""

    gone_by: int
    """The lowest above that at which it is known not to exist."""


class Walk:
    """Walks back from one list to the moment before it."""

    def __init__(
        self, past: Past, span: Span, *, elsewhere: Container[int] = ()
    ) -> None:
        """Plan a walk.

        Args:
            past: reads past versions.
            span: where to walk from and to.
            elsewhere: versions known to belong to other resources; may grow
                during the walk.
        """
        self._past = past
        self._since, self._until = span.since, span.until
        self._before, self._after = span.before, span.after
        self._based = span.based
        self._elsewhere = elsewhere
        self._mine = {
            int(held.resource_version) for held in span.after.values()
        }
        self._looked: set[int] = set()
        self._compacted = 0
        """The highest version that the server reported as compacted."""

        # What is held may be newer than the version that is complete.
        self._went = {
            uid: _Life(
                held, max(span.since, int(held.resource_version)), span.until
            )
            for uid, held in span.before.items()
            if uid not in span.after
        }
        self._dated: set[str] = set()
        self._walked = Walked()
        self._reported = 0

    async def changes(self, *, looks: int) -> None:
        """Find the versions of changed or deleted objects, newest first.

        ``looks`` is at how many versions in between to search for objects that
        came and went.
        """
        changed = sorted(
            (int(held.resource_version), uid)
            for uid, held in self._after.items()
            if self._is_new(uid, held)
        )
        self._walked.incomplete.update(uid for _, uid in changed)
        self._walked.undated.update(self._went)
        await self._each(
            partial(self._chain, uid, self._after[uid], self._until)
            for _, uid in reversed(changed)
        )
        length = self._until - self._since
        between = {
            self._since + length * number // (looks + 1)
            for number in range(1, looks + 1)
        }
        await self._examine_all(sorted(between - {self._since}, reverse=True))
        await self._ends()

    @property
    def unaccounted(self) -> int:
        """At how many versions an object may have come, and gone unseen."""
        unowned = self._unowned()
        if len(unowned) <= SPAN_MAX:
            unowned = self._openings(unowned)
        return len(unowned)

    async def account(self, *, looks: int) -> None:
        """Examine unaccounted versions, ``looks`` at most.

        Those first that divide the others evenly: an object that lived for
        long is found early, and accounts for many of them.
        """
        left: Sequence[int] = self._unowned()
        if len(left) > SPAN_MAX:
            left = left[:: len(left) // (looks + 1) or 1]
        while looks > 0 and not self._walked.ended:
            left = [v for v in left if not self._is_known(v)]
            ahead = [v for v in self._openings(left) if v > self._compacted]
            most = min(looks, max(READERS, len(left) // ROUNDS))
            part = [*islice(_dividing(ahead), most)]
            if not part:
                return
            looks -= len(part)
            await self._examine_all(part)
            await self._ends()

    async def hear(self, witnesses: Iterable[Witness]) -> None:
        """Search for objects that others name, at the versions named."""
        unknown = [
            one
            for one in witnesses
            if one.uid not in self._after and one.uid not in self._went
        ]
        await self._each(partial(self._ask, one) for one in unknown)
        await self._ends()

    def news(self) -> Sequence[Found]:
        """Return what was found since the last call."""
        found = self._walked.found[self._reported :]
        self._reported += len(found)
        return found

    def result(self) -> Walked:
        """Return what was found, in order, once all of it is."""
        walked = self._walked
        walked.found.sort()
        walked.unaccounted = self.unaccounted
        return walked

    def _is_new(self, uid: str, held: HeldVersion) -> bool:
        known = self._before.get(uid)
        return known is None or known.resource_version != held.resource_version

    def _unowned(self) -> Sequence[int]:
        """Return the versions that are not known to belong to anything."""
        span = range(self._since + 1, self._until + 1)
        if len(span) > SPAN_MAX:
            return span
        return [v for v in span if not self._is_known(v)]

    def _openings(self, unowned: Sequence[int]) -> Sequence[int]:
        """Return those at which an object may have come, and gone unseen.

        It was deleted at another of them, before everything was listed.
        """
        looks = sorted(self._looked)
        return [
            version
            for version, later in pairwise(unowned)
            if bisect_left(looks, version) == bisect_left(looks, later)
        ]

    def _is_known(self, version: int) -> bool:
        return version in self._mine or version in self._elsewhere

    async def _each(self, jobs: Iterable[Job]) -> None:
        """Run jobs in parallel, until the walk ends."""

        async def do(job: Job) -> None:
            if self._walked.ended is None:
                try:
                    await job()
                except WalkEndedError as exc:
                    self._walked.ended = str(exc)
                    if isinstance(exc.__cause__, UnreachableError):
                        self._walked.lost = exc.__cause__

        await in_parallel((partial(do, job) for job in jobs), READERS)

    async def _examine_all(self, versions: Iterable[int]) -> None:
        await self._each(
            partial(self._examine, version) for version in versions
        )

    async def _chain(self, uid: str, held: HeldVersion, at: int) -> None:
        """Find the versions of an object until a moment, newest first."""
        self._walked.incomplete.add(uid)
        while at > self._since - self._based:
            try:
                then = await self._past.read(held, at)
            except CompactedError:
                self._compacted = max(self._compacted, at)
                return
            if then is None:
                break
            if then.uid != uid:
                self._meet(then.uid, _as(held, then), at)
                break
            if self._is_held(then):
                break
            self._find(Found(then.version, uid, then.raw))
            at = then.version - 1
        self._walked.incomplete.discard(uid)

    def _is_held(self, then: Then) -> bool:
        if self._based:
            return False
        known = self._before.get(then.uid)
        return then.version <= self._since or (
            known is not None and known.resource_version == str(then.version)
        )

    def _find(self, found: Found) -> None:
        self._walked.found.append(found)
        self._mine.add(found.version)

    async def _examine(self, version: int) -> None:
        """Search for objects that came and went, at one version."""
        try:
            shown = await self._past.snapshot(version)
        except CompactedError:
            self._compacted = max(self._compacted, version)
            return
        self._looked.add(version)
        for uid, held in shown.items():
            if uid not in self._after:
                self._meet(uid, held, version)
        for uid in self._went.keys() - self._dated - shown.keys():
            life = self._went[uid]
            if life.alive_at < version:
                life.gone_by = min(life.gone_by, version)

    async def _ask(self, witness: Witness) -> None:
        """Search for one object at the versions of a witness."""
        for version in witness.versions:
            if not self._since < version < self._until:
                continue
            try:
                then = await self._past.read(witness.held, version)
            except CompactedError:
                self._compacted = max(self._compacted, version)
                continue
            if then is not None:
                self._meet(then.uid, _as(witness.held, then), version)
                return

    def _meet(self, uid: str, held: HeldVersion, at: int) -> None:
        """Note that an object existed at a version."""
        life = self._went.get(uid)
        if life is None and uid not in self._after:
            later = (version for version in self._looked if version > at)
            gone_by = min(later, default=self._until)
            self._went[uid] = _Life(held, at, gone_by)
            self._walked.undated.add(uid)
        elif life and uid not in self._dated and life.alive_at < at:
            life.held, life.alive_at = held, at

    async def _ends(self) -> None:
        """Find the ends of deleted objects, and of those found on the way."""
        while left := sorted(self._went.keys() - self._dated):
            self._dated.update(left)
            await self._each(partial(self._end, uid) for uid in left)
            if self._walked.ended:
                return

    async def _end(self, uid: str) -> None:
        """Find when an object was deleted, and its versions until then."""
        life = self._went[uid]
        last = await self._halve(uid, life)
        if life.gone_by - life.alive_at > 1:
            return  # deleted before what the server still holds
        if last is None and (self._based or life.alive_at > self._since):
            try:
                last = await self._past.read(life.held, life.alive_at)
            except CompactedError:
                self._walked.incomplete.add(uid)
        self._walked.undated.discard(uid)
        if last is not None and last.uid == uid and not self._is_held(last):
            self._find(Found(last.version, uid, last.raw))
            await self._chain(uid, life.held, last.version - 1)
        gone = _gone(uid, life)
        self._find(Found(life.gone_by, uid, gone, deleted=True))

    async def _halve(self, uid: str, life: _Life) -> Then | None:
        """Narrow the end of an object; return its last version seen."""
        last: Then | None = None
        while life.gone_by - life.alive_at > 1:
            middle = (life.alive_at + life.gone_by) // 2
            middle = max(middle, self._compacted + 1)
            if middle >= life.gone_by:
                break
            try:
                then = await self._past.read(life.held, middle)
            except CompactedError:
                self._compacted = max(self._compacted, middle)
                continue
            if then is not None and then.uid == uid:
                life.alive_at, last = middle, then
                continue
            life.gone_by = middle
            if then is not None:
                self._meet(then.uid, _as(life.held, then), middle)
        return last


def _dividing(versions: Sequence[int]) -> Iterator[int]:
    """Yield the middle, then that of each half, and so on."""
    parts = deque([(0, len(versions))])
    while parts:
        start, end = parts.popleft()
        if start < end:
            middle = (start + end) // 2
            yield versions[middle]
            parts += (start, middle), (middle + 1, end)


def _as(held: HeldVersion, then: Then) -> HeldVersion:
    return held._replace(resource_version=str(then.version))


def _gone(uid: str, life: _Life) -> bytes:
    """Return a document that names a deleted object, as its last version."""
    metadata = {
        "name": life.held.name,
        "uid": uid,
        "resourceVersion": str(life.gone_by),
    }
    if life.held.namespace:
        metadata["namespace"] = life.held.namespace
    return orjson.dumps({"metadata": metadata})
