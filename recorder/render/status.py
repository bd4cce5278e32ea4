"""What is recorded, as rows and lines for people."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from recorder.model.moment import shifted, written
from recorder.questions.status import LogStatus, Status
from recorder.render.text import human_bytes

__all__ = ["COLUMNS", "days_lines", "status_rows", "summary"]

BUDGET = {
    "near": "above it the oldest archived days are dropped before their time",
    "over": "the oldest archived days are dropped before their time",
    "full": "nothing is recorded until days are dropped",
}
"""What follows of how full the size budget is."""

COLUMNS = (
    "SOURCE",
    "RESOURCE",
    "STATE",
    "LAG",
    "ENTRIES",
    "VERSION",
    "LAST FRAME",
)


def status_rows(status: LogStatus, now: datetime) -> list[list[str]]:
    """Return the streams of a log as rows of a table."""
    rows = []
    for stream in status.streams:
        lag = status.lag_of(stream, now)
        last = stream.last_frame_at
        rows.append(
            [
                stream.source,
                stream.resource,
                status.state_of(stream),
                "" if lag is None else f"{lag:.1f}s",
                str(stream.entries),
                stream.resource_version or "",
                "" if last is None else written(last),
            ]
        )
    return rows


def days_lines(answer: Status) -> list[str]:
    """Say what retention did and will do, in a line or two."""
    lines = []
    days = answer.days
    if days is not None and days.archived + days.dropped:
        until = days.archived_until
        # The last day ends where the next begins.
        last = until and shifted(until, -timedelta.resolution)
        reach = "" if last is None else f", up to {last:%Y-%m-%d}"
        lines.append(
            f"{days.hot} days in the database; {days.archived} archived{reach}"
            f" in {days.place or 'no place'}; {days.dropped} dropped"
        )
    if days is not None and days.holds:
        holds = f"{days.holds} hold{'s' if days.holds > 1 else ''}"
        lines.append(f"{holds}: see `recorder hold list`")
    database = answer.database
    budget, stage = database.budget_bytes, database.budget_stage or ""
    if budget is not None and stage in BUDGET:
        lines.append(
            f"size budget: {human_bytes(database.bytes)} of"
            f" {human_bytes(budget)} are used; {BUDGET[stage]}"
        )
    return lines


def summary(status: LogStatus) -> list[str]:
    """Say where a log stands, in a few lines."""
    log = status.log
    if log.is_tape:
        state = "played from a tape"
        if log.holder is not None:
            state = f"being played by {log.holder}"
    elif log.holder is None and status.waiting_for is not None:
        state = f"NOT being recorded, it waits for room: {status.waiting_for}"
    elif log.holder is None:
        state = "NOT being recorded: run `recorder up`"
    else:
        state = f"recorded by {log.holder}"
    recorded = "never" if log.recorded_at is None else written(log.recorded_at)
    rate = ""
    if log.holder is not None:
        rate = f", {status.entries_per_minute:.1f} a minute"
    lines = [
        (
            f"cluster {log.cluster_name} ({log.cluster_uid}), Kubernetes"
            f" {log.kubernetes}"
        ),
        f"log {log.id}: {state}",
        f"{log.size} entries, the last recorded {recorded}{rate}",
    ]
    if status.facts_end is not None:
        lines.append(
            f"facts end at entry {status.facts_end.entry}: run"
            " `recorder rederive`"
        )
    lines.extend(status.audit.says)
    lines.extend(_behind(status))
    lines.extend(
        f"open gap {stream.gap.opened}: {stream.resource}, {stream.gap.reason}"
        for stream in status.streams
        if stream.gap is not None
    )
    return lines


def _behind(status: LogStatus) -> Iterator[str]:
    for stream in status.streams:
        if (behind := status.behind(stream)) is not None:
            since = behind.since and f" since {written(behind.since)}"
            yield f"{stream.resource} is behind{since or ''}: {behind.why}"
