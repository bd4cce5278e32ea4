"""Two tenants of one machine, their log, and readers of it over HTTP.

Everything of a tenant has its name in its own, and so has everything that
others may not read; what only an operator may read says so.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
import orjson

from api.app import Served
from api.resolvers.reviewing import ClusterGuard, Reviewing
from api.serving import listening
from recorder.explain.knowledge import shipped
from recorder.model.access import Person, Right
from recorder.model.observation import (
    AuditRecorded,
    Noticed,
    Observation,
    RecordsLost,
)
from recorder.model.reference import Resource
from recorder.model.settings import Settings
from recorder.wiring.reading import open_logs
from tests.api.serving import Client
from tests.support.builders import (
    EVENTS,
    NAMESPACES,
    NODES,
    PODS,
    a_frame,
    a_list,
    an_object,
    at,
)
from tests.support.written_log import LIVE, WrittenLog

__all__ = [
    "MACHINE",
    "OTHERS_MACHINE",
    "OWN_SECRET",
    "TENANTS",
    "WITHHELD",
    "Cluster",
    "Tenants",
    "a_machine",
    "served_to",
]

MACHINE = "shared-1"
OTHERS_MACHINE = "blue-machine"
"""Only Pods of blue ran there."""

WITHHELD = "withheld"
"""In all that only an operator may read."""

OWN_SECRET = "amber-withheld-token"
"""Of the namespace amber, whose reader may not get Secrets."""

SECRETS = Resource.parse("v1/secrets")
JOBS = Resource.parse("batch/v1/jobs")
TENANTS = ("amber", "blue")


def a_machine(
    name: str, version: int, *, boot: str = "1", hung: bool = False
) -> dict[str, Any]:
    """Return a Node with a document that names the images of all tenants."""
    hangs = {
        "type": "KernelDeadlock",
        "status": str(hung),
        "reason": "CPUSoftLockup" if hung else "KernelHasNoDeadlock",
        "message": "a CPU is stuck",
    }
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    images = [f"registry.example/{one}-{WITHHELD}:1" for one in TENANTS]
    node = an_object(
        name,
        version,
        spec={"providerID": f"local://{name}"},
        status={
            "conditions": [ready, hangs],
            "nodeInfo": {"bootID": f"boot-{boot}"},
            "images": [{"names": images}],
            "volumesInUse": [f"csi^{WITHHELD}-volume"],
        },
    )
    del node["metadata"]["namespace"]
    return node


def owned(namespace: str, name: str, version: int) -> dict[str, Any]:
    made = an_object(f"{namespace}-{name}", version)
    made["metadata"]["namespace"] = namespace
    return made


def a_job(namespace: str, version: int) -> dict[str, Any]:
    made = owned(namespace, "job", version)
    made["spec"] = {"parallelism": 1, "completions": 1}
    return made


def a_pod(
    namespace: str, version: int, node: str, phase: str = "Running"
) -> dict[str, Any]:
    made = owned(namespace, f"job-{node}", version)
    made["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": f"{namespace}-job",
            "uid": f"uid-{namespace}-job",
            "controller": True,
        }
    ]
    made["spec"] = {"nodeName": node, "containers": [{"name": namespace}]}
    made["status"] = {"phase": phase}
    return made


def a_namespace(name: str, version: int) -> dict[str, Any]:
    made = an_object(name, version)
    del made["metadata"]["namespace"]
    return made


def an_event_about(
    kind: str, namespace: str, name: str, version: int, message: str
) -> dict[str, Any]:
    """Return an Event about an object."""
    about = {"kind": kind, "apiVersion": "v1", "name": name}
    about["uid"] = f"uid-{name}"
    if namespace:
        about["namespace"] = namespace
    event = an_object(
        f"{name}.{version}",
        version,
        involvedObject=about,
        type="Warning",
        reason="Rebooted" if kind == "Node" else "BackOff",
        message=message,
        lastTimestamp=at(version).isoformat().replace("+00:00", "Z"),
        source={"component": "kubelet", "host": MACHINE},
    )
    event["metadata"]["namespace"] = namespace or "default"
    return event


def requested(
    number: int,
    verb: str,
    about: Mapping[str, str],
    body: Mapping[str, Any],
    user: str = f"{WITHHELD}-operator",
) -> AuditRecorded:
    """Return an audit record of a request with a body."""
    time = at(number).isoformat().replace("+00:00", "Z")
    record = {
        "auditID": f"audit-{number}",
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": user},
        "userAgent": "kubectl/v1",
        "objectRef": {"apiVersion": "v1", **about},
        "requestObject": body,
        "requestReceivedTimestamp": time,
        "stageTimestamp": time,
    }
    return AuditRecorded(observed_at=at(number), event=orjson.dumps(record))


def tenants_story() -> Iterator[list[Observation]]:
    """Yield the batches of a log: a shared machine hangs and reboots."""
    withheld = an_object(OWN_SECRET, 9)
    withheld["metadata"]["namespace"] = "amber"
    yield [
        a_list(NAMESPACES, 10, *(a_namespace(one, 1) for one in TENANTS)),
        a_list(NODES, 10, a_machine(MACHINE, 2), a_machine(OTHERS_MACHINE, 3)),
        a_list(JOBS, 10, *(a_job(one, 4) for one in TENANTS)),
        a_list(
            PODS,
            10,
            *(a_pod(one, 5, MACHINE) for one in TENANTS),
            a_pod("blue", 6, OTHERS_MACHINE),
        ),
        a_list(SECRETS, 10, withheld),
        a_list(EVENTS, 10),
    ]
    node = {"resource": "nodes", "name": MACHINE}
    lease = {
        "resource": "leases",
        "apiGroup": "coordination.k8s.io",
        "namespace": "kube-node-lease",
        "name": MACHINE,
    }
    document = a_machine(MACHINE, 20)
    yield [
        requested(20, "patch", {**node, "subresource": "status"}, document),
        requested(21, "update", lease, {"withheld": WITHHELD}),
        requested(22, "list", {"resource": "nodes"}, {"withheld": WITHHELD}),
        RecordsLost(
            observed_at=at(23),
            stream="webhook",
            reason=f"/var/log/{WITHHELD}.log could not be read",
        ),
        Noticed(
            observed_at=at(24),
            document=orjson.dumps(
                {
                    "action": "hold placed",
                    "node": MACHINE,
                    "why": f"a {WITHHELD} lawsuit",
                }
            ),
        ),
    ]
    for namespace in TENANTS:
        name, place = f"{namespace}-job-{MACHINE}", {"namespace": namespace}
        yield [
            requested(
                25,
                "create",
                {
                    **place,
                    "resource": "pods",
                    "name": name,
                    "subresource": "eviction",
                },
                {"metadata": {"name": name, **place}},
                user=f"{namespace}-owner",
            ),
            a_frame(
                EVENTS,
                "ADDED",
                an_event_about(
                    "Pod", namespace, name, 26, f"{namespace} restarts"
                ),
                when=26,
            ),
            a_frame(
                EVENTS,
                "ADDED",
                an_event_about(
                    "Node",
                    "",
                    MACHINE,
                    27 + TENANTS.index(namespace),
                    f"Pod {namespace}/{name} blocks",
                ),
                when=27,
            ),
        ]
    yield [
        a_frame(NODES, "MODIFIED", a_machine(MACHINE, 30, hung=True), when=30)
    ]
    yield [
        a_frame(NODES, "MODIFIED", a_machine(MACHINE, 60, boot="2"), when=60),
        a_frame(
            NODES,
            "MODIFIED",
            a_machine(OTHERS_MACHINE, 61, boot="2"),
            when=61,
        ),
        a_frame(
            EVENTS,
            "ADDED",
            an_event_about(
                "Node", "", MACHINE, 62, f"Node {MACHINE} rebooted"
            ),
            when=62,
        ),
        *(
            a_frame(
                PODS, "MODIFIED", a_pod(one, 63, MACHINE, "Failed"), when=63
            )
            for one in TENANTS
        ),
    ]


class Tenants(WrittenLog):
    """Appends to the log of the tenants, and holds its lease."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn, holder=f"{WITHHELD}-host/4242")

    async def begin(self, *_: str) -> None:
        """Take the lease, and append the story."""
        await self.lease()
        for batch in tenants_story():
            await self.append(*batch)


class Cluster:
    """What an API server says of people: satisfies the port `Reviews`.

    A token is a name. ``operator`` may get everything; who has namespaces,
    joined by ``+`` in the name, what the role ``view`` has there.
    """

    def __init__(self) -> None:
        self.withdrawn: set[str] = set()
        """Namespaces that may no longer be read."""

        self.asked: list[Right] = []

    async def cluster_uid(self) -> str:
        return LIVE.cluster_uid

    async def holder(self, token: str) -> Person | None:
        return Person(token)

    async def may(self, person: Person, right: Right) -> bool:
        self.asked.append(right)
        if person.name == "operator":
            return True
        own = {*person.name.split("+")} - self.withdrawn
        return right.namespace in own and right.resource != "secrets"


@asynccontextmanager
async def served_to(
    dsn: str, cluster: Cluster | None = None
) -> AsyncIterator[Client]:
    """Serve a database to who holds a token, as with `serve_kubernetes`."""
    stop = asyncio.Event()
    async with AsyncExitStack() as stack:
        logs = await stack.enter_async_context(
            open_logs(Settings(database_url=dsn))
        )
        guard = ClusterGuard(Reviewing(cluster or Cluster()), None)
        address, opening = await stack.enter_async_context(
            listening("127.0.0.1:0", guarded=True)
        )
        served = Served(logs, shipped(), guard, stop=stop)
        await stack.enter_async_context(served.running())
        opening.open(served.app(only_loopback_names=False))
        session = await stack.enter_async_context(aiohttp.ClientSession())
        try:
            yield Client(address, session)
        finally:
            stop.set()
