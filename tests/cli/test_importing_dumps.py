"""A dump becomes a log that questions are asked of, honestly incomplete."""

import asyncio
import json
from collections.abc import Iterator
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from recorder.model.errors import InputError
from recorder.sources.dumps import importing as source
from tests.audit.test_exports import RECORD
from tests.cli.conftest import Recorder
from tests.dumps.saved import as_inspected, as_listed, demo, imported, packed
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer

CLUSTER = "6844405a-c655-4ed2-b435-1287646cbf0e"
OTHER = "00000000-c655-4ed2-b435-1287646cbf0e"


@pytest.fixture(scope="module")
def own_database(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        del writer

    with filled_database(embedded_server, fill) as database:
        yield database


@pytest.fixture
def importing(
    own_database: Database,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    monkeypatch.setenv("RECORDER_DATABASE_URL", own_database.dsn("writer"))
    folder = tmp_path_factory.getbasetemp() / "importing-dumps"
    monkeypatch.setenv("RECORDER_DATA_DIR", str(folder))


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gathered") / "must-gather.tar.gz"
    return packed(as_inspected(demo()), path)


@pytest.mark.usefixtures("importing")
def test_a_must_gather_is_answered_right_or_honestly_less(
    recorder: Recorder, gathered: Path, tmp_path: Path
) -> None:
    """The tape says: a planned reboot by a controller, and a crash."""
    added = recorder("import", str(gathered), "--name", "gathered")
    assert added.status == 0
    assert "a must-gather" not in added.out
    assert "must-gather: 39 objects, 178 Events" in added.out
    assert "known as of 2026-11-25T00:08:57.213928Z" in added.out
    assert 'log 1 of "gathered": 217 entries added' in added.out

    for node, at in (("gpu-002", "00:07:26"), ("gpu-007", "00:08:32")):
        answer = recorder("why", "--log", "1", f"node/{node}", "-o", "json")
        assert answer.status == 4
        verdicts: Any = answer.json["verdicts"]
        (verdict,) = verdicts
        assert verdict["happened"] == "reboot"
        assert at in verdict["sentence"]
        # What the Node was like before is not known.
        assert (verdict["mode"], verdict["cause"]) == ("unknown", "unrecorded")
    state = recorder("status", "--log", "1").out
    assert "imported dump of 2026-11-25T00:08:57.213928Z: one state" in state
    text = recorder("why", "--log", "1", "node/gpu-002").err
    assert "objects are known only as of 2026-11-25T00:08:57" in text
    assert "Events that were forgotten by" in text
    found = recorder("incidents", "--log", "1", "-o", "json").json
    assert len(found["incidents"]) == 2  # type: ignore[arg-type]
    jobs = recorder("jobs", "--log", "1", "-o", "json")
    assert jobs.status == 4
    names = [one["name"] for one in jobs.json["workloads"]]  # type: ignore[attr-defined]
    assert names == ["chat", "llm-pretrain"]
    report = recorder("postmortem", "--log", "1", "node/gpu-007")
    assert "gpu-007 rebooted at 00:08:32" in report.out
    assert recorder("impact", "--log", "1", "node/gpu-007").status == 4
    cut = recorder(
        "tape", "cut", "--log", "1", str(tmp_path / "cut.jsonl.zst")
    )
    assert cut.status == 5
    assert 'log 1 of "gathered" was imported from dumps' in cut.err


@pytest.mark.usefixtures("importing")
def test_importing_again_adds_nothing_and_audit_is_joined(
    recorder: Recorder, gathered: Path, tmp_path: Path
) -> None:
    again = recorder("import", str(gathered), "--name", "gathered")
    assert "nothing added" in again.out
    # A dump of the same state, written otherwise.
    saved = demo()
    listed = tmp_path / "nodes.json"
    listed.write_text(as_listed(saved.objects["v1/nodes"]))
    events = tmp_path / "events.json"
    events.write_text(as_listed(saved.objects["v1/events"]))
    same = recorder("import", str(listed), str(events), "--into", "gathered")
    assert "nothing added" in same.out

    audit = tmp_path / "audit.log"
    audit.write_text(json.dumps(RECORD) + "\n")
    joined = recorder("import", str(audit), "--into", "1", "-o", "json")
    assert joined.status == 0
    assert (joined.json["log"], joined.json["added"]) == (1, 1)


@pytest.mark.usefixtures("importing")
def test_a_stopped_import_continues_where_it_was(
    recorder: Recorder,
    own_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "all.json"
    kept = [one for some in demo().objects.values() for one in some]
    path.write_text(as_listed(kept))
    monkeypatch.setattr(source, "PORTION_BYTES", 20_000)
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))

    with pytest.raises(InputError, match="stopped before the end"):
        asyncio.run(
            imported(
                own_database.dsn("writer"),
                path,
                tmp_path,
                name="stopped",
                stop_after=50,
            )
        )
    words = ("log", "--cluster", "stopped", "--limit", "all", "-o", "ndjson")
    before = recorder(*words).lines
    assert 0 < len(before) < len(kept)
    again = recorder("import", str(path), "--name", "stopped")

    assert f"{len(kept) - len(before)} entries added" in again.out
    assert recorder(*words).lines[: len(before)] == before


@pytest.mark.usefixtures("importing")
def test_a_node_that_a_dump_shows_ready_was_away_at_most_until_then(
    recorder: Recorder, tmp_path: Path
) -> None:
    path = tmp_path / "lost.json"
    lost = {"NodeNotReady", "Rebooted"}
    path.write_text(
        as_listed(
            [
                one
                for some in demo().objects.values()
                for one in some
                if one["kind"] == "Node"
                or (
                    one.get("reason") in lost
                    and one["involvedObject"]["name"] == "gpu-007"
                )
            ]
        )
    )
    recorder("import", str(path), "--name", "lost")

    why = recorder("why", "--cluster", "lost", "node/gpu-007", "-o", "json")
    verdicts: Any = why.json["verdicts"]
    assert verdicts[0]["duration"]["kind"] == "away"
    assert verdicts[0]["duration"]["at_most"]


@pytest.mark.usefixtures("importing")
def test_files_of_another_cluster_are_refused(
    recorder: Recorder, tmp_path: Path
) -> None:
    path = tmp_path / "namespaces.json"
    spaces = demo().objects["v1/namespaces"]
    (system,) = [
        one for one in spaces if one["metadata"]["name"] == "kube-system"
    ]
    uid = system["metadata"]["uid"]
    path.write_text(json.dumps(system).replace(uid, OTHER))

    refused = recorder("import", str(path), "--into", "gathered")
    assert refused.status == 1
    assert f"kube-system is {OTHER}, that of the log {uid}" in refused.err


@pytest.mark.usefixtures("importing")
def test_what_nothing_is_recognized_in_makes_no_log(
    recorder: Recorder, tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("it was the switch\n")
    folder = tmp_path / "empty"
    folder.mkdir()

    for one in (path, folder):
        refused = recorder("import", str(one))
        assert refused.status == 1
        assert "is recognized" in refused.err
    assert recorder("import", "--dry-run", str(folder)).status == 1
    assert "notes" not in recorder("status").out


@pytest.mark.usefixtures("importing")
def test_secrets_of_a_dump_are_not_in_the_log(
    recorder: Recorder, tmp_path: Path
) -> None:
    secret = "hunter2-of-a-kubeconfig"
    kubeconfig = {"kubeconfig": f"users: [{{token: {secret}}}]"}
    named = {"name": "s", "namespace": "d", "uid": "u", "resourceVersion": "1"}
    environment = [{"name": "DB_PASSWORD", "value": secret}]
    container = {"name": "main", "image": "i", "env": environment}
    path = tmp_path / "all.json"
    path.write_text(
        as_listed([
            {"apiVersion": "v1", "kind": "Secret", "metadata": named,
             "type": "helm.sh/release.v1", "data": {"release": secret}},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named,
             "data": kubeconfig},
            {"apiVersion": "v1", "kind": "Pod", "metadata": named,
             "spec": {"containers": [container]}},
        ])
    )  # fmt: skip

    added = recorder("import", str(path), "--name", "secrets", "-o", "json")
    (file,) = added.json["inputs"][0]["files"]  # type: ignore[index]
    assert file["left_out"] == {"Secret": 1, "ConfigMap": 1}
    log = str(added.json["log"])
    shown = recorder("show", "--log", log, "pod/d/s").out
    assert "DB_PASSWORD" in shown
    assert secret not in shown


@pytest.mark.usefixtures("importing")
def test_a_tape_and_what_was_saved_beside_it_are_one_log(
    recorder: Recorder, tmp_path: Path
) -> None:
    audit = tmp_path / "audit.log"
    audit.write_text(json.dumps(RECORD) + "\n")
    nodes = tmp_path / "nodes.json"
    nodes.write_text(as_listed(demo().objects["v1/nodes"]))
    place = files("recorder.sources.tape.demo") / "demo.tape.jsonl.zst"
    with as_file(place) as tape:
        played = recorder(
            "import", str(tape), str(audit), str(nodes), "--name", "both"
        )
        twice = recorder("import", str(tape), str(tape))

    assert played.status == 0
    entries = recorder("log", "--cluster", "both", "--limit", "all", "-o",
                       "ndjson").lines  # fmt: skip
    # The tape has 229 of its own.
    assert sum(one["source"] == "audit" for one in entries) == 230
    # Its nodes are as the tape had them.
    assert f"{len(entries):,} entries added" in played.out
    assert twice.status == 1
    assert "a log of its own" in twice.err
