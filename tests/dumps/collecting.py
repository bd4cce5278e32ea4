"""What real tools collect after a known crash: a support bundle, and a dump.

By troubleshoot.sh, and by ``kubectl cluster-info dump``.
``python -m tests.dumps.collecting FOLDER`` records both for the tests.
"""

import asyncio
import os
import shutil
import sys
import tempfile
from pathlib import Path

from tests.cluster.binaries import TROUBLESHOOT, built
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.happenings import crash
from tests.cluster.machines import gpu_machines

__all__ = ["CRASHED", "WELL", "bundles_of_a_crash"]

WELL, CRASHED = "gpu-001", "gpu-002"

SPEC = """
apiVersion: troubleshoot.sh/v1beta2
kind: SupportBundle
metadata: {name: everything}
spec: {collectors: [{clusterInfo: {}}, {clusterResources: {}}]}
"""
COLLECT_SECONDS = 120


async def bundles_of_a_crash(folder: Path) -> list[Path]:
    """Crash a machine of a real cluster, and collect its state afterwards."""
    collector = await asyncio.to_thread(built, TROUBLESHOOT)
    options = Options(machines=gpu_machines(2))
    async with Cluster.start(folder / "cluster", options) as cluster:
        await crash(cluster, CRASHED, print)
        return [
            await _collected(collector, cluster.kubeconfig, folder),
            await _dumped(cluster, folder),
        ]


async def _dumped(cluster: Cluster, folder: Path) -> Path:
    target = folder / "cluster-info"
    await cluster.kubectl(
        "cluster-info", "dump", "-A", f"--output-directory={target}"
    )
    packed = shutil.make_archive(str(folder / "cluster-info"), "gztar", target)
    return Path(packed)


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
    """Record both."""
    with tempfile.TemporaryDirectory() as folder:
        for bundle in asyncio.run(bundles_of_a_crash(Path(folder))):
            shutil.copy(bundle, target)


if __name__ == "__main__":
    main(sys.argv[1])
