"""The oracle: what really happened in a cluster, by etcd's own account.

It tails etcd, not the API server, and shares no code with what is tested: the
watch cache, a decoder or a rule for heartbeats that were wrong in both would
agree with themselves. Every key is watched from before the API server's first
write, so that every revision is seen and being behind can be noticed.

A restore of etcd begins a new epoch: revisions count anew, and what exists
then is listed as its state. `comparison` says what a log has to agree with.
"""

import asyncio
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Self

import aiohttp
import orjson

from tests.cluster.comparison import GapSpan, LogRow, Version, differences
from tests.cluster.etcd import Etcd, EtcdError
from tests.cluster.waiting import until

__all__ = ["GapSpan", "LogRow", "Oracle", "OracleError", "Version"]

PREFIX = "/registry/"

ODD_FOLDERS = {
    "minions": "nodes",
    "controllers": "replicationcontrollers",
    "ingress": "ingresses",
    "services/specs": "services",
    "services/endpoints": "endpoints",
}
"""Folders of etcd that are not called as the resource is."""

NO_OBJECTS = {"ranges", "masterleases", "peerserverleases"}
"""Folders of the API server's own bookkeeping."""

RECONNECT_SECONDS = 0.05

CATCH_UP_SECONDS = 30


class OracleError(Exception):
    """The oracle itself failed, so nothing can be compared with it."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The newest version of a key, for its delete and its heartbeats."""

    version: Version
    without_heartbeat: Any
    """The object without what a heartbeat changes; None if it has none."""


class Oracle:
    """Every version of every object, in the order of etcd.

    Use it as a context manager: it follows from the start of the block.
    """

    def __init__(self, etcd: Etcd) -> None:
        self._etcd = etcd
        self._group = asyncio.TaskGroup()
        self._tail: asyncio.Task[None] | None = None
        self._versions: list[Version] = []
        self._known: dict[str, _Known] = {}
        self._failures: list[str] = []
        self.seen_at: dict[tuple[int, int], datetime] = {}
        """When each revision of an epoch was delivered by etcd."""

        self.epoch = 0
        self.revision = 0
        """Everything up to this revision of the epoch has been seen."""

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        await self.begin_epoch()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stop_tail()
        await self._group.__aexit__(None, None, None)

    def versions(
        self,
        resource: str | None = None,
        *,
        namespace: str | None = None,
        name: str | None = None,
    ) -> list[Version]:
        """Return versions in the order of etcd, of one resource or all."""
        return [
            version
            for version in self._versions
            if resource in {None, version.resource}
            and namespace in {None, version.namespace}
            and name in {None, version.name}
        ]

    async def caught_up(self) -> int:
        """Wait until all that etcd holds now is seen; return its revision.

        Raises:
            OracleError: The oracle failed, now or before.
        """
        self._raise_failure()
        newest = await self._etcd.revision()
        await until(
            lambda: bool(self._failures) or self.revision >= newest,
            f"the oracle saw revision {newest}",
            seconds=CATCH_UP_SECONDS,
            every=0.01,
        )
        self._raise_failure()
        return newest

    def compare(
        self,
        rows: Iterable[LogRow],
        gaps: Iterable[GapSpan] = (),
        *,
        resources: Collection[tuple[str, str]] | None = None,
        through: int | None = None,
        full_fidelity: bool = False,
    ) -> list[str]:
        """Return how a log differs from the truth; see `comparison`.

        Raises:
            OracleError: The oracle failed.
        """
        self._raise_failure()
        return differences(
            self._versions,
            rows,
            gaps,
            resources=resources,
            through=through,
            full_fidelity=full_fidelity,
        )

    async def end_epoch(self) -> None:
        """See the last of a history; call it before etcd is stopped."""
        await self.caught_up()
        await self._stop_tail()

    async def begin_epoch(self) -> None:
        """Follow etcd's history from its state now on, as a new epoch."""
        self.epoch += 1
        self._known.clear()
        self.revision, state = await self._etcd.everything()
        for kv in sorted(state, key=lambda kv: kv.revision):
            self._saw(kv.key, kv.value, kv.revision)
        self._tail = self._group.create_task(self._follow())

    async def _follow(self) -> None:
        """Watch for ever; etcd may be away for a while, or paused."""
        while True:
            with suppress(aiohttp.ClientError, OSError):
                try:
                    await self._watch()
                except EtcdError as error:
                    self._failures.append(str(error))
                    return
            await asyncio.sleep(RECONNECT_SECONDS)

    async def _watch(self) -> None:
        async for watched in self._etcd.watch(after=self.revision):
            for change in watched.changes:
                self._saw(change.key, change.value, change.revision)
            if watched.changes:
                self.revision = watched.changes[-1].revision

    def _saw(self, key: str, value: bytes | None, revision: int) -> None:
        self.seen_at.setdefault((self.epoch, revision), datetime.now(UTC))
        place = _place(key)
        if place is None:
            return
        if value is None:
            known = self._known.pop(key, None)
            if known is None:
                self._failures.append(f"{key} deleted, but never seen")
                return
            self._versions.append(known.version.as_deleted(revision))
            return
        try:
            body = orjson.loads(value)
            group, _, _ = body["apiVersion"].rpartition("/")
            uid = body["metadata"]["uid"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            self._failures.append(f"{key} at {revision}: {error!r}")
            return
        plural, namespace, name = place
        rest = _without_heartbeat(plural, body)
        before = self._known.get(key)
        version = Version(
            epoch=self.epoch,
            group=group,
            resource=plural,
            namespace=namespace,
            name=name,
            uid=uid,
            revision=revision,
            heartbeat=rest is not None
            and before is not None
            and before.without_heartbeat == rest,
        )
        self._known[key] = _Known(version, rest)
        self._versions.append(version)

    async def _stop_tail(self) -> None:
        if self._tail is not None:
            self._tail.cancel()
            with suppress(asyncio.CancelledError):
                await self._tail
            self._tail = None

    def _raise_failure(self) -> None:
        if self._failures:
            raise OracleError("; ".join(self._failures[:5]))


def _place(key: str) -> tuple[str, str, str] | None:
    """Return resource, namespace and name of a key, or None for no object.

    Keys are ``/registry/RESOURCE/[NAMESPACE/]NAME``, with the group before
    the resource where it is not one of the oldest. Custom resources always
    have it.
    """
    if not key.startswith(PREFIX):
        return None
    folder, *rest = key.removeprefix(PREFIX).split("/")
    if folder in NO_OBJECTS or not rest:
        return None
    if f"{folder}/{rest[0]}" in ODD_FOLDERS:
        folder = f"{folder}/{rest.pop(0)}"
    elif "." in folder:
        folder = rest.pop(0)
    match rest:
        case [name]:
            return ODD_FOLDERS.get(folder, folder), "", name
        case [namespace, name]:
            return ODD_FOLDERS.get(folder, folder), namespace, name
        case _:
            return None


def _without_heartbeat(plural: str, body: dict[str, Any]) -> Any:
    """Return a Node or Lease without all that a heartbeat may change.

    What is left equals the same of the version before exactly if this one is
    a heartbeat. Other kinds have none.
    """
    if plural not in {"nodes", "leases"}:
        return None
    rest = dict(body)
    rest["metadata"] = {
        name: value
        for name, value in body["metadata"].items()
        if name not in {"resourceVersion", "managedFields"}
    }
    rest["metadata"]["managedFields"] = [
        {name: value for name, value in field.items() if name != "time"}
        for field in body["metadata"].get("managedFields", ())
    ]
    if plural == "leases":
        rest["spec"] = dict(body.get("spec", {}))
        rest["spec"].pop("renewTime", None)
        return rest
    rest["status"] = dict(body.get("status", {}))
    rest["status"].pop("images", None)
    rest["status"]["conditions"] = [
        {n: v for n, v in condition.items() if n != "lastHeartbeatTime"}
        for condition in body.get("status", {}).get("conditions", ())
    ]
    return rest
