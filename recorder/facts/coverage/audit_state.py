"""Whether audit records arrive, for a log whose recorder reads them."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

import msgspec

from recorder.facts.coverage.authorship import VERSIONS_MIN, Tally
from recorder.facts.coverage.ports import Log, Stream
from recorder.model.document import Document
from recorder.model.moment import written
from recorder.model.observation import AUDIT
from recorder.model.window import Window

SILENCE_MIN = 100
"""Versions seen in later hours than the last record: a policy that keeps some
of the writes has kept none of these."""


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


class AuditReading(Document, frozen=True, kw_only=True):
    """The audit records of a cluster, by whichever way they come."""

    state: AuditState
    records: int = 0
    """Zero without the right to get all Nodes and Pods."""

    last_at: datetime | None = msgspec.field(
        default=None, name="last_record_at"
    )
    """When the last came; null also of those of earlier releases."""

    left_out: Sequence[str] = ()
    """Resources of which hardly any write has a record."""

    says: Sequence[str] = ()
    """That none arrive, or of what, in words."""

    unanswered: int = msgspec.field(default=0, name="_unanswered")
    """Versions that were seen while no record came."""

    @property
    def proven_silent(self) -> bool:
        """Whether objects were written and no record of it came."""
        return (
            self.state is AuditState.SILENT and self.unanswered >= VERSIONS_MIN
        )


def audit_reading(log: Log, streams: Sequence[Stream]) -> AuditReading:
    """Judge whether audit records arrive."""
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
    return worded(
        AuditReading(
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
    )


def worded(audit: AuditReading) -> AuditReading:
    """Describe which audit records do not arrive."""
    says = ""
    if audit.state is AuditState.SILENT:
        says = "no audit record has arrived"
        if audit.last_at is not None:
            says += f" since {written(audit.last_at)}"
        if audit.unanswered:
            says += f", and {audit.unanswered} versions were written meanwhile"
        says += (
            ": does the audit policy cover writes,"
            " and do API servers send or write them here?"
        )
    elif audit.left_out:
        resources = ", ".join(audit.left_out)
        says = (
            f"hardly any audit record of writes to {resources}:"
            " does the audit policy leave them out?"
        )
    return msgspec.structs.replace(audit, says=[says] if says else [])
