"""A scripted API server for the faults that a real one has only by chance.

It keeps objects with revisions, lists them in pages and streams what changes,
over plain HTTP on loopback, as closely to the real one as matters: one counter
of revisions for all resources, list items without their kind, an expired
version reported after HTTP 200, a version in the future met with silence.
Every change ever made is in `history`, the oracle of the tests that use it.

It enforces no schema, knows no authorisation beyond one token, and sends no
bookmark unless a test asks for it. ``seconds`` scales the ``timeoutSeconds``
of a watch.
"""

import asyncio
import copy
import itertools
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from tests.support.fake_api import Api, Expiry, Failure
from tests.support.fake_discovery import Kind
from tests.support.fake_stream import Stream, frame

__all__ = ["STANDARD", "Change", "Failure", "FakeCluster", "Kind", "Snapshot"]

Body = dict[str, Any]
Key = tuple[str, str, str]
"""Plural, namespace and name."""

CRD = Kind(
    "customresourcedefinitions",
    "CustomResourceDefinition",
    "apiextensions.k8s.io",
    namespaced=False,
)
STANDARD = (
    Kind("pods", "Pod"),
    Kind("nodes", "Node", namespaced=False),
    Kind("events", "Event"),
    Kind("namespaces", "Namespace", namespaced=False),
    CRD,
)


@dataclass(frozen=True)
class Change:
    """One change of one object, as etcd would remember it."""

    epoch: int
    revision: int
    type: str
    plural: str
    object: Body
    at: float = 0.0
    """When it was made, in steady time."""

    @property
    def key(self) -> tuple[int, str, str, int, bool]:
        """What makes the change unique: the key of its entry."""
        uid = self.object["metadata"]["uid"]
        deleted = self.type == "DELETED"
        return self.epoch, self.plural, uid, self.revision, deleted


@dataclass(frozen=True)
class Snapshot:
    """A backup of everything stored."""

    revision: int
    objects: dict[Key, Body]


class FakeCluster:
    """The server; use as an asynchronous context manager."""

    def __init__(
        self,
        kinds: Sequence[Kind] = STANDARD,
        *,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._steady = steady
        self.kinds = {kind.plural: kind for kind in kinds}
        self.uid, self.version = "fake-cluster-uid", "v1.36.3-fake"
        self.token: str | None = None
        """The only bearer token that is accepted; None accepts any."""

        # Faults, to be set at any time.
        self.failures: list[Failure] = []
        self.expiry: Expiry = "frame"
        """How the server reports that the version of a watch is gone."""
        self.cut_after: dict[str, int] = {}
        """Bytes after which the next watch of a resource is cut."""
        self.cut_lists: dict[str, int] = {}
        """Bytes after which the next list of a resource is cut."""
        self.late: dict[str, float] = {}
        """Seconds that each frame of a resource is on its way."""
        self.portion: int | None = None
        """The size of the pieces in which frames are written."""
        self.pause = 0.0
        """Seconds from one piece to the next."""
        self.flowing, self.answering = asyncio.Event(), asyncio.Event()
        """While one is cleared, etcd's watches or the whole process
        pause; see `fake_stream`."""
        self.flowing.set()
        self.answering.set()
        self.aggregated = self.lists_exact_versions = True
        """Whether discovery is; whether exact versions are listed."""
        self.spoils: tuple[bytes, bytes] | None = None
        """What of every frame is replaced on its way, and by what."""
        self.names_oldest_version = False
        """Whether a refusal names the version from which a watch can start."""
        self.ignores_versions = False
        """Whether it answers the current version whatever is asked for, as
        aggregated APIs may."""
        self.broken: set[str] = set()
        """Groups whose extension server is down."""
        self.seconds = 1.0

        # What happened; to be read.
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.history: list[Change] = []
        self.forgot: list[tuple[int, int]] = []
        """Epoch and revision below which watches were refused since."""
        self.epoch, self.revision = 0, 100
        self.born = ""
        """The creationTimestamp of what is put; none if empty."""
        self.compacted = self.cached_from = 0
        self.defined: dict[str, int] = {}
        """Since when kinds were defined that were not from the beginning: no
        watch of them begins before."""

        # Shared with the HTTP side.
        self.objects: dict[Key, Body] = {}
        self.frames: list[tuple[int, str, bytes]] = []
        self.streams: dict[Stream, None] = {}
        self.pages: dict[str, tuple[int, list[Body]]] = {}
        self._backup = Snapshot(0, {})
        self._uids = itertools.count(1)
        self._server: tuple[web.AppRunner | None, int] = None, 0

    @property
    def alive(self) -> bool:
        """Whether it answers."""
        return self._server[0] is not None

    async def __aenter__(self) -> Self:
        await self.up()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.down()

    async def up(self) -> None:
        """Listen, on the same port as before."""
        runner = web.AppRunner(
            Api(self).app(), shutdown_timeout=0.01, handler_cancellation=True
        )
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self._server[1]).start()
        self._server = runner, runner.addresses[0][1]

    async def down(self) -> None:
        """Die: every connection breaks, and nothing listens."""
        runner, port = self._server
        self._server = None, port
        self.flowing.set()
        self.cut()
        if runner is not None:
            await runner.cleanup()

    def kubeconfig(self, folder: Path, token: str = "none") -> Path:
        """Write a kubeconfig whose context is called ``fake``."""
        server = f"http://127.0.0.1:{self._server[1]}"
        context = {"cluster": "fake", "user": "fake"}
        config = {
            "current-context": "fake",
            "clusters": [{"name": "fake", "cluster": {"server": server}}],
            "users": [{"name": "fake", "user": {"token": token}}],
            "contexts": [{"name": "fake", "context": context}],
        }
        path = folder / "kubeconfig"
        path.write_text(json.dumps(config))
        return path

    # What happens in the cluster.

    def put(
        self,
        plural: str,
        name: str,
        *,
        namespace: str = "default",
        **body: Any,
    ) -> Body:
        """Create or update an object; gives it as stored."""
        kind = self.kinds[plural]
        key = self._key(plural, namespace, name)
        old = self.objects.get(key)
        self.revision += 1
        metadata = {"name": name, "resourceVersion": str(self.revision)}
        if self.born:
            metadata["creationTimestamp"] = self.born
        if kind.namespaced:
            metadata["namespace"] = namespace
        fresh = f"u{next(self._uids)}"
        metadata["uid"] = old["metadata"]["uid"] if old else fresh
        self.objects[key] = made = {"metadata": metadata, **body}
        self._publish("MODIFIED" if old else "ADDED", kind, made)
        return made

    def delete(
        self, plural: str, *names: str, namespace: str = "default"
    ) -> None:
        """Delete objects, all in one revision, as an expired lease does."""
        self.revision += 1
        for name in names:
            key = self._key(plural, namespace, name)
            gone = copy.deepcopy(self.objects.pop(key))
            gone["metadata"]["resourceVersion"] = str(self.revision)
            self._publish("DELETED", self.kinds[plural], gone)

    def lose(self, plural: str, name: str) -> None:
        """Delete an object without a frame, as some etcd releases did."""
        self.objects.pop(self._key(plural, "default", name))

    def add_crd(self, kind: Kind) -> None:
        """Define a kind and serve it."""
        self.kinds[kind.plural] = kind
        self.put(CRD.plural, f"{kind.plural}.{kind.group}")
        self.defined[kind.plural] = self.revision

    def remove_crd(self, plural: str) -> None:
        """Delete a kind with all its objects; its watches end."""
        for _, namespace, name in [k for k in self.objects if k[0] == plural]:
            self.delete(plural, name, namespace=namespace)
        self.end(plural)
        kind = self.kinds.pop(plural)
        self.delete(CRD.plural, f"{plural}.{kind.group}")

    def snapshot(self) -> Snapshot:
        """Make a backup."""
        return Snapshot(self.revision, copy.deepcopy(self.objects))

    def rewind(self, backup: Snapshot) -> None:
        """Restore a backup: a new epoch, whose revisions were used before.

        Every connection breaks: the servers of a real cluster are restarted.
        """
        self.epoch += 1
        self.revision, self.cached_from = backup.revision, 0
        self.objects = copy.deepcopy(backup.objects)
        self._backup = backup
        self.defined.clear()
        self.compact()
        self.cut()

    def compact(self) -> None:
        """Forget every version below the current one."""
        self.compacted = self.revision
        self.forgot.append((self.epoch, self.revision))
        self.frames.clear()
        self.pages.clear()

    def begin_caches(self) -> None:
        """Be as a server that has just started: what etcd holds is there,
        but no watch begins before now."""
        self.cached_from = self.revision
        self.forgot.append((self.epoch, self.revision))

    def then(
        self, plural: str, namespace: str, name: str, at: int
    ) -> Body | None:
        """Return an object as it was at a revision of this epoch."""
        found = self._backup.objects.get((plural, namespace, name))
        for change in self.history:
            metadata = change.object["metadata"]
            key = (
                change.plural,
                metadata.get("namespace", ""),
                metadata["name"],
            )
            if (
                change.epoch == self.epoch
                and change.revision <= at
                and key == (plural, namespace, name)
            ):
                gone = change.type == "DELETED"
                found = None if gone else change.object
        return found

    def all_then(self, at: int) -> dict[Key, Body]:
        """Return everything as it was at a revision of this epoch."""
        if at >= self.revision:
            return self.objects
        found = dict(self._backup.objects) if self.epoch else {}
        for change in self.history:
            if change.epoch == self.epoch and change.revision <= at:
                metadata = change.object["metadata"]
                namespace = metadata.get("namespace", "")
                key = change.plural, namespace, metadata["name"]
                found.pop(key, None)
                if change.type != "DELETED":
                    found[key] = change.object
        return found

    # What happens to connections.

    def watching(self, plural: str) -> int:
        """Count the open watches of a resource."""
        return sum(1 for _ in self._of(plural))

    def cut(self, plural: str | None = None) -> None:
        """Break the connections of watches, of one resource or all."""
        for stream in self._of(plural):
            self.streams.pop(stream, None)
            stream.abort()

    def vanish(self, plural: str | None = None) -> None:
        """Leave connections half open: nothing comes, not even an end."""
        for stream in self._of(plural):
            self.streams.pop(stream, None)
            stream.die()

    def end(self, plural: str | None = None) -> None:
        """End watches cleanly."""
        for stream in self._of(plural):
            self.streams.pop(stream, None)
            stream.give(0, None)

    def send(self, plural: str, data: bytes) -> None:
        """Write bytes into watches, whatever they are."""
        for stream in self._of(plural):
            stream.give(0, data)

    def bookmark(self, plural: str | None = None) -> None:
        """Send a bookmark, of the current revision if changes come."""
        for stream in self._of(plural):
            stream.mark(self.revision)

    def _of(self, plural: str | None) -> Iterator[Stream]:
        for stream in list(self.streams):
            if plural in {None, stream.kind.plural}:
                yield stream

    def _key(self, plural: str, namespace: str, name: str) -> Key:
        return plural, namespace if self.kinds[plural].namespaced else "", name

    def _publish(self, event: str, kind: Kind, made: Body) -> None:
        kept = copy.deepcopy(made)
        self.history.append(
            Change(
                self.epoch,
                self.revision,
                event,
                kind.plural,
                kept,
                self._steady(),
            )
        )
        data = frame(event, kind, made)
        if self.spoils is not None:
            data = data.replace(*self.spoils)
        self.frames.append((self.revision, kind.plural, data))
        for stream in self._of(kind.plural):
            # A version in the future is met with silence, and no error.
            if self.revision > stream.start:
                stream.give(self.revision, data)
