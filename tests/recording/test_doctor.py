"""`recorder doctor` against a real cluster, with and without the rights."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.corpus.recording import RecorderProcess
from tests.support.postgres import Database
from tests.support.recorded import Recorded

Checked = dict[str, Any]

pytestmark = pytest.mark.timeout(120)


async def test_a_missing_right_is_named_with_its_remedy(
    tmp_path: Path, database: Database
) -> None:
    async with Cluster.start(
        tmp_path / "cluster", Options(scheduler=False)
    ) as cluster:
        recorded = await Recorded.begun(cluster, database, tmp_path)
        await recorded.stop()
        checks = await doctor(recorded.kubeconfig, database, tmp_path)
        # The database of a test runs without fsync, and nothing else is wrong.
        assert failed(checks) == ["database durability"], checks
        (rights,) = named(checks, "cluster rights")
        assert rights["says"] == (
            "15 resources can be listed, watched and read"
        )

        # The rule of definitions, and then a verb of the one of Jobs.
        await cluster.kubectl(
            "patch", "clusterrole", "recorder", "--type=json", "-p",
            '[{"op":"remove","path":"/rules/1"},'
            '{"op":"remove","path":"/rules/1/verbs/0"}]',
        )  # fmt: skip
        crds, jobs = named(
            await doctor(recorded.kubeconfig, database, tmp_path),
            "cluster rights",
        )
        assert crds["says"] == (
            "forbidden: list, watch, get"
            " apiextensions.k8s.io/v1/customresourcedefinitions"
        )
        assert (
            jobs["says"]
            == "forbidden: get batch/v1/jobs; get batch/v1/cronjobs"
        )
        assert "deploy/rbac.yaml" in jobs["remedy"]
        assert "resources: [jobs, cronjobs]" in jobs["remedy"]

        # Even the identity of the cluster is read by a rule.
        await cluster.kubectl("delete", "clusterrolebinding", "recorder")
        checks = await doctor(recorded.kubeconfig, database, tmp_path)
        assert "cluster" in failed(checks)
        assert len(named(checks, "cluster rights")) > 4


def named(checks: list[Checked], name: str) -> list[Checked]:
    return [check for check in checks if check["name"] == name]


def failed(checks: list[Checked]) -> list[str]:
    return [check["name"] for check in checks if not check["ok"]]


async def doctor(
    kubeconfig: Path, database: Database, folder: Path
) -> list[Checked]:
    process = RecorderProcess(
        ["doctor", "-o", "json"],
        {
            "RECORDER_KUBECONFIG": str(kubeconfig),
            "RECORDER_DATABASE_URL": database.dsn("writer"),
            "RECORDER_DATA_DIR": str(folder / "data"),
        },
    )
    await process.start(keep_output=True)
    await process.ended()
    found: list[Checked] = json.loads(process.printed)["checks"]
    return found
