"""The log: whether it is written, kept and can be queried."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recorder.doctor.check import Check
from recorder.facts.coverage.audit_state import AuditReading, AuditState
from recorder.facts.coverage.ports import FactsEnd

PARTITIONS, LEASE, EVENT_TTL = "partitions", "lease", "event ttl"
FACTS, AUDIT_LOG, ARCHIVE = "facts", "audit log", "archive"
CLAIM_TYPES = "claim types"

AHEAD_MIN = timedelta(days=1)
"""Partitions are made seven days ahead; less than one means that no process
makes them."""

LEASE_MAX = timedelta(seconds=30)
"""A lease lasts 6 s. One that ends much later was given by a clock that has
been set back since; the next writer takes it at once."""

SAMPLE_MIN = 20
"""Fewer deletions of Events may all come from one deleted namespace."""

LATE_MAX = timedelta(minutes=3)
"""An API server shares leases of etcd for up to a minute, etcd takes time to
revoke them, and the deletion must reach us."""

SHARE_MAX = 0.1

TYPES_NAMED = 10
"""Types of claims that are listed by name, the most frequent ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFacts:
    """How far ahead partitions are made."""

    until: datetime | None
    ahead: timedelta | None
    is_written: bool
    """Whether a writer holds a lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseFacts:
    """The lease of one log."""

    log: int
    cluster: str
    holder: str | None
    expires_at: datetime | None
    now: datetime
    """By PostgreSQL's clock, which judges leases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventLives:
    """How long Events lived whose deletion the log has."""

    sample: int
    typical: timedelta | None
    """The third quartile: Events deleted by hand live shorter, and those shown
    late seem to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveFacts:
    """The days that are archived according to the database."""

    days: int
    missing: str | None
    """Describes missing days; None if none are missing."""


def judge_archive(name: str, facts: ArchiveFacts) -> Sequence[Check]:
    """Judge whether archived days are there; nothing if there are none."""
    if not facts.days:
        return []
    return [
        Check(
            name=name,
            ok=facts.missing is None,
            says=facts.missing or f"{facts.days} archived days are there",
            remedy="restore them from a copy of the archive; where they are"
            " on another machine, run this there",
        )
    ]


def judge_partitions(name: str, facts: PartitionFacts) -> Check:
    """Judge whether partitions are made ahead."""
    if facts.until is None or facts.ahead is None:
        says = "none yet; the first recording creates them"
        return Check(name=name, ok=True, says=says)
    return Check(
        name=name,
        ok=facts.ahead > AHEAD_MIN or not facts.is_written,
        says=f"created until {facts.until:%Y-%m-%d}",
        remedy="the writer creates them each day: check its errors, and"
        " run as recorder_owner: GRANT EXECUTE ON FUNCTION"
        " recorder.add_partition TO recorder_writer",
    )


def judge_lease(name: str, leases: Sequence[LeaseFacts]) -> Sequence[Check]:
    """Report who writes each log; only a lease that cannot end is wrong."""
    if not leases:
        says = "there is no log of this cluster yet"
        return [Check(name=name, ok=True, says=says)]
    return [_judge_lease(name, lease) for lease in leases]


def _judge_lease(name: str, lease: LeaseFacts) -> Check:
    log = f'log {lease.log} of "{lease.cluster}"'
    if lease.holder is None or lease.expires_at is None:
        return Check(name=name, ok=True, says=f"no process writes {log}")
    until = f"{lease.expires_at:%Y-%m-%dT%H:%M:%SZ}"
    if lease.expires_at <= lease.now:
        says = (
            f'no process writes {log}; "{lease.holder}" did until {until}'
            " and did not shut down cleanly"
        )
        return Check(name=name, ok=True, says=says)
    ahead = lease.expires_at - lease.now
    return Check(
        name=name,
        ok=ahead <= LEASE_MAX,
        says=f'{log} is written by "{lease.holder}"; its lease lasts until'
        f" {until} and is renewed while it writes; others stand by",
        remedy=f"PostgreSQL's clock was set back by {ahead}; the lease counts"
        " as expired, and the next recorder takes it. Synchronize that clock"
        " (NTP), and check `recorder log` for times in the future",
    )


def judge_event_ttl(
    name: str, setting: timedelta, lives: EventLives | None
) -> Check:
    """Compare the setting with how long Events really live."""
    if lives is None or lives.typical is None or lives.sample < SAMPLE_MIN:
        return Check(
            name=name,
            ok=True,
            says=f"assumed to be {_said(setting)}; the API server does not"
            " report its --event-ttl, and too few Events expired to check it",
        )
    tolerated = max(setting * SHARE_MAX, LATE_MAX)
    return Check(
        name=name,
        ok=abs(lives.typical - setting) <= tolerated,
        says=f"Events live for {_said(lives.typical)}"
        f" ({lives.sample} expired), and the setting is {_said(setting)}",
        remedy="set RECORDER_EVENT_TTL to the --event-ttl of the API server:"
        " it decides whether an Event expired or was missed",
    )


def _said(length: timedelta) -> str:
    minutes = length.total_seconds() / 60
    return f"{minutes / 60:g} h" if minutes % 60 == 0 else f"{minutes:.0f} min"


def judge_facts(name: str, ends: Sequence[FactsEnd]) -> Check:
    """Judge whether facts end before their log does."""
    where = ", ".join(str(end.entry) for end in ends)
    return Check(
        name=name,
        ok=not ends,
        says=f"facts end at entry {where}, and so do answers based on them"
        if ends
        else "every entry has its facts",
        remedy="run: "
        + "; ".join(f"recorder rederive --log {e.entry.log}" for e in ends)
        + " (recording can continue)",
    )


def judge_audit(name: str, audits: Sequence[AuditReading]) -> Sequence[Check]:
    """Judge whether audit records arrive; nothing if none are expected."""
    return [
        _judge_audit(name, audit)
        for audit in audits
        if audit.state is not AuditState.ABSENT
    ]


def _judge_audit(name: str, audit: AuditReading) -> Check:
    last = audit.last_at
    since = "" if last is None else f" since {last:%Y-%m-%dT%H:%M:%SZ}"
    says = f"{audit.records} audit records"
    if audit.state is AuditState.SILENT:
        says = (
            f"no audit record has arrived{since}, while {audit.unanswered}"
            " versions were written"
        )
    elif audit.left_out:
        says += f", hardly any of writes to {', '.join(audit.left_out)}"
    elif audit.state is AuditState.STOPPED:
        says += "; none are read at the moment"
    return Check(
        name=name,
        ok=not (audit.proven_silent or audit.left_out),
        says=says,
        remedy="compare the --audit-policy-file of the API servers with"
        " deploy/audit-policy.yaml, and --audit-log-path or"
        " --audit-webhook-config-file with audit_logs or audit_listen;"
        " the metric apiserver_audit_event_total shows whether they make any",
    )


def judge_claim_types(
    name: str, claims: Mapping[str, int], known: Container[str]
) -> Sequence[Check]:
    """List the types of claims that no file describes; nothing if all are.

    They are kept and shown: a log without their meaning is no failure.
    """
    unknown = sorted(
        (kind for kind in claims if kind not in known),
        key=lambda kind: (-claims[kind], kind),
    )
    if not unknown:
        return []
    named = [f"{kind} ({claims[kind]})" for kind in unknown[:TYPES_NAMED]]
    more = len(unknown) - len(named)
    says = f"without a meaning: {', '.join(named)}"
    if more:
        says += f" and {more} more types"
    return [Check(name=name, ok=True, says=says)]
