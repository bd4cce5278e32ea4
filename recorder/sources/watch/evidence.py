"""Comparing the newest objects that the log knows with what the server says.

Gives a verdict, and no more: an object with a lower version than the one that
was seen, or with the same version and other content, proves that history was
rewound. An object that is gone proves nothing by itself, since somebody may
have deleted it; its resource becomes a suspect, to be compared with a list.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from recorder.intake.ports import KnownObject
from recorder.model.reference import Resource
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import (
    CertificateError,
    MissingError,
    RequestError,
    TooLargeError,
    UnauthorizedError,
    UnreachableError,
)
from recorder.sources.watch.frames import UNREADABLE
from recorder.sources.watch.sameness import may_be_same
from recorder.sources.watch.target import collection_path
from recorder.sources.watch.versions import is_lower

__all__ = ["NO_ANSWER", "Redact", "Verdict", "examine", "in_parallel"]

Redact = Callable[[bytes, str], bytes]
"""Redacts a document of a resource, given in its written form, by the rules
of the log: the known documents went through them, so the live ones must."""

NO_ANSWER = (UnreachableError, UnauthorizedError, CertificateError)
"""Failures that concern the cluster and not one of its resources."""

_OTHERS_MAX = 10
_PER_RESOURCE = 2

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the newest known objects showed."""

    rewound: str | None
    """The proof, in words; None if there is none."""

    suspects: Mapping[Resource, str]
    """Resources of which a known object is gone, each with its uid."""


@dataclass(frozen=True, slots=True)
class _Reading:
    proof: str | None = None
    missing: KnownObject | None = None
    unread: RequestError | None = None


class _Metadata(msgspec.Struct):
    resourceVersion: str = ""  # noqa: N815 - the API's own name


class _Object(msgspec.Struct):
    metadata: _Metadata


async def examine(
    client: ClusterClient,
    newest: Sequence[KnownObject],
    redact: Redact,
) -> Verdict:
    """Read objects, newest first, and compare.

    Raises:
        RequestError: too few were read to conclude anything.
    """
    settings = client.settings
    chosen = _spread(newest, settings.rewind_reads)
    readings = await in_parallel(
        [_Read(client, known, redact) for known in chosen],
        settings.rewind_readers,
    )
    failed = [reading.unread for reading in readings if reading.unread]
    for error in failed:
        if isinstance(error, NO_ANSWER) or len(failed) * 2 > len(readings):
            raise error
    proofs = [reading.proof for reading in readings if reading.proof]
    return Verdict(
        rewound=proofs[0] if proofs else None,
        suspects={
            r.missing.resource: r.missing.uid for r in readings if r.missing
        },
    )


async def in_parallel(
    jobs: Iterable[Callable[[], Awaitable[Result]]], limit: int
) -> list[Result]:
    """Run jobs that do not raise, so many at a time; keep their order."""
    room = asyncio.Semaphore(limit)

    async def run(job: Callable[[], Awaitable[Result]]) -> Result:
        async with room:
            return await job()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(job)) for job in jobs]
    return [task.result() for task in tasks]


def _spread(newest: Sequence[KnownObject], count: int) -> list[KnownObject]:
    """Choose the newest, and a few of other resources.

    On a large cluster the newest are all Leases, and a server that was
    rewound a while ago has renewed every one of them since.
    """
    chosen = list(newest[:count])
    seen = Counter(known.resource for known in chosen)
    for known in newest[count:]:
        if len(chosen) >= count + _OTHERS_MAX:
            break
        if seen[known.resource] < _PER_RESOURCE:
            seen[known.resource] += 1
            chosen.append(known)
    return chosen


@dataclass(frozen=True, slots=True)
class _Read:
    """Reads one known object."""

    client: ClusterClient
    known: KnownObject
    redact: Redact

    async def __call__(self) -> _Reading:
        known = self.known
        path = collection_path(known.resource, known.namespace or None)
        try:
            live = await self.client.read(
                f"{path}/{known.name}", verb="get", what=self._what
            )
        except MissingError:
            return _Reading(missing=known)
        except TooLargeError:
            return _Reading()
        except RequestError as error:
            return _Reading(unread=error)
        return _Reading(proof=self._proof(live))

    @property
    def _what(self) -> str:
        known = self.known
        name = f"{known.namespace}/{known.name}".removeprefix("/")
        return f"{known.resource} {name}"

    def _proof(self, live: bytes) -> str | None:
        known = self.known
        try:
            version = msgspec.json.decode(
                live, type=_Object
            ).metadata.resourceVersion
        except UNREADABLE:
            return None
        if is_lower(version, known.resource_version):
            return (
                f"{self._what} has version {version}"
                f" and had {known.resource_version}"
            )
        if version != known.resource_version or known.raw is None:
            return None
        if may_be_same(known.raw, self.redact(live, str(known.resource))):
            return None
        return f"{self._what} has other content at version {version}"
