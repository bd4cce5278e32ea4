"""The volume of a cluster's audit log, and the cost of recording it.

A real cluster with two machines works: Deployments come, are scaled, and go, a
person reads and cordons. The shipped policy is measured with and without
reads. Its records are then written into logs of their own, in turns with
versions of a custom resource that hold the same bytes.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from bench.measuring import Number, say, server_folder
from bench.records import varied
from bench.size import inspect
from recorder.intake.committing import Policy
from recorder.intake.ports import Known, Sink, Source
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.observation import (
    AUDIT,
    WATCH,
    AuditRecorded,
    ListPage,
    Observation,
    WatchFrame,
)
from recorder.model.reference import Resource
from recorder.model.settings import Settings
from recorder.store.writer import LogSpec, Writer
from recorder.wiring.database import open_database
from tests.cluster.client import ApiClient
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines

__all__ = ["bench"]

POLICY = Path(__file__).parents[1] / "deploy/audit-policy.yaml"
ROUNDS = 6
RECORDS = 20_000
AT_ONCE = 200
"""Put in one call: half a batch of an API server."""

THINGS = Resource("example.com", "v1", "things")
KEY = b"0" * 32


@dataclass(frozen=True, slots=True)
class Volume:
    """The audit records of one policy for the same work."""

    records: Sequence[bytes]
    seconds: float

    @property
    def bytes(self) -> int:
        return sum(map(len, self.records))


def bench(runs: int) -> list[Number]:
    shipped = yaml.safe_load(POLICY.read_text())
    volumes = {
        "without reads": asyncio.run(_volume(shipped)),
        "with reads": asyncio.run(_volume(_with_reads(shipped))),
    }
    numbers = [
        number
        for name, volume in volumes.items()
        for number in _of_volume(name, volume)
    ]
    records = _many(volumes["without reads"].records)
    say(f"audit: {len(records)} records in turns with as many versions")
    rates: dict[str, list[float]] = {"records": [], "versions": []}
    sizes: Mapping[str, float] = {}
    for _ in range(runs):
        rate, sizes = asyncio.run(_written(records, AUDIT))
        rates["records"].append(rate)
        rate, _ = asyncio.run(_written(records, WATCH))
        rates["versions"].append(rate)
    pairs = zip(rates["records"], rates["versions"], strict=True)
    return [
        *numbers,
        Number(
            name="audit records into the log", unit="/s",
            values=rates["records"],
        ),
        Number(
            name="  relative to versions of the same bytes", unit="",
            values=[ours / theirs for ours, theirs in pairs],
            target=">= 1",
        ),
        Number(
            name="bytes of an audit record in the log, shipped policy",
            unit="B", values=[sum(sizes.values())], target="<= 500",
        ),
        *(
            Number(name=f"  {name}", unit="B", values=[size])
            for name, size in sizes.items()
        ),
    ]  # fmt: skip


def _of_volume(name: str, volume: Volume) -> list[Number]:
    count = len(volume.records)
    return [
        Number(
            name=f"audit records a second of two busy machines, {name}",
            unit="/s",
            values=[count / volume.seconds],
        ),
        Number(
            name=f"  bytes of one in the file, {name}",
            unit="B",
            values=[volume.bytes / count],
        ),
    ]


def _with_reads(policy: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the policy with reads, except those of all clients."""
    reads = {"level": "None", "verbs": ["get", "list", "watch"]}
    return {
        **policy,
        "rules": [
            {**rule, "level": "Metadata"} if rule == reads else rule
            for rule in policy["rules"]
        ],
    }


async def _volume(policy: Mapping[str, Any]) -> Volume:
    options = Options(machines=gpu_machines(2), audit_policy=policy)
    with server_folder() as folder:
        async with Cluster.start(folder / "cluster", options) as cluster:
            log = cluster.audit_log
            before, began = log.stat().st_size, time.monotonic()
            for number in range(ROUNDS):
                await _work(cluster, f"work-{number}")
            seconds = time.monotonic() - began
            written = log.read_bytes()[before:]
    return Volume(written.splitlines(), seconds)


async def _work(cluster: Cluster, name: str) -> None:
    """Let a Deployment come, grow, shrink and go; read, and cordon."""
    path = "/apis/apps/v1/namespaces/default/deployments"
    await cluster.api.create(path, _deployment(name))
    await asyncio.sleep(2)
    await _scale(cluster.api, f"{path}/{name}", 8)
    await cluster.kubectl("get", "pods,nodes")
    await asyncio.sleep(2)
    await cluster.kubectl("cordon", "gpu-001")
    await _scale(cluster.api, f"{path}/{name}", 2)
    await cluster.kubectl("describe", "node", "gpu-001")
    await asyncio.sleep(1)
    await cluster.kubectl("uncordon", "gpu-001")
    await cluster.api.delete(f"{path}/{name}")


async def _scale(api: ApiClient, path: str, replicas: int) -> None:
    await api.patch(path, {"spec": {"replicas": replicas}})


def _deployment(name: str) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "main", "image": "example.com/server:1"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": 4,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container]},
            },
        },
    }


def _many(records: Sequence[bytes]) -> list[bytes]:
    """Repeat records, each time as another cluster would have made them."""
    many: list[bytes] = []
    while len(many) < RECORDS:
        left = records[: RECORDS - len(many)]
        many += varied(left, f"measured {len(many)}")
    return many


class _Puts:
    """A source that puts observations, some at once."""

    finite = True

    def __init__(self, observations: Sequence[Observation]) -> None:
        self._observations = observations

    async def run(self, sink: Sink, known: Known) -> None:  # noqa: ARG002
        for first in range(0, len(self._observations), AT_ONCE):
            await sink.put(self._observations[first : first + AT_ONCE])


def _observed(records: Sequence[bytes], source: str) -> list[Observation]:
    now = datetime.now(UTC)
    if source == AUDIT:
        return [AuditRecorded(observed_at=now, event=raw) for raw in records]
    page = ListPage(
        observed_at=now,
        resource=THINGS,
        resource_version="1",
        items=[],
        more=False,
    )
    return [
        page,
        *(
            WatchFrame(
                observed_at=now,
                resource=THINGS,
                type="ADDED",
                object=b'{"apiVersion":"example.com/v1","kind":"Thing",'
                b'"metadata":{"name":"t%d","uid":"u%d","resourceVersion":'
                b'"%d"},"spec":%b}' % (number, number, number + 2, raw),
            )
            for number, raw in enumerate(records)
        ),
    ]


async def _written(
    records: Sequence[bytes], source: str
) -> tuple[float, Mapping[str, float]]:
    """Write into a new log; return entries a second, and bytes of one."""
    spec = LogSpec(
        cluster_name="bench",
        cluster_uid=source,
        kubernetes="v1",
        redaction_key_id=None,
    )
    observations = _observed(records, source)
    with server_folder() as folder:
        async with open_database(Settings(data_dir=folder)) as database:
            dsn = database.dsn("writer")
            before = await inspect(dsn)
            recording = Recording(
                Writer(dsn, spec, holder="bench"),
                Redaction(RedactionRules(), KEY),
                policy=Policy(),
            )
            puts: Source = _Puts(observations)
            began = time.perf_counter()
            await recording.run({source: puts}, asyncio.Event())
            seconds = time.perf_counter() - began
            after = await inspect(database.dsn("reader"))
    entries = recording.progress.entries
    assert entries == len(records), (entries, len(records))
    sizes = {
        part: sum(
            (after[name][place] - before.get(name, (0, 0))[place]) / entries
            for name in tables
        )
        for part, place, tables in (
            ("rows of entries", 0, ["entry"]),
            ("indices of entries", 1, ["entry"]),
            ("facts", 0, ["fact"]),
            ("indices of facts", 1, ["fact"]),
        )
    }
    return entries / seconds, sizes
