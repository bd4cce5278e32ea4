"""What is attributed adds up: the parts are the whole, and no end is in two.

The oracle is arithmetic over what is said, on every recorded incident and on
a sample of the synthetic ones.
"""

from collections import Counter
from random import Random

import pytest

from recorder.explain.hit import Hit, Scope
from recorder.explain.impact import hits
from recorder.facts.projections import Placements, Workloads
from tests.corpus.make import TAPES
from tests.corpus.tape_lines import read_lines
from tests.explain.judged import Judged, judged
from tests.scenarios.telling.classes import CLASSES
from tests.scenarios.telling.registry import INCIDENTS

FOLDERS = (TAPES, TAPES.parent / "live")
TAPED = sorted(
    path for folder in FOLDERS for path in folder.glob("*.tape.jsonl.zst")
)
SYNTHETIC = Random(20261123).sample(sorted(INCIDENTS), 60)
NEAR = 1e-6


def every_hit(tape: Judged) -> list[Hit]:
    nodes = sorted({f.fact.node for f in tape.facts if f.fact.node})
    return hits(
        [v for node in nodes for v in tape.verdicts(node)],
        Placements(tape.facts),
        Workloads(tape.facts),
        scope=Scope(
            nodes=frozenset(nodes),
            until=max(fact.observed_at for fact in tape.facts),
            unheard=tape.unheard,
        ),
    )


def adds_up(found: list[Hit]) -> None:
    whole = sum(hit.gpu_hours_lost for hit in found)
    nodes = {charge.node for hit in found for charge in hit.charges}
    by_node = sum(
        hit.charged(nodes={node}).gpu_hours_attributed
        for node in nodes
        for hit in found
    )
    verdicts = {c.verdict or "" for hit in found for c in hit.charges}
    by_verdict = sum(
        hit.charged(verdicts={name}).gpu_hours_attributed
        for name in verdicts
        for hit in found
    )
    assert abs(whole - by_node) < NEAR
    assert abs(whole - by_verdict) < NEAR
    for hit in found:
        charged = Counter(pod for charge in hit.charges for pod in charge.pods)
        assert set(charged.values()) <= {1}, "an end of a Pod in two charges"
        if hit.outcome != "survived":
            assert sorted(charged) == sorted(hit.pods_hit)


@pytest.mark.parametrize("path", TAPED, ids=lambda path: path.name)
def test_of_a_recorded_incident_the_parts_are_the_whole(path: object) -> None:
    adds_up(every_hit(judged(read_lines(path))))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SYNTHETIC)
def test_of_a_synthetic_incident_the_parts_are_the_whole(name: str) -> None:
    assert CLASSES
    adds_up(every_hit(judged(INCIDENTS[name]().answered_tape(name).tape)))


def test_some_incident_is_shared_and_costs_something() -> None:
    """Without this, the tests above would prove nothing."""
    taped = TAPES / "rack-loss-jobset.tape.jsonl.zst"
    found = every_hit(judged(read_lines(taped)))

    assert any(
        len(hit.charges) > 1 and hit.gpu_hours_lost > 0 for hit in found
    )
