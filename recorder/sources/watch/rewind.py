"""Noticing that the cluster's history was rewound, before it is mixed.

A server restored from a backup answers a watch from our version, which is in
its future, with silence and no error. So after every loss, and at the start,
nothing that arrives over a new connection is put until a check has begun and
passed: it is still the same cluster, no resource is behind its recorded
version, and the newest objects in the log are at least as new on the server
and, at the same version, equal.

Between two connections of one resource, such as a list and its watch, a server
could be restored as well. That would end every other connection; so if an
older connection stayed open and none was lost, no check is needed.

One task makes the checks, so that hundreds of streams lost at once need one,
and so that the start of an epoch cannot be interrupted half-way.
"""

import asyncio
import copy
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from recorder.intake.ports import Known, KnownObject
from recorder.model.errors import InputError, Transient
from recorder.model.observation import EpochBegan, Observation, StreamClosed
from recorder.model.reference import Resource
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import RequestError, WrongClusterError
from recorder.sources.watch.evidence import (
    NO_ANSWER,
    Redact,
    examine,
    in_parallel,
)
from recorder.sources.watch.follower import Follower
from recorder.sources.watch.frames import Frame
from recorder.sources.watch.listing import list_head
from recorder.sources.watch.outlet import Outlet
from recorder.sources.watch.versions import is_lower

_REMEMBERED_MAX = 64 << 10
"""Frames of larger objects are not remembered."""

_CANDIDATES = 4
"""How many times the number to read are candidates, so that a few of other
resources are among them."""


class RewindGuard:
    """Confirms that the history is the one that was followed before."""

    def __init__(
        self,
        client: ClusterClient,
        outlet: Outlet,
        *,
        known: Known,
        cluster_uid: str,
        redact: Redact,
        followers: Callable[[], Collection[Follower]],
    ) -> None:
        self._client = client
        self._outlet = outlet
        self._known = known
        self._cluster_uid = cluster_uid
        self._redact = redact
        self._followers = followers
        self._waiting: list[tuple[Follower, asyncio.Future[None]]] = []
        self._wanted = asyncio.Event()
        # What proved a rewind, or could have. The log may still hold it as
        # alive until everything was listed in the new epoch, and it must not
        # prove the same rewind again.
        self._spent: set[tuple[Resource, str, str]] = set()
        # The last frames, also of objects deleted since: on a quiet cluster
        # these may be all that a rewind removed.
        self._recent: deque[tuple[Resource, Frame]] = deque(
            maxlen=client.settings.rewind_reads
        )
        self._reported: str | None = None
        self._lost_at = client.clock.monotonic()
        self.suspects: dict[Resource, str] = {}
        """Resources to compare with a list soon, each with the UID of an
        object that is missing."""

    def note_loss(self) -> None:
        """Note that some connection was lost just now."""
        self._lost_at = self._client.clock.monotonic()

    def stayed_connected(self, follower: Follower) -> bool:
        """Return whether a connection stayed open since a follower last heard.

        The connection of another one, since its own is closed in between.
        """
        return not self.lost_since(follower.heard_at) and any(
            other.streaming and other.opened_at <= follower.heard_at
            for other in self._followers()
            if other is not follower
        )

    def lost_since(self, time: float) -> bool:
        """Return whether any connection was lost since a time."""
        return self._lost_at >= time

    async def confirm(self, follower: Follower) -> None:
        """Wait for a check that begins after this call.

        Raises:
            RequestError: the check failed; nothing is known.
        """
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((follower, future))
        self._wanted.set()
        await future

    def remember(self, resource: Resource, frame: Frame) -> None:
        """Remember a frame, as something to compare after a loss."""
        if frame.type != "BOOKMARK" and len(frame.object) < _REMEMBERED_MAX:
            self._recent.append((resource, frame))

    def report(self, proof: str) -> None:
        """Accept a proof of a rewind found elsewhere."""
        self._reported = proof
        self._wanted.set()

    async def run(self) -> None:
        """Make the requested checks, forever.

        Raises:
            WrongClusterError: another cluster responds.
        """
        settings, clock = self._client.settings, self._client.clock
        earliest = clock.monotonic()
        while True:
            await self._wanted.wait()
            pause = earliest - clock.monotonic()
            await asyncio.sleep(max(settings.rewind_gather, pause))
            earliest = clock.monotonic() + settings.rewind_pause
            self._wanted.clear()
            waiting, self._waiting = self._waiting, []
            await self._serve(waiting)

    async def _serve(
        self, waiting: Sequence[tuple[Follower, asyncio.Future[None]]]
    ) -> None:
        began = self._client.clock.monotonic()
        failed: Mapping[Follower, RequestError] = {}
        error: RequestError | None = None
        try:
            failed = await self._check()
        except RequestError as exc:
            error = exc
        except Transient:
            # The log cannot be read; all followers keep waiting.
            self._waiting = [*waiting, *self._waiting]
            self._wanted.set()
            return
        for follower, future in waiting:
            if future.done():
                continue
            if why := error or failed.get(follower):
                # Each waiter gets a copy: tracebacks are written into the
                # exception.
                future.set_exception(copy.copy(why))
                continue
            follower.confirmed(began)
            future.set_result(None)

    async def _check(self) -> Mapping[Follower, RequestError]:
        """Check once; return the resources that could not be checked.

        Raises:
            RequestError: none could be.
        """
        began = self._client.clock.monotonic()
        lost = [f for f in self._followers() if f.lost]
        uid = await self._client.uid()
        if uid != self._cluster_uid:
            msg = (
                f'another cluster answers behind "{self._client.name}":'
                f" expected UID {self._cluster_uid}, got {uid}"
            )
            raise WrongClusterError(msg)
        heads = await self._heads(lost)
        proof = self._reported
        proof = proof or next((h.proof for h in heads if h.proof), None)
        proof = proof or await self._examine()
        if proof is not None:
            await self._begin_epoch(proof, began)
        return {h.follower: h.error for h in heads if h.error is not None}

    async def _heads(self, lost: Sequence[Follower]) -> Sequence["_Head"]:
        jobs = [
            _AskHead(self._client, follower, follower.place.seen)
            for follower in lost
            if follower.place.seen is not None
        ]
        limit = self._client.settings.rewind_readers
        heads = await in_parallel(jobs, limit)
        for head in heads:
            if isinstance(head.error, NO_ANSWER):
                raise head.error
        return heads

    async def _examine(self) -> str | None:
        newest = [
            known
            for known in await self._newest()
            if _mark(known) not in self._spent
        ]
        marks = set(map(_mark, newest))
        recent, deleted = [], []
        for resource, frame in self._recent:
            known = self._known_from(resource, frame)
            if frame.type == "DELETED":
                deleted.append(known)
            elif _mark(known) not in marks:
                recent.append(known)
        verdict = await examine(
            self._client,
            newest=newest,
            recent=recent,
            deleted=deleted,
            redact=self._redact,
        )
        self.suspects.update(verdict.suspects)
        return verdict.rewound

    def _known_from(self, resource: Resource, frame: Frame) -> KnownObject:
        try:
            raw = self._redact(frame.object, str(resource))
        except InputError:
            raw = None
        return KnownObject(
            resource=resource,
            namespace=frame.namespace,
            name=frame.name,
            uid=frame.uid,
            resource_version=frame.version,
            raw=raw,
        )

    async def _newest(self) -> Sequence[KnownObject]:
        count = self._client.settings.rewind_reads * _CANDIDATES
        return await self._known.newest(count)

    async def _begin_epoch(self, proof: str, began: float) -> None:
        """Put that history was rewound; all followers start with a list."""
        now = self._client.clock.now()
        self._spent.update(map(_mark, await self._newest()))

        def last_words() -> Sequence[Observation]:
            closed: list[Observation] = []
            for follower in self._followers():
                if follower.streaming:
                    closed.append(
                        StreamClosed(
                            observed_at=now,
                            resource=follower.target.resource,
                            reason="rewound",
                        )
                    )
                follower.confirmed(began)
                follower.interrupt(None)
            return [*closed, EpochBegan(observed_at=now, reason=proof)]

        await self._outlet.begin_epoch(last_words)
        self._reported = None
        self._recent.clear()
        self.suspects.clear()


def _mark(known: KnownObject) -> tuple[Resource, str, str]:
    return known.resource, known.uid, known.resource_version


@dataclass(frozen=True, slots=True)
class _Head:
    """The result of comparing the head of one resource."""

    follower: Follower
    proof: str | None = None
    error: RequestError | None = None


@dataclass(frozen=True, slots=True)
class _AskHead:
    """Requests the head of one resource and compares it."""

    client: ClusterClient
    follower: Follower
    seen: str

    async def __call__(self) -> _Head:
        target = self.follower.target
        try:
            head = await list_head(self.client, target)
        except RequestError as error:
            return _Head(self.follower, error=error)
        self.follower.head = head
        if is_lower(head, self.seen):
            proof = f"{target.resource} is at {head} and was at {self.seen}"
            return _Head(self.follower, proof=proof)
        return _Head(self.follower)
