"""What cannot be is refused: one line that names it, and the right status."""

from pathlib import Path

import pytest

from recorder.cli import main
from tests.cli.conftest import Recorder
from tests.support.postgres import Database

USAGE = 2
NOT_FOUND = 5

REFUSED = {
    "log --since tomorrow": (USAGE, "it is not a time"),
    "log --since 1h --until 2h": (USAGE, "invalid window"),
    "gaps --since 1h --until 2h": (USAGE, "invalid window"),
    "show node/gpu-001 --at noon": (USAGE, "--at"),
    "log --limit 0": (USAGE, '"0" is neither a number nor "all"'),
    "log --limit many": (USAGE, '"many" is neither a number'),
    "log --source watsh": (USAGE, 'did you mean "watch"?'),
    "log -n train": (USAGE, "add --object"),
    "log --object gpu-001": (USAGE, "write kind/name"),
    "log --object pod/train/llm-0/x": (USAGE, "write kind/name"),
    "log --object pod/": (USAGE, "write kind/name"),
    "log -n infra --object pod/train/llm-0": (USAGE, "is not in namespace"),
    "show --log 1 event/train/llm-0.1": (USAGE, "recorder log --object"),
    "log --follow -o json": (USAGE, "--follow has no end"),
    "log --follow --until 1h": (USAGE, "remove --until"),
    "log -o xml": (USAGE, "xml"),
    "show": (USAGE, "OBJECT"),
    "gaps --log nine": (USAGE, "nine"),
    "gaps --log 0": (USAGE, "0"),
    "log --log 1 --node gpu-003": (NOT_FOUND, 'did you mean "gpu-002"'),
    "log --log 1 --node x": (NOT_FOUND, 'log 1 of "prod" has no node "x"'),
    "log --log 1 --object pod/train/llm-7": (
        NOT_FOUND,
        'did you mean "pod/train/llm-',
    ),
    "log --log 1 --object node/train/gpu-00": (
        NOT_FOUND,
        'did you mean "node/gpu-00',
    ),
    "show --log 1 podd/train/llm-0": (NOT_FOUND, 'did you mean "pod"'),
    "show --log 1 wd/other/w": (NOT_FOUND, 'did you mean "wd/train/w"?'),
    "show --log 1 pod/train/llm-2 --at 2026-11-21T03:00:30Z": (
        NOT_FOUND,
        "it was created later, or not recorded yet",
    ),
    "history": (USAGE, "OBJECT"),
    "history node/gpu-001 --limit 0": (USAGE, "neither a number"),
    "history node/gpu-001 --since noon": (USAGE, "it is not a time"),
    "history --log 1 node/gpu-003": (NOT_FOUND, 'did you mean "node/gpu-00'),
    "history --log 1 event/train/llm-0.1": (USAGE, "recorder log --object"),
    "diff node/gpu-001": (USAGE, "--from"),
    "diff node/gpu-001 --from noon": (USAGE, "it is not a time"),
    "diff --log 1 node/gpu-001 --from 2m --to 3m": (
        USAGE,
        "invalid comparison",
    ),
    "diff --log 1 node/gpu-001 --from 2/1": (USAGE, "add --log 2"),
    "diff --log 1 node/gpu-001 --from 1/2": (
        NOT_FOUND,
        "entry 1/2 is not a version of",
    ),
    "diff --log 1 node/gpu-003 --from 2m": (
        NOT_FOUND,
        'did you mean "node/gpu-00',
    ),
    "gaps --cluster pord": (NOT_FOUND, 'did you mean "prod"?'),
    "gaps --cluster x": (NOT_FOUND, '1 (live "prod"), 2 (tape "demo")'),
    "gaps --log 3": (NOT_FOUND, "there is no log 3"),
    "--database-url mysql://x status": (USAGE, "postgresql://"),
    "status --database-url postgresql://x:y/db": (USAGE, "database URL"),
    "--config /nonexistent.toml status": (USAGE, "/nonexistent.toml"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_question_that_cannot_be_is_refused(
    story: Database, recorder: Recorder, words: str
) -> None:
    del story
    status, why = REFUSED[words]

    answer = recorder(*words.split())

    assert (answer.status, answer.out) == (status, "")
    assert why in answer.err
    assert "Traceback" not in answer.err


def test_a_named_error_is_one_line(
    story: Database, recorder: Recorder
) -> None:
    del story

    answer = recorder("log", "--log", "1", "--node", "x\ny")

    assert answer.err.count("\n") == 1
    assert answer.err.startswith("recorder: ")


def test_an_unknown_key_of_the_configuration_names_key_and_file(
    recorder: Recorder, tmp_path: Path
) -> None:
    file = tmp_path / "recorder.toml"
    file.write_text('databse_url = "postgresql://x"\n')

    answer = recorder("--config", str(file), "status")

    assert answer.status == USAGE
    assert answer.err == (
        f'recorder: unknown setting "databse_url" in {file}; did you mean'
        ' "database_url"?\n'
    )


@pytest.mark.parametrize("name", ["retention_longer", "retention_shorter"])
@pytest.mark.parametrize(
    "text", ['{name} = ["Node=730"]', '[retention]\n{part} = ["Lease=1"]']
)
def test_a_setting_that_was_withdrawn_says_what_to_do_instead(
    recorder: Recorder, tmp_path: Path, name: str, text: str
) -> None:
    file = tmp_path / "recorder.toml"
    part = name.removeprefix("retention_")
    file.write_text(text.format(name=name, part=part))

    answer = recorder("--config", str(file), "status")

    assert answer.status == USAGE
    assert answer.err.startswith(
        f'recorder: setting "{name}" in {file} no longer exists: days '
    )
    assert "Delete the setting: " in answer.err


@pytest.mark.parametrize("name", ["LONGER", "SHORTER"])
def test_a_variable_of_an_earlier_release_says_what_to_do_instead(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(f"RECORDER_RETENTION_{name}", "Lease=1")

    answer = recorder("prune")

    assert answer.status == USAGE
    assert answer.err.startswith(
        f'recorder: setting "RECORDER_RETENTION_{name}" in the environment no'
        " longer exists: days "
    )


def test_an_unknown_variable_of_the_environment_is_named(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDER_DATABSE_URL", "postgresql://x")

    answer = recorder("status")

    assert answer.status == USAGE
    assert '"RECORDER_DATABSE_URL" in the environment' in answer.err


def test_a_flag_wins_behind_the_command_too(
    story: Database, recorder: Recorder
) -> None:
    url = story.dsn("reader")

    answer = recorder("--database-url", "mysql://x", "status",
                      "--database-url", url)  # fmt: skip

    assert answer.status == 0


def test_the_current_context_decides_between_clusters(
    story: Database,
    recorder: Recorder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    del story
    kubeconfig = tmp_path / "config"
    monkeypatch.setenv("KUBECONFIG", f"/nonexistent:{kubeconfig}")

    # The only live log is meant by any other.
    for content in (
        "current-context: prod",
        "current-context: other",
        "current-context: ''",
        "- nonsense",
        ":\t: {",
    ):
        kubeconfig.write_text(content)
        assert recorder("gaps").status == 4, content


def test_a_folder_that_was_never_used_names_the_command_to_start(
    recorder: Recorder, tmp_path: Path
) -> None:
    folder = tmp_path / "never"

    for words in ("status", "gaps", "log", "show node/x"):
        answer = recorder("--data-dir", str(folder), *words.split())

        assert answer.status == NOT_FOUND
        assert "`recorder up`" in answer.err
        assert "`recorder demo`" in answer.err
        assert str(folder) in answer.err
    assert not folder.exists()


def test_a_database_without_a_log_names_the_command_to_start(
    database: Database, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECORDER_DATABASE_URL", database.dsn("reader"))

    answer = recorder("gaps")

    assert answer.status == NOT_FOUND
    assert "`recorder up`" in answer.err
    assert "`recorder demo`" in answer.err
    assert recorder("status", "-o", "json").json["clusters"] == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("postgresql://u:secret@127.0.0.1:1/db", "PostgreSQL is unavailable"),
        ("postgresql:///db?host=/nonexistent", "PostgreSQL is unavailable"),
    ],
)
def test_a_database_that_is_away_is_said_without_its_password(
    recorder: Recorder, url: str, why: str
) -> None:
    answer = recorder("--database-url", url, "status")

    assert answer.status == 1
    assert why in answer.err
    assert "secret" not in answer.err
    assert "Errno" not in answer.err


def test_a_file_of_settings_that_is_not_there_is_said_once(
    recorder: Recorder, tmp_path: Path
) -> None:
    file = tmp_path / "none.toml"

    answer = recorder("--config", str(file), "status")

    assert answer.status == USAGE
    assert answer.err.count(str(file)) == 1
    assert "No such file" in answer.err


def test_a_wrong_password_is_said(
    database: Database, recorder: Recorder
) -> None:
    url = database.dsn("reader").replace(":", ":x", 2).replace(":x//", "://")

    answer = recorder("--database-url", url, "status")

    assert answer.status == 1
    assert "password authentication failed" in answer.err


def test_a_mistake_of_ours_is_said_without_a_traceback(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(context: object) -> None:
        del context
        several = [ZeroDivisionError("by nothing")]
        msg = "several at once"
        raise ExceptionGroup(msg, several)

    monkeypatch.setattr(main, "read_settings", broken)

    answer = recorder("status")

    assert answer.status == 1
    assert answer.err == (
        "recorder: internal error: ZeroDivisionError: by nothing (--debug"
        " shows where)\n"
    )
    assert "Traceback" in recorder("--debug", "status").err
