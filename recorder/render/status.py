"""What is recorded, as rows and lines for people."""

from datetime import datetime

from recorder.model.moment import written
from recorder.questions.status import LogStatus

__all__ = ["COLUMNS", "status_rows", "summary"]

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


def summary(status: LogStatus) -> list[str]:
    """Say where a log stands, in a few lines."""
    log = status.log
    if log.is_tape:
        state = "played from a tape"
        if log.holder is not None:
            state = f"being played by {log.holder}"
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
    lines.extend(
        f"open gap {stream.gap.opened}: {stream.resource}, {stream.gap.reason}"
        for stream in status.streams
        if stream.gap is not None
    )
    return lines
