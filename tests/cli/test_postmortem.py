"""`recorder postmortem`: the same log gives the same report, in any form."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import recorder.demo
from recorder.settings import Settings
from recorder.wiring.playing import Playing, play_tape
from tests.cli.conftest import Recorder, stop_clock
from tests.conftest import TEMPLATE
from tests.support.postgres import Database, DatabaseServer, fresh_database

TAPE = Path(recorder.demo.__path__[0]) / "demo.tape.jsonl.zst"
GOLDEN = Path(__file__).parent / "golden"
AFTERWARDS = datetime(2026, 11, 22, tzinfo=UTC)
NODE = "node/gpu-002"


@pytest.fixture(scope="module")
def played(
    embedded_server: DatabaseServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Database]:
    """The shipped tape, played into log 1."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("demo"))
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        fresh = fresh_database(embedded_server, TEMPLATE)
        database = runner.run(stack.enter_async_context(fresh))
        dsn = database.dsn("writer")
        playing = Playing(path=TAPE)
        runner.run(play_tape(playing, settings, dsn, asyncio.Event()))
        yield database
        runner.run(stack.aclose())


@pytest.fixture
def demo(
    played: Database,
    monkeypatch: pytest.MonkeyPatch,
    recorder: Recorder,
) -> Recorder:
    monkeypatch.setenv("RECORDER_DATABASE_URL", played.dsn("reader"))
    stop_clock(monkeypatch, AFTERWARDS)
    return recorder


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_a_report_is_what_it_was(demo: Recorder, form: str) -> None:
    answer = demo("postmortem", NODE, "-o", form)

    assert (answer.status, answer.err) == (0, "")
    path = GOLDEN / f"postmortem.{form}"
    if os.environ.get("RECORDER_TEST_UPDATE_GOLDEN"):
        path.write_text(answer.out)
    assert answer.out == path.read_text()
    assert demo("postmortem", NODE, "-o", form).out == answer.out


def test_an_incident_is_asked_by_its_id(demo: Recorder) -> None:
    listed = demo("incidents", "-o", "json").json["incidents"]
    assert isinstance(listed, list)

    by_id = demo("postmortem", listed[-1]["id"], "-o", "json")

    assert by_id.json == demo("postmortem", NODE, "-o", "json").json


def test_an_unknown_incident_is_said(demo: Recorder) -> None:
    answer = demo("postmortem", "1/99999")

    assert answer.status == 5
    assert "there is no incident 1/99999 in log 1" in answer.err


def test_the_page_loads_nothing_and_is_well_formed(demo: Recorder) -> None:
    page = demo("postmortem", NODE, "-o", "html").out

    assert "<script" not in page
    assert "http" not in page
    drawing = page[page.index("<svg") : page.index("</svg>") + len("</svg>")]
    marks = ET.fromstring(drawing).findall(".//circle")
    assert len(marks) > 5


def test_a_tape_is_asked_without_any_database(
    demo: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = demo("postmortem", NODE, "-o", "json").json
    monkeypatch.setenv("RECORDER_DATABASE_URL", "postgresql://nobody@nowhere")

    offline = demo("postmortem", NODE, "--tape", str(TAPE), "-o", "json")

    assert offline.json == wanted
