"""Verdicts do not change with the facts that are left out as irrelevant."""

import pytest

from recorder.answers.loading.nodes import is_about
from recorder.explain.answer import judge
from recorder.explain.breadth import (
    needs_every_place,
    seen_with_others,
    together,
)
from recorder.explain.knowledge import shipped
from recorder.explain.tracks.episodes import episodes_of, may_begin
from recorder.explain.tracks.fleet import Fleet
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import Appeared
from recorder.model.state import TOPOLOGY
from tests.explain.judged import Judged, judged
from tests.explain.test_corpus import NAMES, recorded


def nodes_of(found: Judged) -> list[str]:
    return sorted({f.fact.node for f in found.facts if f.fact.node})


def mine(found: Judged, node: str) -> list[StoredFact]:
    return [f for f in found.facts if is_about(f, node, shipped())]


def places(found: Judged) -> dict[str, dict[str, str]]:
    return {
        stored.fact.node: {
            key: value
            for key, value in stored.fact.detail.state.labels.items()
            if key.rpartition("/")[2] in TOPOLOGY
        }
        for stored in found.facts
        if isinstance(stored.fact.detail, Appeared)
        and stored.fact.node is not None
        and stored.fact.object is not None
        and stored.fact.object.kind == "Node"
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_verdict_needs_no_more_of_the_fleet_than_is_said(name: str) -> None:
    found = judged(recorded(name).tape)
    everything = Fleet(found.facts)
    known = places(found)
    losses = [f for f in found.facts if f.fact.kind is not FactKind.APPEARED]
    for node in nodes_of(found):
        for chain in episodes_of(node, mine(found, node), shipped()):
            narrow = Fleet(())
            if (seen := seen_with_others(chain, everything)) is not None:
                near = {n: known.get(n, {}) for n in together(seen)}
                narrow = Fleet(losses, near)
                seen = seen_with_others(chain, narrow)
                if seen is not None and needs_every_place(seen):
                    continue

            assert judge(chain, narrow) == judge(chain, everything)


@pytest.mark.parametrize("name", NAMES)
def test_where_nothing_can_begin_there_is_no_chain(name: str) -> None:
    found = judged(recorded(name).tape)
    for node in nodes_of(found):
        own = mine(found, node)
        for end in range(0, len(own), 7):
            if not may_begin(node, own[:end], shipped()):
                assert not episodes_of(node, own[:end], shipped())
