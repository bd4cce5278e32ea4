"""A cluster to try things on: three GPU nodes and a training Job.

``python -m tests.cluster.demo up`` runs it in the foreground until Ctrl-C;
``reboot NODE``, ``crash NODE`` and ``hang NODE`` in another terminal make
something happen to it, through a socket beside its kubeconfig. There is one
per user.
"""

import argparse
import asyncio
import fcntl
import json
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster.binaries import BuildError, built, cache
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.happenings import HAPPENINGS
from tests.cluster.machines import gpu_machines
from tests.cluster.processes import PartFailedError
from tests.cluster.toolchain import GoMissingError
from tests.cluster.waiting import until

__all__ = ["DemoError", "happen", "train", "up"]

NAMESPACE = "train"
JOB = "llm-pretrain"
NODES = 3
GPUS = 8

DONE = "done"
"""The last line of an answer when it went well; no other line is it."""


class DemoError(Exception):
    """What was asked cannot be done; the message says what could be."""


async def up(folder: Path) -> None:
    """Run the demo cluster until cancelled.

    Raises:
        DemoError: One runs already.
    """
    with _the_only_one(folder):
        state = folder / "cluster"
        shutil.rmtree(state, ignore_errors=True)
        binary = built()
        print("starting etcd, the API server, the controllers, 3 machines")
        options = Options(machines=gpu_machines(NODES, racks=NODES))
        async with Cluster.start(state, options) as cluster:
            stage = _Stage(cluster)
            socket = folder / "socket"
            socket.unlink(missing_ok=True)
            server = await asyncio.start_unix_server(stage.serve, socket)
            async with server:
                print(f"starting the Job {NAMESPACE}/{JOB} on {NODES} nodes")
                await train(cluster)
                _invite(folder, cluster, binary)
                await server.serve_forever()


async def happen(folder: Path, what: str, node: str) -> None:
    """Ask the demo cluster that runs to let something happen to a node.

    Raises:
        DemoError: None runs, it has no such node, or it did not go well.
    """
    try:
        reader, writer = await asyncio.open_unix_connection(folder / "socket")
    except (FileNotFoundError, ConnectionRefusedError):
        message = "no demo cluster runs; `make cluster` starts one"
        raise DemoError(message) from None
    writer.write(json.dumps([what, node]).encode() + b"\n")
    last = ""
    async for line in reader:
        if last:
            print(last, flush=True)
        last = line.decode().rstrip("\n")
    writer.close()
    if last != DONE:
        raise DemoError(last or "the demo cluster ended")


class _Stage:
    """Answers the socket: one happening per node at a time."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._busy: set[str] = set()

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Do what a line asks; the asker may leave, it is done anyway."""

        def report(text: str) -> None:
            print(text, flush=True)
            if not writer.is_closing():
                writer.write(text.encode() + b"\n")

        try:
            what, node = json.loads(await reader.readline())
            await self._happen(what, node, report)
            writer.write(DONE.encode() + b"\n")
        except (DemoError, PartFailedError, TimeoutError) as error:
            report(str(error))
        finally:
            writer.close()

    async def _happen(self, what: str, node: str, report: Any) -> None:
        known = self._cluster.machines
        if node not in known:
            names = ", ".join(known)
            message = f"no node {node!r}, there are {names}"
            raise DemoError(message)
        if node in self._busy:
            message = f"something happens to {node} already"
            raise DemoError(message)
        self._busy.add(node)
        try:
            await HAPPENINGS[what](self._cluster, node, report)
        finally:
            self._busy.discard(node)


@contextmanager
def _the_only_one(folder: Path) -> Iterator[None]:
    """Hold the folder; leave nothing in it that looks like a cluster."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as held:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = f"a demo cluster runs already, see {folder}/kubeconfig"
            raise DemoError(message) from None
        try:
            yield
        finally:
            for name in ("socket", "kubeconfig"):
                (folder / name).unlink(missing_ok=True)


async def train(cluster: Cluster) -> None:
    """Start the Job and wait until it has a pod on every node."""
    await cluster.api.create(
        "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}
    )
    accounts = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/default"
    await until(
        lambda: cluster.api.answers(accounts), "pods can be made there"
    )
    jobs = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
    await cluster.api.create(jobs, _job())

    async def running() -> bool:
        job = await cluster.api.get(f"{jobs}/{JOB}")
        return bool(job["status"].get("ready", 0) == NODES)

    await until(running, "the training runs on every node")


def _job() -> dict[str, Any]:
    """Return a Job that takes all GPUs and outlives the loss of any node."""
    container = {
        "name": "trainer",
        "image": "registry.example/llm/trainer:2.4",
        "command": ["torchrun", "train.py"],
        "resources": {"limits": {"nvidia.com/gpu": str(GPUS)}},
    }
    disruption = {"type": "DisruptionTarget"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": JOB},
        "spec": {
            "completionMode": "Indexed",
            "completions": NODES,
            "parallelism": NODES,
            "backoffLimit": 100,
            "podFailurePolicy": {
                "rules": [
                    {
                        "action": "Ignore",
                        "onPodConditions": [disruption],
                    }
                ]
            },
            "template": {
                "metadata": {"labels": {"app": JOB}},
                "spec": {
                    "restartPolicy": "Never",
                    "containers": [container],
                },
            },
        },
    }


def _invite(folder: Path, cluster: Cluster, binary: Path) -> None:
    """Leave the kubeconfig at its place and say what to do with it."""
    kubeconfig = folder / "kubeconfig"
    shutil.copy(cluster.kubeconfig, kubeconfig)
    kubectl = folder / "kubectl"
    kubectl.write_text(f'#!/bin/sh\nexec "{binary}" kubectl "$@"\n')
    kubectl.chmod(0o755)
    nodes = ", ".join(cluster.machines)
    print(
        f"""
The cluster is up: {nodes}, {GPUS} GPUs each. In another terminal:

  export KUBECONFIG={kubeconfig}
  {kubectl} get pods -n {NAMESPACE} -o wide
  make run

  make cluster-reboot NODE=gpu-002    a user cordons it and reboots it
  make cluster-crash NODE=gpu-002     it loses power for a while
  make cluster-hang NODE=gpu-002      it hangs for a while

Logs are in {cluster.folder}. Ctrl-C ends it all.""",
        flush=True,
    )


async def _until_signalled(folder: Path) -> None:
    """Run it; SIGTERM and a closed terminal end it as Ctrl-C does."""
    loop = asyncio.get_running_loop()
    me = asyncio.current_task()
    assert me is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, me.cancel)
    await up(folder)


def main(arguments: list[str]) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("up", help="run a cluster until Ctrl-C")
    for name, happening in HAPPENINGS.items():
        about = (happening.__doc__ or "").strip()
        command = commands.add_parser(name, help=about)
        command.add_argument("node")
    asked = parser.parse_args(arguments)
    folder = cache() / "demo"
    try:
        if asked.command == "up":
            asyncio.run(_until_signalled(folder))
        else:
            asyncio.run(happen(folder, asked.command, asked.node))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("the cluster has ended", file=sys.stderr)
    except (
        BuildError,
        DemoError,
        GoMissingError,
        PartFailedError,
        TimeoutError,
    ) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
