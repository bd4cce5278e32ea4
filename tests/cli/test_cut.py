"""A part of a log, handed on as a tape that answers as the log did."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from recorder.keeping.playing import Playing, play_tape
from recorder.model.settings import Settings
from recorder.sources.tape import TapeReader
from tests.cli.conftest import CRASH, Answer, Recorder, stop_clock
from tests.support.builders import at
from tests.support.filled import filled_database
from tests.support.fixed_log import LIVE, STORY, write_log
from tests.support.postgres import Database, DatabaseServer

EVERY = ("--limit", "all", "-o", "ndjson", "--raw")
CRASH_WINDOWS = (
    (None, None),
    ("2026-11-21T11:26:17.932475Z", "2026-11-21T11:26:24Z"),
    ("2026-11-21T11:26:18Z", None),
    ("2026-11-21T11:26:40Z", "2026-11-21T11:27:13Z"),
    ("2026-11-21T11:26:49.046594Z", "2026-11-21T11:27:16Z"),
    ("2026-11-21T11:27:30Z", None),
)
STORY_WINDOWS = (
    (None, None),
    ("2026-11-21T03:00:10Z", "2026-11-21T03:04:00Z"),
    ("2026-11-21T03:01:35Z", "2026-11-21T03:02:30Z"),
    ("2026-11-21T03:01:55Z", "2026-11-21T03:05:00Z"),
    ("2026-11-21T03:00:30Z", "2026-11-21T03:01:45Z"),
    ("2026-11-21T03:03:05Z", "2026-11-21T03:04:00Z"),
)
OF_THE_LOG = ("entry", "cluster", "recorded_at")


@pytest.fixture(scope="module")
def database_of_two(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """Log 1 is a crash's tape, log 2 the story with its gaps."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("cut"))

    async def fill(writer: str) -> None:
        playing = Playing(path=CRASH)
        await play_tape(playing, settings, writer, asyncio.Event())
        assert await write_log(writer, STORY, spec=LIVE) == 2

    with filled_database(embedded_server, fill) as database:
        yield database


class Cutter:
    """Cuts tapes out of logs and plays them."""

    def __init__(
        self, recorder: Recorder, database: Database, folder: Path
    ) -> None:
        self.run = recorder
        self._database = database
        self._folder = folder
        self._count = 0

    def cut(self, *words: str) -> tuple[Path, Answer]:
        self._count += 1
        file = self._folder / f"{self._count}.tape.jsonl.zst"
        return file, self.run("tape", "cut", str(file), *words)

    def played(self, file: Path) -> str:
        """Play it; return the number of its log."""
        settings = Settings(data_dir=self._folder)
        playing = Playing(path=file, cluster=f"{self._folder}/{file.name}")
        dsn = self._database.dsn("writer")
        asyncio.run(play_tape(playing, settings, dsn, asyncio.Event()))
        logs: Any = self.run("status", "-o", "json").json["clusters"]
        return str(max(log["log"]["id"] for log in logs))


@pytest.fixture
def cutter(
    database_of_two: Database,
    monkeypatch: pytest.MonkeyPatch,
    recorder: Recorder,
    tmp_path: Path,
) -> Cutter:
    monkeypatch.setenv("RECORDER_DATABASE_URL", database_of_two.dsn("reader"))
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))
    stop_clock(monkeypatch, at(60 * 60 * 12))
    return Cutter(recorder, database_of_two, tmp_path)


def between(since: str | None, until: str | None) -> list[str]:
    words = []
    if since is not None:
        words += ["--since", since]
    if until is not None:
        words += ["--until", until]
    return words


def by_object(answer: Answer) -> dict[str, list[Any]]:
    """What a log says, object by object, without what is its own."""
    found: dict[str, list[Any]] = defaultdict(list)
    for line in answer.lines:
        thing: Any = line["object"]
        for name in OF_THE_LOG:
            del line[name]
        for name in ("opened", "last"):
            line["raw"].pop(name, None)  # type: ignore[attr-defined]
        if line["operation"] == "absent":
            line["raw"].pop("resource_version_before")  # type: ignore[attr-defined]
        found[str(thing or line["resource"])].append(line)
    return found


def missing(answer: Answer) -> list[tuple[str, str]]:
    gaps: Any = answer.json["gaps"]
    return sorted((gap["resource"], gap["reason"]) for gap in gaps)


@pytest.mark.parametrize(
    ("log", "since", "until"),
    [("1", *window) for window in CRASH_WINDOWS]
    + [("2", *window) for window in STORY_WINDOWS],
)
def test_the_tape_of_a_window_answers_as_the_log(
    cutter: Cutter, log: str, since: str | None, until: str | None
) -> None:
    window = between(since, until)
    file, _ = cutter.cut("--log", log, *window)
    played = cutter.played(file)

    def ask(*words: str) -> tuple[Answer, Answer]:
        return (
            cutter.run(*words, *window, "--log", log),
            cutter.run(*words, *window, "--log", played),
        )

    ours, theirs = ask("log", *EVERY)
    assert by_object(theirs) == by_object(ours)
    if until is not None:
        assert theirs.status == ours.status
        ours, theirs = ask("gaps", "-o", "json")
        assert missing(theirs) == missing(ours)


def test_the_tape_begins_with_what_was_alive(cutter: Cutter) -> None:
    since = "2026-11-21T11:26:49.046594Z"
    file, _ = cutter.cut("--log", "1", "--since", since)
    log = cutter.played(file)
    before = ("--at", "2026-11-21T11:26:49.046593Z", "-o", "json")

    for name in ("node/gpu-002", "pod/train/llm-pretrain-0-rjxd4"):
        ours = cutter.run("show", name, *before, "--log", "1")
        theirs = cutter.run("show", name, *before, "--log", log)

        assert theirs.json == ours.json


def test_a_cut_by_a_node_holds_what_concerns_it(cutter: Cutter) -> None:
    file, _ = cutter.cut("--log", "1", "--node", "gpu-001")
    log = cutter.played(file)

    entries = cutter.run("log", "--log", log, "--limit", "all", *EVERY[2:])
    names = {
        f"{entry['object']['kind']}/{entry['object']['name']}"  # type: ignore[index]
        for entry in entries.lines
    }

    assert names == {
        "Node/gpu-001",
        "Lease/gpu-001",
        "Pod/llm-pretrain-2-bx725",
        "Job/llm-pretrain",
        *(
            f"Namespace/{name}"
            for name in (
                "default",
                "kube-node-lease",
                "kube-public",
                "kube-system",
                "train",
            )
        ),
    }
    ours = by_object(cutter.run("log", "--log", "1", *EVERY))
    for thing, lines in by_object(entries).items():
        assert lines == ours[thing]
    assert cutter.run("gaps", "--log", log).status == 0


def test_nodes_can_be_cut_together(cutter: Cutter) -> None:
    one, _ = cutter.cut("--log", "1", "--node", "gpu-001")
    all_, _ = cutter.cut(
        *("--log", "1", "--node", "gpu-001"),
        *("--node", "gpu-002", "--node", "gpu-003"),
    )
    whole, _ = cutter.cut("--log", "1")

    def frames(file: Path) -> list[Any]:
        with TapeReader(file) as tape:
            return [observation for _, observation in tape.frames()]

    assert len(frames(one)) < len(frames(all_))
    assert frames(all_) == frames(whole)


def test_the_tape_says_that_it_was_cut(cutter: Cutter) -> None:
    since = "2026-11-21T11:26:40Z"
    file, _ = cutter.cut("--log", "1", "--since", since, "--node", "gpu-002")

    shown = cutter.run("tape", "info", str(file), "-o", "json").json["cut"]
    text = cutter.run("tape", "info", str(file)).out

    assert shown == {
        "log": 1,
        "size": 114,
        "since": "2026-11-21T11:26:40.000000Z",
        "until": None,
        "nodes": ["gpu-002"],
    }
    assert (
        "cut out of log 1 from 2026-11-21T11:26:40.000000Z, limited"
        " to gpu-002" in text
    )


def test_made_lists_say_that_they_are_made(cutter: Cutter) -> None:
    file, _ = cutter.cut("--log", "1", "--since", "2026-11-21T11:26:40Z")
    with TapeReader(file) as tape:
        observations = [observation for _, observation in tape.frames()]

    assert {o.made for o in observations if hasattr(o, "made")} == {True}


def test_a_cut_is_the_same_each_time(cutter: Cutter) -> None:
    first, _ = cutter.cut("--log", "1")
    second, _ = cutter.cut("--log", "1")

    assert first.read_bytes() == second.read_bytes()


def test_a_file_is_written_over_only_by_force(
    cutter: Cutter, tmp_path: Path
) -> None:
    file = tmp_path / "there.tape.jsonl.zst"
    file.write_text("mine")

    refused = cutter.run("tape", "cut", str(file), "--log", "1")
    assert (refused.status, file.read_text()) == (2, "mine")
    assert "--force" in refused.err

    forced = cutter.run("tape", "cut", str(file), "--log", "1", "--force")
    assert forced.status == 0
    assert cutter.run("tape", "info", str(file)).status == 0
    assert list(tmp_path.glob(".partial*")) == []


def test_the_tape_of_an_incident_explains_it_again(
    cutter: Cutter,
) -> None:
    (line,) = cutter.run(
        "incidents", "--log", "1", "-o", "name"
    ).out.splitlines()
    file, answer = cutter.cut("--incident", line)
    assert answer.status in {0, 4}, answer.err
    log = cutter.played(file)
    asked = ("incidents", "-o", "json", "--log")
    before: Any = cutter.run(*asked, "1").json["incidents"]
    again: Any = cutter.run(*asked, log).json["incidents"]
    ((first,), (second,)) = before, again
    for name in ("happened", "cause", "nodes", "sentence"):
        assert first[name] == second[name]


REFUSED = {
    "--log 1 --incident 1/1": (5, "1/1"),
    "--log 1 --incident one": (2, "one"),
    "--incident 1/1 --node gpu-001": (2, "remove --since"),
    "--log 1 --node gpu-009": (5, 'did you mean "gpu-00'),
    "--log 1 --until 2026-11-21T11:00:00Z": (5, "no entries in this window"),
    "--log 999": (5, "there is no log 999"),
    "--log 1 --since noon": (2, "it is not a time"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_cut_leaves_no_file(
    cutter: Cutter, tmp_path: Path, words: str
) -> None:
    status, why = REFUSED[words]

    file, answer = cutter.cut(*words.split())

    assert (answer.status, file.exists()) == (status, False)
    assert why in answer.err
    assert list(tmp_path.iterdir()) == []


def test_an_incomplete_window_is_cut_and_said_so(cutter: Cutter) -> None:
    file, answer = cutter.cut(
        "--log", "2", *between(*STORY_WINDOWS[1]), "--node", "gpu-001"
    )

    assert answer.status == 4
    assert "INCOMPLETE: v1/pods" in answer.err
    assert orjson.loads(
        cutter.run("tape", "info", str(file), "-o", "json").out
    )


def test_a_node_that_another_log_has_is_found_there(cutter: Cutter) -> None:
    answer = cutter.run("why", "node/gpu-003")

    assert answer.status == 5
    assert "another log has it: add --cluster demo" in answer.err


def test_an_incident_is_cut_whole_from_where_the_recording_began(
    cutter: Cutter,
) -> None:
    found: Any = cutter.run("incidents", "--log", "1", "-o", "json").json
    (one,) = found["incidents"]

    _, answer = cutter.cut("--incident", one["id"])

    assert answer.status == 0, answer.err
