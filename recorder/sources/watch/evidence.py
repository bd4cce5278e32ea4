"""Comparing the newest objects in the log with those on the server.

Each is requested as it was at the version that the log has, which the server
can answer until it compacts its history. If the server does not have that
version with that content, whatever happened to the object since, history was
rewound.

Once the version is compacted, the current object is read. A lower version than
the recorded one, or the same version with other content, also proves a rewind.
A missing object proves nothing, since it may have been deleted; its resource
becomes a suspect, to be compared with a list.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from recorder.intake.ports import KnownObject
from recorder.model.errors import InputError
from recorder.model.reference import Resource
from recorder.sources.watch.client import ClusterClient
from recorder.sources.watch.errors import (
    BadAnswerError,
    CertificateError,
    ExpiredError,
    MissingError,
    RequestError,
    TooLargeError,
    UnauthorizedError,
    UnreachableError,
)
from recorder.sources.watch.frames import UNREADABLE
from recorder.sources.watch.listing import list_at, list_head
from recorder.sources.watch.sameness import may_be_same
from recorder.sources.watch.target import Target
from recorder.sources.watch.versions import is_lower, predecessor

Redact = Callable[[bytes, str], bytes]
"""Redacts a document by the rules of the log, because the known documents were
redacted too; takes the written form of its resource. May raise `InputError` if
the bytes are not a document."""

NO_ANSWER = (UnreachableError, UnauthorizedError, CertificateError)
"""Failures of the whole cluster, not of one of its resources."""

_OTHERS_MAX = 10
_PER_RESOURCE = 2

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the newest known objects showed."""

    rewound: str | None
    """The proof, as text; None if there is none."""

    suspects: Mapping[Resource, str]
    """Resources that lack a known object, each with its UID."""


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
    *,
    newest: Sequence[KnownObject],
    recent: Sequence[KnownObject],
    deleted: Sequence[KnownObject],
    redact: Redact,
) -> Verdict:
    """Read objects and compare them.

    ``newest`` are alive, newest first. ``recent`` were seen lately and may be
    gone, so only their past can prove anything. ``deleted`` have the version
    of their deletion, and must have existed before it.

    Raises:
        RequestError: too few were read to conclude anything.
    """
    settings = client.settings
    chosen = _spread(newest, settings.rewind_reads)
    jobs: list[_Read | _ReadDeleted] = [
        *(_Read(client, known, redact) for known in chosen),
        *(_Read(client, seen, redact, alive=False) for seen in recent),
        *(_ReadDeleted(client, gone) for gone in deleted),
    ]
    readings = await in_parallel(jobs, settings.rewind_readers)
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
    """Run jobs that do not raise, ``limit`` at a time; keep their order."""
    room = asyncio.Semaphore(limit)

    async def run(job: Callable[[], Awaitable[Result]]) -> Result:
        async with room:
            return await job()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run(job)) for job in jobs]
    return [task.result() for task in tasks]


def _spread(newest: Sequence[KnownObject], count: int) -> list[KnownObject]:
    """Choose the newest, and a few of other resources.

    On a large cluster the newest are all Leases, and a server that was rewound
    a while ago has renewed all of them since.
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
    alive: bool = True

    async def __call__(self) -> _Reading:
        try:
            return await self._then()
        except (ExpiredError, BadAnswerError, TooLargeError):
            # Compacted, or an extension server that cannot answer.
            return await self._now() if self.alive else _Reading()
        except RequestError as error:
            return await self._beyond(error)

    async def _then(self) -> _Reading:
        """Get the object as it was at the version that we know."""
        known = self.known
        found = await list_at(
            self.client,
            _target(self.known),
            name=known.name,
            version=known.resource_version,
        )
        if found is None:
            return _Reading(
                proof=f"{_what(self.known)} did not exist at version"
                f" {known.resource_version}, where it was seen"
            )
        return _Reading(proof=self._proof(found))

    async def _beyond(self, error: RequestError) -> _Reading:
        """Check whether the version is in the server's future."""
        if isinstance(error, NO_ANSWER):
            return _Reading(unread=error)
        version = self.known.resource_version
        try:
            head = await list_head(self.client, _target(self.known))
        except RequestError:
            return _Reading(unread=error)
        if not is_lower(head, version):
            return _Reading(unread=error)
        resource = self.known.resource
        return _Reading(proof=f"{resource} is at {head} and was at {version}")

    async def _now(self) -> _Reading:
        """Get the current object."""
        path = f"{_target(self.known).path}/{self.known.name}"
        try:
            live = await self.client.read(
                path, verb="get", what=_what(self.known)
            )
        except MissingError:
            return _Reading(missing=self.known)
        except TooLargeError:
            return _Reading()
        except RequestError as error:
            return _Reading(unread=error)
        return _Reading(proof=self._proof(live))

    def _proof(self, live: bytes) -> str | None:
        """Return how the live object shows that history was rewound.

        By a lower version, or by other content at the same one; None if
        neither is the case, or if one of the two is not readable.
        """
        known = self.known
        try:
            version = msgspec.json.decode(
                live, type=_Object
            ).metadata.resourceVersion
        except UNREADABLE:
            return None
        if is_lower(version, known.resource_version):
            return (
                f"{_what(self.known)} has version {version}"
                f" and had {known.resource_version}"
            )
        if version != known.resource_version or known.raw is None:
            return None
        try:
            redacted = self.redact(live, str(known.resource))
        except InputError:
            return None
        if may_be_same(known.raw, redacted):
            return None
        return f"{_what(self.known)} has other content at version {version}"


@dataclass(frozen=True, slots=True)
class _ReadDeleted:
    """Reads an object as it was just before its recorded deletion."""

    client: ClusterClient
    gone: KnownObject

    async def __call__(self) -> _Reading:
        gone = self.gone
        before = predecessor(gone.resource_version)
        if before is None:
            return _Reading()
        try:
            found = await list_at(
                self.client, _target(gone), name=gone.name, version=before
            )
        except RequestError:
            # The version of the delete cannot be read; the other readings show
            # whether the server responds at all.
            return _Reading()
        if found is not None:
            return _Reading()
        return _Reading(
            proof=f"{_what(gone)} did not exist before version"
            f" {gone.resource_version}, where its delete was seen"
        )


def _target(known: KnownObject) -> Target:
    namespace = known.namespace or None
    return Target(resource=known.resource, kind="", namespace=namespace)


def _what(known: KnownObject) -> str:
    name = f"{known.namespace}/{known.name}".removeprefix("/")
    return f"{known.resource} {name}"
