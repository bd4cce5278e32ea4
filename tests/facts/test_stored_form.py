"""Details of facts are read as they were written."""

import msgspec
import pytest

from recorder.facts import written
from recorder.facts.writing import IN_ITS_ENTRY
from recorder.model.fact import DETAILS, Fact, FactKind
from recorder.model.facts import Appeared, ConditionChanged
from recorder.model.state import Condition
from tests.corpus.make import TAPES
from tests.corpus.tape_lines import read_lines
from tests.explain.judged import judged
from tests.support.details import detail_of


def test_every_kind_has_details_of_its_own() -> None:
    assert DETAILS.keys() == set(FactKind)
    assert len(set(DETAILS.values())) == len(DETAILS)


@pytest.mark.parametrize("name", ["drain-audited", "gpu-lost", "rejoined"])
def test_what_is_written_is_read_back_equal(name: str) -> None:
    facts = judged(read_lines(TAPES / f"{name}.tape.jsonl.zst")).facts
    assert facts
    for stored in facts:
        if stored.fact.kind is FactKind.REQUESTED:
            # It is in its entry.
            assert written(stored.fact).detail == IN_ITS_ENTRY
            continue
        struct = DETAILS[stored.fact.kind]
        read = msgspec.json.decode(written(stored.fact).detail, type=struct)
        assert read == stored.fact.detail


def test_members_of_a_state_are_written_in_one_order() -> None:
    labels = {"long": "1", "b": "2", "é": "3", "a": "4"}
    shown = detail_of(FactKind.APPEARED, {"state": {"labels": labels}})
    fact = Fact(kind=FactKind.APPEARED, node="n", object=None, detail=shown)

    detail = msgspec.json.decode(written(fact).detail)

    assert list(detail["state"]["labels"]) == ["a", "b", "é", "long"]


def test_what_another_version_left_out_or_added_is_harmless() -> None:
    appeared = {"state": {"uid": "u", "later": {}}, "added": 1}
    turned = {"type": "Ready", "old": None, "new": {"status": "True"}}

    shown = detail_of(FactKind.APPEARED, appeared)
    changed = detail_of(FactKind.CONDITION_CHANGED, turned)

    assert isinstance(shown, Appeared)
    assert (shown.created, shown.state.uid) == (False, "u")
    assert changed == ConditionChanged("Ready", None, Condition("True"))
