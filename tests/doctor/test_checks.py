"""What `recorder doctor` thinks of what it found, and how it says so.

RECORDER_TEST_UPDATE_GOLDEN=1 writes the page anew; look at what changed.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recorder.doctor import Check, check_lines, checks_document, untried
from recorder.doctor.clock import ClockReading, judge_clock
from recorder.doctor.cluster import (
    MissingRight,
    Rights,
    judge_rights,
    judge_unreached,
)
from recorder.doctor.folder import (
    DiskFacts,
    FolderFacts,
    ProgramFacts,
    judge_disk,
    judge_folder,
    judge_programs,
)
from recorder.doctor.key import KeyFacts, judge_key_file, judge_key_of_log
from recorder.doctor.limits import (
    KernelFacts,
    judge_files,
    judge_shared_memory,
)
from recorder.doctor.log import (
    EventLives,
    LeaseFacts,
    PartitionFacts,
    judge_claim_types,
    judge_event_ttl,
    judge_lease,
    judge_partitions,
)
from recorder.doctor.schema import (
    GuardFacts,
    SchemaFacts,
    judge_catalog,
    judge_guards,
    judge_schema,
    judge_table_rights,
)
from recorder.doctor.server import (
    ServerFacts,
    judge_durability,
    judge_encoding,
    judge_role,
    judge_unavailable,
    judge_version,
    judge_writable,
)
from recorder.explain.knowledge import shipped
from recorder.integrity.catalog import Difference
from tests.support.golden import ANEW, kept

GOLDEN = Path(__file__).parent / "golden" / "checks.txt"
NOW = datetime(2026, 11, 21, 3, 18, tzinfo=UTC)
DATA = Path("/var/lib/recorder")
GIB = 1 << 30

FOLDER = FolderFacts(
    path=DATA,
    user="jo",
    exists=True,
    is_folder=True,
    is_writable=True,
    foreign_owner=None,
)
PROGRAMS = ProgramFacts(
    folder=DATA / "postgres",
    version="18.4",
    trouble=None,
    major=18,
    found="18",
)
SERVER = ServerFacts(
    version="16.4",
    major=16,
    encoding="UTF8",
    is_read_only=False,
    unsafe=(),
    role="app",
    is_superuser=False,
    missing=(),
    owns=False,
    writes=True,
    reads=True,
)
KERNEL = KernelFacts(
    segment_max=GIB, total_max=GIB, segments_max=4096, segments=3
)
LEASE = LeaseFacts(
    log=1,
    cluster="prod",
    holder="host-a/7/ab",
    expires_at=NOW + timedelta(seconds=6),
    now=NOW,
)


def clock(seconds: float, *, blur: float = 0.0) -> Check:
    reading = ClockReading(
        before=NOW,
        theirs=NOW + timedelta(seconds=seconds),
        after=NOW + timedelta(seconds=2 * blur),
    )
    return judge_clock("database clock", "PostgreSQL's", reading)


def test_the_least_difference_that_can_be_is_judged() -> None:
    assert clock(1.9).ok
    assert not clock(2.1).ok
    assert not clock(-2.1).ok
    assert clock(-2.1, blur=1).ok is False
    assert clock(2.5, blur=1).ok


@pytest.mark.parametrize("major", [13, 14])
def test_an_old_server_is_refused(major: int) -> None:
    old = replace(SERVER, major=major, version=f"{major}.9")

    assert not judge_version("database version", old).ok
    assert judge_version("database version", SERVER).ok


def test_a_lease_is_wrong_only_if_it_cannot_end() -> None:
    late = replace(LEASE, expires_at=NOW + timedelta(minutes=5))
    past = replace(LEASE, expires_at=NOW - timedelta(minutes=5))

    assert [c.ok for c in judge_lease("lease", [LEASE, past])] == [True, True]
    assert [c.ok for c in judge_lease("lease", [late])] == [False]


def test_few_expired_events_prove_nothing() -> None:
    hour, minutes = timedelta(hours=1), timedelta(minutes=5)
    few = EventLives(sample=19, typical=minutes)
    many = EventLives(sample=20, typical=minutes)

    assert judge_event_ttl("event ttl", hour, few).ok
    assert not judge_event_ttl("event ttl", hour, many).ok


def test_types_of_claims_without_a_meaning_are_listed() -> None:
    claims = {"note": 7, "x": 2, "cooling": 30} | {
        f"t{n:02}": 1 for n in range(9)
    }

    (check,) = judge_claim_types("claim types", claims, shipped().types)
    assert check.ok
    assert check.says.startswith("without a meaning: cooling (30), x (2), t00")
    assert check.says.endswith("t07 (1) and 1 more types")
    assert not judge_claim_types("claim types", {"note": 1}, shipped().types)


def test_what_an_api_server_takes_longer_to_expire_is_tolerated() -> None:
    lives = EventLives(sample=500, typical=timedelta(minutes=61, seconds=40))

    assert judge_event_ttl("event ttl", timedelta(hours=1), lives).ok
    assert judge_event_ttl("event ttl", timedelta(minutes=59), lives).ok


def test_a_schema_is_older_only_if_it_is_known() -> None:
    known = frozenset({"0001", "0002"})

    def said(
        found: str | None, *, embedded: bool = False, serves: bool = False
    ) -> Check:
        facts = SchemaFacts(found, "0002", known, serves=serves)
        return judge_schema("schema", facts, embedded=embedded)

    assert said("0002").ok
    assert "older" in said("0001").says
    assert "newer release" in said("0003").says
    assert said("0001", embedded=True).ok
    assert not said("0003", embedded=True).ok
    assert said("0003", serves=True).ok


def test_a_remedy_is_given_only_where_something_is_wrong() -> None:
    document = checks_document([clock(0), clock(9)])

    assert [c["remedy"] is None for c in document["checks"]] == [True, False]


def machine() -> Iterator[Check]:
    name = "data folder"
    yield judge_folder(name, FOLDER)
    for wrong in (
        replace(FOLDER, is_folder=False),
        replace(FOLDER, foreign_owner="recorder"),
        replace(FOLDER, exists=False, closed_at=Path("/var/lib")),
        replace(FOLDER, exists=False, is_writable=False),
    ):
        yield judge_folder(name, wrong)
    disk = DiskFacts(folder=DATA, free=90 * GIB, total=100 * GIB)
    yield judge_disk("disk", disk, 5)
    yield judge_disk("disk", replace(disk, free=3 * GIB), 5)
    name = "embedded server"
    yield judge_programs(name, PROGRAMS)
    for other in (
        replace(PROGRAMS, found="17"),
        replace(PROGRAMS, found=None, is_readable=False),
        replace(PROGRAMS, version=None, trouble="it does not run here"),
    ):
        yield judge_programs(name, other)
    yield judge_shared_memory("shared memory", KERNEL)
    short = replace(KERNEL, total_max=1 << 20, segments=4090)
    yield judge_shared_memory("shared memory", short)
    yield judge_files("open files", soft=1024, hard=4096, resources=300)
    yield judge_files("open files", soft=1024, hard=1024, resources=900)


def cluster() -> Iterator[Check]:
    for code in (
        "config.kubeconfig",
        "cluster.unauthorized",
        "cluster.forbidden",
        "cluster.certificate",
        "cluster.server",
        "cluster.unreachable",
    ):
        yield judge_unreached("cluster", code, f"it failed: {code}")
    yield untried("cluster rights", "cluster")
    right = MissingRight(
        group="batch",
        resources=("jobs", "cronjobs"),
        namespace=None,
        shipped=True,
        refused=[("get", "batch/v1/jobs"), ("list", "batch/v1/jobs")],
    )
    leases = replace(
        right,
        group="coordination.k8s.io",
        resources=("leases",),
        namespace="kube-node-lease",
        refused=[("watch", "coordination.k8s.io/v1/leases")],
    )
    rights = Rights(
        tried=13,
        missing=[right, leases, replace(right, shipped=False)],
        failed=["cannot list x/v1/y: the server failed (503)"],
    )
    yield from judge_rights("cluster rights", rights)
    lives = EventLives(sample=500, typical=timedelta(minutes=15))
    yield judge_event_ttl("event ttl", timedelta(hours=1), lives)


def database() -> Iterator[Check]:
    for code in ("log.access", "log.unavailable", "config.database_url"):
        yield judge_unavailable("database", code, code, embedded=False)
    yield judge_unavailable("database", "embedded", "no", embedded=True)
    server = replace(
        SERVER,
        version="14.9",
        major=14,
        encoding="LATIN1",
        is_read_only=True,
        unsafe=("fsync", "full_page_writes"),
    )
    yield judge_version("database version", server)
    yield judge_encoding("database encoding", server)
    yield judge_writable("database writable", server)
    yield judge_durability("database durability", server)
    yield clock(-90)
    for role in (
        replace(SERVER, missing=("recorder_owner", "recorder_writer")),
        replace(SERVER, is_superuser=True),
        replace(SERVER, owns=True),
        replace(SERVER, writes=False),
        replace(SERVER, writes=False, reads=False),
    ):
        yield judge_role("database rights", role)
    for found in (None, "0001", "0009"):
        facts = SchemaFacts(found, "0002", frozenset({"0001"}))
        yield judge_schema("schema", facts, embedded=False)
    guards = GuardFacts(
        lacking=["INSERT ON recorder.batch, recorder.entry"],
        excess=["batch"],
        altered=[
            Difference(
                f"recorder.{table}", "trigger append_only (when it fires)", ""
            )
            for table in ("batch", "entry_20261121")
        ]
        + [
            Difference(
                "recorder.entry",
                "policy hide",
                "policy hide of recorder.entry was added",
            )
        ]
        + [
            Difference(
                "recorder.entry", f"column {n}", f"{n} of recorder.entry"
            )
            for n in range(10)
        ],
    )
    yield judge_table_rights("table rights", guards, "app")
    yield judge_table_rights(
        "table rights", replace(guards, lacking=()), "app"
    )
    yield judge_guards("log guards", guards)
    yield judge_catalog("catalog", guards)
    partitions = PartitionFacts(until=NOW, ahead=timedelta(0), is_written=True)
    yield judge_partitions("partitions", partitions)


def log() -> Iterator[Check]:
    free = replace(LEASE, holder=None, expires_at=None)
    past = replace(LEASE, expires_at=NOW - timedelta(minutes=5))
    stuck = replace(LEASE, expires_at=NOW + timedelta(hours=1))
    yield from judge_lease("lease", [])
    yield from judge_lease("lease", [free, LEASE, past, stuck])
    key = KeyFacts(path=DATA / "redaction.key", is_named=False, exists=True)
    name = "redaction key"
    yield judge_key_file(name, replace(key, exists=False), frozenset({"ab"}))
    named = replace(key, is_named=True, exists=False)
    yield judge_key_file(name, named, frozenset())
    opened = replace(key, trouble="others may read it", others_may_read=True)
    yield judge_key_file(name, opened, frozenset())
    broken = replace(key, trouble="it holds no key")
    yield judge_key_file(name, broken, frozenset())
    yield judge_key_of_log("redaction key of the log", "cd", {"ab"})


def test_every_failure_reads_as_it_did() -> None:
    checks = [*machine(), *cluster(), *database(), *log()]
    page = "".join(
        f"{line}\n" for check in checks for line in check_lines(check)
    )

    was = kept(GOLDEN, page)
    assert page == was, f"{GOLDEN.name} differs; {ANEW}"
    assert all(check.ok or check.remedy for check in checks)
