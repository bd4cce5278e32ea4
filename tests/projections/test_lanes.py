"""The state of a node as spans: each begins with what made it so."""

from datetime import datetime
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from recorder.facts.projections import NodeState, advance
from recorder.facts.projections.lanes import (
    BOOT,
    CONDITION,
    CORDON,
    SERVICE,
    TAINT,
    Lanes,
)
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.reference import EntryName
from tests.support.builders import at
from tests.support.details import detail_of


def a_fact(position: int, kind: FactKind, **detail: Any) -> StoredFact:
    return StoredFact(
        entry=EntryName(1, position),
        index=0,
        observed_at=at(position),
        fact=Fact(
            kind=kind, node="n", object=None, detail=detail_of(kind, detail)
        ),
    )


def appeared(position: int) -> StoredFact:
    state = {
        "uid": "u",
        "fields": {"boot_id": "b0"},
        "conditions": {"Ready": {"status": "True"}},
    }
    return a_fact(position, FactKind.APPEARED, created=True, state=state)


def ready(position: int, status: str) -> StoredFact:
    new = {"status": status, "reason": "r", "message": "m"}
    return a_fact(
        position, FactKind.CONDITION_CHANGED, type="Ready", old=None, new=new
    )


def word(state: NodeState) -> str:
    return "good" if state.in_service else "bad"


def folded(*facts: StoredFact, base: NodeState | None = None) -> Lanes:
    state = base or NodeState()
    lanes = Lanes(state, word)
    for stored in facts:
        state = advance(state, stored.fact)
        lanes.take(stored, state)
    return lanes


def ends(lanes: Lanes, lane: str) -> list[tuple[Any, ...]]:
    return [(s.value, s.since, s.to) for s in lanes.spans(lane)]


def test_nothing_is_said_of_a_node_that_was_never_seen() -> None:
    assert folded().spans(SERVICE) == []


def test_a_span_ends_where_the_next_begins() -> None:
    lanes = folded(appeared(1), ready(2, "Unknown"), ready(3, "True"))

    assert ends(lanes, SERVICE) == [
        ("good", at(1), at(2)),
        ("bad", at(2), at(3)),
        ("good", at(3), None),
    ]
    entries = [
        s.began and s.began.entry.position for s in lanes.spans(SERVICE)
    ]
    assert entries == [1, 2, 3]


def test_what_held_before_the_window_has_no_beginning() -> None:
    base = advance(NodeState(), appeared(1).fact)

    lanes = folded(a_fact(5, FactKind.CORDONED), base=base)

    assert ends(lanes, BOOT) == [("b0", None, None)]
    assert ends(lanes, CORDON) == [(True, at(5), None)]


def test_a_boot_a_taint_and_the_end_of_a_node_end_their_spans() -> None:
    lanes = folded(
        appeared(1),
        a_fact(2, FactKind.TAINTED, key="k", effect="NoSchedule", value=None),
        a_fact(3, FactKind.BOOT_CHANGED, old="b0", new="b1"),
        a_fact(
            4, FactKind.UNTAINTED, key="k", effect="NoSchedule", value=None
        ),
        a_fact(5, FactKind.VANISHED, state={}),
    )

    assert ends(lanes, TAINT) == [(None, at(2), at(4))]
    assert ends(lanes, BOOT) == [("b0", at(1), at(3)), ("b1", at(3), at(5))]
    assert [s.to for s in lanes.spans(CONDITION)] == [at(5)]
    assert lanes.spans(SERVICE)[-1].value == "bad"


@given(st.lists(st.sampled_from(["True", "False", "Unknown"]), max_size=20))
def test_spans_of_one_lane_never_overlap_and_leave_no_hole(
    statuses: list[str],
) -> None:
    facts = [ready(n, status) for n, status in enumerate(statuses, 2)]

    lanes = folded(appeared(1), *facts)

    for lane in (SERVICE, CONDITION):
        spans = lanes.spans(lane)
        assert spans[0].since == at(1)
        assert spans[-1].to is None
        for one, other in pairwise(spans):
            assert one.to == other.since
            assert one.value != other.value
            assert isinstance(one.to, datetime)
