"""One field was changed by the one writer that fits, or by an unknown one."""

from typing import Any

from recorder.facts.classify.changes import changes
from recorder.facts.classify.owners import Owners

READY = 'k:{"type":"Ready"}'


def an_entry(manager: str, second: int, fields: Any) -> dict[str, Any]:
    return {
        "manager": manager,
        "operation": "Update",
        "time": f"2026-11-21T03:00:{second:02}Z",
        "fieldsV1": fields,
    }


def a_node(*entries: Any, ready: str, **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"managedFields": list(entries)},
        "spec": spec,
        "status": {"conditions": [{"type": "Ready", "status": ready}]},
    }


def owners(old: Any, new: Any) -> dict[str, str | None]:
    found = Owners(old, new)
    whose = {str(c): found.of(c.path) for c in changes(old, new)}
    return {
        path: None if owner is None else owner.name
        for path, owner in whose.items()
        if "managedFields" not in path
    }


def of_kubelet(second: int) -> dict[str, Any]:
    fields: Any = {"f:conditions": {".": {}, READY: {"f:status": {}}}}
    return an_entry("kubelet", second, {"f:status": fields})


def of_kubectl(second: int, *names: str) -> dict[str, Any]:
    return an_entry("kubectl", second, {"f:spec": {key: {} for key in names}})


def test_two_who_wrote_in_one_second_differ_by_what_they_own() -> None:
    old = a_node(of_kubelet(1), ready="True")
    cordoned = of_kubectl(2, "f:unschedulable")
    new = a_node(of_kubelet(2), cordoned, ready="False", unschedulable=True)

    assert owners(old, new) == {
        "spec.unschedulable": "kubectl",
        "status.conditions[type=Ready].status": "kubelet",
    }


def test_a_field_that_two_may_have_taken_away_has_no_owner() -> None:
    old = a_node(
        of_kubelet(1), of_kubectl(1, "f:unschedulable"), ready="True",
        unschedulable=True,
    )  # fmt: skip
    new = a_node(of_kubelet(2), of_kubectl(2, "f:taints"), ready="False")

    assert owners(old, new) == {
        "spec.unschedulable": None,
        "status.conditions[type=Ready].status": "kubelet",
    }


def test_a_list_that_is_owned_as_a_whole_is_owned_in_its_parts() -> None:
    taints = [{"key": "gpu", "effect": "NoSchedule"}]
    old = a_node(of_kubelet(1), ready="True", taints=taints)
    new = a_node(
        of_kubelet(2), of_kubectl(2, "f:taints"), ready="False",
        taints=[{**taints[0], "value": "broken"}],
    )  # fmt: skip

    found = owners(old, new)

    assert found["spec.taints[key=gpu,effect=NoSchedule].value"] == "kubectl"


def test_keys_that_are_no_json_own_nothing() -> None:
    odd = an_entry("odd", 2, {"f:status": {"f:conditions": {"k:{": {}}}})
    old = a_node(of_kubelet(1), ready="True")

    assert owners(old, a_node(odd, of_kubelet(2), ready="False")) == {
        "status.conditions[type=Ready].status": "kubelet"
    }
