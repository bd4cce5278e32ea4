"""Watch frames that carry no version of an object, on a tape of others.

Our own tapes hold what they were taken for: `closed` and `refused` frames.
"""

import json
from hashlib import sha256

import pytest

from recorder.model.observation import EXPIRED, InputRefused, StreamClosed
from recorder.sources.tape.frames import observation_of
from recorder.sources.tape.refusing import HEAD_BYTES_MAX
from tests.tape.builders import PODS, at


def line_with(event: str) -> bytes:
    return (
        '{"at":"2026-11-21T03:18:01Z","source":"watch","frame":"watch",'
        f'"resource":"v1/pods","event":{event}}}'
    ).encode()


def test_an_expired_version_closes_the_stream() -> None:
    event = '{"type":"ERROR","object":{"kind":"Status","code":410}}'

    assert observation_of(line_with(event)) == StreamClosed(
        observed_at=at(1), resource=PODS, reason=EXPIRED
    )


@pytest.mark.parametrize(
    "event",
    [
        '{"type":"ERROR","object":{"kind":"Status","code":500}}',
        '{"type":"ERROR","object":{"kind":"Status"}}',
        '{"type":"ERROR","object":{"code":"410"}}',
        '{"type":"ERROR","object":null}',
        '{"type":"SYNCED","object":{"code":410}}',
    ],
)
def test_everything_else_is_refused(event: str) -> None:
    kind = json.loads(event)["type"]

    assert observation_of(line_with(event)) == InputRefused(
        observed_at=at(1),
        resource=PODS,
        head=event.encode(),
        sha256=sha256(event.encode()).hexdigest(),
        length=len(event),
        reason=f'a watch frame of type "{kind}"',
    )


def test_little_is_kept_of_what_is_refused() -> None:
    event = json.dumps(
        {"type": "X", "object": {"a": "b" * 10_000}}, separators=(",", ":")
    )

    refused = observation_of(line_with(event))

    assert isinstance(refused, InputRefused)
    assert refused.head == event.encode()[:HEAD_BYTES_MAX]
    assert refused.length == len(event)
