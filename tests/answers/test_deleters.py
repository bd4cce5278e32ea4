"""Who deleted a Pod, by the words of an Event about it."""

import pytest

from recorder.answers.loading.authors import DELETES
from recorder.explain.needs import machines_of
from recorder.facts.projections import NodeState


@pytest.mark.parametrize(
    ("message", "deletes"),
    [
        ("Deleting pod default/x", True),
        ("Deleted Pod x because it is stuck", True),
        ("failed to delete pod default/x: pods is forbidden", False),
        ("Pod will not be deleted: PodDisruptionBudget", False),
        ("Waiting for volume of the pod to be deleted", False),
        ("Error deleting EndpointSlice", False),
        ("successfully deleted logical port", False),
    ],
)
def test_only_who_says_that_it_deletes_the_pod_is_its_deleter(
    message: str, *, deletes: bool
) -> None:
    assert bool(DELETES.search(message)) is deletes


@pytest.mark.parametrize(
    ("provider_id", "machines"),
    [
        ("aws:///us-east-1a/i-0123", {"i-0123"}),
        ("gce://a-project/us-central1-a/gke-one", {"gke-one"}),
        ("metal3://hall-2/host-17/one-machine", {"host-17", "one-machine"}),
        ("azure:///virtualMachines/7", set()),
    ],
)
def test_what_many_machines_share_names_none(
    provider_id: str, machines: set[str]
) -> None:
    base = NodeState(fields={"provider_id": provider_id})

    assert machines_of([], base) == machines
