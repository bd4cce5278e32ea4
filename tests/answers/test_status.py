"""What status says of a log that is not written, and of days."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from msgspec import structs

from recorder.answers.status import (
    DatabaseStatus,
    Days,
    LogStatus,
    Status,
    days_lines,
    summary,
)
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import Log, Stream
from recorder.model.observation import AUDIT, WATCH
from recorder.model.reference import EntryName

NOW = datetime(2026, 11, 24, tzinfo=UTC)
LOG = Log(
    id=1,
    kind="live",
    cluster_name="prod",
    cluster_uid="uid",
    kubernetes="v1.36",
    size=5,
    recorded_at=NOW,
    holder=None,
)
FULL = "the disk has 3 % free, the minimum is 5 %"


def status(log: Log, waiting_for: str | None) -> LogStatus:
    return LogStatus(
        log=log, streams=[], entries_per_minute=0, waiting_for=waiting_for
    )


def test_a_log_that_waits_for_room_need_not_be_started() -> None:
    said = "\n".join(summary(status(LOG, FULL)))

    assert f"it waits for room: {FULL}" in said
    assert "recorder up" not in said
    assert "recorder up" in "\n".join(summary(status(LOG, None)))
    held = replace(LOG, holder="host/1/a")
    assert "room" not in "\n".join(summary(status(held, FULL)))


def test_a_resource_that_is_behind_is_said_with_since_when_and_why() -> None:
    held = replace(LOG, holder="host/1/a")
    live = Stream(
        source=WATCH, resource="v1/pods", state="live", vouched_until=NOW
    )
    away = replace(live, state="backing-off")
    gap = Gap.still_open(
        opened=EntryName(1, 3),
        stream=(WATCH, "v1/pods"),
        since=NOW,
        reason="watch expired (410)",
        version="7",
    )
    began = "2026-11-24T00:00:00.000000Z"
    since = f"v1/pods is behind since {began}"
    outage = f"open outage: v1/pods from {began}: watch expired (410)"
    for log, stream, said in (
        (held, live, None),
        (held, away, f"{since}: the API server does not answer"),
        (held, replace(live, gap=gap), f"{outage} (gap 1/3)"),
        (LOG, away, None),
    ):
        of = replace(status(log, None), streams=[stream])
        signs = (" is behind", "open outage")
        lines = [
            one for one in summary(of) if any(sign in one for sign in signs)
        ]
        assert lines == ([] if said is None else [said])
        document = of.source(stream, NOW)
        assert (document.behind is None) == (said is None)


def test_one_outage_of_many_resources_is_one_line() -> None:
    resources = [f"v1/{name}" for name in ("nodes", "pods", "events")]
    streams = [
        Stream(
            source=WATCH,
            resource=resource,
            state="live",
            gap=Gap.still_open(
                opened=EntryName(1, number),
                stream=(WATCH, resource),
                since=NOW + timedelta(seconds=number),
                reason="the recorder was not running",
                version="7",
            ),
        )
        for number, resource in enumerate(resources, 3)
    ]
    silent = [
        Stream(
            source=WATCH,
            resource=f"v1/{name}",
            state="backing-off",
            vouched_until=NOW,
        )
        for name in ("secrets", "services")
    ]
    held = replace(LOG, holder="host/1/a")
    of = replace(status(held, None), streams=[*streams, *silent])

    behind, outage = summary(of)[-2:]
    assert behind == (
        "v1/secrets, v1/services are behind since"
        " 2026-11-24T00:00:00.000000Z: the API server does not answer"
    )
    assert outage == (
        "open outage: v1/nodes, v1/pods, v1/events from"
        " 2026-11-24T00:00:03.000000Z: the recorder was not running"
        " (gaps 1/3, 1/4, 1/5)"
    )


def test_a_policy_that_audits_nothing_is_said() -> None:
    """Only while it is being read, and until the first record."""
    held = replace(LOG, holder="host/1/a")
    webhook = Stream(source=AUDIT, resource="webhook", state="live", entries=0)
    records = replace(webhook, resource=AUDIT, entries=3)
    for log, streams, is_said in (
        (held, [webhook], True),
        (held, [webhook, records], False),
        (held, [replace(webhook, state="backing-off")], False),
        (held, [], False),
        (LOG, [webhook], False),
    ):
        of = replace(status(log, None), streams=streams)
        said = "\n".join(summary(of))
        assert ("no audit record has arrived" in said) is is_said


def test_days_and_the_budget_are_shown_where_there_are_any() -> None:
    answer = Status(
        logs=[],
        database=DatabaseStatus(
            version="18",
            embedded=True,
            bytes=900,
            disk=None,
            budget_bytes=1000,
            budget_stage="near",
        ),
        now=NOW,
        days=Days(
            place="/archive",
            hot=8,
            archived=20,
            dropped=12,
            holds=1,
            archived_until=NOW,
        ),
    )
    days, holds, budget = days_lines(answer)

    assert days == (
        "8 days in the database; 20 archived, up to 2026-11-23 in /archive;"
        " 12 dropped"
    )
    assert holds.startswith("1 hold: ")
    assert budget.startswith("size budget: ")
    quiet = replace(
        answer,
        days=Days(hot=0, archived=0, dropped=0, holds=0),
        database=structs.replace(
            answer.database, budget_bytes=10_000, budget_stage="within"
        ),
    )
    assert days_lines(quiet) == []
