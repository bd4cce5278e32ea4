"""The cost of the audit webhook for clients of the API server.

One API server, which writes its audit log to a file in any case. In turns of
one run it sends its records to a recorder, sends them nowhere, and sends them
to a recorder that was stopped with SIGSTOP, so that each batch hangs. A few
clients write at a steady rate meanwhile, and time every write.
"""

import asyncio
import json
import os
import re
import signal
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

from bench.auditing import POLICY
from bench.listing import process
from bench.measuring import Number, cpu_seconds, say, server_folder
from bench.requesting import JSON, Connection, connections
from recorder.model.settings import Settings
from recorder.wiring.database import open_database
from tests.cluster.certificates import kubeconfig
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options

__all__ = ["bench"]

CLIENTS = 4
RATE = 100.0
SECONDS = 15.0
WARM_UP_SECONDS = 3.0
PATH = "/api/v1/namespaces/default/configmaps"


class Turn(NamedTuple):
    """One turn of a run."""

    p99: float
    """Of the writes, in milliseconds."""

    cpu: float
    """Of the API server, for a write, in milliseconds."""

    memory: float
    """Of the API server at its end, in MiB."""


def bench(runs: int) -> list[Number]:
    with server_folder() as data, server_folder() as folder:
        turns = asyncio.run(_measured(data, folder, runs))
    off = turns["off"]
    numbers = [
        Number(
            name=f"p99 of writes, {RATE:.0f} a second, no webhook",
            unit="ms",
            values=[turn.p99 for turn in off],
        )
    ]
    for name, says in (("on", "a recorder"), ("hangs", "one that hangs")):
        pairs = list(zip(turns[name], off, strict=True))
        numbers += [
            Number(
                name=f"  with the webhook to {says}, relative to without",
                unit="",
                values=[ours.p99 / theirs.p99 for ours, theirs in pairs],
                target="<= 1.1",
            ),
            Number(
                name="  CPU time of the API server for a write, the same",
                unit="",
                values=[ours.cpu / theirs.cpu for ours, theirs in pairs],
            ),
            Number(
                name="  memory of the API server, the same",
                unit="",
                values=[ours.memory / theirs.memory for ours, theirs in pairs],
            ),
        ]
    return numbers


async def _measured(
    data: Path, folder: Path, runs: int
) -> Mapping[str, list[Turn]]:
    turns: dict[str, list[Turn]] = {"off": [], "on": [], "hangs": []}
    options = Options(
        controller_manager=False,
        scheduler=False,
        json_storage=False,
        audit_policy=yaml.safe_load(POLICY.read_text()),
    )
    async with (
        Cluster.start(folder / "cluster", options) as cluster,
        open_database(Settings(data_dir=data)),
    ):
        settings, webhook = _webhook(cluster, folder)
        environment = {
            "KUBECONFIG": str(cluster.kubeconfig),
            "RECORDER_DATA_DIR": str(data),
            "RECORDER_HEALTH_LISTEN": "",
            **settings,
        }
        words = ("-m", "recorder", "record")
        with process(*words, environment=environment) as pid:
            for run in range(runs):
                for name in ("off", "on", "hangs"):
                    flag = None if name == "off" else webhook
                    await cluster.api_server.restart(
                        audit_webhook_config_file=flag
                    )
                    turn = await _turn(
                        cluster, f"{name}-{run}", pid * (name == "hangs")
                    )
                    say(f"webhook: {name}: {turn.p99:.1f} ms")
                    turns[name].append(turn)
    return turns


def _webhook(cluster: Cluster, folder: Path) -> tuple[dict[str, str], str]:
    """Return settings of the recorder, and the file for the API server."""
    authority, port = cluster.authority, cluster.ports.take()
    server = authority.server()
    path = kubeconfig(
        folder / "webhook",
        server=f"https://127.0.0.1:{port}/audit",
        authority=authority.certificate,
        user=authority.client("kube-apiserver-audit"),
    )
    settings = {
        "RECORDER_AUDIT_LISTEN": f"127.0.0.1:{port}",
        "RECORDER_AUDIT_CERTIFICATE": str(server.certificate),
        "RECORDER_AUDIT_KEY": str(server.key),
        "RECORDER_AUDIT_CLIENT_CA": str(authority.certificate),
    }
    return settings, str(path)


async def _turn(cluster: Cluster, name: str, stopped: int) -> Turn:
    """Write at the rate; ``stopped`` is a process that is stopped then."""
    await _write(cluster.kubeconfig, f"{name}-warm", WARM_UP_SECONDS)
    pid = cluster.api_server.pid
    assert pid is not None, "it runs"
    before = cpu_seconds(pid)
    if stopped:
        os.kill(stopped, signal.SIGSTOP)
    try:
        times = await _write(cluster.kubeconfig, name, SECONDS)
    finally:
        if stopped:
            os.kill(stopped, signal.SIGCONT)
    return Turn(
        p99=statistics.quantiles(times, n=100)[98] * 1000,
        cpu=(cpu_seconds(pid) - before) / len(times) * 1000,
        memory=_memory_mib(pid),
    )


async def _write(path: Path, name: str, seconds: float) -> list[float]:
    """Write with all clients; return what each write took."""
    times: list[float] = []
    async with (
        connections(path, CLIENTS) as opened,
        asyncio.TaskGroup() as group,
    ):
        for number, connection in enumerate(opened):
            group.create_task(
                _client(connection, f"{name}-{number}", seconds, times)
            )
    return times


async def _client(
    connection: Connection, name: str, seconds: float, times: list[float]
) -> None:
    loop, pause = asyncio.get_running_loop(), CLIENTS / RATE
    began = loop.time()
    for number in range(int(seconds / pause)):
        await asyncio.sleep(began + number * pause - loop.time())
        body = {"metadata": {"name": f"{name}-{number}"}, "data": {"a": "b"}}
        at = time.perf_counter()
        await connection.request(
            "POST", PATH, json.dumps(body).encode(), kind=JSON
        )
        times.append(time.perf_counter() - at)


def _memory_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None, "the process lives"
    return int(found[1]) / 1024
