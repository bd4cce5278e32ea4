"""Kinds by every name that kubectl takes."""

import pytest

from recorder.answers.kinds import Kind, built_in_version, find_kinds
from recorder.answers.nouns import CustomKind

JOBSET = CustomKind(
    group="jobset.x-k8s.io",
    kind="JobSet",
    plural="jobsets",
    singular="jobset",
    short_names=("js",),
)
VOLCANO_JOB = CustomKind(
    group="batch.volcano.sh",
    kind="Job",
    plural="jobs",
    singular="job",
    short_names=("vcjob",),
)
CUSTOM = (JOBSET, VOLCANO_JOB)
FILED = {("", "Pod"), ("machines.example.com", "Machine"), ("", "widgets")}


def found(word: str) -> list[str]:
    return [str(kind) for kind in kinds(word)]


def kinds(word: str) -> list[Kind]:
    return list(find_kinds(word, custom=CUSTOM, filed=FILED))


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("po", ["pods"]),
        ("pod", ["pods"]),
        ("pods", ["pods"]),
        ("Pod", ["pods"]),
        ("no", ["nodes"]),
        ("deploy", ["deployments.apps"]),
        ("deployments.apps", ["deployments.apps"]),
        ("deployments.v1.apps", ["deployments.apps"]),
        ("crd", ["customresourcedefinitions.apiextensions.k8s.io"]),
        ("js", ["jobsets.jobset.x-k8s.io"]),
        ("jobset", ["jobsets.jobset.x-k8s.io"]),
        ("jobset.jobset.x-k8s.io", ["jobsets.jobset.x-k8s.io"]),
        # A bare kind names those of all groups, the built-in one first.
        ("jobs", ["jobs.batch", "jobs.batch.volcano.sh"]),
        ("jobs.batch.volcano.sh", ["jobs.batch.volcano.sh"]),
        ("vcjob", ["jobs.batch.volcano.sh"]),
        # It has no definition, but the log has objects of it.
        ("machine", ["machines.machines.example.com"]),
        ("machines", ["machines.machines.example.com"]),
        ("widget", ["widgets"]),
        ("gadget", []),
        ("pods.example.com", []),
        ("pods.", []),
    ],
)
def test_a_word_names_kinds(word: str, names: list[str]) -> None:
    assert found(word) == names


def test_a_kind_is_filed_by_its_plural_too() -> None:
    (pod,) = kinds("po")

    assert pod.filed == (("", "Pod"), ("", "pods"))
    assert pod.namespaced
    assert not kinds("no")[0].namespaced


def test_the_version_of_built_in_kinds_is_known() -> None:
    assert built_in_version("batch", "Job") == "batch/v1"
    assert built_in_version("", "Pod") == "v1"
    assert built_in_version("example.com", "Pod") is None


LOGGED = {
    ("jobset.x-k8s.io", "JobSet"),
    ("jobset.x-k8s.io", "jobsets"),
    ("policy.example.com", "Policy"),
    ("policy.example.com", "policies"),
    ("a.example.com", "Queue"),
    ("b.example.com", "queues"),
}


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("jobset", [("JobSet", "jobsets.jobset.x-k8s.io")]),
        ("jobsets", [("JobSet", "jobsets.jobset.x-k8s.io")]),
        ("policies", [("Policy", "policies.policy.example.com")]),
        ("policy", [("Policy", "policies.policy.example.com")]),
        (
            "queue",
            [
                ("Queue", "queues.a.example.com"),
                ("queues", "queues.b.example.com"),
            ],
        ),
        ("queues.b.example.com", [("queues", "queues.b.example.com")]),
    ],
)
def test_a_kind_and_its_plural_are_one(
    word: str, names: list[tuple[str, str]]
) -> None:
    kinds = find_kinds(word, custom=(), filed=LOGGED)

    assert [(kind.kind, str(kind)) for kind in kinds] == names
