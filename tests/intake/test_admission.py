"""The door: what cannot be read is described, and costs nothing else."""

from hashlib import sha256

import pytest

from recorder.intake.admission import admit
from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    InputRefused,
    Observation,
    Polled,
)
from tests.redact.examples import redaction
from tests.support.builders import at

TORN = b'{"password":"hunter2 and more'


@pytest.mark.parametrize("kind", [AuditRecorded, CloudEventPosted])
def test_a_posted_document_that_cannot_be_read_is_described(
    kind: type[AuditRecorded | CloudEventPosted],
) -> None:
    [refused] = admit([kind(observed_at=at(0), event=TORN)], redaction)

    assert_describes_torn(refused)


def test_one_bad_item_of_a_poll_does_not_cost_the_others() -> None:
    polled = Polled(
        observed_at=at(0), resource="slurm/jobs", items=[b"{}", TORN, b"[]"]
    )

    [refused, rest] = admit([polled], redaction)

    assert_describes_torn(refused)
    assert isinstance(rest, Polled)
    assert rest.items == [b"{}", b"[]"]


def assert_describes_torn(refused: Observation) -> None:
    assert isinstance(refused, InputRefused)
    assert refused.length == len(TORN)
    assert refused.sha256 == sha256(TORN).hexdigest()
    assert refused.head.startswith(b'{"password":"')
    assert b"hunter2" not in refused.head
