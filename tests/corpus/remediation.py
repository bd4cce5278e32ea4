"""A controller that repairs nodes by itself: it watches, and it decides.

Unlike the imitations of `lifecycle`, which an incident calls, this one is a
control loop against the API server. It takes up a node when one of its
conditions is True, cordons it and says why, evicts its Pods, has its power
cycled, and takes it back when it is Ready after another boot and the condition
is gone. Its words are those of CoreWeave's node life cycle controller.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tests.cluster.waiting import until
from tests.corpus.acting import Controller
from tests.corpus.lifecycle import CORDON_REASON
from tests.corpus.stage import Stage

__all__ = ["PowerCycle", "remediating"]

PowerCycle = Callable[[str], Awaitable[None]]
"""What stands for the machine's management controller."""

LOOK_SECONDS = 0.5

DECIDES_SECONDS = 1.5
"""A condition must hold for so long."""

VERIFIED_SECONDS = 4
"""How long a node that is back is tested."""

BACK_SECONDS = 120

ORDER = "NLCCImmediateReboot"


async def remediating(
    stage: Stage, controller: Controller, condition: str, cycle: PowerCycle
) -> None:
    """Repair every node with a condition, until cancelled."""
    taken: set[str] = set()

    async def repair(node: str) -> None:
        await _repair(stage, controller, node, condition, cycle)
        taken.discard(node)

    async with asyncio.TaskGroup() as group:
        while True:
            listed = await stage.api.get("/api/v1/nodes")
            for node in listed["items"]:
                name = node["metadata"]["name"]
                if name not in taken and _status(node, condition) == "True":
                    taken.add(name)
                    group.create_task(repair(name))
            await asyncio.sleep(LOOK_SECONDS)


async def _repair(
    stage: Stage,
    controller: Controller,
    node: str,
    condition: str,
    cycle: PowerCycle,
) -> None:
    await asyncio.sleep(DECIDES_SECONDS)
    before = _boot(await stage.node(node))
    await controller.mark(
        node, annotations={CORDON_REASON: condition}, unschedulable=True
    )
    await controller.evict_all(node)
    await until(lambda: _is_empty(stage, node), f"{node} is empty", seconds=60)
    await controller.condition(
        node, ORDER, "True", "NLCCRedfishReboot", "power cycle by Redfish"
    )
    await cycle(node)

    async def back() -> bool:
        now = await stage.node(node)
        states = _status(now, "Ready"), _status(now, condition)
        return _boot(now) != before and states == ("True", "False")

    await until(back, f"{node} is back", seconds=BACK_SECONDS)
    await controller.condition(
        node, ORDER, "False", "NLCCDone", "rebooted, no longer asked for"
    )
    await asyncio.sleep(VERIFIED_SECONDS)
    await controller.mark(
        node, annotations={CORDON_REASON: None}, unschedulable=False
    )


async def _is_empty(stage: Stage, node: str) -> bool:
    """Whether no Pod is bound to a node, those that ended included."""
    listed = await stage.api.get(
        "/api/v1/pods", fieldSelector=f"spec.nodeName={node}"
    )
    return not listed["items"]


def _boot(node: Mapping[str, Any]) -> str:
    return str(node["status"]["nodeInfo"]["bootID"])


def _status(node: Mapping[str, Any], kind: str) -> str | None:
    return next(
        (
            condition["status"]
            for condition in node["status"].get("conditions", ())
            if condition["type"] == kind
        ),
        None,
    )
