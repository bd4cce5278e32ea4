"""Any two states, and a comparison that was written the slow way."""

from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import to_builtins

from recorder.facts.changes import changes
from recorder.facts.classify.shapes import Condition, Taint
from recorder.facts.state import State
from recorder.model.fact import FactKind

names = st.sampled_from(["a", "b", "c"])
words = st.sampled_from(["x", "y", "z"])
texts = st.dictionaries(names, words)
states = st.builds(
    State,
    node=st.one_of(st.none(), words),
    labels=texts,
    annotations=texts,
    conditions=st.dictionaries(
        names,
        st.builds(
            Condition,
            status=words,
            reason=words,
            message=st.one_of(st.none(), words),
            last_transition_time=words,
        ),
    ),
    taints=st.dictionaries(
        names.map(lambda key: f"{key}:NoSchedule"),
        st.builds(Taint, value=words),
    ),
    fields=st.dictionaries(
        st.sampled_from(["boot_id", "machine_id", "phase", "kernel_version"]),
        words,
    ),
    resources=st.dictionaries(
        names.map(lambda name: f"allocatable/{name}"), words
    ),
)


@settings(max_examples=300)
@given(old=states, new=states)
def test_only_parts_that_differ_are_facts(old: State, new: State) -> None:
    found = changes(old, new, [], is_pod=False)
    changed = {
        (change.kind, *(str(v) for v in _named(to_builtins(change.detail))))
        for change in found
    }
    assert len(changed) == len(found)
    assert changed == set(_differences(old, new))
    assert changes(new, new, [], is_pod=True) == []


def _named(detail: Mapping[str, Any]) -> list[Any]:
    names = ("key", "type", "field", "resource")
    return [detail[name] for name in names if name in detail]


def _differences(old: State, new: State) -> Iterator[tuple[str, ...]]:
    """Say the slow way what differs."""
    for kind, before, after in (
        (FactKind.LABEL_CHANGED, old.labels, new.labels),
        (FactKind.ANNOTATION_CHANGED, old.annotations, new.annotations),
        (FactKind.RESOURCE_CHANGED, old.resources, new.resources),
    ):
        for key in before.keys() | after.keys():
            if before.get(key) != after.get(key):
                yield kind, key.removeprefix("allocatable/")
    if old.node != new.node and new.node is not None:
        yield (FactKind.BOUND,)
    yield from _different_fields(old, new)
    yield from _different_conditions(old, new)
    yield from _different_taints(old, new)


def _different_fields(old: State, new: State) -> Iterator[tuple[str, ...]]:
    for field in old.fields.keys() | new.fields.keys():
        if old.fields.get(field) == new.fields.get(field):
            continue
        if field == "boot_id":
            if "boot_id" in old.fields:
                yield (FactKind.BOOT_CHANGED,)
        elif field == "machine_id":
            yield FactKind.MACHINE_CHANGED, field
        else:
            yield FactKind.FIELD_CHANGED, field


def _different_conditions(old: State, new: State) -> Iterator[tuple[str, ...]]:
    for name in old.conditions.keys() | new.conditions.keys():
        words = [
            None if c is None else (c.status, c.reason, c.message)
            for c in (old.conditions.get(name), new.conditions.get(name))
        ]
        if words[0] != words[1]:
            yield FactKind.CONDITION_CHANGED, name


def _different_taints(old: State, new: State) -> Iterator[tuple[str, ...]]:
    for name in old.taints.keys() | new.taints.keys():
        before_it, after_it = old.taints.get(name), new.taints.get(name)
        key = name.removesuffix(":NoSchedule")
        if after_it is None:
            yield FactKind.UNTAINTED, key
        elif before_it is None or before_it.value != after_it.value:
            yield FactKind.TAINTED, key
