"""`recorder verify`, `checkpoint`, `prove` and `keys`, as they are typed."""

import asyncio
import json
from pathlib import Path

import asyncpg
import pytest

from tests.cli.conftest import Recorder
from tests.support.fixed_log import LIVE, STORY, TAPE, write_log
from tests.support.postgres import Database
from tests.tampering.kept import unguarded


@pytest.fixture
async def own(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Database:
    """Two logs that no other test writes, and a data folder."""
    await write_log(database.dsn("writer"), STORY, spec=LIVE, with_facts=True)
    await write_log(database.dsn("writer"), STORY, spec=TAPE, with_facts=True)
    monkeypatch.setenv("RECORDER_DATABASE_URL", database.dsn("writer"))
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))
    return database


def as_superuser(own: Database, statement: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(own.superuser_dsn())
        await connection.execute(
            f"alter table recorder.entry disable trigger all; {statement};"
            " alter table recorder.entry enable always trigger append_only;"
            " alter table recorder.fact enable always trigger append_only"
        )
        await connection.close()

    asyncio.run(run())


@pytest.mark.usefixtures("own")
def test_an_unaltered_log_is_said_to_be_one(recorder: Recorder) -> None:
    answer = recorder("verify")
    assert answer.status == 0
    first, root, facts, outside, *_ = answer.out.splitlines()
    assert first == (
        'log 1 of "prod": nothing was altered in 18 of 18 entries, 3 batches'
    )
    assert root.startswith("  root         ")
    assert facts == (
        "  facts        14 match the 18 of 18 entries that they follow from"
    )
    assert "none outside the database" in outside
    assert 'log 2 of "demo"' in answer.out
    assert recorder("verify", "--log", "2").out.startswith("log 2")


@pytest.mark.usefixtures("own")
def test_a_checkpoint_is_what_a_log_is_compared_with(
    recorder: Recorder, tmp_path: Path
) -> None:
    made = recorder("checkpoint", "--log", "1")
    assert made.status == 0
    origin, batches, *_ = made.out.splitlines()
    assert origin.startswith("kube-recorder/")
    assert batches == "3"
    (file,) = (tmp_path / "checkpoints").glob("*/*.notes")
    assert file.read_text() == made.out
    answer = recorder("verify", "--log", "1")
    assert "agree up to batch 3 of 3" in answer.out
    document = recorder("verify", "--log", "1", "-o", "json").json
    assert document["ok"] is True


def test_an_altered_fact_is_status_3(
    own: Database, recorder: Recorder
) -> None:
    as_superuser(
        own,
        "alter table recorder.fact disable trigger all;"
        " update recorder.fact set at = at + interval '1 hour' where ctid = ("
        "  select f.ctid from recorder.fact f"
        "  join recorder.derivation using (derivation_id)"
        "  where log_id = 1 and position = 3)",
    )
    answer = recorder("verify", "--log", "1", "-o", "json")
    assert answer.status == 3
    (problem,) = json.loads(answer.out)["logs"][0]["problems"]
    assert (problem["kind"], problem["entry"]) == ("fact-altered", "1/3")
    assert recorder("verify", "--log", "1", "--facts", "none").status == 0
    assert recorder("verify", "--log", "2").status == 0


def test_facts_of_other_rules_are_status_4(
    own: Database, recorder: Recorder
) -> None:
    as_superuser(own, "update recorder.derivation set rules = 6")
    answer = recorder("verify", "--log", "1", "--facts", "sample", "--seed=7")
    assert answer.status == 4
    assert "not compared rules 6 derived the facts" in answer.out
    assert recorder("rederive", "--log", "1").status == 0
    answer = recorder(
        "verify", "--log", "1", "--facts", "sample", "--seed=7", "-o", "json"
    )
    assert answer.status == 0
    assert json.loads(answer.out)["logs"][0]["derived"] == {
        "mode": "sample",
        "seed": 7,
        "entries": 18,
        "entries_of": 18,
        "facts": 14,
        "not_compared": [],
    }


def test_an_altered_log_is_status_3(own: Database, recorder: Recorder) -> None:
    as_superuser(
        own, "delete from recorder.entry where log_id = 1 and position = 7"
    )
    answer = recorder("verify", "--log", "1")
    assert answer.status == 3
    first, second, *_ = answer.out.splitlines()
    assert first == 'log 1 of "prod": ALTERED, 1 problem'
    assert second == (
        "  entry-missing: the entry at position 7 is missing from batch 1, or"
        " was recorded at another time"
    )
    document = recorder("verify", "-o", "json").json
    assert document["ok"] is False
    assert isinstance(document["logs"], list)
    assert document["logs"][0]["problems"][0]["entry"] == "1/7"
    assert recorder("verify", "--log", "2").status == 0


def test_a_policy_that_hides_entries_answers_no_question(
    own: Database, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDER_DATABASE_URL", own.dsn("reader"))
    assert recorder("verify").status == 0
    as_superuser(
        own,
        "alter table recorder.entry enable row level security; create policy"
        " hide on recorder.entry to recorder_reader using (position <> 7)",
    )

    answer = recorder("log", "--log", "1")
    assert (answer.status, answer.out) == (1, "")
    assert 'row-level security policy for table "entry"' in answer.err

    answer = recorder("verify", "-o", "json")
    said = json.loads(answer.out)
    assert (answer.status, said["ok"]) == (3, False)
    database, first = said["database"], said["logs"][0]
    assert {
        "kind": "policy-altered",
        "says": "policy hide of recorder.entry was added",
    } in database["problems"]
    assert ("entry-missing", "1/7") in {
        (problem["kind"], problem["entry"]) for problem in first["problems"]
    }, "as the role that answers"
    assert (
        "the database: ALTERED, 2 problems\n"
        "  policy-altered: policy (row security is on) of recorder.entry was"
        " added\n"
    ) in recorder("verify").out


@pytest.mark.usefixtures("own")
def test_a_proof_is_checked_without_the_log(
    recorder: Recorder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    too_early = recorder("prove", "1/9")
    assert too_early.status == 1
    assert "recorder checkpoint" in too_early.err
    recorder("checkpoint", "--log", "1")
    file = tmp_path / "entry.proof.json"
    assert recorder("prove", "1/9", "-f", str(file)).status == 0
    monkeypatch.setenv("RECORDER_DATABASE_URL", "postgresql://nowhere/none")
    answer = recorder("verify", "--proof", str(file))
    assert answer.status == 0
    assert "entry 9 of kube-recorder/" in answer.out
    assert "is proven by the checkpoint of 3 batches" in answer.out
    proof = json.loads(file.read_text())
    # What it calls itself is not what is proven.
    file.write_text(json.dumps(proof | {"entry": "1/4"}))
    assert recorder("verify", "--proof", str(file)).out == answer.out
    file.write_text(json.dumps(proof | {"document": "{}"}))
    answer = recorder("verify", "--proof", str(file))
    assert answer.status == 3
    assert "NOT proven" in answer.err


def test_what_a_reader_may_not_read_is_named(
    own: Database, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDER_DATABASE_URL", own.dsn("reader"))
    as_superuser(
        own,
        "revoke select on recorder.entry, recorder.partition from"
        " recorder_reader",
    )
    answer = recorder("verify", "-o", "json")
    said = json.loads(answer.out)
    assert (answer.status, said["ok"]) == (3, False)
    assert [problem["says"] for problem in said["database"]["problems"]] == [
        f"grant SELECT to recorder_reader of recorder.{table} is missing"
        for table in ("entry", "partition")
    ]
    assert "permission denied" in answer.err


def test_a_schema_that_is_said_to_be_newer_is_not_compared(
    own: Database, recorder: Recorder
) -> None:
    as_superuser(
        own,
        "insert into recorder.schema_serves select version_num from"
        " recorder.schema_version on conflict do nothing;"
        " update recorder.schema_version set version_num = '9999'",
    )
    answer = recorder("verify")
    assert answer.status == 4
    assert 'schema "9999" is of a newer release' in answer.out


def test_what_does_not_hold_is_not_written(
    own: Database, recorder: Recorder, tmp_path: Path
) -> None:
    recorder("checkpoint", "--log", "1")
    file = tmp_path / "entry.proof.json"
    # A later checkpoint, signed by another: that of the recorder is older.
    as_superuser(
        own,
        "insert into recorder.checkpoint select log_id, batches,"
        " regexp_replace(note, '(.*)....\n$', E'\\\\1AAAA\n'), made_at"
        " from recorder.checkpoint",
    )
    assert recorder("prove", "1/9", "-f", str(file)).status == 0
    assert recorder("verify", "--proof", str(file)).status == 0
    file.unlink()
    as_superuser(
        own,
        "update recorder.entry set payload = payload || ' ', encoding = 0,"
        " base_distance = null where log_id = 1 and position = 9",
    )
    answer = recorder("prove", "1/9", "-f", str(file))
    assert (answer.status, file.exists()) == (1, False)
    assert "does not lead to the root of its batch" in answer.err
    assert "`recorder verify` says what was altered" in answer.err


def test_keys_are_made_shown_and_replaced(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))
    assert recorder("keys", "show").out == ""
    made = recorder("keys", "make").out
    assert recorder("keys", "make").out == made, "the same key"
    assert recorder("keys", "rotate").out.startswith(made)
    assert len(recorder("keys", "show").out.splitlines()) == 2
    assert (tmp_path / "signing.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("junk", "must be an Ed25519 key in PEM"),
        (None, "cannot read the signing key"),
    ],
)
@pytest.mark.usefixtures("own")
def test_a_key_that_is_none_is_refused(
    recorder: Recorder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    content: str | None,
    says: str,
) -> None:
    key = tmp_path / "mounted.key"
    if content is not None:
        key.write_text(content)
        key.chmod(0o600)
    monkeypatch.setenv("RECORDER_SIGNING_KEY_FILE", str(key))
    answer = recorder("checkpoint", "--log", "1")
    assert answer.status == 1
    assert says in answer.err


@pytest.mark.usefixtures("own")
def test_a_key_that_others_may_read_is_refused(
    recorder: Recorder, tmp_path: Path
) -> None:
    recorder("keys", "make")
    (tmp_path / "signing.key").chmod(0o644)
    answer = recorder("checkpoint", "--log", "1")
    assert answer.status == 1
    assert "others may read it" in answer.err


@pytest.mark.usefixtures("own")
def test_trusted_keys_that_are_none_are_refused(
    recorder: Recorder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = tmp_path / "trusted"
    keys.write_text("# the auditor's\nnot-a-key\n")
    monkeypatch.setenv("RECORDER_TRUSTED_KEYS", str(keys))
    answer = recorder("verify", "--log", "1")
    assert answer.status == 1
    assert f"line 2 of {keys}" in answer.err


@pytest.mark.usefixtures("own")
def test_a_place_that_cannot_be_written_is_named(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDER_CHECKPOINT_PLACES", "/proc/nothing")
    answer = recorder("checkpoint", "--log", "1")
    assert answer.status == 1
    assert "/proc/nothing" in answer.err
    assert answer.out, "it was made all the same"


@pytest.mark.parametrize("entry", ["1", "x/y", "1/0", "9/1"])
@pytest.mark.usefixtures("own")
def test_an_entry_that_is_none_is_refused(
    recorder: Recorder, entry: str
) -> None:
    answer = recorder("prove", entry)
    assert answer.status in {1, 2, 5}
    assert answer.out == ""
    assert len(answer.err.splitlines()) == 1


def test_a_log_that_was_signed_and_is_gone_is_missed(
    own: Database, recorder: Recorder
) -> None:
    origin = recorder("checkpoint", "--log", "2").out.splitlines()[0]
    asyncio.run(_remove(own, 2))
    answer = recorder("verify", "-o", "json")
    assert answer.status == 3
    missing, there = json.loads(answer.out)["logs"]
    assert (missing["origin"], missing["batches"]) == (origin, 0)
    assert [one["kind"] for one in missing["problems"]] == ["log-missing"]
    assert (there["log"], there["problems"]) == (1, [])
    assert origin in recorder("verify").out.splitlines()[0]
    assert recorder("verify", "--log", "1").status == 0, "it was not asked"


async def _remove(own: Database, number: int) -> None:
    async with unguarded(own) as connection:
        for (table,) in await connection.fetch(
            "select table_name from information_schema.columns"
            " where table_schema = 'recorder' and column_name = 'log_id'"
            " and table_name not in (select relname from pg_class"
            "   where relispartition or relkind = 'v')"
        ):
            await connection.execute(
                f"delete from recorder.{table} where log_id = {number}"
            )
