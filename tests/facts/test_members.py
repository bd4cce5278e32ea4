"""How many members each kind states in its spec."""

import json
from typing import Any

import pytest

from recorder.facts.classify.shapes import AnySpec, read_any
from recorder.facts.members import members_of
from recorder.model.reference import Resource

WORKERS = {"replicas": 4, "template": {"spec": {}}}
ROLES = {"Master": {}, "Worker": WORKERS}
GROUPS = [
    {"replicas": 3, "minReplicas": 1, "numOfHosts": 2},
    {"minReplicas": 2},
]


@pytest.mark.parametrize(
    ("group", "plural", "spec", "number"),
    [
        ("kubeflow.org", "pytorchjobs", {"pytorchReplicaSpecs": ROLES}, 5),
        (
            "kubeflow.org",
            "pytorchjobs",
            {
                "pytorchReplicaSpecs": {"Worker": WORKERS},
                "elasticPolicy": {"minReplicas": 2, "maxReplicas": 6},
            },
            2,
        ),
        ("kubeflow.org", "mpijobs", {"mpiReplicaSpecs": ROLES}, 5),
        ("kubeflow.org", "mpijobs", {"mpiReplicaSpecs": 7}, None),
        ("kubeflow.org", "mpijobs", {}, None),
        ("ray.io", "rayclusters", {"workerGroupSpecs": GROUPS}, 8),
        (
            "ray.io",
            "rayclusters",
            {"workerGroupSpecs": GROUPS, "enableInTreeAutoscaling": True},
            5,
        ),
        (
            "ray.io",
            "rayjobs",
            {"rayClusterSpec": {"workerGroupSpecs": GROUPS}},
            8,
        ),
        ("ray.io", "rayjobs", {"clusterSelector": {}}, None),
        (
            "batch.volcano.sh",
            "jobs",
            {"minAvailable": 3, "tasks": [{"replicas": 8}]},
            3,
        ),
        ("batch.volcano.sh", "jobs", {"tasks": [{"replicas": 8}, {}]}, 9),
        ("scheduling.x-k8s.io", "podgroups", {"minMember": 6}, 6),
        ("scheduling.volcano.sh", "podgroups", {"minMember": "6"}, None),
        ("x.example.net", "trainings", {"minMember": 6}, None),
    ],
)
def test_a_kind_states_how_many_members_it_needs(
    group: str, plural: str, spec: dict[str, Any], number: int | None
) -> None:
    read = read_any(json.dumps({"spec": spec}).encode()).spec

    found = members_of(read or AnySpec(), Resource(group, "v1", plural))

    assert found == number
