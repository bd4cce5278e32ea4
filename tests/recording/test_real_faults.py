"""Faults of a real cluster, and the log of them."""

from pathlib import Path

import pytest

from recorder.intake.endings import REWOUND
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.support.postgres import Database
from tests.support.recorded import Recorded

pytestmark = pytest.mark.timeout(240)


async def annotate(cluster: Cluster, node: str, value: str) -> int:
    version = await cluster.kubectl(
        "annotate", "node", node, f"step={value}", "--overwrite", "-o",
        "jsonpath={.metadata.resourceVersion}",
    )  # fmt: skip
    return int(version)


async def test_an_api_server_that_dies_costs_nothing(
    tmp_path: Path, database: Database
) -> None:
    """Its watch cache forgets, so quiet kinds are listed again."""
    options = Options(machines=gpu_machines(2))
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        recorded = await Recorded.begun(cluster, database, tmp_path)
        await annotate(cluster, "gpu-001", "before")
        await cluster.api_server.kill()
        await cluster.api_server.start()
        done = await annotate(cluster, "gpu-001", "after")
        await recorded.until_seen(done, "v1/nodes")
        await recorded.settle(2)
        await recorded.stop()

        assert await recorded.differences(through=done) == []
        assert (await recorded.log()).recovered.epoch == 1


async def test_an_etcd_restored_from_a_backup_begins_an_epoch(
    tmp_path: Path, database: Database
) -> None:
    options = Options(machines=gpu_machines(2))
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        recorded = await Recorded.begun(cluster, database, tmp_path)
        await annotate(cluster, "gpu-001", "kept")
        await cluster.snapshot(tmp_path / "backup")
        lost = await annotate(cluster, "gpu-002", "lost")
        await recorded.until_seen(lost, "v1/nodes")
        await cluster.kubectl("create", "namespace", "taken-away")
        await recorded.settle(2)
        await cluster.restore(tmp_path / "backup")
        done = await annotate(cluster, "gpu-001", "again")
        await recorded.until_epoch(2)
        await recorded.until_seen(done, "v1/nodes")
        await recorded.settle(3)
        await recorded.stop()

        assert await recorded.differences(through=done) == []
        reasons = {reason for _, reason in await recorded.gap_reasons()}
        assert REWOUND in reasons
        log = await recorded.log()
        gone = [
            draft.identity.name
            for _, draft in log.entries
            if draft.operation == "absent" and draft.identity is not None
        ]
        assert "taken-away" in gone


async def test_a_database_that_goes_away_is_waited_for(
    tmp_path: Path, database: Database
) -> None:
    """Its connections are cut, and it refuses new ones for a while."""
    options = Options(machines=gpu_machines(1))
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        recorded = await Recorded.begun(cluster, database, tmp_path)
        await recorded.shut_database()
        for number in range(20):
            await annotate(cluster, "gpu-001", str(number))
        done = await annotate(cluster, "gpu-001", "the last")
        await recorded.settle(3)
        await recorded.reopen_database()
        await recorded.until_seen(done, "v1/nodes")
        await recorded.settle(2)
        await recorded.stop()

        assert await recorded.differences(through=done) == []
        assert await recorded.gap_reasons() == []
        assert "waiting" in recorded.said[-1]
