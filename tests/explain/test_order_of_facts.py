"""Facts are in the order in which they happened, as far as times show."""

from datetime import datetime

from recorder.answers.postmortem import order_of
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.facts import FieldChanged
from recorder.model.reference import EntryName
from tests.support.builders import at


def a_fact(
    position: int, *, seen: float, claims: float | None = None
) -> StoredFact:
    occurred: datetime | None = None if claims is None else at(claims)
    return StoredFact(
        entry=EntryName(1, position),
        index=0,
        observed_at=at(seen),
        fact=Fact(
            kind=FactKind.FIELD_CHANGED,
            detail=FieldChanged("phase", "Pending", "Running"),
            node="gpu-001",
            object=None,
            occurred_at=occurred,
        ),
    )


def ordered(*facts: StoredFact) -> list[int]:
    return [one.entry.position for one in sorted(facts, key=order_of(facts))]


def test_what_claims_a_second_is_not_at_its_beginning() -> None:
    decision = a_fact(1, seen=15.2)
    effect = a_fact(2, seen=15.4, claims=15)

    assert ordered(effect, decision) == [1, 2]


def test_a_request_that_is_received_late_is_at_its_own_time() -> None:
    effect = a_fact(7, seen=15.4, claims=15)
    request = a_fact(9, seen=18, claims=15.1)

    assert ordered(effect, request) == [9, 7]


def test_a_claim_lies_within_its_second_however_late_it_is_seen() -> None:
    late = a_fact(3, seen=90, claims=15)
    before, after = a_fact(1, seen=15.9), a_fact(2, seen=16)

    assert ordered(after, late, before) == [1, 3, 2]


def test_versions_of_one_second_are_in_the_order_of_the_log() -> None:
    versions = [a_fact(n, seen=40 + n, claims=15) for n in (1, 2, 3)]

    assert ordered(*reversed(versions)) == [1, 2, 3]


def test_a_clock_that_is_ahead_keeps_decisions_before_effects() -> None:
    request = a_fact(9, seen=18.2, claims=375.1)
    effect = a_fact(7, seen=15.4, claims=375)
    mark = a_fact(1, seen=10.1, claims=370.1)

    assert ordered(effect, request, mark) == [1, 9, 7]


def test_facts_without_claims_are_as_we_saw_them() -> None:
    assert ordered(a_fact(2, seen=8), a_fact(1, seen=9)) == [2, 1]
