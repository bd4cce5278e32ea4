"""Access as the API server of a cluster grants it, cached for seconds.

A token is valid if the API server accepts it for the audience of this server;
its holder may read what they may get in the cluster now. Both are reviewed
again after half a minute, so that a revocation is effective within a minute.
"""

import asyncio
import base64
import binascii
import hashlib
import logging
import time
from collections import OrderedDict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Hashable,
    Mapping,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import orjson

from api.access import (
    DeniedError,
    ForbiddenError,
    Guard,
    Principal,
    UnreadableError,
    bearer_token,
)
from api.ports import Reviews
from recorder.model.access import Person, Right
from recorder.model.errors import RecorderError

log = logging.getLogger("recorder.api")

YES_SECONDS = 30.0
NO_SECONDS = 5.0
"""Shorter, so that a right that was just granted is effective soon."""

REMEMBERED_MAX = 20_000
"""Reviews: about 10 MB."""

AT_ONCE = 16
"""Reviews that one server requests at the same time."""

WAITING_MAX = 2000
"""Reviews that wait for their turn."""

TOKEN_MAX = 16 << 10
"""Bytes; those of service accounts have about one thousand."""

STATIC = "rec_"
"""How tokens of the token file begin."""

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """A cache of reviews that requests each of them once."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[Hashable, tuple[Value, float]] = OrderedDict()
        self._asking: dict[Hashable, _Asking] = {}
        self._turn = asyncio.Semaphore(AT_ONCE)

    def known(self, key: Hashable) -> Value | None:
        """Return a review that has not expired, from any thread."""
        known = self._kept.get(key)
        if known is None or known[1] <= self._clock():
            return None
        return known[0]

    async def get(
        self,
        key: Hashable,
        ask: Callable[[], Awaitable[Value]],
        keep: Callable[[Value], float],
    ) -> Value:
        """Return a cached review, or request it.

        Args:
            key: what is reviewed.
            ask: requests the review from the API server.
            keep: returns for how many seconds a review is valid.
        """
        async with self._alone(key):
            known = self._kept.get(key)
            if known is not None and known[1] > self._clock():
                return known[0]
            async with self._turn:
                # The validity starts before the request, so that what is
                # revoked during it is not valid for longer.
                begun = self._clock()
                try:
                    found = await ask()
                except RecorderError as exc:
                    log.warning("cannot review access: %s", exc)
                    msg = "the API server does not say who may read"
                    raise UnreadableError(msg) from exc
            self._kept[key] = found, begun + keep(found)
            self._kept.move_to_end(key)
            if len(self._kept) > REMEMBERED_MAX:
                self._kept.popitem(last=False)
            return found

    @asynccontextmanager
    async def _alone(self, key: Hashable) -> AsyncIterator[None]:
        """Let one task request a review; others wait and find it cached."""
        if len(self._asking) >= WAITING_MAX and key not in self._asking:
            msg = "too many reviews of access are waiting: try again"
            raise UnreadableError(msg)
        asking = self._asking.setdefault(key, _Asking())
        asking.waiting += 1
        try:
            async with asking.lock:
                yield
        finally:
            asking.waiting -= 1
            if not asking.waiting:
                del self._asking[key]


@dataclass(slots=True)
class _Asking:
    """The tasks that wait for the same review."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


class Reviewing:
    """Reviews by the API server, shared by all requests to this server."""

    def __init__(self, reviews: Reviews) -> None:
        self.loop = asyncio.get_running_loop()
        self._reviews = reviews
        self._holders: Remembered[Person | None] = Remembered()
        self._rights: Remembered[bool] = Remembered()
        self._cluster: Remembered[str] = Remembered()

    async def cluster_uid(self) -> str:
        """Return the UID of the cluster; requested once."""
        return await self._cluster.get(
            "uid", self._reviews.cluster_uid, lambda _: float("inf")
        )

    async def holder(self, token: str) -> Person | None:
        """Return the holder of a token; None if it is not valid."""
        ends = _expiry(token)

        def keep(found: Person | None) -> float:
            if found is None:
                return NO_SECONDS
            return min(YES_SECONDS, max(0.0, ends - time.time()))

        # By its digest, so that no token stays in memory after its request.
        digest = hashlib.sha256(token.encode(errors="replace")).digest()
        return await self._holders.get(
            digest, lambda: self._reviews.holder(token), keep
        )

    async def principal(self, person: Person) -> Principal:
        """Return a person as a principal with their rights."""
        cluster_uid = await self.cluster_uid()
        return Principal(person.name, PersonRights(person, cluster_uid, self))

    def known(self, person: Person, right: Right) -> bool | None:
        """Return whether a person has a right; None if it is not cached."""
        return self._rights.known((person, right))

    async def may(self, person: Person, right: Right) -> bool:
        """Return whether a person has a right."""
        return await self._rights.get(
            (person, right),
            lambda: self._reviews.may(person, right),
            lambda allowed: YES_SECONDS if allowed else NO_SECONDS,
        )


@dataclass(frozen=True, slots=True)
class PersonRights:
    """What one person may get; satisfies the port `Rights`."""

    person: Person
    cluster_uid: str
    reviewing: Reviewing

    async def held(self, wanted: Collection[Right]) -> Collection[Right]:
        """Return which of some rights the person holds.

        From any event loop: reviews are requested in that of the server.
        """
        known = self._known(wanted)
        if known is not None:
            return known
        loop = self.reviewing.loop
        if asyncio.get_running_loop() is loop:
            return await self._held(wanted)
        asked = asyncio.run_coroutine_threadsafe(self._held(wanted), loop)
        return await asyncio.wrap_future(asked)

    def _known(self, wanted: Collection[Right]) -> set[Right] | None:
        """Return those that are held; None unless all are cached."""
        found = set()
        for one in wanted:
            wide = one._replace(namespace="")
            held = self.reviewing.known(self.person, wide)
            if held is False and one.namespace:
                held = self.reviewing.known(self.person, one)
            if held is None:
                return None
            if held:
                found.add(one)
        return found

    async def _held(self, wanted: Collection[Right]) -> Collection[Right]:
        everywhere = {one._replace(namespace="") for one in wanted}
        wide = await self._which(everywhere)
        rest = {
            one
            for one in wanted
            if one.namespace and one._replace(namespace="") not in wide
        }
        narrow = await self._which(rest)
        return {
            one
            for one in wanted
            if one in narrow or one._replace(namespace="") in wide
        }

    async def _which(self, rights: Collection[Right]) -> set[Right]:
        listed, held = list(rights), set[Right]()
        for begin in range(0, len(listed), AT_ONCE):
            part = listed[begin : begin + AT_ONCE]
            try:
                async with asyncio.TaskGroup() as group:
                    asked = [
                        group.create_task(
                            self.reviewing.may(self.person, right)
                        )
                        for right in part
                    ]
            except* UnreadableError as failed:
                raise failed.exceptions[0] from None
            reviews = zip(part, asked, strict=True)
            held |= {right for right, may in reviews if may.result()}
        return held


class ClusterGuard:
    """Bearer tokens that the API server of a cluster knows."""

    def __init__(self, reviewing: Reviewing, static: Guard | None) -> None:
        """Take the reviews, and the guard of tokens of the token file."""
        self._reviewing = reviewing
        self._static = static

    async def admit(
        self, headers: Mapping[str, str], peer: str | None = None
    ) -> Principal:
        """Return the holder of the presented token.

        Raises:
            DeniedError: there is none, or it is not valid.
            ForbiddenError: the request impersonates another user.
        """
        token = bearer_token(headers)
        if token.startswith(STATIC) and self._static is not None:
            return await self._static.admit(headers, peer)
        if any(name.lower().startswith("impersonate-") for name in headers):
            msg = "impersonation is not supported: ask with your own token"
            raise ForbiddenError(msg)
        person = None
        if 0 < len(token) <= TOKEN_MAX and token.isascii():
            person = await self._reviewing.holder(token)
        if person is None:
            msg = (
                "the token is unknown, has expired, was revoked, or is not"
                " meant for this server: make one with its audience"
            )
            raise DeniedError(msg)
        return await self._reviewing.principal(person)


def _expiry(token: str) -> float:
    """Return when a token expires by its claim `exp`; infinity without one.

    The API server checks the signature.
    """
    try:
        claims = token.split(".")[1]
        padded = claims + "=" * (-len(claims) % 4)
        ends = orjson.loads(base64.urlsafe_b64decode(padded))["exp"]
        return float(ends)
    except (IndexError, KeyError, TypeError, ValueError, binascii.Error):
        return float("inf")
