"""How many members each kind of workload wants, over time."""

from typing import Any

import pytest

from recorder.facts.projections import Placements, Wanted, Workload, Workloads
from recorder.facts.projections.running import full_spans
from recorder.model.fact import FactKind
from recorder.model.reference import ObjectIdentity
from tests.explain.history import History, a_pod
from tests.support.builders import at

APPEARED, CHANGED = FactKind.APPEARED, FactKind.FIELD_CHANGED


def an_object(kind: str, name: str, group: str = "") -> ObjectIdentity:
    return ObjectIdentity(group, kind, "train", name, f"uid-{name}")


def workload(thing: ObjectIdentity) -> Workload:
    return Workload(thing.kind, thing.namespace, thing.name, thing.uid)


def state(fields: dict[str, Any], *owners: ObjectIdentity) -> dict[str, Any]:
    return {
        "state": {
            "fields": fields,
            "owners": [
                {
                    "kind": one.kind,
                    "name": one.name,
                    "uid": one.uid,
                    "controller": True,
                }
                for one in owners
            ],
        }
    }


def changed(field: str, new: int) -> dict[str, Any]:
    return {"field": field, "old": None, "new": new}


@pytest.mark.parametrize(
    ("group", "kind", "fields", "number"),
    [
        ("batch", "Job", {"parallelism": 4}, 4),
        ("batch", "Job", {"parallelism": 4, "completions": 2}, 2),
        (
            "batch",
            "Job",
            {"parallelism": 4, "completions": 9, "succeeded": 6},
            3,
        ),
        ("apps", "Deployment", {"replicas": 3}, 3),
        ("apps", "StatefulSet", {"replicas": 0}, 0),
        ("kubeflow.org", "PyTorchJob", {"members": 5}, 5),
        ("batch.volcano.sh", "Job", {"members": 2, "parallelism": 9}, 2),
    ],
)
def test_a_kind_states_its_members_in_fields_of_its_own(
    group: str, kind: str, fields: dict[str, Any], number: int
) -> None:
    thing = an_object(kind, "llm", group)
    history = History("n1")
    history.add(1, APPEARED, state(fields), about=thing)

    found = Wanted(history.facts).of(workload(thing), [])

    assert [one for _, one in found] == [number]


def test_a_kind_that_states_nothing_is_not_guessed() -> None:
    thing = an_object("RayJob", "tune", "ray.io")
    history = History("n1")
    history.add(1, APPEARED, state({"replicas": 7}), about=thing)

    assert not Wanted(history.facts).of(workload(thing), [])


def test_a_job_set_wants_what_its_jobs_want_each_name_once() -> None:
    whole = an_object("JobSet", "llm", "jobset.x-k8s.io")
    jobs = [an_object("Job", f"llm-{n}", "batch") for n in range(2)]
    history = History("n1")
    history.add(1, APPEARED, state({}), about=whole)
    for seconds, job in enumerate(jobs, 2):
        history.add(
            seconds, APPEARED, state({"parallelism": 3}, whole), about=job
        )
    again = jobs[0]._replace(uid="uid-again")
    history.add(9, APPEARED, state({"parallelism": 3}, whole), about=again)

    found = Wanted(history.facts).of(workload(whole), [])

    assert [one for _, one in found] == [3, 6]


def test_a_workload_that_wants_less_runs_in_full_with_less() -> None:
    thing = an_object("Job", "llm", "batch")
    history = History("n1")
    history.add(1, APPEARED, state({"parallelism": 2}), about=thing)
    for n in range(2):
        pod = a_pod(f"llm-{n}")
        history.add(
            2,
            APPEARED,
            {"created": True, "state": {"node": "n1"}},
            about=pod,
        )
        history.add(3, FactKind.STARTED, {}, about=pod)
    history.add(10, FactKind.ENDED, {"phase": "Failed"}, about=a_pod("llm-1"))
    history.add(20, CHANGED, changed("parallelism", 1), about=thing)

    facts = history.facts
    pods = [*Placements(facts)]
    wanted = Wanted(facts).of(workload(thing), pods)
    assert full_spans(pods, 2, at(60), wanted) == [
        (at(3), at(10)),
        (at(20), at(60)),
    ]


@pytest.mark.parametrize(
    "annotation",
    [
        "leaderworkerset.sigs.k8s.io/size",
        "kueue.x-k8s.io/pod-group-total-count",
    ],
)
def test_a_group_wants_what_its_pods_carry(annotation: str) -> None:
    pod, history = a_pod("llm-0"), History("n1")
    history.add(
        1,
        APPEARED,
        {"state": {"node": "n1", "annotations": {annotation: "4"}}},
        about=pod,
    )
    (placement,) = Placements(history.facts)
    group = Workload("PodGroup", "train", "llm", None)

    found = Wanted(history.facts).of(group, [placement])

    assert [one for _, one in found] == [4]
    assert Workloads(history.facts).of(placement) is not None


@pytest.mark.parametrize("is_late", [False, True])
def test_a_train_job_wants_what_the_jobs_of_its_job_set_want(
    is_late: bool,  # noqa: FBT001 - a parameter
) -> None:
    top = an_object("TrainJob", "llm", "trainer.kubeflow.org")
    whole = an_object("JobSet", "llm-set", "jobset.x-k8s.io")
    job = an_object("Job", "llm-node-0", "batch")
    seen = [
        (whole, state({}, top)),
        (job, state({"parallelism": 4}, whole)),
    ]
    history = History("n1")
    for at_seconds, (thing, detail) in enumerate(
        reversed(seen) if is_late else seen
    ):
        history.add(at_seconds, APPEARED, detail, about=thing)

    found = Wanted(history.facts).of(workload(top), [])

    assert [one for _, one in found] == [4]


def test_the_group_of_a_workload_states_its_least_members() -> None:
    own = an_object("Training", "llm", "x.example.net")
    group = an_object("PodGroup", "llm-group", "scheduling.x-k8s.io")
    history = History("n1")
    history.add(1, APPEARED, state({"members": 3}, own), about=group)

    found = Wanted(history.facts).of(workload(own), [])

    assert [one for _, one in found] == [3]
