"""The demo cluster, as far as a person can go wrong with it."""

import asyncio
from pathlib import Path

import pytest

from tests.cluster.demo import DemoError, happen, up
from tests.cluster.waiting import until


async def test_without_a_cluster_nothing_can_happen(tmp_path: Path) -> None:
    with pytest.raises(DemoError, match="no demo cluster runs"):
        await happen(tmp_path, "crash", "gpu-001")


async def test_it_is_the_only_one_knows_its_nodes_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    async with asyncio.TaskGroup() as group:
        demo = group.create_task(up(tmp_path))
        kubeconfig = tmp_path / "kubeconfig"
        await until(kubeconfig.exists, "the demo is up", seconds=60)

        with pytest.raises(DemoError, match="gpu-001, gpu-002, gpu-003"):
            await happen(tmp_path, "crash", "gpu-009")
        with pytest.raises(DemoError, match="runs already"):
            await up(tmp_path)
        demo.cancel()

    assert not kubeconfig.exists()
