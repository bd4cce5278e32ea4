"""Whether audit records arrive, of a log whose recorder reads them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recorder.coverage.authorship import VERSIONS_MIN, Tally
from recorder.coverage.ports import Log, Stream
from recorder.model.observation import AUDIT
from recorder.model.window import Window

__all__ = ["AuditReading", "AuditState", "audit_reading"]

SILENCE_MIN = 100
"""Versions seen in later hours than the last record: a policy that keeps
some of the writes has kept none of these."""


class AuditState(StrEnum):
    """How audit is read. The words are part of the JSON output."""

    ABSENT = "absent"
    """It was never configured."""

    STOPPED = "stopped"
    """Nobody reads it now."""

    SILENT = "silent"
    """It is read, and nothing arrives: the policy audits nothing, or no API
    server sends or writes its records here."""

    RECORDED = "recorded"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReading:
    """What is known of the audit records of one log."""

    state: AuditState
    records: int = 0
    last_at: datetime | None = None
    """When the last came; None of those of earlier releases, too."""

    unanswered: int = 0
    """Versions that were seen while no record came."""

    left_out: Collection[str] = ()
    """Resources whose versions hardly ever have a record."""

    @property
    def proven_silent(self) -> bool:
        """Whether something was written and no record of it came."""
        return (
            self.state is AuditState.SILENT and self.unanswered >= VERSIONS_MIN
        )


def audit_reading(log: Log, streams: Sequence[Stream]) -> AuditReading:
    """Judge what arrives of the audit log."""
    audits = [stream for stream in streams if stream.source == AUDIT]
    if not audits:
        return AuditReading(state=AuditState.ABSENT)
    arrived = [stream for stream in audits if stream.resource == AUDIT]
    records = sum(stream.entries for stream in arrived)
    last = max(
        (s.last_frame_at for s in arrived if s.last_frame_at is not None),
        default=None,
    )
    tallies = {
        stream.resource: Tally.parse(stream.audited)
        for stream in streams
        if stream.audited is not None
    }
    unanswered = sum(t.versions_after(last) for t in tallies.values())
    is_read = log.holder is not None and any(s.state == "live" for s in audits)
    silent = not records or (last is not None and unanswered >= SILENCE_MIN)
    state = AuditState.RECORDED
    if not (log.is_tape or is_read):
        state = AuditState.STOPPED
    elif silent and is_read:
        state = AuditState.SILENT
    return AuditReading(
        state=state,
        records=records,
        last_at=last,
        unanswered=unanswered,
        left_out=[
            resource
            for resource, tally in sorted(tallies.items())
            if tally.within(Window()).left_out
        ],
    )
