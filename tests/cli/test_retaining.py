"""Retention as cron runs it: what it prints, and that answers stay."""

import asyncio
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recorder.keeping.retention import policy
from tests.cli.conftest import Answer
from tests.support.days import (
    RUNS,
    asked,
    noon,
    owner,
    write_days,
)
from tests.support.postgres import Database

Recorder = Callable[..., Answer]


def count_manifests(place: Path) -> int:
    return len(list(place.rglob("manifest.json")))


async def test_a_run_says_in_one_line_what_it_did(
    days: Database,
    recorder: Recorder,
    tmp_path: Path,
) -> None:
    await write_days(days)
    url = ("--database-url", days.superuser_dsn())

    dry = await asyncio.to_thread(recorder, "prune", "--dry-run", *url)
    assert dry.status == 0, dry.err
    assert dry.out.count("would drop") == 2
    assert f"would drop {noon(10):%Y-%m-%d} (age)\n" in dry.out

    done = await asyncio.to_thread(recorder, "prune", *url)
    assert (done.status, done.out) == (0, ""), done.err
    assert done.err.count("\n") == 1
    assert "archived" in done.err
    assert "dropped 2 days" in done.err
    assert count_manifests(tmp_path) >= 4

    again = await asyncio.to_thread(recorder, "prune", *url)
    assert "archived 0 days" in again.err
    assert "dropped nothing" in again.err


async def test_a_run_says_what_it_added_to_iceberg_tables(
    days: Database, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write_days(days)
    url = ("--database-url", days.superuser_dsn())

    monkeypatch.setenv("RECORDER_ICEBERG_CATALOG", "sqlite:////dev/null/a.db")
    away = await asyncio.to_thread(recorder, "archive", *url)
    assert (away.status, away.err.count("\n")) == (1, 1), away.err
    assert away.err.startswith("archived ")
    assert "added 0 days to Iceberg tables; not all of them: cannot open" in (
        away.err
    )

    monkeypatch.setenv("RECORDER_ICEBERG_CATALOG", "local")
    done = await asyncio.to_thread(recorder, "archive", *url)
    assert done.status == 0, done.err
    assert "added 4 days to Iceberg tables\n" in done.err

    monkeypatch.setenv("RECORDER_RETENTION_ARCHIVE", "none")
    monkeypatch.setenv("RECORDER_RETENTION_UNARCHIVED", "drop")
    refused = await asyncio.to_thread(recorder, "archive", *url)
    assert (refused.status, "iceberg_catalog" in refused.err) == (2, True)


async def test_days_of_a_server_go_nowhere_by_default(
    days: Database, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    await write_days(days)
    monkeypatch.delenv("RECORDER_RETENTION_ARCHIVE")
    for command in ("archive", "prune"):
        url = ("--database-url", days.superuser_dsn())
        refused = await asyncio.to_thread(recorder, command, *url)
        assert (refused.status, "retention_archive" in refused.err) == (
            2,
            True,
        )


async def test_every_step_is_an_entry_of_the_log_once(
    days: Database, recorder: Recorder
) -> None:
    await write_days(days)
    url = ("--database-url", days.superuser_dsn())
    for _ in range(2):
        await asyncio.to_thread(recorder, "prune", *url)

    answer = await asyncio.to_thread(
        recorder, "log", "--source", "recorder", "--raw", "-o", "ndjson", *url
    )
    lines: list[dict[str, Any]] = answer.lines
    found = [line["raw"] for line in lines if line["operation"] == "retention"]
    actions = [one["action"] for one in found]
    assert actions.count("archived") == 4
    assert actions.count("dropped") == 2
    dropped = next(one for one in found if one["action"] == "dropped")
    assert dropped["why"] == "age"
    assert dropped["policy"]["hot_days"] == 7
    assert dropped["first_position"] == 1


async def test_a_role_that_only_retains_leaves_entries_to_who_records(
    days: Database, recorder: Recorder
) -> None:
    await write_days(days)

    for command in ("archive", "prune"):
        url = ("--database-url", days.dsn("retention"))
        done = await asyncio.to_thread(recorder, command, *url)
        assert (done.status, done.err.count("\n")) == (0, 1), done.err

    url = ("--database-url", days.superuser_dsn())
    await asyncio.to_thread(recorder, "archive", *url)
    answer = await asyncio.to_thread(
        recorder, "log", "--source", "recorder", "--raw", "-o", "ndjson", *url
    )
    lines: list[dict[str, Any]] = answer.lines
    actions = [line["raw"]["action"] for line in lines]
    assert actions.count("dropped") == 2


SIZE = "select size from recorder.log_head"
TREE = "select encode(tree, 'hex') from recorder.batch where batch = $1"
LEASED = """
    update recorder.log_head set holder = 'recorder',
      expires_at = clock_timestamp() + interval '10 s' returning holder
"""


async def test_every_run_is_an_entry_also_one_that_does_nothing(
    days: Database, recorder: Recorder
) -> None:
    """Of a log without a recorder, runs that do nothing are not."""
    await write_days(days)
    url = ("--database-url", days.superuser_dsn())

    await asyncio.to_thread(recorder, "prune", *url)
    answer = await asyncio.to_thread(
        recorder, "log", "--source", "recorder", "--raw", "-o", "ndjson", *url
    )
    size = await asked(days, SIZE)
    await asyncio.to_thread(recorder, "prune", *url)
    assert await asked(days, SIZE) == size
    await asked(days, LEASED)
    await asyncio.to_thread(recorder, "prune", *url)

    documents = await asked(days, RUNS)
    runs = [json.loads(one) for one in documents]  # type: ignore[attr-defined]
    assert answer.lines[-1]["raw"] == runs[0]
    assert len(runs[0]["archived"]) >= 4
    assert runs[1]["archived"] == []
    assert [len(one["dropped"]) for one in runs] == [2, 0]
    for run in runs:
        assert run["policy"]["hot_days"] == 7
        assert (run["failed"], run["stopped_by"]) == (None, None)
        assert 0 < run["dropped_batches"] < run["batches"]
        assert 0 < run["dropped_entries"] < run["entries"]
        assert run["root"] == await asked(days, TREE, run["batches"])


async def test_holds_are_placed_listed_and_lifted(
    days: Database, recorder: Recorder
) -> None:
    await write_days(days)
    url = ("--database-url", days.superuser_dsn())
    since = noon(20).strftime("%Y-%m-%dT%H:%M:%SZ")

    nothing = await asyncio.to_thread(
        recorder, "hold", "add", "--why", "an audit", *url
    )
    assert nothing.status == 2
    for words, status, said in (
        (("--since", since, "--why", " "), 2, "--why is empty"),
        (("--node", "gpu-01", "--why", "x"), 5, 'has no node "gpu-01"'),
    ):
        wrong = await asyncio.to_thread(recorder, "hold", "add", *words, *url)
        assert (wrong.status, said in wrong.err) == (status, True), wrong.err
    placed = await asyncio.to_thread(
        recorder, "hold", "add", "--since", since, "--why", "an audit", *url
    )
    assert (placed.status, placed.out) == (0, "hold 1\n"), placed.err
    assert f"it keeps 4 days ({noon(10):%Y-%m-%d} to " in placed.err
    kept = await asyncio.to_thread(recorder, "prune", *url)
    assert "kept by hold 1" in kept.err
    listed = await asyncio.to_thread(
        recorder, "hold", "list", "-o", "json", *url
    )
    assert listed.json["holds"][0]["why"] == "an audit"  # type: ignore[index]
    lifted = await asyncio.to_thread(
        recorder, "hold", "remove", "1", "--why", "it is over", *url
    )
    assert lifted.status == 0
    pruned = await asyncio.to_thread(recorder, "prune", *url)
    assert "dropped 2 days" in pruned.err

    around = await asyncio.to_thread(
        recorder, "hold", "add", "--incident", "1/9", "--why", "that", *url
    )
    assert around.out == "hold 2\n", around.err
    wrong = await asyncio.to_thread(
        recorder, "hold", "add", "--incident", "1/999", "--why", "that", *url
    )
    assert wrong.status == 5
    listed = await asyncio.to_thread(recorder, "hold", "list", *url)
    assert "lifted by" in listed.out
    assert "1/9" in listed.out

    late = await asyncio.to_thread(
        recorder, "hold", "add", "--since", since, "--why", "too late", *url
    )
    assert f"({noon(10):%Y-%m-%d} to {noon(9):%Y-%m-%d}) were dropped" in (
        late.err
    )
    empty = await asyncio.to_thread(
        recorder, "hold", "add", "--until", since, "--why", "long ago", *url
    )
    assert "it keeps no day that is here now" in empty.err
    gone = await asyncio.to_thread(
        recorder, "hold", "remove", "7", "--why", "none", *url
    )
    assert gone.status == 5


@pytest.mark.parametrize(
    ("setting", "keys"),
    [
        (
            {"RECORDER_RETENTION_ARCHIVE": "none"},
            ("retention_archive", "retention_unarchived"),
        ),
        (
            {"RECORDER_RETENTION_UNARCHIVED": "drop"},
            ("retention_archive", "retention_unarchived"),
        ),
        ({"RECORDER_RETENTION_HOT": "1h"}, ("retention_hot",)),
        ({"RECORDER_RETENTION_BUDGET": "much"}, ("retention_budget",)),
    ],
)
async def test_a_policy_that_contradicts_itself_names_its_keys(
    days: Database,
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    setting: dict[str, str],
    keys: tuple[str, ...],
) -> None:
    for name, text in setting.items():
        monkeypatch.setenv(name, text)
    url = ("--database-url", days.superuser_dsn())

    said = await asyncio.to_thread(recorder, "prune", *url)

    assert said.status == 2
    for key in keys:
        assert key in said.err


@pytest.mark.parametrize(
    ("budget", "stage", "says"),
    [
        ("1MB", "full", "nothing is recorded until days are dropped"),
        ("900GB", "within", ""),
    ],
)
async def test_status_says_how_full_the_budget_is(
    days: Database,
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
    budget: str,
    stage: str,
    says: str,
) -> None:
    monkeypatch.setattr(policy, "BUDGET_MIN", 1 << 20)
    monkeypatch.setenv("RECORDER_RETENTION_BUDGET", budget)
    await write_days(days, 1)
    url = ("--database-url", days.superuser_dsn())

    answer = await asyncio.to_thread(recorder, "status", *url)
    data = await asyncio.to_thread(recorder, "status", "-o", "json", *url)

    assert says in answer.out
    assert ("size budget" in answer.out) == (stage != "within")
    found = data.json["database"]
    assert found["budget_stage"] == stage  # type: ignore[index]
    waiting = data.json["clusters"][0]["log"]["waiting_for"]  # type: ignore[index]
    assert (waiting is not None) == (stage == "full")


def test_the_archive_is_verified_after_the_database(
    days: Database, recorder: Recorder, tmp_path: Path
) -> None:
    asyncio.run(_written(days))
    url = ("--database-url", days.superuser_dsn())
    lines = ("verify", "--archived", "--part", "30", "--seed", "7", *url)
    assert recorder(*lines).status == 0, "nothing is archived yet"

    assert recorder("prune", *url).status == 0
    whole = recorder(*lines)
    assert whole.status == 0, whole.out
    assert 'the archive of "test"' in whole.out
    assert (
        "days were read, the newest and others chosen by seed 7" in whole.out
    )
    assert "--archive" in recorder("verify", "--part", "30", *url).err

    commands = (("status",), 4), (("prune",), 3), (("archive",), 3)
    for words, _ in commands:
        assert "archived days are not" not in recorder(*words, *url).err
    assert "4 archived days are there" in recorder("doctor", *url).out
    for manifest in list(tmp_path.rglob("manifest.json")):
        manifest.unlink()
    for words, status in commands:
        answer = recorder(*words, *url)
        assert answer.status == status
        assert "4 of 4 archived days are not where they were" in answer.err
        assert str(tmp_path / "archive") in answer.err
    assert "FAIL  archive: 4 of 4 archived" in recorder("doctor", *url).out
    found = recorder(*lines, "-o", "json")
    assert found.status == 3
    database, archive = json.loads(found.out)["logs"]
    for one in (database, archive):
        assert {p["kind"] for p in one["problems"]} == {"archive-missing"}

    shutil.rmtree(tmp_path / "archive")
    gone = recorder(*lines)
    assert gone.status == 3
    assert gone.out.count("archive-") > 4


async def _written(days: Database) -> None:
    """Write it, and leave no clock that verifying would find."""
    await write_days(days)
    async with owner(days) as connection:
        await connection.execute(
            "alter role recorder_embedded_writer in database"
            f' "{days.name}" reset search_path'
        )
