"""`recorder doctor` against a real cluster, with and without the rights."""

import json
from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.corpus.recording import RecorderProcess
from tests.support.postgres import Database
from tests.support.recorded import Recorded

pytestmark = pytest.mark.timeout(120)


async def test_a_missing_right_is_named_with_its_remedy(
    tmp_path: Path, database: Database
) -> None:
    async with Cluster.start(
        tmp_path / "cluster", Options(scheduler=False)
    ) as cluster:
        recorded = Recorded(cluster, database, tmp_path)
        await recorded.grant()
        await recorded.start()
        await recorded.until_listed()
        await recorded.stop()
        checks = await doctor(recorded.kubeconfig, database, tmp_path)
        assert checks["cluster rights"]["ok"], checks

        await cluster.kubectl(
            "patch", "clusterrole", "recorder", "--type=json", "-p",
            '[{"op":"remove","path":"/rules/0"}]',
        )  # fmt: skip
        checks = await doctor(recorded.kubeconfig, database, tmp_path)
        assert not all(check["ok"] for check in checks.values())
        text = json.dumps(checks)
        assert "forbidden" in text.lower() or "cannot get" in text
        assert "rbac" in text or "kubectl" in text


async def doctor(
    kubeconfig: Path, database: Database, folder: Path
) -> dict[str, dict[str, object]]:
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
    found = json.loads(process.printed)
    return {check["name"]: check for check in found["checks"]}
