"""What API servers say that they dropped."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from recorder.intake.progress import Received
from recorder.model.errors import ClusterError
from recorder.model.observation import PlaceReached, RecordsLost
from recorder.sources.audit import AuditCounters
from recorder.sources.audit.proving import LOST, Proof
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


class Servers:
    """API servers: what each answers next, by its address."""

    def __init__(
        self,
        answers: Mapping[str, Sequence[bytes | ClusterError]],
        *,
        clock: list[datetime],
        leases: int | None = 1,
        listed: Sequence[str] | ClusterError = (),
    ) -> None:
        self._answers = {one: list(all_) for one, all_ in answers.items()}
        self._clock = clock
        self._leases = leases
        self._listed = listed
        self.done = asyncio.Event()

    async def addresses(self) -> Sequence[str]:
        if isinstance(self._listed, ClusterError):
            raise self._listed
        return self._listed

    async def leases(self) -> int | None:
        return self._leases

    async def metrics(self, server: str) -> AsyncIterator[bytes]:
        waiting = self._answers[server]
        if not waiting:
            self.done.set()
            await asyncio.Event().wait()
        if server in ("", *self._listed_first()):
            self._clock[0] += timedelta(seconds=10)
        text = waiting.pop(0)
        if isinstance(text, ClusterError):
            raise text
        for place in range(0, len(text), 1000):
            yield text[place : place + 1000]

    def _listed_first(self) -> Sequence[str]:
        if isinstance(self._listed, ClusterError):
            return ()
        return self._listed[:1]


async def read_servers(
    kept: Kept, servers: Servers, clock: list[datetime]
) -> tuple[Received, Sequence[RecordsLost]]:
    """Read as often as they answer; return what was lost."""
    received = Received()
    before = len(kept.lost())
    counters = AuditCounters(
        servers, received=received, now=lambda: clock[0], read_seconds=0
    )
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        task = group.create_task(counters.run(kept, kept))
        await servers.done.wait()
        task.cancel()
    return received, kept.lost()[before:]


async def read(
    kept: Kept, *answers: bytes | ClusterError
) -> tuple[Received, Sequence[RecordsLost]]:
    """Read the one there is, every ten seconds; return what was lost."""
    clock = [BEGAN]
    return await read_servers(kept, Servers({"": answers}, clock=clock), clock)


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
async def test_what_was_lost_without_a_receiver_is_proven_by_one_process(
    before: tuple[int, int, int],
    after: tuple[int, int, int],
    servers: int | None,
    possible: str | None,
    said: str,
) -> None:
    kept = Kept()
    started, made, dropped = before
    await read(kept, metrics(started, made, webhook=dropped))
    started, made, dropped = after
    answer = metrics(started, made, webhook=dropped)
    answering = Servers({"": [answer]}, clock=[BEGAN], leases=servers)

    proof = await AuditCounters(answering, received=Received()).proof(kept)

    assert proof.possible == possible
    assert said in proof.proved


A, B = "192.0.2.1:6443", "192.0.2.2:6443"
AWAY = ClusterError("cannot get /metrics: no response in time")


async def proved(
    kept: Kept,
    now: Mapping[str, bytes | ClusterError],
    *,
    leases: int | None = 2,
    listed: Sequence[str] | ClusterError | None = None,
) -> Proof:
    """Prove what was lost since these servers were read."""
    servers = Servers(
        {address: [answer] for address, answer in now.items()},
        clock=[BEGAN],
        leases=leases,
        listed=sorted(set(now) - {""}) if listed is None else listed,
    )
    return await AuditCounters(servers, received=Received()).proof(kept)


async def both_read(
    *rounds: tuple[bytes | ClusterError, bytes | ClusterError],
) -> tuple[Kept, Sequence[RecordsLost]]:
    """Read two API servers, each by its own address."""
    kept, clock = Kept(), [BEGAN]
    servers = Servers(
        {A: [one for one, _ in rounds], B: [other for _, other in rounds]},
        clock=clock,
        listed=[A, B],
    )
    _, lost = await read_servers(kept, servers, clock)
    return kept, lost


@pytest.mark.parametrize(
    ("dropped", "possible"),
    [((0, 0), None), ((2, 5), "at most 7 audit records")],
)
async def test_each_of_several_api_servers_answers_for_its_share(
    dropped: tuple[int, int], possible: str | None
) -> None:
    kept, _ = await both_read((metrics(1000, 1, webhook=3), metrics(2000, 1)))
    one, other = dropped

    proof = await proved(
        kept,
        {
            A: metrics(1000, 9, webhook=3 + one),
            B: metrics(2000, 9, webhook=other),
        },
    )

    assert proof.possible == possible
    assert f"{A}, the same process, made 8" in proof.proved
    assert f"{B}, the same process, made 8" in proof.proved


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (AWAY, f"{B} could not be read: cannot get"),
        (metrics(3000, 5), f"{B} started at 1970-01-01T00:50:00"),
    ],
)
async def test_a_server_that_does_not_answer_leaves_its_share_alone(
    answer: bytes | ClusterError, said: str
) -> None:
    """Silent, or another process than the one that was read."""
    kept, _ = await both_read((metrics(1000, 1), metrics(2000, 1)))

    proof = await proved(kept, {A: metrics(1000, 9, log=2), B: answer})

    assert proof.possible == (
        f"at most 2 audit records, audit records of the API server {B}"
    )
    assert said in proof.proved


async def test_a_server_that_is_gone_leaves_its_share() -> None:
    """Also one that never answered: it was listed."""
    kept, _ = await both_read((metrics(1000, 1), AWAY))

    proof = await proved(kept, {"": metrics(1000, 9)}, leases=1, listed=[A])

    assert proof.possible == f"audit records of the API server {B}"
    assert f"{B} is not there any more" in proof.proved


@pytest.mark.parametrize(
    ("leases", "said"), [(3, "they are 2 of 3"), (None, "is unknown")]
)
async def test_a_server_that_is_not_listed_leaves_everything(
    leases: int | None, said: str
) -> None:
    kept, _ = await both_read((metrics(1000, 1), metrics(2000, 1)))

    proof = await proved(
        kept, {A: metrics(1000, 2), B: metrics(2000, 2)}, leases=leases
    )

    assert proof.possible == LOST
    assert said in proof.proved


async def test_a_process_is_known_by_whichever_address_it_answers() -> None:
    """Where addresses may not be read, those of the last round hold."""
    kept, _ = await both_read((metrics(1000, 1), metrics(2000, 1)))
    forbidden = ClusterError("cannot get endpointslices: forbidden (403)")

    proof = await proved(
        kept,
        {A: AWAY, B: AWAY, "": metrics(1000, 4)},
        listed=forbidden,
    )

    assert f"{A}, the same process, made 3" in proof.proved
    assert proof.possible == f"audit records of the API server {B}"


async def test_what_one_of_several_dropped_names_it() -> None:
    _, lost = await both_read(
        (metrics(1000, 1), metrics(2000, 1)),
        (AWAY, metrics(2000, 2)),
        (metrics(1000, 3, webhook=4), metrics(2000, 3)),
    )

    (one,) = lost
    assert one.reason == (
        f"the API server {A} dropped audit records: 4 of its webhook"
    )
    assert one.since == BEGAN  # read first then


async def test_what_a_server_dropped_unread_before_it_ended_is_reported() -> (
    None
):
    """Not of one that is away for a moment, as in a restart."""
    silent = [(metrics(1000, number), AWAY) for number in range(20)]
    kept, _ = await both_read((metrics(1000, 1), metrics(2000, 1)), *silent)
    clock = [BEGAN + timedelta(seconds=300)]
    alone = Servers({"": [metrics(1000, 99)]}, clock=clock, listed=[A])

    _, lost = await read_servers(kept, alone, clock)

    (one,) = lost
    assert one.reason.startswith(f"the API server {B} is gone")
    assert one.possible == f"audit records of the API server {B}"
    assert one.since is not None
    assert one.since - BEGAN <= timedelta(seconds=10)
    _, lost = await both_read(
        (metrics(1000, 1), metrics(2000, 1)),
        (metrics(1000, 2), AWAY),
        (metrics(1000, 3), metrics(3000, 1)),
    )
    assert not lost
