"""One workload: its Pods over nodes and time, and what hit it."""

from collections.abc import Sequence
from datetime import datetime

from recorder.answers.impact import ask_impact
from recorder.answers.loading.nodes import account_of_work
from recorder.answers.node_questions import ImpactQuestion, WorkloadQuestion
from recorder.answers.placements import PlacedPod
from recorder.answers.ports import Reading
from recorder.answers.references import find_objects
from recorder.answers.workload_named import family_of, waiting_workload
from recorder.explain.hit import Hit
from recorder.explain.knowledge import Knowledge
from recorder.facts.coverage.coverage import Coverage, cover
from recorder.facts.projections import (
    Placement,
    Placements,
    Workload,
    Workloads,
    most_at_once,
)
from recorder.model.document import Document
from recorder.model.errors import NotFoundError
from recorder.model.window import Window


class WorkloadHistory(Document, frozen=True, kw_only=True):
    """The Pods of a workload, where they ran, and their disruptions."""

    workload: Workload
    window: Window
    is_gang: bool
    """Whether it needs all of its Pods to run."""

    gpus: int
    """GPUs of the most Pods bound at the same time."""

    nodes: Sequence[str]
    placements: Sequence[PlacedPod]
    """In order of their binding."""

    ran_in_full_at: datetime | None
    """When the maximum of running Pods was first reached."""

    failed_at: datetime | None
    """Its own terminal condition."""

    hits: Sequence[Hit]
    coverage: Coverage


async def ask_workload(
    reading: Reading,
    question: WorkloadQuestion,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> WorkloadHistory:
    """Return the Pods of a workload, and its hits in a window.

    Raises:
        NotFoundError: the log has no such object, or it had no Pods.
    """
    reference, window = question.object, question.window
    await reading.reach(window.since, window.until)
    found = await find_objects(reading, reference)
    uids = {t.identity.uid for t in found.incarnations if t.identity.uid}
    facts = await family_of(reading, uids, window.until)
    workloads = Workloads(facts)
    own: dict[Workload, list[Placement]] = {}
    for placement in Placements(facts):
        workload = workloads.of(placement)
        if workload is not None:
            own.setdefault(workload, []).append(placement)
    waiting = None if own else waiting_workload(found)
    if waiting is not None:
        own[waiting] = []
    chosen = [
        one for one in own if one.uid in uids or one.name == reference.name
    ]
    if not chosen:
        msg = (
            f'{reading.log.named} has no Pods of "{reference}": name what'
            " owns them, as in job/train/llm"
        )
        raise NotFoundError(msg, code="not_found.workload")
    workload = chosen[-1]
    pods = sorted(
        (p for one in chosen for p in own[one]),
        key=lambda p: (p.bound_at or p.seen_at, p.pod.name),
    )
    account = await account_of_work(reading, window, now=now)
    hit = await _impact(reading, pods, window, knowledge, now=now)
    hits = [one for one in hit if one.workload in chosen]
    gpus, _ = most_at_once((p.bound_at, p.left_at, p.gpus) for p in pods)
    _, full_at = most_at_once((p.running_at, p.left_at, 1) for p in pods)
    return WorkloadHistory(
        workload=workload,
        window=window,
        is_gang=workload.is_gang,
        gpus=gpus,
        nodes=sorted({p.node for p in pods if p.node is not None}),
        placements=[PlacedPod.of(one, workload) for one in pods],
        ran_in_full_at=full_at,
        failed_at=workloads.failed_at(workload),
        hits=hits,
        coverage=cover(account, times=[one.hit_at for one in hits]),
    )


async def _impact(
    reading: Reading,
    placements: Sequence[Placement],
    window: Window,
    knowledge: Knowledge,
    *,
    now: datetime,
) -> Sequence[Hit]:
    nodes = sorted({p.node for p in placements if p.node is not None})
    if not nodes:
        return []
    begun = [p.bound_at for p in placements if p.bound_at is not None]
    since = window.since or min(begun, default=None)
    impact = await ask_impact(
        reading,
        ImpactQuestion(
            nodes=tuple(nodes),
            rack=None,
            labels=(),
            window=Window(since, window.until),
        ),
        knowledge,
        now=now,
    )
    return impact.workloads
