"""The audit log of a real API server, followed and imported."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from recorder.model.entry import Operation
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.support.postgres import Database
from tests.support.recorded import Recorded

POLICY = yaml.safe_load(
    (Path(__file__).parents[2] / "deploy/audit-policy.yaml").read_text()
)

pytestmark = pytest.mark.timeout(240)


def records(path: Path) -> list[tuple[str, str]]:
    """Return ID and stage of each record of a file."""
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    return [(line["auditID"], line["stage"]) for line in lines]


async def asked(dsn: str, *words: str) -> tuple[int, str]:
    """Run the command line; return exit status and output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "recorder",
        *words,
        env={**os.environ, "RECORDER_DATABASE_URL": dsn},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


async def test_who_did_it_is_found_by_person_verb_and_node(
    tmp_path: Path, database: Database
) -> None:
    """A person cordons a node; the recorder is killed once meanwhile."""
    options = Options(machines=gpu_machines(2), audit_policy=POLICY)
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        log = cluster.audit_log
        recorded = Recorded(cluster, database, tmp_path)
        await recorded.grant()
        await recorded.start(audit_logs=str(log))
        await recorded.until_listed()
        alice = cluster.user("alice@example.com", ["system:masters"])
        await cluster.kubectl("cordon", "gpu-001", kubeconfig=alice)
        await recorded.kill()
        await cluster.kubectl("uncordon", "gpu-001", kubeconfig=alice)
        await cluster.kubectl(
            "create", "namespace", "made-by-alice", kubeconfig=alice
        )
        await recorded.start(audit_logs=str(log))
        await recorded.until_listed()
        await recorded.settle(3)
        await recorded.stop()
        written = records(log)
        whole = await recorded.log()
        reader, writer = database.dsn("reader"), database.dsn("writer")

        found = await asked(
            reader, "log", "--actor", "alice@example.com", "-o", "ndjson"
        )
        patched = await asked(
            reader, "log", "--verb", "patch", "--node", "gpu-001",
            "--actor", "alice@example.com",
        )  # fmt: skip
        data = str(tmp_path / "data")
        importing = ("--data-dir", data, "audit", "import", str(log))
        await cluster.api_server.stop()
        first = await asked(writer, *importing)
        again = await asked(writer, *importing)

    held = [
        (said["auditID"], said["stage"])
        for _, draft in whole.entries
        if draft.operation is Operation.AUDIT
        for said in [orjson.loads(draft.raw)]
    ]
    assert held == written[: len(held)]
    assert len(held) > 100
    lines: list[dict[str, Any]] = [
        orjson.loads(line)
        for line in found[1].splitlines()
        if line.startswith("{")
    ]
    assert {line["object"]["name"] for line in lines} == {
        "gpu-001",
        "made-by-alice",
    }
    nodes = {
        draft.identity.uid
        for _, draft in whole.entries
        if draft.identity is not None
        and draft.resource == "v1/nodes"
        and draft.identity.name == "gpu-001"
        and draft.operation in {Operation.LISTED, Operation.MODIFIED}
    }
    assert {
        line["object"]["uid"]
        for line in lines
        if line["object"]["kind"] == "Node"
    } == nodes
    assert patched[1].count("gpu-001") >= 2
    made = {
        draft.resource_version
        for _, draft in whole.entries
        if draft.operation is Operation.AUDIT
        and draft.actor == "alice@example.com"
    }
    versions = {
        draft.resource_version
        for _, draft in whole.entries
        if draft.operation
        in {
            Operation.LISTED,
            Operation.RECOVERED,
            Operation.MODIFIED,
            Operation.ADDED,
        }
    }
    assert made - {None} <= versions
    assert first[0] == again[0] == 0, first[1] + again[1]
    assert "nothing added: it has all of that already" in again[1]
