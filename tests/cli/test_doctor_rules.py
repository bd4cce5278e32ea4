"""A site's own rules are looked at, each file for itself."""

from pathlib import Path

import pytest

from tests.cli.conftest import Recorder

pytestmark = pytest.mark.usefixtures("cluster_is_reached")


def test_each_file_of_rules_is_looked_at(
    recorder: Recorder,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del data
    right, wrong = tmp_path / "right.yaml", tmp_path / "wrong.yaml"
    right.write_text('conditions:\n- types: [Hot]\n  when: "True"\n')
    wrong.write_text('conditions:\n- types: [Hot]\n  wen: "True"\n')
    monkeypatch.setenv("RECORDER_KNOWLEDGE", f"{right},{wrong}")

    answer = recorder("doctor", "-o", "json")

    found = [
        check
        for check in answer.json["checks"]  # type: ignore[attr-defined]
        if check["name"] == "knowledge"
    ]
    assert answer.status == 1
    assert [check["ok"] for check in found] == [True, False]
    assert f'"{wrong}", line 3' in found[1]["says"]
    assert "RECORDER_KNOWLEDGE" in found[1]["remedy"]


def test_without_a_file_there_is_nothing_to_look_at(
    recorder: Recorder, data: Path
) -> None:
    del data

    answer = recorder("doctor", "-o", "json")

    assert "knowledge" not in answer.out
