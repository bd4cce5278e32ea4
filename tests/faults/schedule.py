"""Fault schedules: a seed decides what the cluster does and what breaks.

A schedule runs the real watch source and the real intake against the fake
cluster, breaks whatever it can, brings everything back, and then asks whether
the log tells the cluster's whole history, once, in order, with gaps only
where the history was really lost. The oracle is the fake's own history.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from recorder.errors import RecorderError
from recorder.intake.committing import Policy
from recorder.intake.recording import Recording
from recorder.model.observation import WATCH
from recorder.redact import Redaction, RedactionRules
from recorder.sources.watch import ClusterClient, WatchSource
from tests.cluster.comparison import Version, differences
from tests.support.fake_cluster import Failure, FakeCluster, Snapshot
from tests.support.log_rows import gap_spans, log_rows, over_rewinds
from tests.support.memory_log import MemoryLog, MemoryWriter
from tests.watch.watching import FAST

__all__ = ["Schedule"]

COMPARED = {("", "pods"), ("", "nodes"), ("", "events"), ("", "namespaces")}
PLURALS = ("pods", "nodes", "events")
POLICY = Policy(
    linger=timedelta(milliseconds=5),
    idle=timedelta(milliseconds=50),
    retry_min=timedelta(milliseconds=5),
    retry_max=timedelta(milliseconds=20),
)
REDACTION = Redaction(RedactionRules(), b"0" * 32)
SETTLE_SECONDS = 20.0


class Schedule:
    """One seeded story of a cluster, a recorder and their misfortunes."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed = seed
        self._random = random.Random(seed)
        self._folder = folder
        self._cluster = FakeCluster()
        self._log = MemoryLog()
        self._writer: MemoryWriter | None = None
        self._task: asyncio.Task[None] | None = None
        self._backup: Snapshot | None = None
        self._restored: list[Version] = []
        self._written = 0
        self.happened: list[str] = []

    async def run(self, steps: int = 40) -> list[str]:
        """Play the schedule; give every difference from the truth."""
        async with self._cluster, asyncio.TaskGroup() as group:
            self._group = group
            self._populate()
            self._start()
            for _ in range(steps):
                await self._step()
            await self._recover()
            await self._kill()
        return self._differences()

    def _populate(self) -> None:
        self._cluster.put("namespaces", "default", namespace="")
        for number in range(5):
            self._cluster.put("pods", f"pod-{number}")
            self._cluster.put("nodes", f"node-{number}", namespace="")

    async def _step(self) -> None:
        steps: list[tuple[int, Callable[[], Any]]] = [
            (30, self._write),
            (6, self._delete),
            (4, self._cluster.bookmark),
            (4, self._cut),
            (3, self._cluster.end),
            (3, self._compact),
            (3, self._log_fault),
            (2, self._cut_soon),
            (2, self._api_server_restart),
            (2, self._stall),
            (2, self._failing),
            (3, self._recorder_restart),
            (1, self._save),
            (1, self._restore),
            (1, self._garbage),
        ]
        weights = [weight for weight, _ in steps]
        _, step = self._random.choices(steps, weights)[0]
        self.happened.append(step.__name__.lstrip("_"))
        done = step()
        if isinstance(done, Awaitable):
            await done
        await asyncio.sleep(self._random.choice([0, 0, 0.001, 0.01, 0.05]))

    def _write(self) -> None:
        for _ in range(self._random.choice([1, 1, 3, 20])):
            self._written += 1
            plural = self._random.choice(PLURALS)
            name = f"{plural}-{self._random.randrange(8)}"
            if plural == "events":
                name = f"event-{self._written}"
            namespace = "" if plural == "nodes" else "default"
            self._cluster.put(
                plural,
                name,
                namespace=namespace,
                spec={"n": self._written},
            )

    def _delete(self) -> None:
        keys = [key for key in self._cluster.objects if key[0] in PLURALS]
        if keys:
            plural, namespace, name = self._random.choice(sorted(keys))
            self._cluster.delete(plural, name, namespace=namespace)

    def _cut(self) -> None:
        self._cluster.cut(self._random.choice([None, *PLURALS]))

    def _cut_soon(self) -> None:
        plural = self._random.choice(PLURALS)
        self._cluster.cut_after[plural] = self._random.randrange(1, 900)

    def _compact(self) -> None:
        self._cluster.compact()
        self._cluster.expiry = self._random.choice(["frame", "status"])

    def _log_fault(self) -> None:
        if self._writer is not None:
            fates = ["lost", "silent", "lost"]
            self._writer.faults += self._random.choices(fates, k=2)

    async def _api_server_restart(self) -> None:
        await self._cluster.down()
        if self._random.random() < 0.5:
            self._write()
        if self._random.random() < 0.3:
            self._cluster.compact()
        await asyncio.sleep(self._random.choice([0, 0.05]))
        await self._cluster.up()

    async def _stall(self) -> None:
        self._cluster.flowing.clear()
        self._write()
        await asyncio.sleep(0.02)
        self._cluster.flowing.set()

    def _failing(self) -> None:
        self._cluster.failures.append(
            Failure(
                self._random.choice([401, 403, 429, 500, 503]),
                times=self._random.randrange(1, 4),
            )
        )

    def _garbage(self) -> None:
        self._cluster.send("pods", b'{"type":"WHAT","object":{}}\n')

    def _save(self) -> None:
        self._backup = self._cluster.snapshot()

    def _restore(self) -> None:
        if self._backup is None or not self._would_notice():
            return
        self._cluster.rewind(self._backup)
        self._restored += [
            _version(
                self._cluster.epoch,
                int(body["metadata"]["resourceVersion"]),
                key[0],
                body,
            )
            for key, body in self._backup.objects.items()
        ]

    def _would_notice(self) -> bool:
        """Whether the rewind takes away anything that the log has seen.

        Another rewind before the first was noticed, or one of nothing but
        what the recorder never saw, cannot be told from none.
        """
        assert self._backup is not None
        newest = max(
            (int(p.pending or 0) for p in self._log.streams.values()),
            default=0,
        )
        noticed = self._log.epoch == self._cluster.epoch + 1
        return noticed and newest > self._backup.revision

    async def _recorder_restart(self) -> None:
        await self._kill()
        if self._random.random() < 0.3:
            self._write()
        if self._random.random() < 0.2:
            self._cluster.compact()
        await asyncio.sleep(0)
        self._start()

    def _start(self) -> None:
        self._writer = MemoryWriter(self._log)
        self._task = self._group.create_task(self._record(self._writer))

    async def _kill(self) -> None:
        """As SIGKILL would: nothing in hand is committed."""
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _record(self, writer: MemoryWriter) -> None:
        client = ClusterClient.from_kubeconfig(
            str(self._cluster.kubeconfig(self._folder)), settings=FAST
        )
        source = WatchSource(
            client,
            cluster_uid=self._cluster.uid,
            redact=lambda raw, name: REDACTION.document(raw, resource=name),
            jitter=random.Random(self._random.random()),
        )
        recording = Recording(writer, REDACTION, policy=POLICY)
        try:
            await recording.run(lambda _: source, asyncio.Event())
        except RecorderError as exc:
            self.happened.append(f"the recorder failed: {exc}")
            raise
        finally:
            with suppress(asyncio.CancelledError):
                await client.close()

    async def _recover(self) -> None:
        """Bring everything back and wait until the log has caught up."""
        self._cluster.failures.clear()
        self._cluster.cut_after.clear()
        self._cluster.flowing.set()
        self._cluster.put("pods", "the-last-one")
        async with asyncio.timeout(SETTLE_SECONDS):
            while not self._caught_up():
                self._cluster.bookmark()
                await asyncio.sleep(0.02)

    def _caught_up(self) -> bool:
        points = {
            resource: point
            for (source, resource), point in self._log.streams.items()
            if source == WATCH
        }
        wanted = [f"v1/{plural}" for _, plural in COMPARED]
        return self._log.epoch == self._cluster.epoch + 1 and all(
            name in points
            and points[name].gap is None
            and points[name].completed is not None
            and int(points[name].completed or 0) >= self._cluster.revision
            for name in wanted
        )

    def _differences(self) -> list[str]:
        truth = self._truth()
        rows, wrong = over_rewinds(log_rows(self._log.entries), truth)
        return wrong + differences(
            truth,
            rows,
            gap_spans(self._log.entries, self._log.streams),
            resources=COMPARED,
        )

    def _truth(self) -> list[Version]:
        versions = self._restored + [
            _version(
                change.epoch,
                change.revision,
                change.plural,
                change.object,
                deleted=change.type == "DELETED",
            )
            for change in self._cluster.history
            if ("", change.plural) in COMPARED
        ]
        return sorted(versions, key=lambda v: (v.epoch, v.revision))


def _version(
    epoch: int,
    revision: int,
    plural: str,
    body: dict[str, Any],
    *,
    deleted: bool = False,
) -> Version:
    metadata = body["metadata"]
    return Version(
        epoch=epoch + 1,
        group="",
        resource=plural,
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        uid=metadata["uid"],
        revision=revision,
        deleted=deleted,
    )
