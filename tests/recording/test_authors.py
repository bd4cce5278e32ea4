"""On a real cluster with the shipped policy, versions have authors."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from tests.cluster.cluster import Cluster, KubectlError
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.support.postgres import Database
from tests.support.recorded import Recorded

POLICY = yaml.safe_load(
    (Path(__file__).parents[2] / "deploy/audit-policy.yaml").read_text()
)
OURS = frozenset(
    {
        "v1/nodes",
        "v1/pods",
        "apps/v1/deployments",
        "apps/v1/replicasets",
        "batch/v1/jobs",
    }
)
"""Resources; every version is to have an author."""

SHARE_MIN = 0.995
"""Of all of them together."""

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: llm, namespace: default}
spec:
  completions: 2
  parallelism: 2
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: registry.example/llm:1}]
"""

pytestmark = pytest.mark.timeout(240)


async def asked(dsn: str, *words: str) -> str:
    """Run the command line; return its output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "recorder",
        *words,
        env={**os.environ, "RECORDER_DATABASE_URL": dsn},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, errors = await process.communicate()
    assert process.returncode in {0, 4}, errors.decode()
    return said.decode()


async def test_versions_have_authors_and_refusals_are_found(
    tmp_path: Path, database: Database
) -> None:
    options = Options(machines=gpu_machines(2), audit_policy=POLICY)
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        recorded = Recorded(cluster, database, tmp_path)
        await recorded.grant()
        await recorded.start(audit_logs=str(cluster.audit_log))
        await recorded.until_listed()
        alice = cluster.user("alice@example.com", ["system:masters"])
        bob = cluster.user("bob@example.com")
        await _live(cluster, alice, bob)
        await recorded.settle(5)
        await recorded.stop()
    reader = database.dsn("reader")
    share = orjson.loads(
        await asked(reader, "audit", "coverage", "-o", "json")
    )
    _check_share(share)
    node = orjson.loads(
        await asked(reader, "who", "node/gpu-001", "-o", "json")
    )
    fields = {field["path"]: field for field in node["fields"]}
    cordon = fields["spec.unschedulable"]
    assert cordon["change"] == "removed"
    assert cordon["author"]["known_by"] == "audit"
    assert cordon["author"]["name"] == "alice@example.com"
    label = fields["metadata.labels.team"]["author"]
    assert label["name"] == "alice@example.com"
    assert label["on_behalf_of"] == "carol"
    assert label["client"] == "kubectl label"
    said = await asked(
        reader, "log", "--node", "gpu-001", "--source", "audit",
        "--limit", "all",
    )  # fmt: skip
    assert "alice@example.com evicted pod/default/" in said
    assert "system:kube-scheduler bound pod/default/" in said
    refused = await asked(reader, "log", "--code", "403")
    assert "bob@example.com was denied to delete node/gpu-001" in refused
    secret = await asked(reader, "log", "--object", "secret/default/keys")
    assert "alice@example.com read secret/default/keys" in secret


async def _live(cluster: Cluster, alice: Path, bob: Path) -> None:
    """Let people and controllers change much, and be refused."""
    kubectl = cluster.kubectl
    image = "--image=registry.example/web:1"
    await kubectl(
        "create", "deployment", "web", image, "--replicas=4", kubeconfig=alice
    )
    await kubectl("apply", "-f", "-", stdin=JOB, kubeconfig=alice)
    await kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    await kubectl(
        "drain", "gpu-001", "--ignore-daemonsets", "--force",
        "--timeout=60s", kubeconfig=alice,
    )  # fmt: skip
    await kubectl("uncordon", "gpu-001", kubeconfig=alice)
    await kubectl(
        "label", "node", "gpu-001", "team=a", "--as=carol",
        "--as-group=system:masters", kubeconfig=alice,
    )  # fmt: skip
    await kubectl("scale", "deployment/web", "--replicas=2", kubeconfig=alice)
    await kubectl("create", "secret", "generic", "keys", kubeconfig=alice)
    await kubectl("get", "secret", "keys", kubeconfig=alice)
    with pytest.raises(KubectlError, match="Forbidden"):
        await kubectl("delete", "node", "gpu-001", kubeconfig=bob)
    await kubectl("delete", "job", "llm", kubeconfig=alice)
    await kubectl("delete", "deployment", "web", kubeconfig=alice)


def _check_share(found: dict[str, Any]) -> None:
    rows = [r for r in found["resources"] if r["resource"] in OURS]
    versions = sum(row["versions"] for row in rows)
    authored = sum(row["authored"] for row in rows)
    assert {row["resource"] for row in rows} == OURS
    assert versions > 50
    assert authored / versions >= SHARE_MIN, rows
