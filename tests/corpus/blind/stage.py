"""A stage for blind incidents, and who acts on it.

It records as the stage of the corpus does, and writes a truth of another
shape: the one of `truth`, whose labels become the times of acts.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster.client import ApiClient, trusting
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import MachineSpec
from tests.cluster.waiting import until
from tests.corpus.acting import Controller
from tests.corpus.audit import AUDIT_OF_NODES
from tests.corpus.identities import boot_id, machine_identity
from tests.corpus.stage import LAST_SECONDS, SETTLED_SECONDS, Stage
from tests.corpus.tape_lines import Lines

__all__ = [
    "STORIES",
    "BlindStage",
    "Story",
    "Writer",
    "a_machine",
    "collected",
    "controller_of",
    "define",
    "kubelet",
    "pods_on",
    "story",
    "wait_running",
    "writer",
]

AGAIN_SECONDS = 150
"""Pods of a deleted Node are collected within a minute."""


class BlindStage(Stage):
    """A cluster, its recorder, and what was done when."""

    def __init__(self, name: str, cluster: Cluster, folder: Path) -> None:
        super().__init__(name, "", cluster, folder)

    @property
    def acts(self) -> list[dict[str, str]]:
        """What was done so far, in order."""
        return [
            {"at": act.at or "", "label": act.label, "what": act.did}
            for act in self._acts
        ]

    async def boot(
        self,
        node: str,
        number: int = 2,
        *,
        label: str = "boot",
        kernel: str | None = None,
    ) -> None:
        """Boot a machine, and wait until its Node shows the boot."""
        await super().boot(node, number, label=label, kernel=kernel)
        booted = boot_id(self.name, node, number)

        async def shown() -> bool:
            found = await self.node(node)
            shows: str = found["status"]["nodeInfo"]["bootID"]
            return shows == booted

        await until(shown, f"{node} shows its boot", seconds=60)

    @asynccontextmanager
    async def recording(self, *resources: str) -> AsyncIterator[None]:
        """Record while entered."""
        await self.start_recorder(*resources)
        await self.pause(SETTLED_SECONDS)
        self.did("start", "everything is listed")
        await self.pause(1)
        yield
        await self.pause(LAST_SECONDS)
        self.did("end", "the recording ends")
        await self.pause(1)
        await self.stop_recorder()


Edit = Callable[[Lines, Mapping[str, str]], Lines]
"""Change a tape, by the times of the acts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What happens, on which cluster, and how the tape is edited."""

    name: str
    play: Callable[[BlindStage], Awaitable[None]]
    options: Options
    edit: Edit | None = None


STORIES: dict[str, Story] = {}


def a_machine(incident: str, name: str, **facts: Any) -> MachineSpec:
    """Return a machine with identities that are always the same."""
    identity = machine_identity(incident, name)
    usual: dict[str, Any] = {
        "boot_id": boot_id(incident, name, 1),
        "machine_id": identity.hex,
        "system_uuid": str(identity),
        "labels": {"topology.kubernetes.io/zone": "hall-2"},
        "status_every": "3s",
    }
    return MachineSpec(name=name, **(usual | facts))


def story(
    name: str,
    *nodes: str,
    audit: bool = False,
    edit: Edit | None = None,
    tolerate: int = 5,
    grace: str = "14s",
    **facts: Any,
) -> Callable[
    [Callable[[BlindStage], Awaitable[None]]],
    Callable[[BlindStage], Awaitable[None]],
]:
    """Register a story under a name, with the nodes that it needs."""

    def register(
        play: Callable[[BlindStage], Awaitable[None]],
    ) -> Callable[[BlindStage], Awaitable[None]]:
        STORIES[name] = Story(
            name=name,
            play=play,
            options=Options(
                machines=tuple(a_machine(name, n, **facts) for n in nodes),
                json_storage=False,
                audit_policy=AUDIT_OF_NODES if audit else None,
                toleration_seconds=tolerate,
                node_monitor_grace_period=grace,
            ),
            edit=edit,
        )
        return play

    return register


@dataclass(slots=True)
class Writer(Controller):
    """A program with a user and a field manager of its own."""

    stage: BlindStage
    api: ApiClient
    manager: str = field(default="")

    def __post_init__(self) -> None:
        Controller.__init__(self, self.stage, self.api, self.manager)

    async def replace_node(
        self, node: str, change: Callable[[dict[str, Any]], None]
    ) -> None:
        """Update a Node with PUT, as client-go's ``Update`` does."""
        found = await self.stage.node(node)
        change(found)
        await self.api.replace(
            f"/api/v1/nodes/{node}", found, fieldManager=self.manager
        )

    async def delete_pod(
        self, namespace: str, name: str, grace: int | None = None
    ) -> None:
        """Delete a Pod, with a grace period of its own if one is given."""
        query = {} if grace is None else {"gracePeriodSeconds": str(grace)}
        await self.api.delete(
            f"/api/v1/namespaces/{namespace}/pods/{name}", **query
        )


@asynccontextmanager
async def writer(
    stage: BlindStage,
    manager: str,
    user: str,
    groups: tuple[str, ...] = ("system:masters",),
    *,
    agent: str | None = None,
) -> AsyncIterator[Writer]:
    """Act as a program."""
    authority = stage.cluster.authority
    trust = trusting(
        str(authority.certificate), authority.client(user, list(groups))
    )
    agent = agent or f"{manager}/v1.4 (linux/amd64) kubernetes/$Format"
    async with ApiClient(stage.cluster.server, trust, agent=agent) as api:
        yield Writer(stage, api, manager)


@asynccontextmanager
async def kubelet(stage: BlindStage, node: str) -> AsyncIterator[Writer]:
    """Act as the kubelet of a node."""
    async with writer(
        stage,
        "kubelet",
        f"system:node:{node}",
        ("system:nodes",),
        agent="kubelet/v1.36.3 (linux/amd64) kubernetes/6a1c0b2",
    ) as acting:
        yield acting


async def define(
    stage: BlindStage, group: str, version: str, kind: str
) -> str:
    """Define a custom resource; return the path of its API."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {
        "name": version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    names = {
        "kind": kind,
        "listKind": f"{kind}List",
        "plural": plural,
        "singular": kind.lower(),
    }
    await stage.api.create(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {
                "group": group,
                "names": names,
                "scope": "Namespaced",
                "versions": [served],
            },
        },
    )
    await until(
        lambda: stage.api.answers(f"/apis/{group}/{version}/{plural}"),
        f"{kind} is served",
    )
    return f"/apis/{group}/{version}"


def controller_of(thing: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the owner references of what an object controls."""
    return [
        {
            "apiVersion": thing["apiVersion"],
            "kind": thing["kind"],
            "name": thing["metadata"]["name"],
            "uid": thing["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


async def pods_on(stage: BlindStage, node: str) -> list[dict[str, Any]]:
    """Return the Pods of a node that have not ended."""
    listed = await stage.api.get(
        "/api/v1/pods", fieldSelector=f"spec.nodeName={node}"
    )
    return [
        pod
        for pod in listed["items"]
        if pod["status"].get("phase") not in {"Failed", "Succeeded"}
    ]


async def collected(stage: BlindStage, path: str) -> None:
    """Wait until the Pod of a deleted Node is collected."""

    async def gone() -> bool:
        return not await stage.api.answers(path)

    await until(gone, f"{path} is gone", seconds=AGAIN_SECONDS, every=0.5)


async def wait_running(
    stage: BlindStage,
    namespace: str,
    selector: str,
    count: int,
    *,
    without: str = "",
) -> None:
    """Wait until so many Pods run that are not deleted, without an old one."""

    async def running() -> bool:
        listed = await stage.api.get(
            f"/api/v1/namespaces/{namespace}/pods", labelSelector=selector
        )
        runs = [
            pod
            for pod in listed["items"]
            if pod["status"].get("phase") == "Running"
            and "deletionTimestamp" not in pod["metadata"]
            and pod["metadata"]["name"] != without
        ]
        return len(runs) == count

    await until(
        running, f"{selector} runs again", seconds=AGAIN_SECONDS, every=0.5
    )
