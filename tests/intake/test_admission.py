"""The door: what cannot be read is described, and costs nothing else."""

from datetime import timedelta
from hashlib import sha256

import pytest

from recorder.intake.admission import admit
from recorder.intake.ledger import Ledger
from recorder.intake.relisting import Relisting
from recorder.intake.sequencer import TAPE_STREAM, Sequencer
from recorder.intake.state import Recovered
from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    InputRefused,
    Observation,
    Polled,
    TapePosition,
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


def test_what_is_refused_of_a_page_is_no_frame_of_its_tape() -> None:
    """Or a play that is cut within a chunk would skip a frame."""
    ledger = Ledger(Recovered(log=1, size=0, epoch=1, heads=(), streams={}))
    relisting = Relisting(ledger, event_ttl=timedelta(hours=1))
    sequencer = Sequencer(ledger, relisting)
    place = TapePosition(observed_at=at(0), frame=7)
    polled = Polled(
        observed_at=at(0), resource="slurm/jobs", items=[TORN, b"[]", TORN]
    )

    for observation in admit([place, polled], redaction):
        sequencer.take(observation)

    assert sequencer.seal().streams[TAPE_STREAM].completed == "8"
