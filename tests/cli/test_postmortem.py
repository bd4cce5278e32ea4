"""`recorder postmortem`: the same log gives the same report, in any form."""

import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import DEMO, Recorder

GOLDEN = Path(__file__).parent / "golden"
NODE = "node/gpu-002"


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

    offline = demo("postmortem", NODE, "--tape", str(DEMO), "-o", "json")

    assert offline.json == wanted
