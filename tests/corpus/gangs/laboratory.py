"""A laboratory of gangs: ``python -m tests.corpus.gangs.laboratory [FOLDER]``.

A Job, a JobSet, a TrainJob, a PyTorchJob, an MPIJob, a RayJob and a
LeaderWorkerSet on a real control plane and real kubelets, each written by its
own operator and queued by Kueue. A node dies under them, a
person drains another, Kueue preempts them for the Job of another user, a
person suspends gangs that no queue holds, members fail by themselves, others
complete, and a person deletes the LeaderWorkerSet.

Each act is written down with the gangs that it ends and their Pods on the
node, as the API server lists them at that moment: the truth, which knows no
answer. A container runs nothing, so that Ray's dashboard does not answer:
the end of a RayJob is not played.
"""

import asyncio
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import orjson

from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.waiting import until
from tests.corpus.audit import AUDIT_OF_NODES, audit_lines, merged
from tests.corpus.gangs.controllers import all_operators
from tests.corpus.gangs.manifests import (
    APIS,
    GANG,
    MEMBERS,
    SUSPENDED,
    gang,
    runtime_of,
)
from tests.corpus.identities import machines
from tests.corpus.kueue import QUEUED, the_queues
from tests.corpus.placing import the_namespace
from tests.corpus.stage import Stage
from tests.corpus.tape_lines import raw_lines, write_raw

__all__ = ["TAPE", "TRUTH", "Expected", "Truth", "make", "read_truth"]

TAPE: Final = Path(__file__).with_name("gangs.tape.jsonl.zst")

TRUTH: Final = Path(__file__).with_name("gangs.truth.json")

AUTHOR, PREEMPTING, DRAINING, SUSPENDING, DELETING = (
    "carol@example.com",
    "bob@example.com",
    "alice@example.com",
    "dave@example.com",
    "erin@example.com",
)

CRASHED, DRAINED, SPARE = "gpu-002", "gpu-001", "gpu-003"

OFF_SECONDS: Final = 30
"""Above the grace period and the toleration: Pods are evicted meanwhile."""

PROVEN_SECONDS: Final = 60
"""Quiet streams prove themselves by bookmarks, about one a minute."""

GPUS: Final = MEMBERS * len(APIS)
"""The quota, which the queued gangs use up."""

NAMES: Final = {kind: f"{kind.lower()}-a" for kind in APIS}

HELD: Final = {kind: f"{kind.lower()}-held" for kind in SUSPENDED}

DONE: Final = {
    kind: f"{kind.lower()}-done"
    for kind in ("Job", "JobSet", "TrainJob", "PyTorchJob", "MPIJob")
}

Pods = dict[str, dict[str, str | None]]
"""Nodes of Pods, by gang."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """One ending of a gang, as the act that caused it says."""

    act: str
    workload: str
    """As ``kind/namespace/name``."""

    ended_by: str
    since: str
    until: str
    nodes: list[str]
    """Nodes on which members were struck."""

    pods: list[str]
    """The Pods that were struck, in any order."""

    author: str | None = None
    preemptor: str | None = None
    """The workload that took the GPUs, as ``Kind/namespace/name``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What was done to gangs, and where their Pods were before."""

    act: str
    ended_by: str
    since: str
    pods: Pods
    node: str | None = None
    """Only Pods on it were struck; None for all."""

    author: str | None = None
    preemptor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """What happened in the laboratory."""

    real: list[str]
    began: str
    ended: str
    expected: list[Expected]


def read_truth(path: Path = TRUTH) -> Truth:
    """Read the truth of a run."""
    found = orjson.loads(path.read_bytes())
    expected = [Expected(**one) for one in found.pop("expected")]
    return Truth(expected=expected, **found)


async def make(tape: Path = TAPE, truth: Path = TRUTH) -> None:
    """Run the laboratory, and keep its tape and its truth."""
    options = Options(
        machines=machines("gangs", 3, gpus=24),
        json_storage=False,
        audit_policy=AUDIT_OF_NODES,
    )
    with _folder() as folder:
        async with Cluster.start(folder / "cluster", options) as cluster:
            stage = Stage("gangs", "the laboratory", cluster, folder)
            async with all_operators(stage):
                found = await Laboratory(stage).run()
        (part,) = stage.parts
        lines = merged(raw_lines(part), audit_lines(cluster.audit_log))
        write_raw(tape, lines)
        written = orjson.dumps(asdict(found), option=orjson.OPT_INDENT_2)
        await asyncio.to_thread(truth.write_bytes, written + b"\n")


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder that PostgreSQL's own user may enter."""
    with tempfile.TemporaryDirectory(
        prefix="gangs-", ignore_cleanup_errors=True
    ) as name:
        Path(name).chmod(0o755)
        yield Path(name)


class Laboratory:
    """The gangs of one cluster, and what was done to them."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._expected: list[Expected] = []
        self._began = ""

    async def run(self) -> Truth:
        """Set the scene, act, and return what happened."""
        stage = self._stage
        await self._scene()
        await stage.start_recorder(
            *QUEUED, *(f"{api}/{plural}" for api, plural in _custom())
        )
        await stage.pause(3)
        self._began = _now()
        await self._completions()
        await self._node_dies()
        await self._drain()
        await self._preemption()
        await self._suspension()
        await self._own_exits()
        await self._deletion()
        ended = _now()
        await stage.pause(PROVEN_SECONDS)
        await stage.stop_recorder()
        return Truth(
            real=sorted(stage.real),
            began=self._began,
            ended=ended,
            expected=self._expected,
        )

    async def _scene(self) -> None:
        stage, api = self._stage, self._stage.api
        await the_namespace(api, "train")
        priorities = "/apis/scheduling.k8s.io/v1/priorityclasses"
        for name, value in (("low", 100), ("high", 10_000)):
            body = {"metadata": {"name": name}, "value": value}
            await api.create(priorities, body)
        others = {"cpu": "1000", "memory": "1000Gi"}
        await the_queues(stage, gpus=GPUS, others=others)
        await stage.cluster.kubectl("cordon", SPARE)
        for kind, name in NAMES.items():
            await self._create(
                kind, name, queue="gpus", suspended=kind in SUSPENDED
            )
        await self._all_run(NAMES.values())
        await stage.cluster.kubectl("uncordon", SPARE)

    async def _create(self, kind: str, name: str, **more: Any) -> None:
        """Let the author of the gangs create one."""
        bodies = [gang(kind, name, **more)]
        if kind == "TrainJob":
            runtime = runtime_of(
                name,
                queued=more.get("queue") is not None,
                seconds=more.get("seconds"),
            )
            bodies.insert(0, runtime)
        for body in bodies:
            await self._kubectl(
                AUTHOR, "create", "-f", "-", stdin=orjson.dumps(body).decode()
            )

    async def _kubectl(
        self, user: str, *arguments: str, stdin: str = ""
    ) -> str:
        cluster = self._stage.cluster
        kubeconfig = cluster.user(user, ["system:masters"])
        return await cluster.kubectl(
            *arguments, stdin=stdin, kubeconfig=kubeconfig
        )

    async def _completions(self) -> None:
        """Gangs end with success, seconds after they began."""
        for kind, name in DONE.items():
            await self._create(kind, name, seconds=12)
        await self._all_run(DONE.values(), some=True)
        pods = await self._pods()
        since = self._began

        async def completed() -> bool:
            found = [await self._get(*one) for one in DONE.items()]
            return all(_is_complete(one) for one in found)

        await until(completed, "gangs complete", seconds=90)
        await self._stage.pause(3)
        act = Played(
            act="completion", ended_by="completion", since=since, pods=pods
        )
        self._note(act, DONE)

    async def _node_dies(self) -> None:
        stage = self._stage
        pods, since = await self._pods(), _now()
        await stage.crash(CRASHED)
        await stage.pause(OFF_SECONDS)
        await stage.boot(CRASHED)
        await stage.ready(CRASHED)
        await self._again(NAMES.values())
        act = Played(
            act="crash",
            ended_by="node-failure",
            since=since,
            pods=pods,
            node=CRASHED,
        )
        self._note(act, NAMES)

    async def _drain(self) -> None:
        pods, since = await self._pods(), _now()
        await self._kubectl(
            DRAINING,
            *("drain", DRAINED, "--ignore-daemonsets", "--force"),
            "--delete-emptydir-data",
        )
        await self._again(NAMES.values())
        act = Played(
            act="drain",
            ended_by="drain",
            since=since,
            pods=pods,
            node=DRAINED,
            author=DRAINING,
        )
        self._note(act, NAMES)
        await self._kubectl(DRAINING, "uncordon", DRAINED)
        await self._stage.pause(3)

    async def _preemption(self) -> None:
        pods, since = await self._pods(), _now()
        urgent = gang("Job", "urgent", queue="gpus", suspended=True)
        job = urgent["spec"]
        job["parallelism"] = job["completions"] = GPUS
        spec = job["template"]["spec"]
        del spec["affinity"]
        spec["priorityClassName"] = "high"
        spec["containers"][0]["command"] = ["sh", "-c", "sleep 15"]
        await self._kubectl(
            PREEMPTING, "create", "-f", "-",
            stdin=orjson.dumps(urgent).decode(),
        )  # fmt: skip
        await self._all_run(["urgent"], count=GPUS)
        await self._again(NAMES.values())
        act = Played(
            act="preemption",
            ended_by="preemption",
            since=since,
            pods=pods,
            author=PREEMPTING,
            preemptor="Job/train/urgent",
        )
        self._note(act, NAMES)

    async def _suspension(self) -> None:
        for kind, name in HELD.items():
            await self._create(kind, name)
        await self._all_run(HELD.values())
        pods, since = await self._pods(), _now()
        for kind, name in HELD.items():
            await self._suspend(kind, name, "true")

        async def stopped() -> bool:
            left = await self._pods(running=True)
            return not any(left.get(name) for name in HELD.values())

        await until(stopped, "gangs are suspended", seconds=60)
        await self._stage.pause(5)
        for kind, name in HELD.items():
            await self._suspend(kind, name, "false")
        await self._all_run(HELD.values())
        act = Played(
            act="suspension",
            ended_by="suspension",
            since=since,
            pods=pods,
            author=SUSPENDING,
        )
        self._note(act, HELD)

    async def _suspend(self, kind: str, name: str, value: str) -> None:
        patch = value
        for key in reversed(SUSPENDED[kind]):
            patch = f'{{"{key}": {patch}}}'
        await self._kubectl(
            SUSPENDING,
            *("patch", f"{_resource(kind)}/{name}", "-n", "train"),
            *("--type=merge", "-p", patch),
        )

    async def _own_exits(self) -> None:
        """One member of each gang fails by itself."""
        since = _now()
        struck: Pods = {}
        for name in NAMES.values():
            pod, node = await self._member(name)
            struck[name] = {pod: node}
            machine = self._stage.machine(node)
            await machine.fail_pod("train", pod, 1, "Error")
        await self._stage.pause(30)
        act = Played(
            act="exit", ended_by="container-exit", since=since, pods=struck
        )
        self._note(act, NAMES)

    async def _deletion(self) -> None:
        kind = "LeaderWorkerSet"
        name = NAMES[kind]
        await self._all_run([name])
        pods, since = await self._pods(running=True), _now()
        await self._kubectl(
            DELETING,
            *("delete", f"{_resource(kind)}/{name}", "-n", "train"),
        )
        await self._stage.pause(8)
        act = Played(
            act="deletion",
            ended_by="deletion",
            since=since,
            pods=pods,
            author=DELETING,
        )
        self._note(act, {kind: name})

    async def _get(self, kind: str, name: str) -> dict[str, Any]:
        api, plural = APIS[kind]
        path = f"/apis/{api}/namespaces/train/{plural}/{name}"
        found: dict[str, Any] = await self._stage.api.get(path)
        return found

    async def _pods(self, *, running: bool = False) -> Pods:
        """Return where Pods of gangs are now that have not ended."""
        listed = await self._stage.api.get("/api/v1/namespaces/train/pods")
        found: Pods = {}
        for pod in listed["items"]:
            phase = pod["status"].get("phase")
            over = phase in {"Succeeded", "Failed"}
            going = "deletionTimestamp" in pod["metadata"]
            if over or (running and (going or phase != "Running")):
                continue
            name = pod["metadata"]["labels"].get(GANG, "")
            node = pod["spec"].get("nodeName")
            found.setdefault(name, {})[pod["metadata"]["name"]] = node
        return found

    async def _member(self, name: str) -> tuple[str, str]:
        """Return a running member with a GPU, and its node."""
        listed = await self._stage.api.get(
            "/api/v1/namespaces/train/pods",
            labelSelector=f"example.com/member={name}",
        )
        pods = [
            (pod["metadata"]["name"], pod["spec"]["nodeName"])
            for pod in listed["items"]
            if pod["status"].get("phase") == "Running"
            and "deletionTimestamp" not in pod["metadata"]
        ]
        return max(pods)

    async def _all_run(
        self,
        names: Iterable[str],
        *,
        count: int = MEMBERS,
        some: bool = False,
    ) -> None:
        """Wait until gangs run; with ``some``, until they have any Pod."""
        wanted = list(names)

        async def run() -> bool:
            found = await self._pods(running=True)
            enough = 1 if some else count
            return all(len(found.get(name, ())) >= enough for name in wanted)

        try:
            await until(run, f"{', '.join(wanted)} run", seconds=120)
        except TimeoutError as error:
            message = f"{error}; of {await self._pods(running=True)}"
            raise TimeoutError(message) from None

    async def _again(self, names: Iterable[str]) -> None:
        """Wait until gangs run again, and a little."""
        await self._all_run(names)
        await self._stage.pause(6)

    def _note(self, act: Played, gangs: Mapping[str, str]) -> None:
        """Expect the endings of the gangs that had Pods on the node."""
        for kind, name in gangs.items():
            struck = {
                pod: where
                for pod, where in act.pods.get(name, {}).items()
                if where is not None and act.node in {None, where}
            }
            if struck:
                self._expected.append(
                    Expected(
                        act=act.act,
                        workload=f"{_resource(kind)}/train/{name}",
                        ended_by=act.ended_by,
                        since=act.since,
                        until=_now(),
                        nodes=sorted({*struck.values()}),
                        pods=sorted(struck),
                        author=act.author,
                        preemptor=act.preemptor,
                    )
                )


def _custom() -> list[tuple[str, str]]:
    return [one for kind, one in APIS.items() if kind != "Job"]


def _resource(kind: str) -> str:
    """Return how kubectl and Recorder name a kind of one group."""
    return kind.lower()


def _is_complete(found: dict[str, Any]) -> bool:
    conditions = found.get("status", {}).get("conditions", ())
    return any(
        one["type"] in {"Complete", "Completed", "Succeeded"}
        and one["status"] == "True"
        for one in conditions
    )


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def main(arguments: list[str]) -> int:
    """Run the laboratory, into a folder or over the kept recording."""
    folder = Path(arguments[0]) if arguments else TAPE.parent
    asyncio.run(make(folder / TAPE.name, folder / TRUTH.name))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
