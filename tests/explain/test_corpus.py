"""The incidents of the corpus, as recorded and as others might tell them."""

from functools import cache

import pytest

from tests.corpus.make import TAPES
from tests.corpus.tape_lines import read_lines
from tests.corpus.told import Told
from tests.corpus.truth import read_truth
from tests.corpus.variations import VARIATIONS
from tests.explain.judged import differences, judged

NAMES = sorted(p.name.split(".")[0] for p in TAPES.glob("*.truth.json"))
SEED = 20261121


@cache
def told(name: str) -> Told:
    tape = read_lines(TAPES / f"{name}.tape.jsonl.zst")
    return Told(tape, read_truth(TAPES / f"{name}.truth.json"))


def wrong(one: Told) -> list[str]:
    found = judged(one.tape)
    return [
        f"{node.name}: {said}"
        for node in one.truth.cluster.nodes
        for said in differences(
            [v for v in one.truth.verdicts if v.node == node.name],
            found.verdicts(node.name),
        )
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_node_of_an_incident_is_judged_by_its_truth(name: str) -> None:
    assert wrong(told(name)) == []


@pytest.mark.parametrize("how", sorted(VARIATIONS))
@pytest.mark.parametrize("name", NAMES)
def test_an_incident_told_otherwise_is_judged_the_same(
    name: str, how: str
) -> None:
    assert wrong(VARIATIONS[how](told(name), SEED)) == []
