"""How long a refusal may be that of a server that has just started."""

import random

import pytest

from recorder.model.reference import Resource
from recorder.sources.watch.clock import Clock
from recorder.sources.watch.errors import (
    ForbiddenError,
    MissingError,
    RequestError,
    UnauthorizedError,
    UnreachableError,
)
from recorder.sources.watch.follower import Follower
from recorder.sources.watch.pacing import Pacing
from recorder.sources.watch.settings import WatchSettings
from recorder.sources.watch.target import Target

PATIENCE = WatchSettings().refusal_patience


class Steady:
    def __init__(self) -> None:
        self.time = 0.0

    def pacing(self) -> Pacing:
        target = Target(resource=Resource("", "v1", "nodes"), kind="Node")
        return Pacing(
            Follower(target, "100"),
            WatchSettings(),
            Clock(monotonic=lambda: self.time),
            random.Random(0),
        )


@pytest.mark.parametrize(
    "refusal", [UnauthorizedError, ForbiddenError, MissingError]
)
def test_a_refusal_is_waited_for_however_long_the_server_was_away(
    refusal: type[RequestError],
) -> None:
    steady = Steady()
    pacing = steady.pacing()
    pacing.failed(UnreachableError("nothing answers"))
    steady.time = 10 * PATIENCE
    pacing.failed(refusal("no"))

    assert pacing.is_patient(refusal("no"))


def test_a_refusal_that_lasts_is_reported() -> None:
    steady = Steady()
    pacing = steady.pacing()
    for second in range(int(PATIENCE) + 1):
        steady.time = second
        pacing.failed(
            ForbiddenError("no") if second % 2 else MissingError("no")
        )

    assert not pacing.is_patient(MissingError("no"))
