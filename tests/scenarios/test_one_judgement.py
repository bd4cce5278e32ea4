"""What ended a Pod is judged once: what hit a workload is what ended it.

For every incident, whole or with a tenth of its entries lost: each Pod that
impact says was hit has an ending by the same cause at the same time, each Pod
that an ending says was taken from its node was hit, and both cost the same.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import product
from random import Random

import pytest

from recorder.explain.ending import Ending
from recorder.explain.endings import Life, endings_of, facts_by_object
from recorder.explain.hit import Hit, Scope
from recorder.explain.impact import hits
from recorder.explain.pod_end import TAKEN
from recorder.explain.verdict import Verdict
from recorder.facts.projections import (
    Placement,
    Placements,
    Workload,
    Workloads,
)
from recorder.model.outcomes import Cause, EndedBy, Outcome
from tests.explain.judged import Judged
from tests.scenarios.telling.marking import judged_of
from tests.scenarios.test_scenarios import (
    LOST_SHARE,
    NAMES,
    entries,
    losable,
    nodes_of,
)
from tests.support.sampling import sampled

SEEDS, SOME = 4, 200

End = tuple[EndedBy, str, datetime]
"""The cause, the Pod, and when its workload was hit."""


@pytest.mark.parametrize(
    ("name", "seed"),
    sampled("one judgement", product(NAMES, range(SEEDS)), SOME),
)
def test_what_hit_a_workload_is_what_ended_it(name: str, seed: int) -> None:
    chance = Random(f"{name} {seed}")
    drafts = entries(name)
    share = LOST_SHARE if seed else 0.0
    lost = {p for p in losable(name) if chance.random() < share}
    left = [d for p, d in enumerate(drafts) if p not in lost]
    found = [*disagreements(judged_of(left), nodes_of(name))]
    assert found == []


def disagreements(judged: Judged, nodes: Sequence[str]) -> Iterator[str]:
    """Yield where impact and endings differ."""
    verdicts = [v for node in nodes for v in judged.verdicts(node)]
    workloads = Workloads(judged.facts)
    scope = Scope(
        nodes=frozenset(nodes),
        until=max(fact.observed_at for fact in judged.facts),
        unheard=judged.unheard,
    )
    pods = [*Placements(judged.facts)]
    found = hits(verdicts, pods, workloads, scope=scope)
    gangs: dict[Workload, list[Placement]] = {}
    for pod in pods:
        workload = workloads.of(pod)
        if workload is not None:
            gangs.setdefault(workload, []).append(pod)
    by_object = facts_by_object(judged.facts)
    for workload, members in gangs.items():
        life = Life(workload, members, by_object, workloads)
        own = [hit for hit in found if hit.workload == workload]
        endings = endings_of(life, own, verdicts)
        hit = Counter(_hit(own, members, verdicts))
        ended = Counter(_ended(endings))
        if hit != ended:
            yield f"{workload}: hit {hit - ended}, ended {ended - hit}"
        lost = sum(one.gpu_hours_lost for one in own)
        cost = sum(one.gpu_hours_lost or 0.0 for one in endings)
        if round(lost - cost, 3):
            yield f"{workload}: {lost} GPU-hours lost by hits, {cost} by ends"


def _hit(
    found: Sequence[Hit],
    members: Sequence[Placement],
    verdicts: Sequence[Verdict],
) -> Iterator[End]:
    """Yield the Pods that were hit, without those that did all their work."""
    causes = {verdict.id: verdict.cause for verdict in verdicts}
    done = {pod.key for pod in members if pod.phase == "Succeeded"}
    for hit in found:
        if hit.outcome is Outcome.SURVIVED or (
            hit.outcome is Outcome.COMPLETED and hit.pod_keys <= done
        ):
            continue
        of = {causes.get(charge.verdict or "") for charge in hit.charges}
        own = of == {Cause.CONTAINER_OOM}
        by = EndedBy.CONTAINER_OOM if own else EndedBy(hit.hit_by)
        yield from ((by, pod, hit.hit_at) for pod in hit.pods_hit)


def _ended(endings: Sequence[Ending]) -> Iterator[End]:
    """Yield the Pods that something took, or a container that cost."""
    for one in endings:
        if ((one.ended_by in TAKEN or one.hit) and not one.routine) or (
            one.ended_by is EndedBy.CONTAINER_OOM
            and one.gpu_hours_lost is not None
        ):
            yield from ((one.ended_by, pod, one.at) for pod in one.pods)
