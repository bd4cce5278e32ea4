"""What probes receive while the cluster or the database is away."""

from pathlib import Path

import pytest

from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.machines import gpu_machines
from tests.recording.outages import outages
from tests.support.postgres import Database
from tests.support.recorded import Recorded

pytestmark = pytest.mark.timeout(240)


async def test_a_recorder_that_waits_is_alive_and_says_for_what(
    tmp_path: Path, database: Database
) -> None:
    """Both are away before it starts, and then each of them again."""
    options = Options(machines=gpu_machines(1))
    async with Cluster.start(tmp_path / "cluster", options) as cluster:
        recorded = Recorded(cluster, database, tmp_path)
        await recorded.grant()

        probes, _ = await outages(cluster, recorded, seconds=1)

        assert probes.restarts == 0
