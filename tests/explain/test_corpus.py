"""The incidents of the corpus, as recorded and in variations.

Each commit tests another sample of the variations.
"""

from functools import cache
from itertools import product

import pytest

from recorder.explain.hit import Scope
from recorder.explain.impact import hits
from recorder.facts.projections import Placements, Workloads
from tests.corpus.answered_tape import AnsweredTape
from tests.corpus.make import TAPES
from tests.corpus.tape_lines import read_lines
from tests.corpus.truth import read_truth
from tests.corpus.variations import VARIATIONS
from tests.explain.judged import differences, judged
from tests.support.sampling import sampled

NAMES = sorted(p.name.split(".")[0] for p in TAPES.glob("*.truth.json"))
SEED = 20261121
KEEPING_WORK = ("lose-events", "shuffle-arrival", "repeat-frames")


@cache
def recorded(name: str) -> AnsweredTape:
    tape = read_lines(TAPES / f"{name}.tape.jsonl.zst")
    return AnsweredTape(tape, read_truth(TAPES / f"{name}.truth.json"))


def wrong(one: AnsweredTape) -> list[str]:
    found = judged(one.tape)
    return [
        f"{node.name}: {said}"
        for node in one.truth.cluster.nodes
        for said in differences(
            [v for v in one.truth.verdicts if v.node == node.name],
            found.verdicts(node.name),
        )
    ]


COUNTED = ("hit_by", "outcome", "first_node", "gang_size", "gpus")


def wrong_workloads(one: AnsweredTape) -> list[str]:
    found = judged(one.tape)
    nodes = [node.name for node in one.truth.cluster.nodes]
    hit = {
        (h.workload.kind, h.workload.namespace, h.workload.name): h
        for h in hits(
            [v for node in nodes for v in found.verdicts(node)],
            Placements(found.facts),
            Workloads(found.facts),
            scope=Scope(
                nodes=frozenset(nodes),
                until=max(fact.observed_at for fact in found.facts),
                unheard=found.unheard,
            ),
        )
    }
    said = []
    for truth in one.truth.workloads:
        got = hit.pop((truth.kind, truth.namespace, truth.name), None)
        if got is None:
            said += [] if truth.optional else [f"{truth.name} is missing"]
            continue
        for name in COUNTED:
            right = [getattr(truth, name), *truth.accept.get(name, [])]
            if getattr(got, name) not in right:
                said.append(f"{truth.name}: {name}: {got.says}")
    return said + [f"{h.says} was not hit" for h in hit.values()]


@pytest.mark.parametrize("name", NAMES)
def test_every_workload_of_an_incident_is_counted_by_its_truth(
    name: str,
) -> None:
    assert wrong_workloads(recorded(name)) == []


@pytest.mark.parametrize(
    ("name", "how"),
    sampled("workloads of the corpus", product(NAMES, KEEPING_WORK), 20),
)
def test_workloads_are_counted_the_same_in_a_variation(
    name: str, how: str
) -> None:
    assert wrong_workloads(VARIATIONS[how](recorded(name), SEED)) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_node_of_an_incident_is_judged_by_its_truth(name: str) -> None:
    assert wrong(recorded(name)) == []


@pytest.mark.parametrize(
    ("name", "how"),
    sampled("corpus", product(NAMES, sorted(VARIATIONS)), 40),
)
def test_a_variation_of_an_incident_is_judged_the_same(
    name: str, how: str
) -> None:
    assert wrong(VARIATIONS[how](recorded(name), SEED)) == []
