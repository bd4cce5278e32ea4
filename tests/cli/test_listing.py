"""The options that every list has."""

import csv
import io
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from recorder.cli.completing import clusters, labels, racks
from recorder.cli.main import main
from tests.cli.conftest import Recorder
from tests.support.postgres import Database

GOLDEN = Path(__file__).parent / "golden" / "answers"

STATS = ("stats", "--log", "9", "--by", "node")


def test_csv_has_every_column_and_no_ages(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    answer = recorder("stats", "--log", "2", "--by", "node", "-o", "csv")

    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert [row["NODE"] for row in rows] == ["gpu-002", "gpu-005"]
    assert {row["REBOOTS"] for row in rows} == {"1"}


def test_titles_can_be_left_out(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    with_titles = recorder(*STATS).out.splitlines()
    without = recorder(*STATS, "--no-headers").out.splitlines()

    assert with_titles[1:] == without
    assert recorder(*STATS, "-o", "csv", "--no-headers").out.count("\n") == 1


def test_a_list_is_sorted_by_a_column_or_a_field(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    asked = ("stats", "--log", "2", "--by", "node", "-o", "name")

    up = recorder(*asked, "--sort-by", "node").out.split()
    down = recorder(*asked, "--sort-by", "-.key").out.split()

    assert up == ["gpu-002", "gpu-005"]
    assert down == up[::-1]


def test_a_column_that_is_not_there_is_named(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    answer = recorder(*STATS, "--sort-by", "size")

    assert answer.status == 2
    assert "it is one of node, incidents" in answer.err


def test_every_log_is_asked_with_one_option(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    answer = recorder("stats", "-A", "-o", "json")
    table = recorder("stats", "-A")

    found = answer.json["clusters"]
    assert isinstance(found, list)
    assert [one["question"]["log"] for one in found] == [*range(1, 10)]
    assert table.out.startswith("CLUSTER ")
    assert recorder("stats", "-A", "--log", "1").status == 2


@pytest.mark.parametrize("form", ["xml", "jsonpath={.id}"])
def test_a_form_that_is_not_there_is_refused(
    recorder: Recorder, form: str
) -> None:
    answer = recorder("stats", "-o", form)

    assert answer.status == 2
    assert f"'{form}' is not one of 'table', 'wide', 'json'" in answer.err


def on_a_terminal(columns: int, *words: str, **more: str) -> str:
    """Run a command line on a terminal of so many columns."""
    command = shlex.join([sys.executable, "-m", "recorder", *words])
    script = f"stty cols {columns}; exec {command}"
    environment = {**os.environ, "KUBECONFIG": "/nonexistent", "TERM": "xterm"}
    for name in ("NO_COLOR", "COLUMNS", "LINES"):  # of who runs the tests
        environment.pop(name, None)
    done = subprocess.run(
        ["script", "-qec", script, "/dev/null"],
        env={**environment, **more},
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    return done.stdout


COLOURED = re.compile(r"\x1b\[[0-9;]*m")


def test_a_terminal_gets_lines_that_fit_and_a_pipe_gets_all(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    asked = ("incidents", "--log", "2")
    shown = on_a_terminal(110, *asked)
    plain = on_a_terminal(110, *asked, NO_COLOR="1")
    piped = recorder(*asked).out

    assert COLOURED.search(shown), "confidence is coloured"
    assert not COLOURED.search(plain)
    assert COLOURED.sub("", shown) == plain
    assert max(len(line) for line in plain.splitlines()) <= 110
    assert "…" in plain
    assert "2026-11-21T" in piped
    assert max(len(line) for line in piped.splitlines()) > 110


def test_what_matters_of_incidents_fits_80_columns(
    incidents: Database,
) -> None:
    del incidents
    shown = on_a_terminal(80, "incidents", "--log", "2", NO_COLOR="1")

    assert {"FROM", "NODES", "HAPPENED", "SUMMARY"} <= {*shown.split()}
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("asked", "golden"),
    [
        ("stats --log 2", "stats.txt"),
        ("impact --log 2 --rack rack-2", "impact_rack.txt"),
    ],
)
def test_texts_around_a_table_are_broken_at_the_width_of_the_terminal(
    incidents: Database, asked: str, golden: str
) -> None:
    del incidents
    shown = on_a_terminal(80, *asked.split(), NO_COLOR="1")
    printed = (GOLDEN / golden).read_text().splitlines()
    sentences = [one for one in printed if ": " in one or " rebooted " in one]

    assert sentences
    assert max(map(len, shown.splitlines())) <= 80
    for one in sentences:
        assert " ".join(one.split()) in " ".join(shown.split())


def test_an_explanation_is_broken_at_the_width_of_the_terminal(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    asked = ("why", "--log", "9", "job/mixed/failed-itself")
    shown = on_a_terminal(60, *asked)
    plain = COLOURED.sub("", shown)

    assert "\x1b[32m(proven)\x1b[0m" in shown
    assert max(map(len, plain.splitlines())) <= 60
    assert plain.split() == recorder(*asked).out.split()


def test_logs_that_could_be_meant_are_a_short_table(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    answer = recorder("gaps")

    first, header, *rows = answer.err.splitlines()
    assert answer.status == 2
    assert "name one with --cluster NAME or --log ID" in first
    assert header.split() == ["LOG", "CLUSTER", "KIND", "LAST"]
    assert all("tape" in row for row in rows)


def test_incidents_are_filtered_as_in_the_api(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents

    def found(*words: str) -> list[str]:
        answer = recorder("incidents", "-A", "-o", "name", *words)
        return answer.out.split()

    every = found()
    reboots = found("--happened", "reboot")
    drained = found("--happened", "drained", "--confidence", "proven")

    assert set(reboots) < set(every)
    assert [name.partition("/")[0] for name in drained] == ["4"]
    assert found("--cause", "power-loss", "--cause", "hung-kernel") == [
        name for name in every if name[0] in "12"
    ]
    assert found("--node", "node/gpu-005") == found("--cause", "power-loss")
    assert found("--workload", "really-lost")[0].startswith("9/")
    assert recorder("incidents", "--cause", "magic").status == 2


def test_jobs_of_all_logs_are_one_list(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents

    def rows(*words: str) -> list[dict[str, str]]:
        answer = recorder("jobs", "-A", "--limit", "all", "-o", "csv", *words)
        assert answer.status in {0, 4}, answer
        return list(csv.DictReader(io.StringIO(answer.out)))

    every = rows()
    died = rows("--ended-by", "any")

    assert {row["CLUSTER"] for row in every} >= {
        row["CLUSTER"] for row in died
    }
    assert len({row["CLUSTER"] for row in every}) > 2
    assert all(row["ENDED BY"] != "completion" for row in died)
    (kind, count), *_ = Counter(row["KIND"] for row in every).most_common()
    assert len(rows("--kind", kind.lower())) == count
    assert len(rows("--state", "running")) < len(every)
    assert recorder("jobs", "--ended-by", "magic", "--log", "1").status == 2


@pytest.mark.parametrize("by", ["rack", "namespace", "controller"])
def test_incidents_are_chosen_by_what_stats_count(
    by: str, incidents: Database, recorder: Recorder
) -> None:
    del incidents
    answer = recorder("stats", "-A", "--by", by, "-o", "csv")
    counts = Counter[str]()
    for one in csv.DictReader(io.StringIO(answer.out)):
        counts[one[by.upper()]] += int(one["INCIDENTS"])
    del counts[""]

    assert counts
    for word, count in counts.items():
        chosen = recorder("incidents", "-A", f"--{by}", word, "-o", "name")
        assert len(chosen.out.split()) == count, word


def test_a_time_without_a_zone_is_utc_and_that_is_said(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    asked = ("incidents", "--log", "2", "-o", "name", "--since")

    assumed = recorder(*asked, "2026-11-21T00:00:00")
    exact = recorder(*asked, "2026-11-21T00:00:00Z")

    assert (assumed.out, assumed.status) == (exact.out, exact.status)
    assert assumed.err == (
        '--since "2026-11-21T00:00:00" is taken as'
        " 2026-11-21T00:00:00.000000Z (UTC)\n" + exact.err
    )


def test_entries_have_the_same_forms(
    incidents: Database, recorder: Recorder
) -> None:
    del incidents
    asked = ("log", "--log", "3", "--reason", "Rebooted")

    (entry,) = recorder(*asked, "-o", "name").out.split()
    shown = recorder(*asked, "-o", "ndjson").json

    assert shown["entry"] == entry
    assert recorder(*asked, "--no-headers").out.startswith(f"{entry} ")


def test_clusters_are_completed(
    incidents: Database,
) -> None:
    del incidents
    context = main.make_context("recorder", ["status"])

    assert clusters(context, main.params[0], "re") == ["replaced"]


def test_racks_and_labels_are_completed(
    incidents: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    del incidents
    monkeypatch.setenv("RECORDER_CLUSTER", "rack-loss-jobset")
    context = main.make_context("recorder", ["status"])
    parameter = main.params[0]

    assert racks(context, parameter, "rack-") == ["rack-1", "rack-2", "rack-3"]
    assert labels(context, parameter, "topo") == [
        "topology.kubernetes.io/zone="
    ]
    assert labels(context, parameter, "example.com/rack=rack-2") == [
        "example.com/rack=rack-2"
    ]
