"""Makes the tape of `recorder demo`: ``python -m tests.corpus.demo``.

A training Job holds all GPUs of three nodes. The machine of gpu-002 crashes,
its node goes silent, its pod is evicted, the machine comes back with another
boot id and the Job runs in full again.
"""

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import recorder.demo
from tests.cluster.cluster import Cluster
from tests.cluster.controlplane import Options
from tests.cluster.demo import train
from tests.cluster.machines import gpu_machines
from tests.cluster.waiting import until
from tests.corpus.recording import named_context, recording

__all__ = ["make"]

NODE = "gpu-002"
LISTED_SECONDS = 6
DOWN_SECONDS = 35
TAPE = Path(recorder.demo.__file__).parent / "demo.tape.jsonl.zst"


@contextmanager
def _folder() -> Iterator[Path]:
    """Yield a folder that PostgreSQL's own user may enter."""
    with tempfile.TemporaryDirectory(prefix="recorder-demo-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


async def make(tape: Path) -> None:
    """Let it happen, and record it."""
    with _folder() as folder:
        options = Options(machines=gpu_machines(3, racks=3))
        async with Cluster.start(folder / "cluster", options) as cluster:
            kubeconfig = named_context(
                cluster.kubeconfig, "demo", folder / "kubeconfig"
            )
            async with recording(
                kubeconfig, folder / "data", "--tape", str(tape)
            ):
                await until(
                    lambda: asyncio.to_thread(tape.exists), "it records"
                )
                await asyncio.sleep(LISTED_SECONDS)
                await train(cluster)
                await asyncio.sleep(15)
                await cluster.machines[NODE].crash()
                await asyncio.sleep(DOWN_SECONDS)
                await cluster.machines[NODE].boot()
                await cluster.until_ready(NODE)
                await asyncio.sleep(20)


if __name__ == "__main__":
    TAPE.unlink(missing_ok=True)
    asyncio.run(make(TAPE))
