"""A large cluster and a storm over it, compared with etcd's own history.

``python -m bench.crowd`` makes 5,000 nodes with 20,000 pods in a real API
server, records all of it from the start, lets every node lose and regain its
readiness and changes every pod, then compares the log with what etcd kept. It
prints a line every few seconds: what was written, how far behind the log is,
the memory of the recorder. ``--hour`` is the other long run, see `hour`.
"""

import argparse
import asyncio
import json
from pathlib import Path
from typing import Any

from bench import hour
from bench.live import LIVE
from bench.measuring import machine, say, server_folder
from bench.sampling import (
    PENDING,
    Answers,
    Recorder,
    sampled,
    started,
    table,
)
from bench.storm import Clients
from recorder.model.entry import Operation
from recorder.model.reference import Resource
from tests.cluster.cluster import Cluster
from tests.cluster.comparison import RECORDED
from tests.cluster.controlplane import Options
from tests.cluster.crowd import crowd
from tests.cluster.waiting import until
from tests.support.log_rows import gap_spans, log_rows
from tests.support.read_log import read_log

__all__: list[str] = []

NODES = 5_000
PODS = 20_000
EVERY_SECONDS = 5.0
AFTER_SECONDS = 30.0
"""Of quiet at the end, in which nothing may grow."""

LEASE_SECONDS = 160
"""A kubelet's is 40; thousands of renewals would be most of what two cores
do, and are not recorded."""

OPTIONS = Options(
    node_monitor_grace_period="200s",
    toleration_seconds=900,
    etcd_compaction_interval="0",
    etcd_flags={"quota-backend-bytes": str(8 << 30)},
)


async def weather(nodes: int, pods: int) -> dict[str, Any]:
    """Run it; return the table and every difference."""
    answers = Answers()
    with server_folder() as data, server_folder() as folder:
        async with (
            Cluster.start(folder / "cluster", OPTIONS) as cluster,
            started(cluster, data) as recorder,
            sampled(cluster, recorder, answers, every=EVERY_SECONDS) as series,
        ):
            clients = Clients(cluster.kubeconfig, answers)
            await until(
                lambda: recorder.connection.fetchval(LIVE),
                "every stream is live",
                seconds=60,
            )
            series.phase = "nodes"
            async with crowd(
                cluster, nodes, seconds=1800, lease_seconds=LEASE_SECONDS
            ) as names:
                series.phase = "pods"
                await clients.make_pods(pods, names)
                series.phase = "storm"
                await clients.storm(pods, names)
                series.phase = "calming"
                await cluster.until_ready(*names, seconds=900)
                series.phase = "quiet"
                await asyncio.sleep(AFTER_SECONDS)
            series.phase = "compare"
            found = await _compared(cluster, recorder)
        return {**found, **table(series.samples)}


async def _compared(cluster: Cluster, recorder: Recorder) -> dict[str, Any]:
    """Compare the log with etcd, once it is complete."""
    through = await cluster.oracle.caught_up()
    last: dict[tuple[str, str], int] = {}
    for version in cluster.oracle.versions():
        key = (version.group, version.resource)
        if key in RECORDED and version.revision <= through:
            last[key] = version.revision

    async def complete() -> bool:
        rows = await recorder.connection.fetch(PENDING)
        seen = {}
        for name, pending in rows:
            resource = Resource.parse(name)
            seen[resource.group, resource.plural] = int(pending or 0)
        return all(seen[key] >= revision for key, revision in last.items())

    await until(complete, "the log is complete", seconds=180, every=0.5)
    log = await read_log(recorder.dsn)
    rows = [r for r in log_rows(log.entries) if r.resource != "leases"]
    spans = [
        span
        for span in gap_spans(log.entries, log.recovered.streams)
        if span.resource != "leases"
    ]
    differences = cluster.oracle.compare(rows, spans, through=through)
    gaps = sum(
        draft.operation is Operation.GAP_OPENED for _, draft in log.entries
    )
    say(f"{len(rows):,} rows compared, {len(differences)} differences")
    for difference in differences[:20]:
        say(f"  {difference}")
    return {
        "versions": len(cluster.oracle.versions()),
        "entries": len(log.entries),
        "differences": len(differences),
        "gaps": gaps,
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.crowd")
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--pods", type=int, default=PODS)
    parser.add_argument("--hour", action="store_true")
    parser.add_argument("--changes", type=int, default=hour.CHANGES)
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    name = "hour" if given.hour else "crowd"
    path = given.json or Path(f"build/bench-{name}.json")
    if given.hour:
        found = asyncio.run(hour.hour(given.changes, given.rate))
    else:
        found = asyncio.run(weather(given.nodes, given.pods))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": machine(), **found}, indent=1))
    found.pop("samples")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
