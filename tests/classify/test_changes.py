"""Changes are exact, and read as a person would put them."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recorder.answers.changes import shown_change
from recorder.facts.classify.changes import changes, is_noise
from recorder.facts.classify.paths import Element, Step, written_path
from recorder.model.document import plain
from tests.classify.applying import applied, parsed_path

NAMES = (
    "conditions",
    "taints",
    "tolerations",
    "ports",
    "env",
    "args",
    "metadata",
    "status",
    "name",
    "type",
    "key",
    "effect",
    "containerPort",
    "protocol",
    "a.b/c",
    'with "quotes"',
    "",
)
names = st.one_of(st.sampled_from(NAMES), st.text(max_size=3))
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([0.0, 1.0, "1", "true", "null", "Ready", "a,b]=c", '"']),
    st.text(max_size=3),
)


def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    elements = st.fixed_dictionaries(
        {"type": scalars, "name": scalars, "key": scalars},
        optional={
            "effect": scalars,
            "containerPort": st.integers(0, 2),
            "port": scalars,
            "value": inner,
        },
    )
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(elements, max_size=4),
        st.dictionaries(names, inner, max_size=4),
    )


values = st.recursive(scalars, grown, max_leaves=12)
documents = st.dictionaries(names, values, max_size=5)


@st.composite
def versions(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two documents that have much in common."""
    old = draw(documents)
    new = deepcopy(old)
    for _ in range(draw(st.integers(0, 4))):
        place: Any = new
        while True:
            steps: list[Any] = (
                list(place)
                if isinstance(place, dict)
                else [*range(len(place))]
            )
            if not steps:
                break
            step = draw(st.sampled_from(steps))
            inner = place[step]
            if isinstance(inner, (dict, list)) and draw(st.booleans()):
                place = inner
                continue
            what = draw(st.integers(0, 2))
            if what == 0:
                del place[step]
            elif what == 1:
                place[step] = draw(values)
            elif isinstance(inner, list):
                inner[:] = draw(st.permutations(inner))
            break
    return old, new


def a_list(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"status": {"conditions": list(elements)}}


def shown(old: Any, new: Any) -> list[str]:
    return [f"{c.how.value} {c}" for c in changes(old, new)]


@given(versions())
@example(({"a": True}, {"a": 1}))
@example(({"a": 1}, {"a": 1.0}))
@example(({"a": None}, {}))
@example(({"env": []}, {"env": [{"name": "1"}, {"name": 1}]}))
def test_changes_applied_to_the_old_give_the_new(
    both: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    """By their JSON alone, the paths read back."""
    old, new = both
    found = [plain(shown_change(change, None)) for change in changes(old, new)]

    assert repr(sorted_deep(applied(old, found))) == repr(sorted_deep(new))


def sorted_deep(value: Any) -> Any:
    """Order the fields of objects, which means nothing."""
    if isinstance(value, dict):
        return [(name, sorted_deep(value[name])) for name in sorted(value)]
    if isinstance(value, list):
        return [sorted_deep(element) for element in value]
    return value


@given(documents)
def test_a_document_does_not_differ_from_itself(document: Any) -> None:
    assert changes(document, deepcopy(document)) == []


@given(st.lists(st.one_of(names, st.integers(0, 99)), min_size=1))
def test_a_path_is_read_back(path: list[Step]) -> None:
    assert parsed_path(written_path(path)) == path


@given(st.one_of(st.integers(), st.text()))
def test_what_names_an_element_is_read_back(value: str | int) -> None:
    (step,) = parsed_path(written_path([Element((("name", value),))]))

    assert step == {"name": value}


READ = {
    "a condition": (
        a_list({"type": "Ready", "status": "True"}, {"type": "Disk"}),
        a_list({"type": "Ready", "status": "Unknown"}, {"type": "Disk"}),
        ["replaced status.conditions[type=Ready].status"],
    ),
    "a condition before the others": (
        a_list({"type": "Ready"}),
        a_list({"type": "Disk"}, {"type": "Ready"}),
        [
            "added status.conditions[type=Disk]",
            "reordered status.conditions",
        ],
    ),
    "a taint of two fields": (
        {"spec": {"taints": [{"key": "a.b/c", "effect": "NoSchedule"}]}},
        {"spec": {"taints": [{"key": "a.b/c", "effect": "NoExecute"}]}},
        [
            "removed spec.taints[key=a.b/c,effect=NoSchedule]",
            "added spec.taints[key=a.b/c,effect=NoExecute]",
        ],
    ),
    "a port": (
        {"ports": [{"containerPort": 80, "protocol": "TCP", "name": "a"}]},
        {"ports": [{"containerPort": 80, "protocol": "TCP", "name": "b"}]},
        ["replaced ports[containerPort=80,protocol=TCP].name"],
    ),
    "a port of a service": (
        {"ports": [{"port": 80, "name": "a"}]},
        {"ports": [{"port": 80, "name": "b"}]},
        ["replaced ports[port=80].name"],
    ),
    "an owner": (
        {"ownerReferences": [{"uid": "1-2", "controller": True}]},
        {"ownerReferences": [{"uid": "1-2"}]},
        ['removed ownerReferences[uid="1-2"].controller'],
    ),
    "tolerations": (
        {"tolerations": [{"key": "a"}]},
        {"tolerations": [{"key": "b"}]},
        ["replaced tolerations"],
    ),
    "names that are given twice": (
        {"env": [{"name": "a", "value": "1"}, {"name": "a"}]},
        {"env": [{"name": "a", "value": "2"}, {"name": "a"}]},
        ["replaced env[0].value"],
    ),
    "a list of words": (
        {"args": ["a", "b"]},
        {"args": ["a"]},
        ["replaced args"],
    ),
    "a label": (
        {"metadata": {"labels": {"a.b/c": "1"}}},
        {"metadata": {"labels": {"a.b/c": "2"}}},
        ['replaced metadata.labels["a.b/c"]'],
    ),
}


@pytest.mark.parametrize("name", READ)
def test_a_change_reads_as_a_person_would_put_it(name: str) -> None:
    old, new, expected = READ[name]

    assert shown(old, new) == expected


def test_a_document_of_any_depth_is_compared() -> None:
    deep: Any = 1
    deeper: Any = 2
    for _ in range(400):
        deep, deeper = {"a": deep}, {"a": deeper}

    (change,) = changes(deep, deeper)

    assert len(change.path) == 100


NOISE = {
    "metadata": {
        "managedFields": [{"manager": "kubelet"}],
        "resourceVersion": "2",
        "generation": 2,
    },
    "status": {
        "observedGeneration": 2,
        "conditions": [
            {"type": "B"},
            {
                "type": "A",
                "lastHeartbeatTime": "2026-11-21T03:00:00Z",
                "observedGeneration": 2,
            },
        ],
    },
}


def test_bookkeeping_is_noise() -> None:
    old = {
        "metadata": {"name": "a"},
        "status": {"conditions": [{"type": "A"}, {"type": "B"}]},
    }
    new = {**NOISE, "metadata": {**NOISE["metadata"], "name": "a"}}

    assert len(changes(old, new)) == 7
    assert all(map(is_noise, changes(old, new)))


def test_the_order_of_what_runs_first_is_no_noise() -> None:
    first = {"spec": {"initContainers": [{"name": "a"}, {"name": "b"}]}}
    other = {"spec": {"initContainers": [{"name": "b"}, {"name": "a"}]}}

    (change,) = changes(first, other)

    assert not is_noise(change)
