"""Reading the past of a resource as of a version, while the server has it.

``resourceVersionMatch=Exact`` is answered from etcd, or from a snapshot of it,
and not from the history of the watch cache: it works until etcd compacts,
which is after five to ten minutes, also on a server that has just started
(https://kep.k8s.io/2340, https://kep.k8s.io/4988).

Bounded: each request is taken from the allowance of a walk, and from the limit
per minute that all walks share.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from recorder.intake.ports import HeldVersion
from recorder.model.errors import RecorderError
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import ExpiredError, RequestError
from recorder.sources.watch.frames import UNREADABLE
from recorder.sources.watch.listing import (
    list_at,
    list_head,
    list_versions,
)
from recorder.sources.watch.target import Target

LISTED_BYTES = 1000
"""Estimated size of the metadata of one object: they are listed in pages that
are not kept, and half of them are managedFields."""


class CompactedError(RecorderError):
    """The server no longer holds a version."""

    code = "walk.compacted"


class WalkEndedError(RecorderError):
    """Nothing more can be read; the message states why."""

    code = "walk.ended"


@dataclass(frozen=True, slots=True)
class Then:
    """An object as it was at a version."""

    uid: str
    version: int
    raw: bytes


class Past(Protocol):
    """The past of one resource, as far as the server still holds it.

    Each method raises `CompactedError` or `WalkEndedError`.
    """

    async def snapshot(self, version: int) -> Mapping[str, HeldVersion]:
        """Return every object as of a version, by UID."""

    async def read(self, held: HeldVersion, version: int) -> Then | None:
        """Return the object of that name as of a version, if it existed."""


class Memo:
    """Past versions of objects, read by a walk that was interrupted.

    The state at a version never changes, unless history is rewound: then the
    owner clears it. Bounded by the bytes that it holds.
    """

    def __init__(self, most: int) -> None:
        """Start empty; ``most`` is in bytes."""
        self._most = most
        self._held = 0
        self._reads: dict[tuple[str, str, int], Then | None] = {}

    def __contains__(self, read: tuple[str, str, int]) -> bool:
        """Return whether an object was read as of a version."""
        return read in self._reads

    def __getitem__(self, read: tuple[str, str, int]) -> Then | None:
        """Return an object as of a version; None if there was none."""
        return self._reads[read]

    def note(self, read: tuple[str, str, int], then: Then | None) -> None:
        """Remember an object as of a version."""
        size = LISTED_BYTES if then is None else len(then.raw)
        if self._held + size <= self._most:
            self._held += size
            self._reads[read] = then

    def clear(self) -> None:
        """Forget everything."""
        self._held = 0
        self._reads.clear()


class Minute:
    """The requests and bytes per minute that all walks share.

    A bucket that refills evenly within a minute. A response may take more
    bytes than are left: then the next request waits until they are refilled.
    """

    def __init__(
        self, requests: int, size: int, monotonic: Callable[[], float]
    ) -> None:
        """Start full; ``size`` is in bytes."""
        self._most = (float(requests), float(size))
        self._left = [*self._most]
        self._monotonic = monotonic
        self._filled_at = monotonic()

    def take(self) -> float:
        """Take a request; else return the seconds to wait for one."""
        now = self._monotonic()
        parts = (now - self._filled_at) / 60
        self._filled_at = now
        self._left = [
            min(most, left + parts * most)
            for most, left in zip(self._most, self._left, strict=True)
        ]
        requests, size = self._left
        if requests >= 1 and size > 0:
            self._left[0] -= 1
            return 0.0
        lacking = max(
            (1 - requests) / self._most[0], (1 - size) / self._most[1]
        )
        return 60 * lacking

    def pay(self, size: int) -> None:
        """Take the bytes of a response."""
        self._left[1] -= size


@dataclass(slots=True)
class Allowance:
    """The requests, bytes and time that one walk may still use."""

    requests: int
    bytes: int
    deadline: float
    """In steady time."""

    monotonic: Callable[[], float]
    minute: Minute
    """The limit that it shares with other walks."""

    spent: int = 0
    """Requests so far."""

    async def ask(self) -> None:
        """Take a request, waiting for the shared limit if needed.

        Raises:
            WalkEndedError: none is left, or not before the deadline.
        """
        while self._may_ask() and (wait := self.minute.take()):
            if self.monotonic() + wait >= self.deadline:
                msg = "what walks may ask for in a minute was used"
                raise WalkEndedError(msg)
            await asyncio.sleep(wait)
        self.spent += 1

    def _may_ask(self) -> bool:
        if self.spent >= self.requests:
            msg = f"its {self.requests} requests were used"
            raise WalkEndedError(msg)
        if self.monotonic() >= self.deadline:
            msg = "its time was over"
            raise WalkEndedError(msg)
        return True

    def lists(self, objects: int) -> int:
        """Return for how many lists of so many objects it has bytes."""
        return self.bytes // (LISTED_BYTES * max(1, objects))

    def pay(self, size: int) -> None:
        """Take the bytes of a response.

        Raises:
            WalkEndedError: no bytes are left; the response still counts.
        """
        self.minute.pay(size)
        self.bytes -= size
        if self.bytes < 0:
            msg = "its bytes were used"
            raise WalkEndedError(msg)


class _Metadata(msgspec.Struct):
    uid: str
    resourceVersion: str  # noqa: N815 - the API's own name


class _Object(msgspec.Struct):
    metadata: _Metadata


_OBJECT = msgspec.json.Decoder(_Object)


class Reader:
    """Reads the past of one resource over the API."""

    def __init__(
        self,
        client: ClusterClient,
        target: Target,
        allowance: Allowance,
        memo: Memo,
    ) -> None:
        """Read one resource; what ``memo`` has is not requested again."""
        self._client = client
        self._target = target
        self.allowance = allowance
        self._memo = memo

    async def snapshot(self, version: int) -> Mapping[str, HeldVersion]:
        """Return every object as of a version, by UID.

        Raises:
            CompactedError: the server no longer holds the version.
            WalkEndedError: nothing more can be read.
        """
        await self.allowance.ask()
        try:
            at, shown = await list_versions(
                self._client, self._target, version=str(version)
            )
        except ExpiredError as exc:
            raise _compacted(version) from exc
        except RequestError as exc:
            raise WalkEndedError(str(exc)) from exc
        if at != str(version):
            msg = f"the server answered version {at} instead of {version}"
            raise WalkEndedError(msg)
        self.allowance.pay(LISTED_BYTES * len(shown))
        return shown

    async def read(self, held: HeldVersion, version: int) -> Then | None:
        """Return the object of that name as of a version, if it existed.

        Raises:
            CompactedError: the server no longer holds the version.
            WalkEndedError: nothing more can be read.
        """
        key = held.namespace, held.name, version
        if key in self._memo:
            return self._memo[key]
        then = await self._read(held, version)
        self._memo.note(key, then)
        if then is not None:
            self.allowance.pay(len(then.raw))
        return then

    async def _read(self, held: HeldVersion, version: int) -> Then | None:
        await self.allowance.ask()
        target = self._target
        if held.namespace:
            # Within its namespace the server reads one key of etcd.
            target = replace(target, namespace=held.namespace)
        try:
            raw = await list_at(
                self._client, target, name=held.name, version=str(version)
            )
        except ExpiredError as exc:
            raise _compacted(version) from exc
        except RequestError as exc:
            raise WalkEndedError(str(exc)) from exc
        if raw is None:
            return None
        try:
            metadata = _OBJECT.decode(raw).metadata
            found = int(metadata.resourceVersion)
        except (*UNREADABLE, ValueError) as exc:
            msg = f"an object cannot be parsed: {exc}"
            raise WalkEndedError(msg) from exc
        return Then(metadata.uid, found, raw)


def _compacted(version: int) -> CompactedError:
    return CompactedError(f"version {version} was compacted")


async def oldest(
    client: ClusterClient, target: Target, allowance: Allowance, newest: int
) -> int:
    """Return the lowest version that the server still holds.

    Raises:
        WalkEndedError: it holds none, or the allowance was used.
    """

    async def is_held(version: int) -> bool:
        await allowance.ask()
        try:
            at = await list_head(client, target, version=str(version))
        except ExpiredError:
            return False
        except RequestError as exc:
            raise WalkEndedError(str(exc)) from exc
        if at != str(version):
            msg = f"the server answered version {at} instead of {version}"
            raise WalkEndedError(msg)
        return True

    gone, held = 0, newest
    while held - gone > 1:
        middle = (gone + held) // 2
        if await is_held(middle):
            held = middle
        else:
            gone = middle
    return held
