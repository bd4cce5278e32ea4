"""Rules of notifications are read as they are written, or refused by line."""

import os
from pathlib import Path

import pytest

from recorder.model.outcomes import Cause, Happened
from recorder.notification.loading import (
    NotifyError,
    address_of,
    load_rules,
    read_rules,
    token_of,
)
from recorder.notification.rules import Shape

SECRET = "https://hooks.slack.example/services/T0/B0/s3cr3t"

WHOLE = """
rules:
  - name: gpu-oncall
    when:
      happened: [reboot, unreachable]
      cause: [gpu-fault]
      confidence: [proven, likely]
      node: ["gpu-*"]
      labels: {pool: a100}
      rack: r12
      namespace: [train]
    settle: 2m
    page: https://recorder.example/
    labels: {severity: page}
    post:
      shape: alertmanager
      url: http://alertmanager.monitoring:9093/api/v2/alerts
      timeout: 5s
      give_up_after: 6h
  - name: blind
    when: {gap: 5m, resource: [v1/pods]}
    post: {shape: slack, url_file: /etc/recorder/slack}
  - name: everything
    post: {shape: cloudevents, url: "https://sink.example/"}
"""


HAPPENED = ", ".join(Happened)


def refused(text: str) -> str:
    with pytest.raises(NotifyError) as raised:
        read_rules(text, name="notify.yaml")
    return str(raised.value)


def with_rule(members: str) -> str:
    return f"rules:\n  - name: one\n{members}"


def test_all_members_are_read() -> None:
    first, blind, every = read_rules(WHOLE, name="notify.yaml").rules

    assert first.when.happened == (Happened.REBOOT, Happened.UNREACHABLE)
    assert first.when.cause == (Cause.GPU_FAULT,)
    assert first.settled_after.total_seconds() == 120
    assert first.post.shape is Shape.ALERTMANAGER
    assert first.post.timeout_seconds == 5
    assert first.post.given_up_after.total_seconds() == 6 * 3600
    assert blind.when.gap_after is not None
    assert blind.when.gap_after.total_seconds() == 300
    assert every.when.happened == ()


POST = "    post: {shape: slack, url: 'https://sink.example/'}\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("rules: []\n", 1, "write 1 to 100 rules"),
        ("", 1, "rules is missing"),
        ("rules:\n  - name: one\n", 2, "post is missing"),
        (
            with_rule(POST + "    wen: {}\n"),
            4,
            'there is no "wen"; did you mean "when"?',
        ),
        (
            with_rule("    when: {cause: [gpufault]}\n" + POST),
            3,
            'when.cause: "gpufault" is unknown; did you mean "gpu-fault"?',
        ),
        (
            with_rule("    when: {cause: gpu-fault}\n" + POST),
            3,
            "expected a list, got text",
        ),
        (
            with_rule("    when:\n      gap: 5m\n      cause: [gpu-fault]\n")
            + POST,
            5,
            "write two rules",
        ),
        (
            with_rule("    when: {resource: [v1/pods]}\n" + POST),
            3,
            "only for rules with gap",
        ),
        (
            with_rule("    when: {workload: ['*'], rack: r1}\n" + POST),
            3,
            "rack is of incidents",
        ),
        (
            with_rule("    when: {ended_by: [node-failed]}\n" + POST),
            3,
            'did you mean "node-failure"?',
        ),
        (
            with_rule("    when: {gap: 5m, owner: [alice]}\n" + POST),
            3,
            "gap and owner exclude each other",
        ),
        (with_rule("    settle: soon\n" + POST), 3, "is not a duration"),
        (with_rule("    settle: 2h\n" + POST), 3, "it is 0s to 3600s"),
        (
            with_rule("    settle: " + "9" * 400 + "d\n" + POST),
            3,
            "is not a duration",
        ),
        (with_rule("    post: {shape: slack}\n"), 3, "either url or url_file"),
        (
            with_rule("    post: {shape: irc, url: 'https://x.example'}\n"),
            3,
            '"irc" is unknown: use slack, alertmanager, cloudevents',
        ),
        (with_rule("    labels: {a: b}\n" + POST), 3, "only for the shape"),
        (
            "rules:\n  - name: Two Words\n" + POST,
            2,
            "write the name in a-z",
        ),
        (with_rule(POST) + "  - name: one\n" + POST, 4, "already"),
        (with_rule(POST + POST), 4, 'duplicate key "post"'),
        ("rules: &a [*a]\n", None, "aliases expand to too many"),
        ("rules: [\n", 2, "expected"),
        ("rules: " + "[" * 5000, None, "nested too deep"),
        ("rules: !!python/object:os.system {}\n", 1, "could not determine"),
    ],
)
def test_an_error_is_reported_with_its_line(
    text: str, line: int | None, says: str
) -> None:
    said = refused(text)

    assert '"notify.yaml"' in said
    assert line is None or f"line {line}:" in said, said
    assert says in said


def test_all_errors_are_reported_at_once_by_their_lines() -> None:
    said = refused(
        """rules:
- name: one
  when: {happened: [reboott, away]}
  post: {shape: slac, url: "https://x.example/"}
- name: two
  wenn: {}
  post: {shape: slack, url: 5}
- name: three
- 7
"""
    )

    _, _, errors = said.partition(", ")
    assert [one.partition(": ")[::2] for one in errors.split("; line ")] == [
        ("line 3", f'when.happened: "away" is unknown: use {HAPPENED}'),
        ("3", 'when.happened: "reboott" is unknown; did you mean "reboot"?'),
        ("4", 'post.shape: "slac" is unknown; did you mean "slack"?'),
        ("6", 'there is no "wenn"; did you mean "when"?'),
        ("7", "post.url: expected text or nothing, got a whole number"),
        ("8", "post is missing"),
        ("9", "rules: expected a mapping, got a whole number"),
    ]  # fmt: skip


def test_all_faults_of_what_can_be_read_are_reported() -> None:
    said = refused(with_rule(POST + "    settle: 2d\n    page: x\n"))

    assert "line 4: " in said
    assert "line 5: " in said


@pytest.mark.parametrize(
    "address",
    [
        "ftp://host/s3cr3t",
        "https://user:s3cr3t@host/",
        "https:///s3cr3t",
        "https://host:99999/s3cr3t",
        "https://host/s3cr3t\\r\\nX: y",
        "s3cr3t",
    ],
)
def test_an_impossible_address_is_refused_and_not_shown(
    address: str,
) -> None:
    post = f'    post: {{shape: slack, url: "{address}"}}\n'

    said = refused(with_rule(post))

    assert "url: it" in said
    assert "s3cr3t" not in said


def rule_with_files(folder: Path, address: str) -> Path:
    (folder / "address").write_text(f"{address}\n")
    (folder / "token").write_text("t0ken\n")
    path = folder / "notify.yaml"
    path.write_text(
        with_rule(
            f"    post: {{shape: slack, url_file: {folder}/address,"
            f" token_file: {folder}/token}}\n"
        )
    )
    return path


def test_secrets_are_read_from_their_files_as_they_are_now(
    tmp_path: Path,
) -> None:
    post = load_rules(rule_with_files(tmp_path, SECRET)).rules[0].post

    assert address_of(post) == SECRET
    assert token_of(post) == "t0ken"
    (tmp_path / "address").write_text("https://other.example/")
    assert address_of(post) == "https://other.example/"


@pytest.mark.parametrize(
    "content", ["", "no ad dress", "https://u:p@h/", "x" * 9000]
)
def test_a_file_without_an_address_is_named_and_not_shown(
    tmp_path: Path, content: str
) -> None:
    post = load_rules(rule_with_files(tmp_path, SECRET)).rules[0].post
    (tmp_path / "address").write_text(content)

    with pytest.raises(NotifyError) as raised:
        address_of(post)

    assert f"{tmp_path}/address" in str(raised.value)
    assert not content or content not in str(raised.value)


def test_a_pipe_is_no_file_of_rules(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(NotifyError, match="not a regular file"):
        load_rules(tmp_path / "pipe")
