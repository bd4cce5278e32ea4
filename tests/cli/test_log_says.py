"""What an entry says of itself in a list: no update of a Node is blank."""

import pytest

from recorder.answers.lines import COLUMNS as SHOWN
from tests.cli.conftest import Recorder
from tests.support.postgres import Database

COLUMNS = ("RESOURCE", "OPERATION", "OBJECT", "NODE", "SAYS")


def listed(out: str) -> list[dict[str, str]]:
    """Return the lines of a table by its columns."""
    header, *lines = out.splitlines()
    starts = [header.index(name) for name in COLUMNS]
    ends = [*starts[1:], None]
    return [
        {
            name: line[begin:end].strip()
            for name, begin, end in zip(COLUMNS, starts, ends, strict=True)
        }
        for line in lines
    ]


@pytest.mark.parametrize("log", ["1", "2", "3", "4", "5"])
def test_no_update_of_a_node_says_nothing(
    incidents: Database, recorder: Recorder, log: str
) -> None:
    del incidents
    answer = recorder("log", "--log", log, "--limit", "all")

    updates = [
        line
        for line in listed(answer.out)
        if (line["RESOURCE"], line["OPERATION"]) == ("nodes", "modified")
    ]
    assert updates
    assert [line for line in updates if not line["SAYS"]] == []


def test_what_changed_is_said_with_the_facts_of_the_entry(
    demo: Recorder,
) -> None:
    said = [
        line["SAYS"]
        for line in listed(demo("log", "--limit", "all", "-o", "wide").out)
        if line["OBJECT"] == "node/gpu-002"
    ]

    assert any(text.startswith("Ready=Unknown") for text in said)
    assert "tainted node.kubernetes.io/unreachable:NoExecute" in said
    assert all("; and " in one for one in said if one.count("; ") > 2)


def test_a_text_has_one_bound_but_in_full_with_wide(demo: Recorder) -> None:
    def longest(*form: str) -> int:
        out = demo("log", "--node", "gpu-002", "--limit", "all", *form).out
        return max(len(line["SAYS"]) for line in listed(out))

    bound = SHOWN[-1].characters_max
    assert bound is not None
    assert longest() == bound < longest("-o", "wide")


def test_without_facts_the_fields_are_said(
    story: Database, recorder: Recorder
) -> None:
    del story
    answer = recorder("log", "--log", "1", "--object", "node/gpu-002")

    (update,) = [
        line for line in listed(answer.out) if line["OPERATION"] == "modified"
    ]
    assert update["SAYS"].startswith("changed status.conditions")


def test_documents_and_scripts_get_what_they_got(
    story: Database, recorder: Recorder
) -> None:
    del story
    (line,) = recorder(
        "log", "--log", "1", "--limit", "1", "-o", "ndjson"
    ).lines

    assert "says" not in line
