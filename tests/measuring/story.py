"""A story of heat: a GPU of n1 gets hot, and its machine reboots."""

from collections.abc import Mapping
from typing import Any

from recorder.model.observation import CloudEventPosted
from recorder.sources.claims.envelope import claims_of
from tests.measuring.stores import STEP, Line
from tests.support.builders import NODES, a_frame, a_list, at
from tests.support.written_log import WrittenLog

__all__ = ["BACK", "BOTH", "LOST", "LogDoor", "every", "gpus", "written"]

LOST, BACK = 600, 900
HOT_FROM = 480
BOTH = ("n1", "n2")


def every(begin: float, end: float, value: float) -> list[tuple[float, float]]:
    return [(seconds, value) for seconds in range(int(begin), int(end), STEP)]


def gpus(
    node: str, *, hot: int | None = None, until: float = LOST
) -> list[Line]:
    """Return the temperatures of a node until it is lost."""
    lines: list[Line] = [
        (
            "DCGM_FI_DEV_GPU_TEMP",
            {"gpu": str(gpu), "Hostname": node, "pod": "llm-0"},
            [
                *every(-3600, min(HOT_FROM, until), 60 + gpu),
                *every(HOT_FROM, until, 97 if gpu == hot else 60 + gpu),
            ],
        )
        for gpu in range(8)
    ]
    up = {"node": node, "job": "dcgm"}
    return [*lines, ("up", up, every(-3600, until, 1))]


def a_node(
    name: str, version: int, *, boot: int = 1, ready: str = "True",
    throttled: bool = False,
) -> dict[str, Any]:  # fmt: skip
    conditions = [
        {"type": "Ready", "status": ready},
        {"type": "AMDGPUThrottle", "status": str(throttled)},
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
        },
        "status": {
            "conditions": conditions,
            "nodeInfo": {"bootID": f"boot-{boot}-{name}"},
        },
    }


class LogDoor:
    """The door, on a log in a database."""

    def __init__(self, log: WrittenLog) -> None:
        self._log = log
        self.events: list[Mapping[str, Any]] = []
        self.is_away = False

    async def put(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)

    async def flush(self) -> str | None:
        return "away" if self.is_away else None

    async def commit(self) -> None:
        """Enter what was posted, as the door does."""
        plain = [
            {k: v for k, v in event.items() if k != "specversion"}
            for event in self.events
        ]
        claims = claims_of(plain, now=at(1e6))
        await self._log.append(
            *(
                CloudEventPosted(
                    observed_at=at(2000), event=one.document, key=one.key
                )
                for one in claims
            )
        )


async def written(dsn: str) -> WrittenLog:
    """Write a log in which n1 throttles, is lost, and comes back rebooted."""
    log = WrittenLog(dsn)
    await log.lease()
    await log.append(
        a_list(NODES, 1, *(a_node(name, 1) for name in BOTH), when=-4000)
    )
    turns: list[tuple[float, dict[str, Any]]] = [
        (500, {"throttled": True}),
        (LOST, {"throttled": True, "ready": "Unknown"}),
        (BACK, {"boot": 2}),
    ]
    for version, (when, how) in enumerate(turns, 2):
        await log.append(
            a_frame(NODES, "MODIFIED", a_node("n1", version, **how), when=when)
        )
    return log
