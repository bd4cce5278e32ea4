"""Whether a database can hold a log, and this role can write it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recorder.report.checks.check import Check

__all__ = [
    "GuardFacts",
    "LeaseFacts",
    "PartitionFacts",
    "ServerFacts",
    "judge_durability",
    "judge_encoding",
    "judge_guards",
    "judge_lease",
    "judge_partitions",
    "judge_role",
    "judge_schema",
    "judge_table_rights",
    "judge_unavailable",
    "judge_version",
    "judge_writable",
]

OLDEST = 15
AHEAD_MIN = timedelta(days=1)
"""Partitions are made seven days ahead; less than one means that nobody
makes them."""

LEASE_MAX = timedelta(seconds=30)
"""A lease lasts 6 s. One that ends much later was given by a clock that has
been set back since; whoever comes next takes it at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a server says of itself and of the role that asks."""

    version: str
    major: int
    encoding: str
    is_read_only: bool
    unsafe: Sequence[str]
    """Settings that are off and keep a crash from losing commits."""

    role: str
    is_superuser: bool
    missing: Sequence[str]
    """Roles of deploy/sql/roles.sql that do not exist."""

    owns: bool
    writes: bool
    reads: bool
    """Which of the three roles' rights this one has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardFacts:
    """What the role can do with the tables, and what stops it."""

    lacking: Sequence[str]
    """Rights that recording needs, as GRANT writes them."""

    excess: Sequence[str]
    """Tables of which it could change or remove lines."""

    unguarded: Sequence[str]
    """Tables whose trigger against that is missing or not always on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionFacts:
    """How far ahead partitions are made."""

    until: datetime | None
    ahead: timedelta | None
    is_written: bool
    """Whether anybody holds a lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseFacts:
    """The lease of one log."""

    log: int
    cluster: str
    holder: str | None
    expires_at: datetime | None
    now: datetime
    """By PostgreSQL's clock, which judges leases."""


ACCESS = (
    "see that role, password and database of RECORDER_DATABASE_URL exist, that"
    " pg_hba.conf lets it in, and that it may CONNECT:"
    ' psql "$RECORDER_DATABASE_URL"'
)
AWAY = (
    "see that it runs and listens there, and that RECORDER_DATABASE_URL is"
    ' right: pg_isready -d "$RECORDER_DATABASE_URL"'
)
REMEDIES = {
    "config.database_url": "write RECORDER_DATABASE_URL as"
    " postgresql://user@host/database",
    "log.access": ACCESS,
}
SERVER_INSTEAD = (
    "do what the message says, look into postgres.log of the data folder, or"
    " name a server with RECORDER_DATABASE_URL"
)


def judge_unavailable(
    name: str, code: str, says: str, *, embedded: bool
) -> Check:
    """Say what to do about a database that did not answer as it should.

    Args:
        name: of the check.
        code: of the error.
        says: its message.
        embedded: whether the server is the embedded one.
    """
    remedy = SERVER_INSTEAD if embedded else REMEDIES.get(code, AWAY)
    return Check(name=name, ok=False, says=says, remedy=remedy)


def judge_version(name: str, facts: ServerFacts) -> Check:
    """Judge the server's version."""
    return Check(
        name=name,
        ok=facts.major >= OLDEST,
        says=f"PostgreSQL {facts.version}",
        remedy=f"upgrade the server to PostgreSQL {OLDEST} or newer, or name"
        " another with RECORDER_DATABASE_URL",
    )


def judge_encoding(name: str, facts: ServerFacts) -> Check:
    """Judge the encoding of the database."""
    return Check(
        name=name,
        ok=facts.encoding == "UTF8",
        says=facts.encoding,
        remedy="names may hold any character: create the database with"
        " ENCODING 'UTF8' TEMPLATE template0",
    )


def judge_writable(name: str, facts: ServerFacts) -> Check:
    """Judge whether the server takes writes."""
    return Check(
        name=name,
        ok=not facts.is_read_only,
        says="it is a standby or read-only" if facts.is_read_only else "yes",
        remedy="name the primary, or set default_transaction_read_only off",
    )


def judge_durability(name: str, facts: ServerFacts) -> Check:
    """Judge whether a commit survives the death of the machine."""
    off = " and ".join(facts.unsafe)
    off += " are off" if len(facts.unsafe) > 1 else " is off"
    return Check(
        name=name,
        ok=not facts.unsafe,
        says=f"{off}: a crash of the machine loses or damages what was"
        " acknowledged"
        if facts.unsafe
        else "what is acknowledged survives a crash",
        remedy="turn it on in postgresql.conf (embedded: in"
        " postgres/local.conf of the data folder), for the database and for"
        " the role: " + "; ".join(f"SHOW {one}" for one in facts.unsafe),
    )


def judge_role(name: str, facts: ServerFacts) -> Check:
    """Judge which of our roles this one belongs to."""
    role = facts.role

    def wrong(says: str, remedy: str) -> Check:
        return Check(name=name, ok=False, says=says, remedy=remedy)

    if facts.missing:
        return wrong(
            f"there is no role {', '.join(facts.missing)}",
            "run deploy/sql/roles.sql, then: recorder migrate"
            " (both are printed by: recorder migrate --sql)",
        )
    own = "log in as a role of its own that is a member of recorder_writer"
    if facts.is_superuser:
        return wrong(f'role "{role}" is a superuser, whom no guard stops', own)
    if facts.owns:
        return wrong(
            f'role "{role}" owns the tables, which `recorder migrate` needs'
            " and recording does not",
            own,
        )
    if facts.writes:
        says = f'role "{role}" may read and append'
        return Check(name=name, ok=True, says=says)
    can = "may read, and not append" if facts.reads else "may do nothing"
    return wrong(
        f'role "{role}" {can}',
        f'grant it: GRANT recorder_writer TO "{role}" (who only asks needs'
        " no more than recorder_reader)",
    )


def judge_schema(
    name: str,
    found: str | None,
    wanted: str,
    known: Collection[str],
    *,
    embedded: bool,
) -> Check:
    """Judge the schema of the database.

    Args:
        name: of the check.
        found: its revision, None where there is none.
        wanted: the revision of this release.
        known: every revision that this release can migrate from.
        embedded: whether it is migrated by whoever opens it next.
    """
    if found == wanted:
        return Check(name=name, ok=True, says=f'"{found}"')
    needs = f'and this release needs "{wanted}"'
    if found is not None and found not in known:
        return Check(
            name=name,
            ok=False,
            says=f'"{found}" is of a newer release, {needs}',
            remedy="install the release that migrated it, or a newer one; a"
            " schema does not go back",
        )
    says = "missing" if found is None else f'"{found}" is older'
    return Check(
        name=name,
        ok=embedded,
        says=f"{says}, {needs}"
        + ("; the next command migrates it" if embedded else ""),
        remedy="as a member of recorder_owner run: recorder migrate",
    )


def judge_table_rights(name: str, facts: GuardFacts, role: str) -> Check:
    """Judge whether the role can append, and nothing beyond."""
    if facts.lacking:
        return Check(
            name=name,
            ok=False,
            says=f'role "{role}" lacks {", ".join(facts.lacking)}',
            remedy="as recorder_owner run: "
            + "; ".join(f"GRANT {x} TO recorder_writer" for x in facts.lacking)
            + " (a restore without privileges loses them)",
        )
    return Check(
        name=name,
        ok=not facts.excess,
        says=f'role "{role}" could change what is in {", ".join(facts.excess)}'
        if facts.excess
        else f'role "{role}" can append, and can change nothing',
        remedy="as recorder_owner run: "
        + "; ".join(
            f'REVOKE UPDATE, DELETE, TRUNCATE ON recorder."{table}" FROM'
            f' PUBLIC, recorder_writer, recorder_reader, "{role}"'
            for table in facts.excess
        ),
    )


def judge_guards(name: str, facts: GuardFacts) -> Check:
    """Judge whether the triggers that keep the log as it is are on."""
    return Check(
        name=name,
        ok=not facts.unguarded,
        says="no guard is always on at " + ", ".join(facts.unguarded)
        if facts.unguarded
        else "every table of the log is guarded",
        remedy="somebody disabled it: find out why, compare with a backup,"
        " and as recorder_owner run: "
        + "; ".join(
            f'ALTER TABLE recorder."{table}" ENABLE ALWAYS TRIGGER {trigger}'
            for table in facts.unguarded
            for trigger in _triggers(table)
        ),
    )


def _triggers(table: str) -> Sequence[str]:
    if table.startswith(("entry_", "fact_")):
        return ("append_only", "append_only_truncate")
    return ("append_only",)


def judge_partitions(name: str, facts: PartitionFacts) -> Check:
    """Judge whether partitions are made ahead."""
    if facts.until is None or facts.ahead is None:
        says = "none yet; the first recording makes them"
        return Check(name=name, ok=True, says=says)
    return Check(
        name=name,
        ok=facts.ahead > AHEAD_MIN or not facts.is_written,
        says=f"made until {facts.until:%Y-%m-%d}",
        remedy="the writer makes them each day: look at its errors, and"
        " run as recorder_owner: GRANT EXECUTE ON FUNCTION"
        " recorder.add_partition TO recorder_writer",
    )


def judge_lease(name: str, leases: Sequence[LeaseFacts]) -> Sequence[Check]:
    """Say who writes each log; only a lease that cannot end is wrong."""
    if not leases:
        says = "there is no log of this cluster yet"
        return [Check(name=name, ok=True, says=says)]
    return [_judge_lease(name, lease) for lease in leases]


def _judge_lease(name: str, lease: LeaseFacts) -> Check:
    log = f'log {lease.log} of "{lease.cluster}"'
    if lease.holder is None or lease.expires_at is None:
        return Check(name=name, ok=True, says=f"nobody writes {log}")
    until = f"{lease.expires_at:%Y-%m-%dT%H:%M:%SZ}"
    if lease.expires_at <= lease.now:
        says = (
            f'nobody writes {log}; "{lease.holder}" did until {until} and did'
            " not stop by itself"
        )
        return Check(name=name, ok=True, says=says)
    ahead = lease.expires_at - lease.now
    return Check(
        name=name,
        ok=ahead <= LEASE_MAX,
        says=f'{log} is written by "{lease.holder}", until {until} and longer'
        " if it goes on; others stand by",
        remedy=f"PostgreSQL's clock was set back by {ahead}; the lease counts"
        " as over, and the next recorder takes it. Keep that clock in step"
        " (NTP), and look in `recorder log` for times in the future",
    )
