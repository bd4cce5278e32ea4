"""A writer that changes objects at a steady rate, and notes when.

``python -m bench.patching KUBECONFIG RATE SECONDS`` patches pods of a cluster
in turn and prints, for each response, its version and the steady clock's time
at which it came. The clock is the machine's, the same in every process.
"""

import asyncio
import json
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import Any

from bench import manifests
from tests.cluster.client import ApiClient, address_and_trust

__all__ = ["NAMESPACE", "prepare"]

NAMESPACE = "patched"
PODS = 200
AT_ONCE = 20


async def prepare(api: ApiClient) -> None:
    """Make the pods."""
    body = {"metadata": {"name": NAMESPACE}}
    await api.create("/api/v1/namespaces", body)
    for number in range(PODS):
        await api.create(_path(), manifests.pod(f"pod-{number:03}"))


def _path() -> str:
    return f"/api/v1/namespaces/{NAMESPACE}/pods"


async def patch(api: ApiClient, rate: float, seconds: float) -> list[str]:
    """Patch at a rate, however long each answer takes."""
    answers: list[str] = []
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, number: int) -> None:
        async with turns:
            note = {"site.example.com/step": str(number)}
            answer = await api.patch(
                f"{_path()}/{name}", {"metadata": {"annotations": note}}
            )
            version = answer["metadata"]["resourceVersion"]
            answers.append(f"{version} {time.monotonic():.6f}")

    names = cycle(f"pod-{number:03}" for number in range(PODS))
    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for number in range(int(rate * seconds)):
            due = began + number / rate - time.monotonic()
            if due > 0:
                await asyncio.sleep(due)
            group.create_task(one(next(names), number))
    return answers


async def main(config: dict[str, Any]) -> None:
    async with ApiClient(*address_and_trust(config)) as api:
        answers = await patch(api, float(sys.argv[2]), float(sys.argv[3]))
    print("\n".join(answers))


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
