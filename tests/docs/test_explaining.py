"""What the pages on facts and causes say is what the code does."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import fields

from recorder.explain.knowledge import load
from recorder.explain.thresholds import STRENGTHS
from recorder.model.fact import DETAILS, FactKind
from recorder.model.outcomes import Decision, Fault
from recorder.model.state import Condition
from tests.docs.blocks import ROOT
from tests.docs.explaining import controllers

FACTS = (ROOT / "docs/facts.md").read_text()
CAUSES = (ROOT / "docs/causes.md").read_text()
ALWAYS = {"by"}
OF_CONDITIONS = {member.encode_name for member in fields(Condition)}


def members() -> Mapping[str, set[str]]:
    """Return the members of each kind, as the page lists them."""
    found = {}
    rows = re.findall(r"^\| (`.*) \| .* \|(.*)\|$", FACTS, re.MULTILINE)
    for kinds, names in rows:
        for kind in re.findall(r"`([a-z-]+)`", kinds):
            found[kind] = set(re.findall(r"`(\w+)`", names))
    return found


def test_every_kind_of_fact_has_its_row() -> None:
    assert members().keys() == {kind.value for kind in FactKind}


@pytest.mark.parametrize("kind", FactKind)
def test_facts_have_the_members_that_the_page_lists(kind: FactKind) -> None:
    has = {member.encode_name for member in fields(DETAILS[kind])}
    listed = members()[kind]
    assert has - ALWAYS <= listed
    assert listed <= has | OF_CONDITIONS


def test_every_class_and_confidence_has_its_row() -> None:
    for name in (*Fault, *Decision, *STRENGTHS):
        assert f"\n| `{name}` |" in CAUSES


def test_a_single_rule_is_counted_in_the_singular() -> None:
    assert re.findall(r"\b1 \w+s\b", controllers()) == []


def test_the_rules_that_are_shown_are_rules(tmp_path: Path) -> None:
    shown = (ROOT / "deploy/site.yaml").read_text()
    path = tmp_path / "site.yaml"
    path.write_text(shown)
    knowledge = load([path])
    leak = knowledge.conditions.first("CoolantLeak")
    assert leak is not None
    assert (leak.fault, leak.reasons) == (Fault.THERMAL, {"SensorLost": None})
    event = knowledge.event(
        "coolant-watch", "LeakSeen", about="Node", message="in this rack"
    )
    assert event is not None
    assert event.actor is not None
    assert event.actor.name == "coolant-watch"
    assert knowledge.objects.first("Repair", groups="example.com") is not None
    assert (
        knowledge.locks.first("example.com/holder", kinds="ConfigMap")
        is not None
    )
    assert knowledge.taints.first("example.com/broken", values="") is not None
