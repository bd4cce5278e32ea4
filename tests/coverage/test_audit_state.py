"""Audit without records differs from audit that is not read."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from recorder.answers.status import LogStatus, summary
from recorder.doctor.log import judge_audit
from recorder.facts.coverage.audit_state import AuditState, audit_reading
from recorder.facts.coverage.authorship import Tally
from recorder.facts.coverage.ports import Stream
from tests.coverage.judging import LIVE, PODS, TAPE
from tests.support.builders import at

WEBHOOK = Stream(source="audit", resource="webhook", state="live")
STOPPED = replace(WEBHOOK, state="stopped")
RECORDS = replace(WEBHOOK, resource="audit", entries=3, last_frame_at=at())
LATER = at() + timedelta(hours=2)


def pods(versions: int, writes: int = 0) -> Stream:
    tally = Tally()
    tally.add(LATER, versions=versions, writes=writes)
    return replace(PODS, audited=tally.written())


@pytest.mark.parametrize(
    ("streams", "state"),
    [
        ([PODS], "absent"),
        ([PODS, STOPPED], "stopped"),
        ([PODS, WEBHOOK], "silent"),
        ([PODS, WEBHOOK, RECORDS], "recorded"),
        ([pods(99), WEBHOOK, RECORDS], "recorded"),
        ([pods(100), WEBHOOK, RECORDS], "silent"),
        (
            [pods(100), WEBHOOK, replace(RECORDS, last_frame_at=LATER)],
            "recorded",
        ),
    ],
)
def test_a_silence_is_a_state(streams: Sequence[Stream], state: str) -> None:
    assert audit_reading(LIVE, streams).state == state


def test_one_sentence_says_it_to_programs_and_people() -> None:
    reading = audit_reading(LIVE, [pods(100), WEBHOOK, RECORDS])

    assert reading.state is AuditState.SILENT
    assert reading.left_out == [PODS.resource]
    assert "100 versions were written meanwhile" in reading.says[0]


def test_of_a_tape_nothing_more_is_expected() -> None:
    reading = audit_reading(TAPE, [PODS, RECORDS])

    assert reading.state is AuditState.RECORDED


def test_a_policy_that_audits_nothing_fails_the_doctor_when_it_is_proven() -> (
    None
):
    (quiet,) = judge_audit("audit log", [audit_reading(LIVE, [WEBHOOK])])
    (proven,) = judge_audit(
        "audit log", [audit_reading(LIVE, [pods(10), WEBHOOK])]
    )

    assert quiet.ok
    assert not proven.ok
    assert "no audit record has arrived, while 10 versions" in proven.says
    assert "--audit-policy-file" in (proven.remedy or "")


def test_a_resource_that_a_policy_leaves_out_fails_the_doctor() -> None:
    audited = replace(RECORDS, last_frame_at=LATER)
    left_out = audit_reading(LIVE, [pods(50, 1), WEBHOOK, audited])
    (check,) = judge_audit("audit log", [left_out])

    assert not check.ok
    assert check.says == "3 audit records, hardly any of writes to v1/pods"
    assert not judge_audit("audit log", [audit_reading(LIVE, [PODS])])


def test_status_says_since_when_nothing_arrives() -> None:
    status = LogStatus(
        log=LIVE,
        streams=[pods(100), WEBHOOK, RECORDS],
        entries_per_minute=0,
    )
    said = "\n".join(summary(status))

    assert "no audit record has arrived since 2026-11-21T03:00:00" in said
    assert "100 versions were written meanwhile" in said
