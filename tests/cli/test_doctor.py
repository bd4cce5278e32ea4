"""What is missing in the database is said, with what to do about it."""

import asyncio
from pathlib import Path

import orjson
import pytest

from recorder.model.observation import CloudEventPosted, Observation
from tests.claims.posting import an_event as a_claim
from tests.cli.checking import (
    FAST,
    OF_LOG,
    checks,
    execute,
    failed,
    tried,
    value,
)
from tests.cli.conftest import Recorder
from tests.support.builders import EVENTS, a_frame, a_list, an_event, at
from tests.support.fixed_log import STORY, write_log
from tests.support.postgres import Database
from tests.support.written_log import WrittenLog

pytestmark = pytest.mark.usefixtures("cluster_is_reached")


def test_a_sound_database_is_found_sound(
    any_database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    asyncio.run(write_log(any_database.dsn("writer"), STORY))
    url = ("--database-url", any_database.dsn("writer"))

    answer = recorder("doctor", "-o", "json", *url)

    assert failed(answer) == [FAST, "redaction key", OF_LOG]
    assert list(checks(answer)) == [
        "data folder",
        "cluster",
        "open files",
        "database",
        "database version",
        "database encoding",
        "database writable",
        "database durability",
        "database clock",
        "database rights",
        "schema",
        "table rights",
        "log guards",
        "catalog",
        "partitions",
        "lease",
        "event ttl",
        "facts",
        "redaction key",
        "redaction key of the log",
    ]
    for check in checks(answer).values():
        assert list(check) == ["name", "ok", "says", "remedy"]
        assert (check["remedy"] is None) == check["ok"]


def test_what_is_fine_is_status_zero(recorder: Recorder, data: Path) -> None:
    """With the embedded server as it is, and a log that was played."""
    del data
    assert recorder("demo").status == 0

    answer = recorder("doctor")

    assert answer.status == 0, answer.out
    assert all(line.startswith("ok  ") for line in answer.out.splitlines())


def test_a_reader_learns_that_it_cannot_record(
    database: Database, recorder: Recorder, data: Path
) -> None:
    del data

    answer = recorder(
        "doctor", "-o", "json", "--database-url", database.dsn("reader")
    )

    assert failed(answer) == [FAST, "database rights", "table rights"]
    rights = checks(answer)["database rights"]
    assert "can read but not append" in rights["says"]
    assert "skipped" in checks(answer)["table rights"]["says"]


def test_who_could_edit_the_log_is_warned(
    database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    owner = recorder(
        "doctor", "-o", "json", "--database-url", database.dsn("owner")
    )
    root = recorder(
        "doctor", "-o", "json", "--database-url", database.superuser_dsn()
    )

    assert "owns the tables" in checks(owner)["database rights"]["says"]
    assert "is a superuser" in checks(root)["database rights"]["says"]
    assert "can change" in checks(root)["table rights"]["says"]


LOST = {
    "insert on recorder.entry": "INSERT ON recorder.entry",
    "update on recorder.log_head": "UPDATE ON recorder.log_head",
    "delete on recorder.object_head": "DELETE ON recorder.object_head",
    "usage on sequence recorder.object_id_block": "USAGE ON SEQUENCE",
    "execute on function recorder.add_partition": "EXECUTE ON FUNCTION",
    "update (observed_min) on recorder.partition": "UPDATE (observed_min",
}


def test_a_right_that_was_lost_is_named_with_its_grant(
    any_database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    revoke = [f"revoke {right} from recorder_writer" for right in LOST]
    asyncio.run(execute(any_database.superuser_dsn(), *revoke))
    url = ("--database-url", any_database.dsn("writer"))

    rights = checks(recorder("doctor", "-o", "json", *url))["table rights"]

    assert not rights["ok"]
    for lost in LOST.values():
        assert lost in rights["says"]
    grants = rights["remedy"].partition(": ")[2].partition(" (a restore")[0]
    as_owner = ["set role recorder_owner", *grants.split("; ")]
    asyncio.run(execute(any_database.superuser_dsn(), *as_owner))
    again = checks(recorder("doctor", "-o", "json", *url))["table rights"]
    assert again["ok"], again


def test_a_right_too_many_is_named_with_its_revoke(
    any_database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    asyncio.run(
        execute(
            any_database.superuser_dsn(),
            "grant delete on recorder.batch to recorder_writer",
            "grant update (payload) on recorder.entry to public",
        )
    )
    url = ("--database-url", any_database.dsn("writer"))

    found = checks(recorder("doctor", "-o", "json", *url))

    rights = found["table rights"]
    assert "can change what is in batch, entry" in rights["says"]
    assert found["catalog"]["says"] == (
        "grant-altered: grant DELETE to recorder_writer of recorder.batch was"
        " added; grant-altered: grant UPDATE (payload) to PUBLIC of"
        " recorder.entry was added"
    )
    assert "find out who changed it" in found["catalog"]["remedy"]
    revokes = rights["remedy"].partition(": ")[2].split("; ")
    asyncio.run(execute(any_database.superuser_dsn(), *revokes))
    again = checks(recorder("doctor", "-o", "json", *url))
    assert again["table rights"]["ok"], again
    assert again["catalog"]["ok"], again


def test_a_guard_that_was_disabled_is_found_in_every_partition(
    any_database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    asyncio.run(write_log(any_database.dsn("writer"), STORY))
    first = asyncio.run(
        value(
            any_database.superuser_dsn(),
            "select min(name) from recorder.partition",
        )
    )
    asyncio.run(
        execute(
            any_database.superuser_dsn(),
            f"alter table recorder.{first} disable trigger append_only",
            "alter table recorder.batch enable trigger append_only",
        )
    )
    url = ("--database-url", any_database.dsn("writer"))

    guards = checks(recorder("doctor", "-o", "json", *url))["log guards"]

    assert guards["says"] == f"no guard is always enabled on batch, {first}"
    mends = guards["remedy"].partition("run: ")[2].split("; ")
    asyncio.run(execute(any_database.superuser_dsn(), *mends))
    again = checks(recorder("doctor", "-o", "json", *url))["log guards"]
    assert again["ok"], again


def test_who_writes_the_log_is_named_and_until_when(
    database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    asyncio.run(write_log(database.dsn("writer"), STORY))
    url = ("--database-url", database.dsn("writer"))

    asyncio.run(hold(database, "6 s"))
    held = checks(recorder("doctor", "-o", "json", *url))["lease"]
    asyncio.run(hold(database, "-1 min"))
    died = checks(recorder("doctor", "-o", "json", *url))["lease"]
    asyncio.run(hold(database, "1 h"))
    stuck = checks(recorder("doctor", "-o", "json", *url))["lease"]

    assert held["ok"]
    assert 'written by "host/7/ab"; its lease lasts until 2' in held["says"]
    assert died["ok"]
    assert "did not shut down cleanly" in died["says"]
    assert not stuck["ok"]
    assert "clock was set back by" in stuck["remedy"]


async def hold(database: Database, length: str) -> None:
    await execute(
        database.superuser_dsn(),
        "update recorder.log_head set holder = 'host/7/ab',"
        f" expires_at = clock_timestamp() + '{length}'::interval",
    )


def test_a_schema_of_a_newer_release_is_not_migrated(
    database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    asyncio.run(
        execute(
            database.superuser_dsn(),
            "update recorder.schema_version set version_num = '9999';"
            " delete from recorder.schema_serves",
        )
    )
    url = ("--database-url", database.dsn("writer"))

    answer = recorder("doctor", "-o", "json", *url)
    schema = checks(answer)["schema"]

    assert schema["says"].startswith('"9999" is of a newer release')
    assert "install the release" in schema["remedy"]
    for name in ("table rights", "log guards", "lease", OF_LOG):
        assert "skipped" in checks(answer)[name]["says"]
    for words in (["migrate"], ["migrate", "--check"], ["status"]):
        refused = recorder(*words, "--database-url", database.dsn("owner"))
        assert refused.status == 1
        assert "of a newer release" in refused.err


def test_a_stranger_learns_which_right_to_ask_for(
    database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    asyncio.run(
        execute(
            database.superuser_dsn(),
            "drop role if exists stranger",
            "create role stranger login password 'x'",
        )
    )
    owner = database.dsn("owner")
    url = owner.replace(owner[13 : owner.index("@")], "stranger:x")

    answer = recorder("doctor", "-o", "json", "--database-url", url)

    rights = checks(answer)["database rights"]
    assert not rights["ok"]
    assert rights["says"] == 'role "stranger" has no privileges'
    assert 'GRANT recorder_writer TO "stranger"' in rights["remedy"]
    assert answer.status == 1


DEPENDENT = [
    "database version",
    "database encoding",
    "database writable",
    "database durability",
    "database clock",
    "database rights",
    "schema",
    "table rights",
    "log guards",
    "catalog",
    "partitions",
    "lease",
    "event ttl",
    "facts",
    "redaction key of the log",
]


def test_a_missing_schema_is_found(
    database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    asyncio.run(
        execute(database.superuser_dsn(), "drop schema recorder cascade")
    )

    answer = recorder(
        "doctor", "-o", "json", "--database-url", database.dsn("writer")
    )

    assert tried(answer) == [FAST, "schema"]
    schema = checks(answer)["schema"]
    assert schema["says"].startswith("missing")
    assert schema["remedy"].endswith("run: recorder migrate")


def test_a_database_that_is_away_is_one_failed_check(
    recorder: Recorder, data: Path
) -> None:
    del data
    url = "postgresql:///x?host=/nonexistent"

    answer = recorder("doctor", "-o", "json", "--database-url", url)

    assert tried(answer) == ["database"]
    assert len(failed(answer)) == len(DEPENDENT) + 1
    for name in DEPENDENT:
        said = checks(answer)[name]["says"]
        assert said == 'skipped because "database" failed'
    assert "cannot reach the database" in checks(answer)["database"]["says"]


def test_how_long_events_live_is_measured_and_compared(
    any_database: Database,
    recorder: Recorder,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del data
    minutes = 15
    shown = [an_event(f"e{n}", n) for n in range(1, 31)]
    expired = [an_event(f"e{n}", n + 50) for n in range(1, 31)]
    story: list[list[Observation]] = [
        [a_list(EVENTS, 40, *shown)],
        [
            a_frame(EVENTS, "DELETED", event, when=minutes * 60)
            for event in expired
        ],
    ]
    asyncio.run(write_log(any_database.dsn("writer"), story))
    url = ("--database-url", any_database.dsn("writer"))

    wrong = checks(recorder("doctor", "-o", "json", *url))["event ttl"]
    monkeypatch.setenv("RECORDER_EVENT_TTL", "15m")
    right = checks(recorder("doctor", "-o", "json", *url))["event ttl"]

    assert not wrong["ok"]
    assert wrong["says"] == (
        "Events live for 15 min (30 expired), and the setting is 1 h"
    )
    assert right["ok"]


def test_types_of_claims_without_a_meaning_are_listed(
    any_database: Database, recorder: Recorder, data: Path
) -> None:
    del data
    claims: list[Observation] = [
        CloudEventPosted(
            observed_at=at(number),
            event=orjson.dumps(a_claim(number, type=kind)),
            key=f"key-{number}",
        )
        for number, kind in enumerate(["cooling", "note", "cooling"])
    ]

    async def write() -> None:
        log = WrittenLog(any_database.dsn("writer"))
        await log.lease()
        await log.append(*claims)
        await log.end()

    asyncio.run(write())
    url = ("--database-url", any_database.dsn("writer"))

    found = checks(recorder("doctor", "-o", "json", *url))["claim types"]

    assert found["ok"]
    assert found["says"] == "without a meaning: cooling (2)"
    said = recorder("log", "--facts", "--no-headers", *url).out.splitlines()
    marked = [line.endswith(" (unknown type)") for line in said]
    assert marked == [True, False, True]
