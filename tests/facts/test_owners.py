"""Facts are filed under the controller of their object."""

import pytest

from recorder.facts import derive, owner_of
from recorder.model.reference import ObjectIdentity
from tests.support.builders import PODS, a_list, an_object
from tests.support.story import Story

JOB: dict[str, object] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "name": "llm",
    "uid": "job-uid",
    "controller": True,
}
POD: dict[str, object] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "name": "llm-0",
    "uid": "pod-uid",
}
NODE: dict[str, object] = {
    "apiVersion": "v1",
    "kind": "Node",
    "name": "n",
    "uid": "u",
}


def owner(*references: dict[str, object]) -> ObjectIdentity | None:
    pod = an_object("llm-0", 1)
    pod["metadata"]["ownerReferences"] = list(references)
    (draft,) = Story(a_list(PODS, 10, pod)).of("listed")
    (fact, *_) = derive(draft, None).facts
    return owner_of(fact)


def test_an_owner_is_known_by_the_group_that_its_own_entries_have() -> None:
    assert owner(NODE, JOB) == ObjectIdentity(
        "batch", "Job", "train", "llm", "job-uid"
    )


def test_what_a_queue_keeps_belongs_to_what_is_above_its_pods() -> None:
    above = JOB | {"controller": None}

    assert owner(above, POD, POD | {"name": "llm-1"}) == owner(JOB)


@pytest.mark.parametrize(
    "references", [(), (NODE,), (JOB | {"controller": None}, NODE)]
)
def test_who_does_not_control_is_no_owner(
    references: tuple[dict[str, object], ...],
) -> None:
    assert owner(*references) is None
