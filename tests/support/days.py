"""Logs of several days, written today by a clock that can be set.

The writer's sessions find a function of another schema where they ask for the
time, and those of retention do if a test asks for it. What the database itself
decides about days asks PostgreSQL's own clock, which is now.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import asyncpg
import msgspec
import orjson

from recorder.facts.metrics import Kept, series_of
from recorder.intake.deriving import Deriver
from recorder.measuring.asking import Asked, event_of
from recorder.model.observation import (
    AuditRecorded,
    CloudEventPosted,
    Observation,
)
from recorder.model.reference import Resource
from recorder.sources.claims.envelope import claims_of
from recorder.store.writer import Writer
from tests.contract.test_log import SPEC, Observer
from tests.support.builders import (
    EVENTS,
    LEASES,
    NODES,
    PODS,
    a_frame,
    a_lease,
    a_list,
    a_node,
    an_event,
    an_object,
    at,
)
from tests.support.postgres import Database, connected

__all__ = [
    "DAYS",
    "RUNS",
    "asked",
    "days_of_a_log",
    "owner",
    "set_clock",
    "write_a_loss",
    "write_a_queue",
    "write_days",
    "write_events",
    "write_metrics",
    "write_statements",
]

DAYS = 4
JOBS = Resource.parse("batch/v1/jobs")
RUNS = """
    select array_agg(document order by notice_id) from recorder.notice
    where document::json->>'action' = 'ran'
"""
"""What retention said of each of its runs."""

FILLER = "".join(sha256(bytes([n])).hexdigest() for n in range(14))

MAKE = """
    create schema if not exists other_time;
    create table if not exists other_time.shift (by interval not null);
    create or replace function other_time.clock_timestamp()
      returns timestamptz language sql volatile as
      'select pg_catalog.clock_timestamp() + by from other_time.shift';
    grant usage on schema other_time to public;
    grant select on other_time.shift to public;
"""


async def set_clock(
    database: Database, shift: timedelta, roles: Sequence[str] = ("writer",)
) -> None:
    """Let the clock of the writer, or of others, differ from PostgreSQL's."""
    async with owner(database) as connection:
        await connection.execute(MAKE)
        await connection.execute("delete from other_time.shift")
        await connection.execute(
            "insert into other_time.shift values ($1)", shift
        )
        for role in roles:
            await connection.execute(
                f"alter role recorder_embedded_{role} in database"
                f' "{database.name}" set search_path = other_time, pg_catalog'
            )


@asynccontextmanager
async def owner(database: Database) -> AsyncIterator[asyncpg.Connection]:
    """Connect as a superuser."""
    async with connected(database.superuser_dsn()) as connection:
        yield connection


async def asked(database: Database, query: str, *given: object) -> object:
    """Ask for one value."""
    async with owner(database) as connection:
        return await connection.fetchval(query, *given)


def noon(ago: int) -> datetime:
    """Return the noon of a day that many days ago, in UTC."""
    now = datetime.now(UTC)
    today = now.replace(hour=12, minute=0, second=0, microsecond=0)
    return today - timedelta(days=ago)


def observations_of_day(day: int, when: float) -> Sequence[Observation]:
    """Return what happens on a day, counted from the oldest.

    ``when`` is its noon, in the seconds of the builders.

    A Pod and a Node live all the time; another Pod comes each day, and goes
    on the next; the Node and its Lease change each day.
    """
    version = 100 * (day + 1)
    ready = "True" if day % 2 else "False"
    found: list[Observation] = []
    if day == 0:
        found += [
            a_list(PODS, 9, an_object("stays", 1, filler=FILLER), when=when),
            a_list(NODES, 9, a_node("gpu-001", 4), when=when),
            a_list(LEASES, 9, a_lease("gpu-001", 5, renewed=when), when=when),
            a_frame(
                PODS,
                "MODIFIED",
                an_object("stays", 20, filler=FILLER, more=1),
                when=when + 1,
            ),
        ]
    else:
        found.append(
            a_frame(
                PODS,
                "DELETED",
                an_object(f"day-{day - 1}", version + 1),
                when=when,
            )
        )
    found += [
        a_frame(
            PODS, "ADDED", an_object(f"day-{day}", version), when=when + 2
        ),
        a_frame(
            NODES,
            "MODIFIED",
            a_node("gpu-001", version + 3, ready=ready),
            when=when + 3,
        ),
    ]
    return found


async def write_days(
    database: Database, days: int = DAYS, *, oldest: int = 10
) -> None:
    """Write a log with facts, one batch or more a day."""
    now = datetime.now(UTC)
    for day in range(days):
        await set_clock(database, noon(oldest - day) - now)
        writer = Writer(database.dsn("writer"), SPEC, holder="a")
        teller = Observer(await writer.take_lease())
        deriver = Deriver(writer)
        when = (noon(oldest - day) - at()).total_seconds()
        for observation in observations_of_day(day, when):
            batch = teller.batch(observation)
            await deriver.derive(batch)
            await writer.append(batch)
        await writer.close()
    await set_clock(database, timedelta(0))


async def write_a_loss(database: Database, ago: int) -> None:
    """Write that a node went away and took a Pod along, and is away still."""
    await set_clock(database, noon(ago) - datetime.now(UTC))
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    teller = Observer(await writer.take_lease())
    deriver = Deriver(writer)
    when = (noon(ago) - at()).total_seconds()
    pod = an_object(
        "worker",
        20,
        spec={"nodeName": "gpu-001", "containers": [{"name": "main"}]},
        status={"phase": "Running"},
    )
    observations = (
        a_list(PODS, 20, pod, when=when),
        a_list(NODES, 20, a_node("gpu-001", 4), when=when),
        a_frame(
            NODES,
            "MODIFIED",
            a_node("gpu-001", 30, ready="Unknown"),
            when=when + 60,
        ),
        a_frame(
            PODS,
            "DELETED",
            {**pod, "metadata": {**pod["metadata"], "resourceVersion": "40"}},
            when=when + 400,
        ),
    )
    for observation in observations:
        batch = teller.batch(observation)
        await deriver.derive(batch)
        await writer.append(batch)
    await writer.close()
    await set_clock(database, timedelta(0))


async def write_metrics(database: Database, ago: int) -> None:
    """Write what a metrics store had of that node, around its loss."""
    lost, hour = noon(ago) + timedelta(seconds=60), timedelta(hours=1)
    begin, end = lost - hour, lost + timedelta(minutes=10)
    asked = Asked("1/1", "gpu-001", begin, end)
    kept = Kept(incident="1/1", node="gpu-001", begin=begin, end=end)
    start = begin.timestamp()
    hot = [(start + 15 * n, 60.0 + n / 10) for n in range(240)]
    temperature = series_of("DCGM_FI_DEV_GPU_TEMP", {"gpu": "3"}, hot)
    event = {**event_of(asked, kept, [temperature])}
    del event["specversion"]
    (claim,) = claims_of([event], now=end + hour)
    posted = CloudEventPosted(
        observed_at=end + hour, event=claim.document, key=claim.key
    )
    await set_clock(database, end + hour - datetime.now(UTC))
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    teller, deriver = Observer(await writer.take_lease()), Deriver(writer)
    batch = teller.batch(posted)
    await deriver.derive(batch)
    await writer.append(batch)
    await writer.close()
    await set_clock(database, timedelta(0))


async def write_a_queue(database: Database, ago: int) -> None:
    """Write that a suspended Job waits, without any Pod, and waits still."""
    await set_clock(database, noon(ago) - datetime.now(UTC))
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    teller = Observer(await writer.take_lease())
    deriver = Deriver(writer)
    when = (noon(ago) - at()).total_seconds()
    job = an_object("queued", 20, kind="Job", spec={"suspend": True})
    batch = teller.batch(a_list(JOBS, 20, job, when=when))
    await deriver.derive(batch)
    await writer.append(batch)
    await writer.close()
    await set_clock(database, timedelta(0))


async def write_events(database: Database, reason: str, ago: int) -> None:
    """Write an Event with a reason of its own at a noon, as who goes on."""
    await set_clock(database, noon(ago) - datetime.now(UTC))
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    teller = Observer(await writer.take_lease())
    document = {**an_event(f"event-{reason}-{ago}", 50), "reason": reason}
    when = (noon(ago) - at()).total_seconds()
    batch = teller.batch(a_frame(EVENTS, "ADDED", document, when=when))
    await Deriver(writer).derive(batch)
    await writer.append(batch)
    await writer.close()
    await set_clock(database, timedelta(0))


async def write_statements(database: Database, ago: int) -> None:
    """Write one batch of statements, and a version of a Pod.

    Two Events, two audit records, and a silence of a lease.
    """
    await set_clock(database, noon(ago) - datetime.now(UTC))
    writer = Writer(database.dsn("writer"), SPEC, holder="a")
    teller = Observer(await writer.take_lease())
    when = (noon(ago) - at()).total_seconds()
    said = [
        {**an_event(f"event-{reason}-{ago}", 60), "reason": reason}
        for reason in ("Pulled", "Failed")
    ]
    lease = a_frame(
        LEASES,
        "MODIFIED",
        a_lease("gpu-001", 61, renewed=when),
        when=when,
    )
    batch = teller.batch(
        a_frame(EVENTS, "ADDED", said[0], when=when),
        a_frame(PODS, "ADDED", an_object(f"pod-{ago}", 62), when=when),
        *(
            AuditRecorded(
                observed_at=at(when), event=orjson.dumps(_request(verb, ago))
            )
            for verb in ("get", "delete")
        ),
        a_frame(EVENTS, "ADDED", said[1], when=when),
        msgspec.structs.replace(lease, renewed=True),
    )
    await Deriver(writer).derive(batch)
    await writer.append(batch)
    await writer.close()
    await set_clock(database, timedelta(0))


def _request(verb: str, ago: int) -> dict[str, object]:
    return {
        "level": "Metadata",
        "auditID": f"{verb}-{ago}",
        "stage": "ResponseComplete",
        "verb": verb,
        "user": {"username": "alice@example.com"},
        "objectRef": {
            "resource": "pods",
            "namespace": "train",
            "name": f"pod-{ago}",
            "apiVersion": "v1",
        },
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": noon(ago).isoformat(),
    }


def days_of_a_log(days: int = DAYS, *, oldest: int = 10) -> list[str]:
    """Name the days that `write_days` writes."""
    return [f"{noon(oldest - day):%Y-%m-%d}" for day in range(days)]
