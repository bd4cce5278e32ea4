"""`recorder postmortem`: the same log gives the same report, in any form."""

from datetime import timedelta
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import AFTERWARDS, DEMO, Recorder, stop_clock
from tests.support.golden import ANEW, kept

GOLDEN = Path(__file__).parent / "golden"
NODE = "node/gpu-002"


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_a_report_is_what_it_was(demo: Recorder, form: str) -> None:
    answer = demo("postmortem", NODE, "-o", form)

    assert (answer.status, answer.err) == (0, "")
    was = kept(GOLDEN / f"postmortem.{form}", answer.out)
    assert answer.out == was, f"postmortem.{form} differs; {ANEW}"
    assert demo("postmortem", NODE, "-o", form).out == answer.out


def test_an_incident_is_asked_by_its_id(demo: Recorder) -> None:
    listed = demo("incidents", "-o", "json").json["incidents"]
    assert isinstance(listed, list)

    by_id = demo("postmortem", listed[0]["id"], "-o", "json")

    assert by_id.json == demo("postmortem", NODE, "-o", "json").json


@pytest.mark.usefixtures("incidents")
def test_an_id_names_its_log_among_several(recorder: Recorder) -> None:
    listed = recorder("incidents", "--log", "3", "-o", "name")
    name = listed.out.split()[0]

    answer = recorder("postmortem", name, "-o", "json")

    assert name.startswith("3/")
    assert (
        answer.json
        == recorder("postmortem", name, "--log", "3", "-o", "json").json
    )


@pytest.mark.usefixtures("incidents")
def test_a_workload_that_no_node_hit_has_a_report(recorder: Recorder) -> None:
    answer = recorder("postmortem", "deleted-by-alice", "--log", "9")

    was = kept(GOLDEN / "postmortem_deleted.md", answer.out)
    assert answer.out == was, f"postmortem_deleted.md differs; {ANEW}"
    command = command_of(answer.out)
    assert recorder(*command, "--log", "9").out == answer.out


@pytest.mark.usefixtures("incidents")
def test_an_ending_is_asked_by_its_id_though_an_incident_has_it(
    recorder: Recorder,
) -> None:
    why = recorder("why", "job/train/llm-pretrain", "--log", "3", "-o", "json")
    ending = why.json["endings"][0]["id"]  # type: ignore[index]

    report = recorder("postmortem", str(ending), "--workload")

    assert report.out.startswith("# Postmortem: Job train/llm-pretrain, ")
    assert "## Disruption: node-failure" in report.out
    assert "## Cause: gpu-002, reboot" in report.out
    assert recorder(*command_of(report.out)).out == report.out


@pytest.mark.usefixtures("incidents")
def test_a_workload_needs_no_namespace(recorder: Recorder) -> None:
    named = recorder("postmortem", "jobset/llm", "--log", "2", "-o", "json")
    bare = recorder("postmortem", "llm", "--log", "2", "-o", "json")

    assert named.status == bare.status
    assert named.json["verdicts"] == bare.json["verdicts"]
    assert named.json["endings"] == bare.json["endings"]


def test_an_unknown_incident_is_said(demo: Recorder) -> None:
    answer = demo("postmortem", "1/99999")

    assert answer.status == 5
    said = "there is no incident or ending 1/99999 in log 1 of "
    assert said in answer.err


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
    monkeypatch.setenv("RECORDER_DATABASE_URL", "postgresql://none@nowhere")

    offline = demo("postmortem", NODE, "--tape", str(DEMO), "-o", "json")

    assert offline.json == wanted


def command_of(report: str) -> list[str]:
    """Return the command that a report ends with."""
    return report.rpartition("`recorder ")[2].partition("`")[0].split()


@pytest.mark.parametrize(
    "words",
    [
        [NODE],
        [NODE, "--since", "2026-11-25T00:00:00Z"],
        [NODE, "--until", "2026-11-25T00:07:40Z"],
        [NODE, "--as-of", "1/300"],
        [NODE, "--as-of", "1/140"],
    ],
)
def test_the_command_of_a_report_gives_the_same_report(
    demo: Recorder, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = demo("postmortem", *words)
    command = command_of(first.out)
    for later in (AFTERWARDS, AFTERWARDS + timedelta(days=400)):
        stop_clock(monkeypatch, later)

        again = demo(*command)

        assert (again.status, again.out) == (first.status, first.out)
    assert "cluster demo" in first.out
    assert "--as-of 1/" in " ".join(command)
    html = demo("postmortem", *words, "-o", "html").out
    assert f"<code>recorder {' '.join(command)}</code>" in html


def test_a_report_of_then_knows_nothing_of_later(demo: Recorder) -> None:
    then = demo("postmortem", NODE, "--as-of", "1/200", "-o", "json").json
    now = demo("postmortem", NODE, "-o", "json").json

    assert then["log"] == {"id": 1, "position": 200}
    assert then["coverage"] != now["coverage"]
    found = then["timeline"]
    assert isinstance(found, list)
    assert all(int(one["entry"].partition("/")[2]) <= 200 for one in found)


@pytest.mark.parametrize(
    ("entry", "status", "why"),
    [
        ("60", 2, '"60" is not an entry'),
        ("1/999", 5, "there is no entry 1/999"),
        ("9/1", 5, "there is no log 9"),
    ],
)
def test_an_entry_that_is_none_is_no_end_of_a_log(
    demo: Recorder, entry: str, status: int, why: str
) -> None:
    answer = demo("postmortem", NODE, "--as-of", entry)

    assert answer.status == status
    assert why in answer.err
