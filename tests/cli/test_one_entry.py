"""An entry that an answer names is opened by its name."""

from typing import Any

import pytest

from tests.cli.conftest import Recorder

pytestmark = pytest.mark.usefixtures("incidents")


def test_each_entry_of_the_evidence_opens(recorder: Recorder) -> None:
    why = recorder("why", "--log", "1", "node/gpu-002", "-o", "json")
    verdicts: Any = why.json["verdicts"]
    evidence = verdicts[0]["evidence"]
    assert evidence

    for one in evidence:
        entry = recorder("log", one["entry"], "-o", "ndjson", "--raw")
        facts = recorder("log", one["entry"], "--facts", "-o", "ndjson")

        assert (entry.status, entry.err) == (0, "")
        (line,) = entry.lines
        assert line["entry"] == one["entry"]
        assert line["observed_at"] == one["observed_at"]
        assert line["raw"]
        sentences = [str(fact["says"]) for fact in facts.lines]
        assert any(one["says"].endswith(said) for said in sentences)
        assert {fact["entry"] for fact in facts.lines} == {one["entry"]}


@pytest.mark.parametrize("form", ["table", "json", "yaml", "ndjson"])
def test_it_opens_in_every_form(recorder: Recorder, form: str) -> None:
    answer = recorder("log", "2/3", "-o", form)

    assert answer.status == 0
    assert "2/3" in answer.out
    assert "2/2" not in answer.out
    assert "2/4" not in answer.out
