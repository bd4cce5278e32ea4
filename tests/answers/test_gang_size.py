"""The size of a gang is what it wants, where its kind states that."""

from collections.abc import Sequence
from datetime import datetime

import pytest

from recorder.answers.families import Candidate, Family
from recorder.facts.projections import Placement, Workload
from recorder.model.reference import ObjectIdentity
from tests.support.builders import at

JOB = Workload("Job", "train", "llm", "job llm")


@pytest.mark.parametrize(
    ("wanted", "size"),
    [
        ([(at(0), 4), (at(60), 2)], 4),  # two wait, and two have succeeded
        ([(at(0), 0)], 2),  # suspended from the beginning
        ([], 2),  # its kind states nothing
    ],
)
def test_members_that_were_never_bound_count_where_they_are_wanted(
    wanted: Sequence[tuple[datetime, int]], size: int
) -> None:
    candidate = Candidate(
        "Job", "batch", "train", "llm", at(0), 1, ("job llm",)
    )
    pods = [
        Placement(
            pod=ObjectIdentity(
                "", "Pod", "train", f"llm-{number}", f"{number}"
            ),
            bound_at=at(1),
        )
        for number in range(2)
    ]
    family = Family(candidate, JOB, (), groups={JOB: pods}, members=wanted)

    assert family.gang_size == size


def test_a_pod_of_a_dead_machine_does_not_count_beside_its_replacement() -> (
    None
):
    candidate = Candidate(
        "Job", "batch", "train", "llm", at(0), 1, ("job llm",)
    )
    first, second = (
        Placement(
            pod=ObjectIdentity("", "Pod", "train", name, name),
            bound_at=at(begun),
            gpus=8,
        )
        for name, begun in (("llm-0", 1), ("llm-1", 310))
    )
    first.deleting_at, first.ended_at = at(309), at(900)
    family = Family(candidate, JOB, (), groups={JOB: [first, second]})

    assert (family.gang_size, family.gpus) == (1, 8)
