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
    assert f'"{wrong}", line 2: when is missing; line 3:' in found[1]["says"]
    assert "RECORDER_KNOWLEDGE" in found[1]["remedy"]


def test_without_a_file_there_is_nothing_to_look_at(
    recorder: Recorder, data: Path
) -> None:
    del data

    answer = recorder("doctor", "-o", "json")

    assert "knowledge" not in answer.out


def test_the_rules_of_notifications_and_their_files_are_looked_at(
    recorder: Recorder,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del data
    file, secret = tmp_path / "notify.yaml", tmp_path / "address"
    file.write_text(
        "rules:\n- name: oncall\n"
        f"  post: {{shape: slack, url_file: {secret}}}\n"
    )
    monkeypatch.setenv("RECORDER_NOTIFY_FILE", str(file))

    def looked() -> dict[str, object]:
        answer = recorder("doctor", "-o", "json")
        [found] = [
            check
            for check in answer.json["checks"]  # type: ignore[attr-defined]
            if check["name"] == "notifications"
        ]
        return dict(found)

    before = looked()
    secret.write_text("https://hooks.example/s3cr3t")
    after = looked()

    assert before["ok"] is False
    assert str(secret) in str(before["says"])
    assert after["ok"] is True
    assert "s3cr3t" not in str(after)
