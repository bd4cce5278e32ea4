"""A stage: one cluster, on which an incident happens and is recorded.

An incident sets its scene, says what is to be concluded from what it is about
to do, and only then records and acts. The truth is written when recording
begins; afterwards only the times of the acts are filled in.

This drives the cluster and the recorder. What happens, and what is true of
it, is the incident's (`incidents`).
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from recorder.model.errors import InputError
from recorder.model.observation import ListPage
from recorder.sources.tape import TapeReader
from tests.cluster.cluster import Cluster
from tests.cluster.machines import Machine
from tests.cluster.processes import PartFailedError
from tests.cluster.waiting import until
from tests.corpus.expecting import Expecting
from tests.corpus.identities import boot_id
from tests.corpus.recording import RecorderProcess, named_context
from tests.corpus.truth import Act, TruthError, problems, write_truth

__all__ = ["Stage"]

SETTLED_SECONDS = 3
"""Between the lists and the first act, so that they are distinguishable."""

LAST_SECONDS = 4
"""What the last act leaves behind arrives within this time."""

LISTS = frozenset(
    {
        "v1/nodes",
        "v1/events",
        "v1/pods",
        "batch/v1/jobs",
        "apps/v1/daemonsets",
        "coordination.k8s.io/v1/leases",
        "apiextensions.k8s.io/v1/customresourcedefinitions",
    }
)
"""What is on a tape once everything is, but for custom resources."""


class Stage(Expecting):
    """A cluster, its recorder, and what is being said of both."""

    def __init__(
        self, name: str, says: str, cluster: Cluster, folder: Path
    ) -> None:
        super().__init__(name, says, cluster.options)
        self.cluster = cluster
        self.api = cluster.api
        self.folder = folder
        self._parts: list[Path] = []
        self._recorder: RecorderProcess | None = None

    @property
    def truth_file(self) -> Path:
        """Where the truth is written."""
        return self.folder / f"{self.name}.truth.json"

    @property
    def parts(self) -> Sequence[Path]:
        """The recordings, in order; one unless the recorder was stopped."""
        return self._parts

    def machine(self, node: str) -> Machine:
        """Return the machine under a node."""
        return self.cluster.machines[node]

    @asynccontextmanager
    async def recording(self, *resources: str) -> AsyncIterator[None]:
        """Write the truth, and record while entered.

        ``resources`` are custom ones that must be listed before it begins.
        """
        self._write_truth()
        before = msgspec.json.encode(self.timeless())
        await self.start_recorder(*resources)
        await self.pause(SETTLED_SECONDS)
        self.did("start", "everything is listed")
        await self.pause(1)
        yield
        await self.pause(LAST_SECONDS)
        self.did("end", "the recording ends")
        await self.pause(1)
        await self.stop_recorder()
        assert msgspec.json.encode(self.timeless()) == before, (
            "the truth is written before it happens"
        )
        self._write_truth()

    def _write_truth(self) -> None:
        truth = self.truth()
        found = problems(truth)
        if found:
            raise TruthError("; ".join(found))
        write_truth(self.truth_file, truth)

    async def start_recorder(self, *resources: str, **settings: str) -> None:
        """Start the recorder, and wait until it has listed.

        ``settings`` are environment variables without their prefix.
        """
        tape = self.folder / f"part-{len(self._parts)}.tape.jsonl"
        self._parts.append(tape)
        kubeconfig = await asyncio.to_thread(
            named_context,
            self.cluster.kubeconfig,
            self.name,
            self.folder / "kubeconfig",
        )
        self._recorder = RecorderProcess(
            ["record", "--tape", str(tape)],
            {
                "RECORDER_KUBECONFIG": str(kubeconfig),
                "RECORDER_DATA_DIR": str(self.folder / "data"),
                "RECORDER_HEALTH_LISTEN": "127.0.0.1:0",
                **{f"RECORDER_{k.upper()}": v for k, v in settings.items()},
            },
        )
        await self._recorder.start()
        wanted = LISTS | set(resources)
        process = self._recorder._process

        async def listed_or_ended() -> bool:
            assert process is not None
            ended = process.returncode is not None
            return ended or await asyncio.to_thread(_has_listed, tape, wanted)

        await until(
            listed_or_ended, "everything is listed", seconds=120, every=0.5
        )
        if process is not None and process.returncode is not None:
            await self.stop_recorder()

    async def stop_recorder(self) -> None:
        """Stop the recorder, and see that it went well."""
        assert self._recorder is not None
        status = await self._recorder.stop()
        if status != 0:
            raise PartFailedError(self._recorder.said)

    def did(self, label: str, did: str) -> None:
        """Note that something is done now: said before it is."""
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        at = at.replace("+00:00", "Z")
        self.note(Act(label=label, did=did, at=at))

    async def pause(self, seconds: float) -> None:
        """Let time pass: an incident takes its time."""
        await asyncio.sleep(seconds)

    async def crash(self, *nodes: str, label: str = "crash") -> None:
        """Let machines lose power in the same moment."""
        self.did(label, f"{', '.join(nodes)}: the machine dies")
        async with asyncio.TaskGroup() as group:
            for node in nodes:
                group.create_task(self.machine(node).crash())

    async def boot(
        self,
        node: str,
        number: int = 2,
        *,
        label: str = "boot",
        kernel: str | None = None,
    ) -> None:
        """Boot a machine that is off, with a boot id known before."""
        machine = self.machine(node)
        if kernel is not None:
            machine.kubelet.flags["kernel-version"] = kernel
        self.did(label, f"{node}: the machine boots")
        await machine.boot(boot_id(self.name, node, number))

    async def power_cycle(
        self, node: str, off: float, *, label: str = "crash"
    ) -> None:
        """Let a machine lose power, and boot after so many seconds."""
        await self.crash(node, label=label)
        await self.pause(off)
        await self.boot(node)
        await self.ready(node)

    async def ready(self, *nodes: str) -> None:
        """Wait until nodes are Ready, without the lifecycle's taints."""
        await self.cluster.until_ready(*nodes, seconds=90)

    async def node(self, name: str) -> dict[str, Any]:
        """Return a Node as it is now."""
        node: dict[str, Any] = await self.api.get(f"/api/v1/nodes/{name}")
        return node

    async def is_gone(self, path: str) -> None:
        """Wait until an object is not there."""

        async def gone() -> bool:
            return not await self.api.answers(path)

        await until(gone, f"{path} is gone", seconds=60)

    async def is_unknown(self, *nodes: str) -> None:
        """Wait until the control plane has given nodes up."""

        async def unknown() -> bool:
            found = [await self.node(name) for name in nodes]
            return all(_ready(node) == "Unknown" for node in found)

        await until(unknown, f"{nodes} are Unknown", seconds=60)


def _ready(node: dict[str, Any]) -> str:
    found: str = next(
        condition["status"]
        for condition in node["status"]["conditions"]
        if condition["type"] == "Ready"
    )
    return found


def _has_listed(tape: Path, wanted: set[str] | frozenset[str]) -> bool:
    """Whether a tape that is being written holds lists of resources."""
    found = set()
    try:
        with TapeReader(tape) as reader:
            for _, observation in reader.frames():
                if isinstance(observation, ListPage) and not observation.more:
                    found.add(str(observation.resource))
    except InputError:
        pass  # within a line that is being written, or not there yet
    return wanted <= found
