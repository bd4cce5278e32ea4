"""A source run against the fake cluster, and a sink that remembers.

`Memory` is both ends of intake as the source sees them: it takes observations
and knows what they said. It keeps one dictionary and no rules of its own.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import orjson

from recorder.intake.ports import HeldVersion, KnownObject
from recorder.intake.receipts import Receipt, Receipts
from recorder.model.observation import (
    EpochBegan,
    ListPage,
    Observation,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.sources.watch import (
    Clock,
    ClusterClient,
    Selection,
    WatchSettings,
    WatchSource,
)
from tests.support.fake_cluster import FakeCluster

PODS = Resource("", "v1", "pods")
NODES = Resource("", "v1", "nodes")
EVENTS = Resource("", "v1", "events")

FAST = WatchSettings(
    start_spread=0.01,
    watch_shortest=60,
    watch_longest=60,
    watch_proof=1,
    backoff_first=0.02,
    backoff_longest=0.1,
    watch_again=0.02,
    refused_again=0.1,
    refusal_patience=0.3,
    walk_time=0,
    walk_first_time=0,
    rediscover_every=30,
    rediscover_after=(0.02, 0.1),
    rewind_gather=0.01,
    rewind_pause=0.02,
    reconcile_every=3600,
    reconcile_wait=2,
    clock_tick=0.05,
    credentials_age=0.05,
)
"""Every wait short enough for a test, every rule as it is in life."""

Kept = TypeVar("Kept", bound=Observation)


class Memory:
    """A sink, and what the log knows."""

    def __init__(self, resume: Mapping[Resource, str] | None = None) -> None:
        self.seen: list[Observation] = []
        self.resume = dict(resume or {})
        self.objects: dict[tuple[Resource, str], KnownObject] = {}
        self.versions_held: dict[Resource, set[int]] = defaultdict(set)
        self._listed: dict[Resource, tuple[str, set[str]]] = {}
        self.room = asyncio.Event()
        self.room.set()
        self.is_waited_for = False
        self._moved = asyncio.Event()

    async def put(self, observations: Sequence[Observation]) -> Receipt:
        self.is_waited_for = not self.room.is_set()
        await self.room.wait()
        for observation in observations:
            self.seen.append(observation)
            self._learn(observation)
        self._moved.set()
        return Receipt(Receipts())

    def resume_points(self) -> Mapping[str, str]:
        return {str(resource): at for resource, at in self.resume.items()}

    def is_new(self, resource: Resource) -> bool:
        return resource not in self.resume

    def entered(self, resource: Resource) -> str | None:
        return self.resume.get(resource)

    async def owned(self) -> Mapping[str, Sequence[int]]:
        return {}

    async def newest(self, count: int) -> Sequence[KnownObject]:
        found = sorted(
            self.objects.values(),
            key=lambda known: int(known.resource_version),
        )
        return found[::-1][:count]

    async def versions(self, resource: Resource) -> Mapping[str, HeldVersion]:
        return {
            uid: HeldVersion(
                known.namespace, known.name, known.resource_version
            )
            for (of, uid), known in self.objects.items()
            if of == resource
        }

    async def lacking(
        self, resource: Resource, versions: Sequence[int]
    ) -> Sequence[int]:
        return sorted(set(versions) - self.versions_held[resource])

    def of(
        self, kind: type[Kept], resource: Resource | None = None
    ) -> list[Kept]:
        return [
            o
            for o in self.seen
            if isinstance(o, kind)
            and (resource is None or getattr(o, "resource", None) == resource)
        ]

    def frames(
        self, resource: Resource, *, recovered: bool = False
    ) -> list[tuple[str, str, str]]:
        """Return type, name and version of every frame, bookmarks left out."""
        found = []
        for frame in self.of(WatchFrame, resource):
            if frame.type != "BOOKMARK" and frame.recovered == recovered:
                metadata = orjson.loads(frame.object)["metadata"]
                name, version = metadata["name"], metadata["resourceVersion"]
                found.append((frame.type, name, version))
        return found

    def marks(self, resource: Resource) -> list[str]:
        """Return the version of every bookmark."""
        return [
            orjson.loads(frame.object)["metadata"]["resourceVersion"]
            for frame in self.of(WatchFrame, resource)
            if frame.type == "BOOKMARK"
        ]

    async def until(
        self, condition: Callable[[], object], within: float = 30.0
    ) -> None:
        """Wait until something holds of what was put."""
        try:
            async with asyncio.timeout(within):
                while not condition():
                    self._moved.clear()
                    try:
                        async with asyncio.timeout(0.05):
                            await self._moved.wait()
                    except TimeoutError:
                        continue
        except TimeoutError:
            lines = "\n".join(str(o)[:200] for o in self.seen[-40:])
            msg = f"never came true; last seen:\n{lines}"
            raise AssertionError(msg) from None

    def _learn(self, observation: Observation) -> None:
        if isinstance(observation, EpochBegan):
            self.objects.clear()
            self.versions_held.clear()
        if isinstance(observation, ListPage):
            self._page(observation)
        if isinstance(observation, WatchFrame):
            self._frame(observation)

    def _page(self, page: ListPage) -> None:
        version, listed = page.resource_version, self._listed
        before, uids = listed.get(page.resource, ("", set[str]()))
        uids = uids if before == version else set()
        uids |= {self._hold(page.resource, item) for item in page.items}
        listed[page.resource] = version, uids
        for key in [k for k in self.objects if k[0] == page.resource]:
            if not page.more and key[1] not in uids:
                del self.objects[key]

    def _frame(self, frame: WatchFrame) -> None:
        if frame.type == "DELETED":
            uid = orjson.loads(frame.object)["metadata"]["uid"]
            self.objects.pop((frame.resource, uid), None)
        elif frame.type != "BOOKMARK":
            self._hold(frame.resource, frame.object)

    def _hold(self, resource: Resource, raw: bytes) -> str:
        metadata: dict[str, Any] = orjson.loads(raw)["metadata"]
        self.versions_held[resource].add(int(metadata["resourceVersion"]))
        self.objects[resource, metadata["uid"]] = KnownObject(
            resource=resource,
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            uid=metadata["uid"],
            resource_version=metadata["resourceVersion"],
            raw=raw,
        )
        return str(metadata["uid"])


def make_client(
    fake: FakeCluster,
    folder: Path,
    *,
    settings: WatchSettings = FAST,
    clock: Clock | None = None,
) -> ClusterClient:
    path = fake.kubeconfig(folder, fake.token or "any")
    return ClusterClient.from_kubeconfig(
        str(path), settings=settings, clock=clock
    )


@asynccontextmanager
async def recording(
    fake: FakeCluster,
    folder: Path,
    memory: Memory,
    *,
    settings: WatchSettings = FAST,
    selection: Selection | None = None,
    clock: Clock | None = None,
) -> AsyncIterator[ClusterClient]:
    """Run a source while the body runs; cancel it then."""
    client = make_client(fake, folder, settings=settings, clock=clock)
    source = WatchSource(
        client,
        cluster_uid=fake.uid,
        redact=lambda document, _: document,
        selection=selection,
        jitter=random.Random(1),
    )
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(source.run(memory, memory))
            yield client
            task.cancel()
    finally:
        await client.close()
