"""What happens to a cluster while its recorder is killed, and the truth of it.

Everything that makes the recorder write is in it once: lists in pages,
changes, heartbeats, a resume after a cut, an expired version with its gap, a
rewind with its epoch, a clean stop. Each part waits until the log has it, so
that what came before a compaction or a rewind was recorded, and what is a gap
is known.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

from recorder.model.entry import Operation
from tests.cluster.comparison import Version
from tests.support.fake_cluster import FakeCluster, Snapshot
from tests.support.log_rows import compared
from tests.support.read_log import WholeLog

__all__ = ["COMPARED", "Story"]

COMPARED = {("", "pods"), ("", "nodes"), ("", "events"), ("", "namespaces")}
FILLER = "".join(chr(97 + n * n % 26) for n in range(900))
REWOUND = "history rewound"


@dataclass(slots=True)
class Story:
    """One cluster, and what the log must say of it."""

    cluster: FakeCluster
    caught_up: Callable[[], Awaitable[None]]
    """Waits until the log has everything that happened."""

    _heartbeats: set[tuple[int, int]] = field(default_factory=set)
    _restored: list[Version] = field(default_factory=list)
    _backup: Snapshot | None = None
    _compacted: dict[int, int] = field(default_factory=dict)

    def populate(self) -> None:
        """Make what is there before the recording starts."""
        cluster = self.cluster
        cluster.put("namespaces", "default", namespace="")
        for number in range(3):
            cluster.put("pods", f"pod-{number}", spec={"filler": FILLER})
            self._node(f"node-{number}", beat=0)
        self._event(1)

    async def run(self) -> None:
        """Let it happen."""
        await self.caught_up()
        for part in (self._changes, self._cut, self._expiry, self._rewind):
            await part()
            await self.caught_up()

    async def _changes(self) -> None:
        cluster = self.cluster
        for turn in range(3):
            cluster.put("pods", "pod-0", spec={"filler": FILLER, "turn": turn})
        self._node("node-0", beat=10)
        self._node("node-1", beat=10, ready="False")
        self._event(2)
        cluster.put("pods", "pod-3")
        cluster.delete("pods", "pod-1", "pod-2")

    async def _cut(self) -> None:
        self.cluster.cut()
        self.cluster.put("pods", "pod-3", spec={"turn": 4})
        self._node("node-0", beat=20)

    async def _expiry(self) -> None:
        cluster = self.cluster
        self._backup = cluster.snapshot()
        cluster.put("pods", "pod-4")
        self._event(3)
        await self.caught_up()
        await cluster.down()
        cluster.put("pods", "pod-5")
        cluster.put("pods", "pod-0", spec={"filler": FILLER, "turn": 5})
        cluster.delete("pods", "pod-3")
        cluster.put("namespaces", "other", namespace="")
        self._node("node-2", beat=20, ready="False")
        cluster.compact()
        self._compacted[1] = cluster.revision
        await cluster.up()

    async def _rewind(self) -> None:
        cluster, backup = self.cluster, self._backup
        assert backup is not None, "made before the expiry"
        cluster.rewind(backup)
        self._compacted[2] = cluster.revision
        self._restored = [
            _version(2, int(body["metadata"]["resourceVersion"]), key[0], body)
            for key, body in backup.objects.items()
        ]
        cluster.put("pods", "pod-6")
        self._node("node-0", beat=30, ready="False")

    def _node(self, name: str, *, beat: int, ready: str = "True") -> None:
        before = self.cluster.objects.get(("nodes", "", name))
        condition = {
            "type": "Ready",
            "status": ready,
            "lastHeartbeatTime": f"2026-11-21T03:00:{beat:02}Z",
        }
        self.cluster.put(
            "nodes",
            name,
            namespace="",
            status={"conditions": [condition]},
        )
        if before is not None:
            was = before["status"]["conditions"][0]["status"]
            if was == ready:
                place = self.cluster.epoch, self.cluster.revision
                self._heartbeats.add(place)

    def _event(self, number: int) -> None:
        self.cluster.put(
            "events",
            f"event-{number}",
            involvedObject={"kind": "Pod", "name": "pod-0"},
            reason=f"Reason{number}",
            source={"component": "kubelet", "host": "node-0"},
        )

    def differences(self, log: WholeLog) -> list[str]:
        """Return every difference between a log and what happened."""
        return (
            compared(
                self._truth(),
                log.entries,
                log.recovered.streams,
                resources=COMPARED,
            )
            + self._undue(log)
            + self._unfinished(log)
        )

    def _undue(self, log: WholeLog) -> list[str]:
        """Return the gaps that are recorded and were none."""
        wrong = []
        for epoch, draft in log.entries:
            if draft.operation is not Operation.GAP_OPENED:
                continue
            gap = orjson.loads(draft.raw)
            if gap["reason"] == REWOUND:
                continue  # the epochs show how many there are
            before = int(gap["resource_version_before"] or 0)
            if before >= self._compacted.get(epoch, 0):
                wrong.append(f"no gap was due: {draft.resource} {gap}")
        return wrong

    def _unfinished(self, log: WholeLog) -> list[str]:
        """Return what a clean stop should not have left."""
        wrong = []
        for key, point in log.recovered.streams.items():
            if point.gap is not None:
                wrong.append(f"the gap of {key} is still open")
            if point.state != "stopped":
                wrong.append(f"{key} is {point.state}, and was stopped")
        if log.recovered.epoch != self.cluster.epoch + 1:
            wrong.append(f"the log is in epoch {log.recovered.epoch}")
        return wrong

    def _truth(self) -> list[Version]:
        versions = self._restored + [
            _version(
                change.epoch + 1,
                change.revision,
                change.plural,
                change.object,
                deleted=change.type == "DELETED",
                heartbeat=(change.epoch, change.revision) in self._heartbeats,
            )
            for change in self.cluster.history
            if ("", change.plural) in COMPARED
        ]
        return sorted(versions, key=lambda v: (v.epoch, v.revision))


def _version(
    epoch: int, revision: int, plural: str, body: dict[str, Any], **how: bool
) -> Version:
    metadata = body["metadata"]
    return Version(
        epoch=epoch,
        group="",
        resource=plural,
        namespace=metadata.get("namespace", ""),
        name=metadata["name"],
        uid=metadata["uid"],
        revision=revision,
        **how,
    )
