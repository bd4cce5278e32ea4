"""A log with a fixed story in it: the same positions and times always.

Only what PostgreSQL adds differs from run to run: ``recorded_at``.
"""

from collections.abc import Iterable

from recorder.model.observation import (
    EXPIRED,
    ClockJumped,
    InputRefused,
    Observation,
    StreamResumed,
)
from recorder.model.reference import Resource
from recorder.store.writer import LogSpec
from tests.support.builders import (
    EVENTS,
    LEASES,
    NODES,
    PODS,
    a_bookmark,
    a_closed_stream,
    a_frame,
    a_lease,
    a_list,
    a_node,
    an_event,
    an_object,
    at,
)
from tests.support.written_log import LIVE, WrittenLog

__all__ = ["LIVE", "STORY", "TAPE", "WIDGETS", "a_refusal", "write_log"]

TAPE = LogSpec(
    cluster_name="demo",
    cluster_uid="22222222-demo",
    kubernetes="v1.36.3",
    redaction_key_id=None,
    tape_uid="the-tape",
)

DEFINITIONS = Resource.parse(
    "apiextensions.k8s.io/v1/customresourcedefinitions"
)
WIDGETS = Resource.parse("example.com/v1/widgets")


def a_definition() -> dict[str, object]:
    names = {
        "kind": "Widget",
        "plural": "widgets",
        "singular": "widget",
        "shortNames": ["wd"],
    }
    spec = {"group": "example.com", "names": names, "scope": "Namespaced"}
    definition = an_object("widgets.example.com", 11, spec=spec)
    del definition["metadata"]["namespace"]
    return definition


def a_pod(
    name: str, version: int, *, node: str, phase: str
) -> dict[str, object]:
    return an_object(
        name, version, spec={"nodeName": node}, status={"phase": phase}
    )


def a_refusal(when: float) -> InputRefused:
    return InputRefused(
        observed_at=at(when),
        resource=PODS,
        head=b"{broken",
        sha256="5" * 64,
        length=7,
        reason="the frame is not JSON",
    )


FIRST_LISTS: list[Observation] = [
    a_list(NODES, 10, a_node("gpu-001", 1), a_node("gpu-002", 2)),
    a_list(
        PODS,
        10,
        a_pod("llm-0", 3, node="gpu-001", phase="Running"),
        a_pod("llm-1", 4, node="gpu-002", phase="Running"),
    ),
    a_list(EVENTS, 10, an_event("llm-0.1", 5, pod="llm-0")),
    a_list(LEASES, 10, a_lease("gpu-001", 6, renewed=0)),
    a_list(DEFINITIONS, 11, a_definition()),
    a_list(WIDGETS, 12, an_object("w", 12)),
]
"""Entries 1 to 8."""

CHANGES: list[Observation] = [
    # A heartbeat, which is counted.
    a_frame(NODES, "MODIFIED", a_node("gpu-001", 20, beat=30), when=30),
    a_frame(
        NODES, "MODIFIED", a_node("gpu-002", 21, ready="Unknown"), when=60
    ),
    a_frame(EVENTS, "ADDED", an_event("llm-1.1", 22, pod="llm-1"), when=61),
    a_frame(
        PODS,
        "MODIFIED",
        a_pod("llm-1", 23, node="gpu-002", phase="Failed"),
        when=62,
    ),
]
"""Entries 9 to 11."""

GAPS: list[Observation] = [
    # One that a list closes, at 03:02:00, and one that heals at 03:03:10.
    a_bookmark(PODS, 30, when=90),
    a_closed_stream(PODS, EXPIRED, when=110),
    a_list(
        PODS, 40, a_pod("llm-2", 39, node="gpu-001", phase="Running"), when=120
    ),
    a_bookmark(NODES, 41, when=170),
    a_closed_stream(NODES, EXPIRED, when=180),
    StreamResumed(observed_at=at(190), resource=NODES),
]
"""Entries 12 to 18."""

ENDING: list[Observation] = [
    *(
        a_bookmark(resource, 50, when=300)
        for resource in (NODES, PODS, LEASES, DEFINITIONS, WIDGETS)
    ),
    a_closed_stream(EVENTS, "timeout", when=300),
]

STORY = [FIRST_LISTS, CHANGES, GAPS, ENDING]
"""Batches; everything is vouched for until 03:05:00."""


async def write_log(
    dsn: str,
    batches: Iterable[Iterable[Observation]],
    *,
    spec: LogSpec = LIVE,
    with_facts: bool = False,
) -> int:
    """Write batches to a log and return its number."""
    written_log = WrittenLog(dsn, spec, with_facts=with_facts)
    await written_log.lease()
    for batch in batches:
        await written_log.append(*batch)
    await written_log.end()
    return written_log.log


def a_jump(when: float, seconds: float) -> ClockJumped:
    return ClockJumped(observed_at=at(when), seconds=seconds)
