"""A story of heat: a GPU of n1 gets hot, and its machine reboots.

A Job runs on n1 and n2, which stays well; it loses its Pod on n1.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from recorder.model.observation import CloudEventPosted
from recorder.model.reference import Resource
from recorder.sources.claims.envelope import claims_of
from tests.measuring.stores import STEP, Line
from tests.support.builders import (
    NODES,
    PODS,
    a_frame,
    a_list,
    an_object,
    at,
)
from tests.support.written_log import WrittenLog

__all__ = [
    "BACK",
    "LOST",
    "LogDoor",
    "Times",
    "every",
    "gpus",
    "written",
]

LOST, BACK = 600, 900
HOT_FROM = 480
BOTH = ("n1", "n2")
JOBS = Resource.parse("batch/v1/jobs")
OWNER = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "name": "llm",
    "uid": "uid-llm",
    "controller": True,
}


def every(begin: float, end: float, value: float) -> list[tuple[float, float]]:
    return [(seconds, value) for seconds in range(int(begin), int(end), STEP)]


def gpus(
    node: str, *, hot: int | None = None, until: float = LOST,
    story: str = "",
) -> list[Line]:  # fmt: skip
    """Return the temperatures of a node until it is lost."""
    lines: list[Line] = [
        (
            "DCGM_FI_DEV_GPU_TEMP",
            {"gpu": str(gpu), "Hostname": node, "story": story},
            [
                *every(-3600, min(HOT_FROM, until), 60 + gpu),
                *every(HOT_FROM, until, 97 if gpu == hot else 60 + gpu),
            ],
        )
        for gpu in range(8)
    ]
    up = {"node": node, "story": story, "job": "dcgm"}
    return [*lines, ("up", up, every(-3600, until, 1))]


def a_node(
    name: str, version: int, *, boot: int = 1, ready: str = "True",
    faulty: str = "",
) -> dict[str, Any]:  # fmt: skip
    conditions = [
        {"type": "Ready", "status": ready},
        *(
            {"type": one, "status": str(one == faulty)}
            for one in ("AMDGPUThrottle", "XIDErrors")
        ),
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


def a_job() -> dict[str, Any]:
    spec = {"completions": 2, "parallelism": 2, "completionMode": "Indexed"}
    return an_object("llm", 1, spec=spec)


def a_pod(number: int, version: int, **status: Any) -> dict[str, Any]:
    """Return a Pod of the Job, with a GPU, on a node of its own."""
    needs = {"requests": {"nvidia.com/gpu": "8"}}
    spec = {
        "nodeName": BOTH[number],
        "containers": [{"name": "main", "resources": needs}],
    }
    pod = an_object(
        f"llm-{number}", version, spec=spec,
        status={"phase": "Running", **status},
    )  # fmt: skip
    pod["metadata"]["ownerReferences"] = [OWNER]
    return pod


class LogDoor:
    """The door, on a log in a database."""

    def __init__(self, log: WrittenLog, seconds: float = 2000) -> None:
        self._log = log
        self._at = at(seconds)
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
        claims = claims_of(plain, now=at(1e7))
        await self._log.append(
            *(
                CloudEventPosted(
                    observed_at=self._at, event=one.document, key=one.key
                )
                for one in claims
            )
        )


class Times(NamedTuple):
    """When things happen, in seconds from the start of every story."""

    begun: float = -4000
    faulty: float = 500
    lost: float = LOST
    back: float = BACK


USUAL = Times()


async def written(
    dsn: str, times: Times = USUAL, condition: str = "AMDGPUThrottle"
) -> WrittenLog:
    """Write a log in which n1 is faulty, is lost, and comes back rebooted."""
    log = WrittenLog(dsn)
    await log.lease()
    nodes = [a_node(name, 1) for name in BOTH]
    await log.append(
        a_list(NODES, 1, *nodes, when=times.begun),
        a_list(JOBS, 1, a_job(), when=times.begun),
        a_list(PODS, 1, a_pod(0, 1), a_pod(1, 1), when=times.begun),
    )
    bad = {"faulty": condition}
    turns: list[tuple[float, dict[str, Any]]] = [
        (times.faulty, bad),
        (times.lost, bad | {"ready": "Unknown"}),
        (times.back, {"boot": 2}),
    ]
    for version, (when, how) in enumerate(turns, 2):
        await log.append(
            a_frame(NODES, "MODIFIED", a_node("n1", version, **how), when=when)
        )
    taken = {"type": "DisruptionTarget", "status": "True"}
    taken |= {"reason": "DeletionByTaintManager"}
    ended = a_pod(0, 5, phase="Failed", conditions=[taken])
    await log.append(
        a_frame(PODS, "MODIFIED", ended, when=times.back),
        a_frame(PODS, "DELETED", ended, when=times.back),
    )
    return log
