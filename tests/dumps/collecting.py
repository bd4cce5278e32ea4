"""A support bundle that troubleshoot.sh collects after a known crash.

``python -m tests.dumps.collecting BUNDLE.tar.gz`` records one for the tests.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from tests.cluster.binaries import TROUBLESHOOT, built
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.happenings import crash
from tests.cluster.machines import gpu_machines

__all__ = ["CRASHED", "WELL", "bundle_of_a_crash"]

WELL, CRASHED = "gpu-001", "gpu-002"

SPEC = """
apiVersion: troubleshoot.sh/v1beta2
kind: SupportBundle
metadata: {name: everything}
spec: {collectors: [{clusterInfo: {}}, {clusterResources: {}}]}
"""
COLLECT_SECONDS = 120


async def bundle_of_a_crash(folder: Path) -> Path:
    """Crash a machine of a real cluster, and collect a bundle afterwards."""
    collector = await asyncio.to_thread(built, TROUBLESHOOT)
    options = Options(machines=gpu_machines(2))
    async with Cluster.start(folder / "cluster", options) as cluster:
        await crash(cluster, CRASHED, print)
        return await _collected(collector, cluster.kubeconfig, folder)


async def _collected(collector: Path, kubeconfig: Path, folder: Path) -> Path:
    spec = folder / "spec.yaml"
    spec.write_text(SPEC)
    process = await asyncio.create_subprocess_exec(
        str(collector),
        str(spec),
        f"--kubeconfig={kubeconfig}",
        "--interactive=false",
        f"--output={folder / 'bundle'}",
        cwd=folder,
        env=os.environ | {"HOME": str(folder)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(COLLECT_SECONDS):
            out, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    bundle = folder / "bundle.tar.gz"
    assert bundle.exists(), out.decode(errors="replace")[-2000:]
    return bundle


def main(target: str) -> None:
    """Record a bundle."""
    with tempfile.TemporaryDirectory() as folder:
        bundle = asyncio.run(bundle_of_a_crash(Path(folder)))
        Path(target).write_bytes(bundle.read_bytes())


if __name__ == "__main__":
    main(sys.argv[1])
