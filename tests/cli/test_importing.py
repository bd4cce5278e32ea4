"""Audit records are imported from files, counted, and found by their times."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from recorder.facts.classify.audit_record import AuditRecord, read_audit
from recorder.intake import sequencer
from recorder.model.observation import AuditRecorded
from recorder.sources.audit import importing as source
from tests.audit.test_exports import CASES, RECORD
from tests.audit.test_packed import WRONG_SUMS
from tests.cli.conftest import Recorder
from tests.support.builders import at
from tests.support.filled import filled_database
from tests.support.fixed_log import LIVE, STORY, TAPE, write_log
from tests.support.postgres import Database, DatabaseServer

EKS = str(CASES / "a07-eks-session/audit.log")
CUT = str(CASES / "a13-truncated/cut.jsonl")


@pytest.fixture(scope="module")
def own_database(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        assert await write_log(writer, STORY, spec=LIVE) == 1
        assert await write_log(writer, STORY, spec=TAPE) == 2

    with filled_database(embedded_server, fill) as database:
        yield database


@pytest.fixture
def importing(
    own_database: Database,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.setenv("RECORDER_DATABASE_URL", own_database.dsn("writer"))
    folder = tmp_path_factory.getbasetemp() / "importing"
    monkeypatch.setenv("RECORDER_DATA_DIR", str(folder))


def audits(recorder: Recorder, *words: str) -> list[dict[str, Any]]:
    return recorder("log", "--source", "audit", "-o", "ndjson", *words).lines


@pytest.mark.usefixtures("importing")
def test_records_are_added_once_and_found_by_when_they_were_made(
    recorder: Recorder,
) -> None:
    """Into the log of a tape, where no recorder writes."""
    tape = ("--log", "2")
    friday = ("--since", "2026-11-20T10:00:00Z", "--until",
              "2026-11-20T11:00:00Z")  # fmt: skip
    before = audits(recorder, *tape)

    rehearsed = recorder("audit", "import", *tape, "--dry-run", EKS, CUT)
    assert f"{EKS}: 3 audit records" in rehearsed.out
    assert audits(recorder, *tape) == before

    added = recorder("audit", "import", *tape, EKS, CUT)
    assert added.status == 4
    assert f"{CUT}: 1 audit record, 1 cut off, from" in added.out
    assert "line 2: it ends too early" in added.out
    assert "entries added" in added.out

    again = recorder("audit", "import", *tape, EKS, "-o", "json").json
    assert (again["added"], again["repeated"]) == (0, 0)
    assert [f["read_before"] for f in again["audit"]] == [True]  # type: ignore[attr-defined]

    found = audits(recorder, *tape, *friday)
    assert [one["actor"] for one in found if one["actor"]] == [
        "alice@example.com",
        "bob@example.com",
        "carol",
        "alice@example.com",
    ]
    table = recorder("log", *tape, *friday).out
    assert "2026-11-20T10:05:00.123456Z" in table
    assert "alice@example.com as admin patched node/gpu-002" in table
    (gap,) = [
        one
        for one in recorder("gaps", *tape, "-o", "json").json["gaps"]  # type: ignore[attr-defined]
        if one["source"] == "audit"
    ]
    assert gap["proved"] == "cut.jsonl: line 2: it ends too early"


@pytest.mark.usefixtures("importing")
def test_a_log_of_audit_records_alone_claims_nothing_of_nodes(
    recorder: Recorder,
) -> None:
    recorder("import", EKS, "--name", "audit-only")

    status = recorder("status", "--cluster", "audit-only").out
    assert "imported audit log" in status
    answer = recorder("why", "--cluster", "audit-only", "node/gpu-002")
    assert answer.status == 4
    assert "v1/nodes: never recorded" in answer.err


@pytest.mark.usefixtures("importing")
def test_records_that_the_log_has_are_counted_as_repeated(
    recorder: Recorder, tmp_path: Path
) -> None:
    tape, pretty = ("--log", "2"), tmp_path / "pretty.json"
    lines = tmp_path / "lines.json"
    records = [RECORD | {"auditID": f"repeated-{n}"} for n in range(3)]
    lines.write_text("".join(json.dumps(one) + "\n" for one in records))
    pretty.write_text(
        "[" + ",\n".join(json.dumps(one) for one in [*records, RECORD]) + "]"
    )
    recorder("audit", "import", *tape, str(lines))

    answer = recorder("audit", "import", *tape, str(pretty))
    assert answer.status == 0
    assert "1 entry added, 3 audit records in the log already" in answer.out


@pytest.mark.usefixtures("importing")
def test_all_records_before_a_wrong_checksum_are_added_once(
    recorder: Recorder, tmp_path: Path
) -> None:
    tape, every = ("--log", "2"), ("--limit", "all")
    made: set[str] = set()
    paths: list[str] = []
    for number, (pack, place) in enumerate(WRONG_SUMS.values()):
        ids = [f"sum-{number}-{n}" for n in range(20)]
        records = [json.dumps(RECORD | {"auditID": each}) for each in ids]
        packed = bytearray(pack("\n".join(records).encode()))
        packed[place] ^= 1
        path = tmp_path / f"sum-{number}"
        path.write_bytes(packed)
        paths.append(str(path))
        made.update(ids)

    def count() -> int:
        found = audits(recorder, *tape, *every)
        return sum(one["resource"] == "audit" for one in found)

    before = count()

    added = recorder("audit", "import", *tape, *paths)
    assert added.status == 4
    assert added.out.count("the compressed data is damaged") == len(paths)
    assert count() == before + len(made)
    gaps = recorder("gaps", *tape, "-o", "json").json["gaps"]
    lost = [gap["proved"] for gap in gaps if gap["source"] == "audit"]  # type: ignore[attr-defined]
    for name in paths:
        assert any(one.startswith(f"{Path(name).name}: ") for one in lost)

    again = recorder("audit", "import", *tape, *paths, "-o", "json")
    assert again.json["added"] == 0
    assert count() == before + len(made)


@pytest.mark.usefixtures("importing")
def test_a_file_without_a_record_fails_and_writes_nothing(
    recorder: Recorder, tmp_path: Path
) -> None:
    empty, other = tmp_path / "empty.json", tmp_path / "other.json"
    empty.write_text("")
    other.write_text('{"rule": "r", "priority": "p", "output": "o"}')
    before = recorder("log", "--log", "2", "-o", "ndjson").lines

    for path, why in ((empty, ""), (other, "an alert of Falco")):
        answer = recorder("audit", "import", "--log", "2", str(path))
        assert answer.status == 1
        assert f"nothing in {path.name} is recognized" in answer.err
        assert why in answer.err
    assert recorder("log", "--log", "2", "-o", "ndjson").lines == before


@pytest.mark.usefixtures("importing")
def test_a_record_without_a_time_says_so(
    recorder: Recorder, tmp_path: Path
) -> None:
    undated = {k: v for k, v in RECORD.items() if "imestamp" not in k}
    path = tmp_path / "undated.json"
    path.write_text(json.dumps(undated))

    answer = recorder("audit", "import", "--log", "2", str(path))
    assert "1 audit record, 1 of them without a time" in answer.out
    shown = recorder("log", "--log", "2", "--limit", "1").out
    assert "at an unknown time" in shown


@pytest.mark.usefixtures("importing")
def test_an_import_that_is_stopped_claims_nothing(
    recorder: Recorder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(
        main: Callable[[asyncio.Event], Coroutine[Any, Any, Any]],
    ) -> Any:
        async def run() -> object:
            stop = asyncio.Event()
            stop.set()
            return await main(stop)

        return asyncio.run(run())

    monkeypatch.setattr("recorder.cli.importing.run_until_stopped", stopped)
    path = tmp_path / "stopped.json"
    path.write_text((json.dumps(RECORD | {"auditID": "s"}) + "\n") * 200)
    # The turns of others, in which a stop is heard.
    monkeypatch.setattr(source, "PROGRESS_DOCUMENTS", 1)

    answer = recorder("audit", "import", "--log", "2", str(path))
    assert answer.status == 1
    assert "stopped before the end of the files" in answer.err
    assert "added" not in answer.out


def taken_by_an_earlier_release(raw: bytes) -> AuditRecord:
    """Read a document as releases did that took all JSON for records."""
    return read_audit(raw)


def test_what_an_earlier_release_took_for_a_record_is_named_and_proven(
    recorder: Recorder,
    embedded_server: DatabaseServer,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    event = b'{"kind":"Event","apiVersion":"v1","reason":"Rebooted"}'
    other = AuditRecorded(observed_at=at(5), event=event)

    async def fill(writer: str) -> None:
        with monkeypatch.context() as earlier:
            earlier.setattr(
                sequencer, "read_record", taken_by_an_earlier_release
            )
            await write_log(
                writer, [*STORY, [other]], spec=LIVE, with_facts=True
            )

    with filled_database(embedded_server, fill) as database:
        monkeypatch.setenv("RECORDER_DATABASE_URL", database.dsn("writer"))
        monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))
        shown = recorder("log", "--source", "audit", "--limit", "1").out
        verified = recorder("verify")

    assert "not an audit record" in shown
    assert "someone" not in shown
    assert verified.status == 0, verified.err
    assert "nothing was altered" in verified.out
