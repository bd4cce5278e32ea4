"""The span, outages and last proof of each log."""

from typing import Any

import pytest

from tests.cli.conftest import Recorder


@pytest.mark.usefixtures("story")
def test_each_log_is_a_line_with_its_span(recorder: Recorder) -> None:
    answer = recorder("info", "-o", "json")

    assert answer.status == 0
    logs: Any = answer.json["logs"]
    first = next(one for one in logs if one["log"] == 1)
    shown: Any = recorder("status", "--log", "1", "-o", "json").json
    (cluster,) = shown["clusters"]
    assert first["entries"] == cluster["log"]["size"]
    assert first["since"] < first["until"]
    gaps: Any = recorder("gaps", "--log", "1", "-o", "json").json
    assert first["outages"] == len(gaps["outages"])
    assert "database: " in recorder("info").out
