"""The command line, run in this process against a log with a fixed story."""

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import orjson
import pytest

from recorder.cli import main
from recorder.doctor import Check, checkup
from recorder.doctor.cluster import ClusterFindings
from recorder.keeping.playing import Playing, play_tape
from recorder.model.settings import Settings
from tests.corpus.live.asking import LIVE as LIVE_FOLDER
from tests.corpus.logs import play_in_turn, tape_of
from tests.support.builders import at
from tests.support.filled import filled_database
from tests.support.fixed_log import LIVE, STORY, TAPE, write_log
from tests.support.postgres import Database, DatabaseServer

WHEN = at(300)
"""When the questions are asked, if a test does not say otherwise: every
proof is fresh."""


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, object]:
        found: dict[str, object] = orjson.loads(self.out)
        return found

    @property
    def lines(self) -> list[dict[str, object]]:
        return [orjson.loads(line) for line in self.out.splitlines()]


Recorder = Callable[..., Answer]


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the person who runs the tests, and a fixed time."""
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")
    stop_clock(monkeypatch, WHEN)


ASKING = ("answering", "cutting")
"""Commands that read the clock, by their modules."""


def stop_clock(monkeypatch: pytest.MonkeyPatch, when: datetime) -> None:
    for module in ASKING:
        monkeypatch.setattr(f"recorder.cli.{module}.now", lambda: when)


@pytest.fixture
def recorder(capsys: pytest.CaptureFixture[str]) -> Recorder:
    """Run a command line."""

    def run(*words: str) -> Answer:
        capsys.readouterr()
        status = main._run(list(words))
        captured = capsys.readouterr()
        return Answer(status, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def story_database(embedded_server: DatabaseServer) -> Iterator[Database]:
    """Log 1 of the cluster "prod", and log 2 of a tape, "demo"."""

    async def fill(writer: str) -> None:
        assert await write_log(writer, STORY, spec=LIVE) == 1
        assert await write_log(writer, STORY, spec=TAPE) == 2

    with filled_database(embedded_server, fill) as database:
        yield database


@pytest.fixture
def story(
    story_database: Database, monkeypatch: pytest.MonkeyPatch
) -> Database:
    """The database with the story, named by the environment."""
    monkeypatch.setenv("RECORDER_DATABASE_URL", story_database.dsn("reader"))
    return story_database


CLUSTER = "11111111-prod"
"""The cluster of the story."""


@pytest.fixture
def cluster_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that has everything `recorder doctor` looks for."""

    async def reached(connect: object) -> ClusterFindings:
        del connect
        check = Check(name="cluster", ok=True, says="reached")
        return ClusterFindings(checks=[check], uid=CLUSTER, resources=13)

    monkeypatch.setattr(checkup, "look_at_cluster", reached)


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A data folder that PostgreSQL's own user can get to."""
    with tempfile.TemporaryDirectory(
        prefix="recorder-doctor-", ignore_cleanup_errors=True
    ) as name:
        Path(name).chmod(0o711)
        monkeypatch.setenv("RECORDER_DATA_DIR", name)
        yield Path(name)


TAPES = (
    "kernel-deadlock",
    "rack-loss-jobset",
    "crash",
    "drain-audited",
    "replaced",
    "crash-job-fails",
    "out-of-memory",
    "inference-preempts-training",
)
"""Incidents of the corpus, as logs 1 to 8."""

LIVE_TAPES = ("s19_lost_before_the_crash",)
"""Incidents recorded live, as log 9."""


@pytest.fixture(scope="session")
def incidents_database(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        tapes = {name: tape_of(name) for name in TAPES}
        live = {n: LIVE_FOLDER / f"{n}.tape.jsonl.zst" for n in LIVE_TAPES}
        await play_in_turn(writer, {**tapes, **live})

    with filled_database(embedded_server, fill) as database:
        yield database


@pytest.fixture
def incidents(
    incidents_database: Database, monkeypatch: pytest.MonkeyPatch
) -> Database:
    dsn = incidents_database.dsn("reader")
    monkeypatch.setenv("RECORDER_DATABASE_URL", dsn)
    stop_clock(monkeypatch, datetime(2026, 12, 1, tzinfo=UTC))
    return incidents_database


DEMO = Path(str(files("recorder.sources.tape.demo"))) / "demo.tape.jsonl.zst"

CRASH = Path(__file__).parents[1] / "support/crash.tape.jsonl.zst"
"""A training Job on three nodes; one of them crashes without a word."""


@pytest.fixture(scope="session")
def demo_database(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """The shipped tape, played into log 1."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("demo"))

    async def fill(writer: str) -> None:
        playing = Playing(path=DEMO)
        await play_tape(playing, settings, writer, asyncio.Event())

    with filled_database(embedded_server, fill) as database:
        yield database


AFTERWARDS = datetime(2026, 11, 26, tzinfo=UTC)
"""When the incident of the demo is asked about."""


@pytest.fixture
def demo(
    demo_database: Database,
    monkeypatch: pytest.MonkeyPatch,
    recorder: Recorder,
) -> Recorder:
    monkeypatch.setenv("RECORDER_DATABASE_URL", demo_database.dsn("reader"))
    stop_clock(monkeypatch, AFTERWARDS)
    return recorder


@pytest.fixture
def days(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Database:
    """A log of four days, the youngest seven days old."""
    stop_clock(monkeypatch, datetime.now(UTC))
    monkeypatch.setenv("RECORDER_DATA_DIR", str(tmp_path))
    place = str(tmp_path / "archive")
    monkeypatch.setenv("RECORDER_RETENTION_ARCHIVE", place)
    return database
