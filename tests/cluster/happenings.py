"""What happens to machines in a demonstration, each with its traces.

Every happening reports what it does while it does it, and returns when the
node is back in service.
"""

import asyncio
from collections.abc import Awaitable, Callable

from tests.cluster.cluster import Cluster

__all__ = ["HAPPENINGS", "Happening", "Report"]

Report = Callable[[str], None]

Happening = Callable[[Cluster, str, Report], Awaitable[None]]

POWERED_OFF_SECONDS = 10
"""Of a reboot by an administrator: below the grace period of a node."""

CRASHED_SECONDS = 20
"""Above the grace period: the node goes NotReady, and its pods go."""

HUNG_SECONDS = 40

ADMINISTRATOR = "alice@example.com"


async def reboot(cluster: Cluster, node: str, report: Report) -> None:
    """Cordon a node as an administrator does, reboot it, uncordon it."""
    machine = cluster.machines[node]
    alice = cluster.user(ADMINISTRATOR, ["system:masters"])
    report(f"{ADMINISTRATOR} cordons {node}")
    await cluster.kubectl("cordon", node, kubeconfig=alice)
    old = machine.boot_id
    report(f"{node} shuts down; {POWERED_OFF_SECONDS} s until it is back")
    await machine.crash()
    await asyncio.sleep(POWERED_OFF_SECONDS)
    new = await machine.boot()
    report(f"{node} boots: boot id was {old}, is {new}")
    await cluster.until_ready(node)
    report(f"{ADMINISTRATOR} uncordons {node}")
    await cluster.kubectl("uncordon", node, kubeconfig=alice)


async def crash(cluster: Cluster, node: str, report: Report) -> None:
    """Let a machine lose power, and come back by itself."""
    machine = cluster.machines[node]
    old = machine.boot_id
    report(f"{node} loses power; {CRASHED_SECONDS} s until it is back")
    await machine.crash()
    await asyncio.sleep(CRASHED_SECONDS)
    new = await machine.boot()
    report(f"{node} boots: boot id was {old}, is {new}")
    await cluster.until_ready(node)
    report(f"{node} is ready")


async def hang(cluster: Cluster, node: str, report: Report) -> None:
    """Let a kubelet hang, and go on as if nothing had been."""
    machine = cluster.machines[node]
    report(f"{node} hangs; {HUNG_SECONDS} s until it goes on")
    machine.hang()
    try:
        await asyncio.sleep(HUNG_SECONDS)
    finally:
        machine.resume()
    report(f"{node} goes on, boot id as before")
    await cluster.until_ready(node)
    report(f"{node} is ready")


HAPPENINGS: dict[str, Happening] = {
    "reboot": reboot,
    "crash": crash,
    "hang": hang,
}
