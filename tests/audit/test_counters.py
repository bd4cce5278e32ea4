"""What API servers say that they dropped."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from recorder.errors import ClusterError
from recorder.intake.progress import Received
from recorder.model.observation import PlaceReached, RecordsLost
from recorder.sources.audit import AuditCounters
from recorder.sources.audit.counted import LOST
from tests.audit.test_tailing import Kept

BEGAN = datetime(2026, 11, 21, 3, tzinfo=UTC)


def metrics(started: int, events: int, **errors: int) -> bytes:
    """The metrics of an API server, in the midst of others."""
    lines = [
        "# HELP apiserver_audit_event_total Counter of audit events.",
        "# TYPE apiserver_audit_event_total counter",
        f"apiserver_audit_event_total {events}",
        *(
            f'apiserver_audit_error_total{{plugin="{plugin}"}} {count}'
            for plugin, count in errors.items()
        ),
        "apiserver_audit_requests_rejected_total 7",
        'apiserver_request_total{code="200",x="' + "y" * 100_000 + '"} 1e+06',
        f"process_start_time_seconds {started}e0",
        "",
    ]
    return "\n".join(lines).encode()


async def one_server() -> int | None:
    return 1


async def read(
    kept: Kept, *answers: bytes | ClusterError
) -> tuple[Received, Sequence[RecordsLost]]:
    """Read these, ten seconds apart; return what was lost."""
    received, clock = Received(), [BEGAN]
    before = len(kept.lost())
    waiting = list(answers)
    done = asyncio.Event()

    async def answer() -> AsyncIterator[bytes]:
        if not waiting:
            done.set()
            await asyncio.Event().wait()
        clock[0] += timedelta(seconds=10)
        told = waiting.pop(0)
        if isinstance(told, ClusterError):
            raise told
        for place in range(0, len(told), 1000):
            yield told[place : place + 1000]

    counters = AuditCounters(
        answer,
        received=received,
        servers=one_server,
        now=lambda: clock[0],
        read_seconds=0,
    )
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(counters.run(kept, kept))
        await done.wait()
        task.cancel()
    return received, kept.lost()[before:]


async def test_what_an_api_server_dropped_is_lost_since_it_was_read_last() -> (
    None
):
    received, lost = await read(
        Kept(),
        metrics(1000, 10, webhook=5),
        metrics(1000, 20, webhook=5),
        metrics(1000, 30, webhook=8, buffered=1),
        metrics(1000, 40, webhook=8, buffered=1),
    )

    (one,) = lost
    assert one.reason.endswith("1 of its buffered, 3 of its webhook")
    assert one.since == BEGAN + timedelta(seconds=10)
    assert one.observed_at == BEGAN + timedelta(seconds=20)
    assert (received.lost, received.generated) == (4, 30)


async def test_it_is_compared_across_restarts_of_the_recorder() -> None:
    kept = Kept()
    await read(kept, metrics(1000, 10))

    _, lost = await read(kept, metrics(1000, 20, webhook=400))

    assert [one.since for one in lost] == [BEGAN]


async def test_an_api_server_that_started_anew_lost_since_then() -> None:
    started = int(BEGAN.timestamp()) - 100

    _, lost = await read(
        Kept(),
        metrics(1000, 10, webhook=9),
        metrics(started, 3, webhook=2),
        metrics(1000, 20, webhook=9),
        metrics(started, 5, webhook=2),
    )

    assert [one.since for one in lost] == [BEGAN - timedelta(seconds=100)]


async def test_counters_that_cannot_be_read_are_no_loss() -> None:
    refused = ClusterError("cannot get /metrics: forbidden (403)")

    received, lost = await read(Kept(), metrics(1000, 10), refused)

    assert not lost
    assert received.uncounted == str(refused)


async def test_a_stream_whose_counters_cannot_be_read_is_not_live() -> None:
    refused = ClusterError("cannot get /metrics: forbidden (403)")
    kept = Kept()
    await read(kept, refused, refused, metrics(1000, 10), refused)

    states = [o.state for o in kept.seen if isinstance(o, PlaceReached)]
    assert states == ["backing-off", "live", "backing-off"]

    # Where it goes on is kept.
    _, lost = await read(kept, metrics(1000, 20, webhook=3))
    assert len(lost) == 1


@pytest.mark.parametrize(
    ("before", "after", "servers", "possible", "said"),
    [
        ((1000, 5, 2), (1000, 9, 2), 1, None, "made 4 audit records"),
        ((1000, 5, 2), (1000, 9, 5), 1, "at most 3 audit records", "3 as dr"),
        ((1000, 5, 2), (1000, 9, 2), 3, LOST, "it is one of 3"),
        ((1000, 5, 2), (1000, 9, 2), None, LOST, "is unknown"),
        ((1000, 5, 2), (2000, 9, 0), 1, LOST, "was not read before"),
    ],
)
async def test_what_was_lost_while_nobody_received_is_proven_by_one_process(
    before: tuple[int, int, int],
    after: tuple[int, int, int],
    servers: int | None,
    possible: str | None,
    said: str,
) -> None:
    kept = Kept()
    started, made, dropped = before
    await read(kept, metrics(started, made, webhook=dropped))

    async def answer() -> AsyncIterator[bytes]:
        started, made, dropped = after
        yield metrics(started, made, webhook=dropped)

    async def count() -> int | None:
        return servers

    counters = AuditCounters(answer, received=Received(), servers=count)
    proof = await counters.proof(kept)

    assert proof.possible == possible
    assert said in proof.proved
