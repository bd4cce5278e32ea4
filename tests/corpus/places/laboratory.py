"""A laboratory of places: ``python -m tests.corpus.places.laboratory FOLDER``.

Two real clusters, one of hosts and one of their DPUs, each recorded to a tape
of its own. A switch is reported down while all is well behind it; a leaf dies
under two gangs, which exit first behind another leaf; a PDU takes two hosts; a
watchdog and a person each reset one; DPF updates a DPU and reboots its host;
a DPU dies and takes the network of its host. What other systems know reaches
the recorder as their converters take it, and by `recorder send`.

`truth.py` has what is true of it, written before; this keeps the times.
"""

import asyncio
import os
import ssl
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import aiohttp
import orjson

from recorder.keeping.tokens import TokenFile
from tests.claims.posting import an_event, post
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.waiting import until
from tests.corpus.places.fleet import (
    DPF,
    HOSTS,
    PORT,
    Dpf,
    dpu_machines,
    dpu_of,
    fleet,
    link_event,
    redfish,
    switch_event,
)
from tests.corpus.places.truth import GANGS
from tests.corpus.placing import Placed, the_job
from tests.corpus.stage import Stage
from tests.corpus.tape_lines import raw_lines, write_raw

__all__ = ["FOLDER", "Spans", "make", "read_spans"]

FOLDER: Final = Path(__file__).parent

OFF_SECONDS: Final = 22
"""Above the grace period, so that the loss is seen."""

LEAF_NODES: Final = HOSTS[:4]

RELATIONS: Final = {
    "node/gpu-008": "pdu/b3",
    "node/gpu-009": "pdu/b3",
    "node/gpu-006": "pdu/c1",
    "node/gpu-007": "pdu/c1",
}

Spans = dict[str, tuple[datetime, datetime]]
"""When each act began and ended."""


def read_spans(folder: Path = FOLDER) -> Spans:
    """Read when each act of a run was."""
    found = orjson.loads((folder / "spans.json").read_bytes())
    return {
        act: (datetime.fromisoformat(since), datetime.fromisoformat(until))
        for act, (since, until) in found.items()
    }


async def make(folder: Path = FOLDER) -> None:
    """Run the laboratory; keep both tapes and the times."""
    with _folder() as work:
        async with (
            _stage(work, "hosts") as hosts,
            _stage(work, "dpus") as dpus,
        ):
            spans = await Laboratory(hosts, dpus).run()
        for stage in (hosts, dpus):
            (part,) = stage.parts
            write_raw(folder / f"{stage.name}.tape.jsonl.zst", raw_lines(part))
    written = orjson.dumps(spans, option=orjson.OPT_INDENT_2)
    await asyncio.to_thread(
        (folder / "spans.json").write_bytes, written + b"\n"
    )


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder that PostgreSQL's own user may enter."""
    with tempfile.TemporaryDirectory(
        prefix="places-", ignore_cleanup_errors=True
    ) as name:
        Path(name).chmod(0o755)
        yield Path(name)


@asynccontextmanager
async def _stage(work: Path, name: str) -> AsyncIterator[Stage]:
    machines = (fleet if name == "hosts" else dpu_machines)(name)
    options = Options(machines=machines, json_storage=False)
    async with Cluster.start(work / name / "cluster", options) as cluster:
        yield Stage(name, "the laboratory", cluster, work / name)


class Door:
    """Where other systems post what they know of the hosts."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._folder = stage.folder
        authority = stage.cluster.authority
        server = authority.server()
        port = stage.cluster.ports.take()
        self._address = f"https://127.0.0.1:{port}"
        self._ca = authority.certificate
        tokens = self._folder / "senders"
        self._token = TokenFile(tokens).add("lab", claims=("*", "*"))
        secret = self._folder / "token"
        secret.write_text(f"{self._token}\n")
        secret.chmod(0o600)
        self.settings = {
            "audit_listen": f"127.0.0.1:{port}",
            "audit_certificate": str(server.certificate),
            "audit_key": str(server.key),
            "ingest_token_file": str(tokens),
        }

    async def relate(self) -> None:
        """Post what is behind which PDU, as CloudEvents."""
        events = [
            an_event(
                number,
                source="dcim",
                type="place.relation",
                subject=child,
                time=datetime.now(UTC).isoformat(),
                data={"parent": parent},
            )
            for number, (child, parent) in enumerate(RELATIONS.items())
        ]
        async with self._session() as session:
            status, says = await post(
                session, self._address, self._token, events
            )
        assert status == 202, says

    async def convert(self, path: str, body: object) -> None:
        """Post what a sender writes to the path of its converter."""
        async with (
            self._session() as session,
            session.post(
                f"{self._address}/ingest/{path}",
                data=orjson.dumps(body),
                headers={"Authorization": f"Bearer {self._token}"},
            ) as response,
        ):
            assert response.status == 202, await response.text()

    def _session(self) -> aiohttp.ClientSession:
        context = ssl.create_default_context(cafile=str(self._ca))
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=context)
        )

    async def send(self, *words: str) -> None:
        """Send an event from a script."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "recorder", "send", *words,
            env={
                "PATH": os.environ["PATH"],
                "RECORDER_SEND_URL": self._address,
                "RECORDER_SEND_TOKEN_FILE": str(self._folder / "token"),
                "RECORDER_SEND_CA_FILE": str(self._ca),
                "RECORDER_SEND_SPOOL": str(self._folder / "spool"),
            },
        )  # fmt: skip
        assert await process.wait() == 0


class Laboratory:
    """Both clusters, and what is done to them."""

    def __init__(self, hosts: Stage, dpus: Stage) -> None:
        self._hosts, self._dpus = hosts, dpus
        self._door = Door(hosts)
        self._dpf = Dpf(hosts.cluster)
        self._spans: dict[str, tuple[str, str]] = {}
        self._gangs: list[Placed] = []

    async def run(self) -> dict[str, tuple[str, str]]:
        """Set the scene, act, and return when each act was."""
        await self._dpf.install()
        for name, nodes in GANGS.items():
            self._gangs.append(
                await the_job(
                    self._hosts.api, name, len(nodes), nodes=nodes, grace=1
                )
            )
        kinds = [f"{DPF}/v1alpha1/{plural}" for plural in ("dpus", "dpunodes")]
        await self._hosts.start_recorder(*kinds, **self._door.settings)
        await self._dpus.start_recorder()
        await self._door.relate()
        await self._hosts.pause(3)
        for act in (
            self._healthy_switch,
            self._leaf,
            self._pdu,
            self._watchdog,
            self._reset,
            self._update,
            self._dpu,
        ):
            since = _now()
            await act()
            await self._hosts.pause(4)
            name = act.__name__.strip("_").replace("_", " ")
            self._spans[name] = since, _now()
        await self._hosts.stop_recorder()
        await self._dpus.stop_recorder()
        return self._spans

    async def _healthy_switch(self) -> None:
        """UFM reports leaf-8 down, and up; all behind it is well."""
        await self._door.convert(UFM, [switch_event(100, "leaf-8", "down")])
        await self._hosts.pause(6)
        await self._door.convert(UFM, [switch_event(101, "leaf-8", "up")])

    async def _leaf(self) -> None:
        """leaf-7 dies; the gangs exit first behind leaf-8."""
        events = [
            link_event(200 + number, node, "down")
            for number, node in enumerate(LEAF_NODES)
        ]
        events.append(switch_event(210, "leaf-7", "down"))
        await self._door.convert(UFM, events)
        for node in LEAF_NODES:
            await self._neighbor(node, None)
        await self._hosts.pause(5)
        for gang in self._gangs:
            last = GANGS[gang.name][-1]
            for node in (last, *GANGS[gang.name][:-1]):
                await self._hosts.machine(node).fail_pod(
                    "train", gang.on(node), 134, "Error"
                )
        await self._hosts.pause(4)
        events = [
            link_event(220 + number, node, "up")
            for number, node in enumerate(LEAF_NODES)
        ]
        events.append(switch_event(230, "leaf-7", "up"))
        await self._door.convert(UFM, events)
        for node in LEAF_NODES:
            await self._neighbor(node, f"leaf-7.{int(node[-3:])}")
        await self._gangs_run()

    async def _neighbor(self, node: str, port: str | None) -> None:
        """Let the agent of a node see what its port leads to."""
        key = PORT.format("current", "mlx5_0")
        await self._hosts.api.patch(
            f"/api/v1/nodes/{node}",
            {"metadata": {"labels": {key: port}}},
            fieldManager="fabric-agent",
        )

    async def _gangs_run(self) -> None:
        async def run() -> bool:
            listed = await self._hosts.api.get("/api/v1/namespaces/train/pods")
            phases = [pod["status"].get("phase") for pod in listed["items"]]
            wanted = sum(len(nodes) for nodes in GANGS.values())
            return phases.count("Running") == wanted

        # A Job waits longer after each failure.
        await until(run, "the gangs run again", seconds=240)

    async def _pdu(self) -> None:
        """PDU b3 trips under two hosts, which boot when it is back."""
        nodes = ("gpu-008", "gpu-009")
        await self._hosts.crash(*nodes)
        await self._door.send(
            "machine.power", "pdu/b3", "event=tripped", "--source", "pdu/b3"
        )
        await self._hosts.pause(OFF_SECONDS)
        for node in nodes:
            message = "OpenBMC.0.1.DCPowerOnAfterACLost"
            await self._door.convert("redfish", redfish(node, message))
            await self._hosts.boot(node)
        await self._hosts.ready(*nodes)

    async def _watchdog(self) -> None:
        """A watchdog resets a host; its PDU had an alarm an hour before."""
        before = datetime.now(UTC) - timedelta(hours=1)
        await self._door.send(
            "machine.power", "pdu/c1", "event=tripped", "--source", "pdu/c1",
            "--time", before.isoformat(),
        )  # fmt: skip
        await self._restarted("gpu-006", "WatchdogTimer")

    async def _reset(self) -> None:
        """A person resets a host by its service processor."""
        await self._restarted("gpu-007", "ChassisCommandPowerReset")

    async def _restarted(self, node: str, cause: str) -> None:
        await self._hosts.crash(node)
        await self._hosts.pause(OFF_SECONDS)
        word = f"xyz.openbmc_project.State.Host.RestartCause.{cause}"
        body = redfish(node, "Platform.1.0.Restarted", word)
        await self._door.convert("redfish", body)
        await self._hosts.boot(node)
        await self._hosts.ready(node)

    async def _update(self) -> None:
        """DPF updates a DPU: it cordons the host and reboots it."""
        host, dpf = HOSTS[0], self._dpf
        await dpf.condition(host, "DPUUpdateInProgress", "True")
        for phase in ("Initializing", "Node Effect"):
            await dpf.phase(host, phase)
        await dpf.cordon(host, unschedulable=True)
        for phase in ("OS Installing", "Rebooting"):
            await dpf.phase(host, phase)
        await dpf.condition(host, "DPUNodeRebootInProgress", "True")
        await self._hosts.crash(host)
        await self._hosts.pause(OFF_SECONDS)
        await self._hosts.boot(host)
        await self._hosts.ready(host)
        await dpf.phase(host, "Ready")
        await dpf.condition(host, "DPUUpdateInProgress", "False")
        await dpf.cordon(host, unschedulable=False)

    async def _dpu(self) -> None:
        """A DPU loses its uplink and dies; its host is silent meanwhile."""
        host = HOSTS[1]
        dpu = dpu_of(host)
        await self._uplink(dpu, "False")
        await self._dpus.pause(2)
        await self._dpus.machine(dpu).crash()
        self._hosts.machine(host).hang()
        await self._hosts.is_unknown(host)
        await self._dpus.is_unknown(dpu)
        await self._hosts.pause(3)
        await self._dpus.boot(dpu)
        await self._dpus.ready(dpu)
        await self._uplink(dpu, "True")
        self._hosts.machine(host).resume()
        await self._hosts.ready(host)

    async def _uplink(self, dpu: str, status: str) -> None:
        """Let the problem detector of DPF say how the uplink is."""
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        condition: dict[str, Any] = {
            "type": "UplinkHealthy",
            "status": status,
            "reason": "UplinkIsUp" if status == "True" else "UplinkIsDown",
            "message": "",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        await self._dpus.api.patch(
            f"/api/v1/nodes/{dpu}/status",
            {"status": {"conditions": [condition]}},
            kind="strategic",
            fieldManager="node-problem-detector",
        )


UFM: Final = "ufm?zone=Europe/Berlin"


def _now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def main(arguments: list[str]) -> int:
    """Run the laboratory, into a folder or over the kept recording."""
    asyncio.run(make(Path(arguments[0]) if arguments else FOLDER))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
