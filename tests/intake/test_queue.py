"""The queue is bounded, for contents of any kind."""

import pytest

from recorder.intake.queue import weight
from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    InputRefused,
    ListPage,
    Observation,
    Polled,
    WatchFrame,
)
from tests.support.builders import PODS, at

LARGE = b'"%b"' % (b"x" * (1 << 20))


@pytest.mark.parametrize(
    "observation",
    [
        WatchFrame(
            observed_at=at(0), resource=PODS, type="ADDED", object=LARGE
        ),
        ListPage(
            observed_at=at(0),
            resource=PODS,
            resource_version="1",
            items=[b"1", LARGE],
            more=False,
        ),
        AuditRecorded(observed_at=at(0), event=LARGE),
        CloudEventPosted(observed_at=at(0), event=LARGE),
        Polled(observed_at=at(0), resource="slurm/jobs", items=[b"1", LARGE]),
        InputRefused(
            observed_at=at(0),
            resource=None,
            head=LARGE,
            sha256="",
            length=9,
            reason="",
        ),
    ],
    ids=lambda observation: type(observation).__name__,
)
def test_an_observation_weighs_what_its_documents_weigh(
    observation: Observation,
) -> None:
    assert len(LARGE) < weight(observation) < len(LARGE) + 1000
