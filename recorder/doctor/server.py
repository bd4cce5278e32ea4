"""The database server: whether it can hold a log, and our role."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recorder.doctor.check import Check
from recorder.doctor.clock import ClockReading, judge_clock

SERVER = (
    "database version",
    "database encoding",
    "database writable",
    "database durability",
    "database clock",
)
ROLE = "database rights"
OLDEST = 15

ACCESS = (
    "check the role, password and database in RECORDER_DATABASE_URL, that"
    " pg_hba.conf allows the connection, and that the role may CONNECT:"
    ' psql "$RECORDER_DATABASE_URL"'
)
AWAY = (
    "check that it runs and listens there, and that RECORDER_DATABASE_URL is"
    ' correct: pg_isready -d "$RECORDER_DATABASE_URL"'
)
REMEDIES = {
    "config.database_url": "write RECORDER_DATABASE_URL as"
    " postgresql://user@host/database",
    "log.access": ACCESS,
}
SERVER_INSTEAD = (
    "follow the message, check postgres.log in the data folder, or name a"
    " server with RECORDER_DATABASE_URL"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """Facts about a server and the role that connects."""

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
    """Which privileges of the three roles this one has."""


def judge_server(facts: ServerFacts, clock: ClockReading) -> Iterator[Check]:
    """Judge a server that responds, and its clock."""
    version, encoding, writable, durability, clocks = SERVER
    yield judge_version(version, facts)
    yield judge_encoding(encoding, facts)
    yield judge_writable(writable, facts)
    yield judge_durability(durability, facts)
    yield judge_clock(clocks, "PostgreSQL's", clock)
    yield judge_role(ROLE, facts)


def judge_unavailable(
    name: str, code: str, says: str, *, embedded: bool
) -> Check:
    """Return the check for a database that did not respond correctly."""
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
        remedy="names can contain any character: create the database with"
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
    """Judge whether a commit survives a crash of the machine."""
    off = " and ".join(facts.unsafe)
    off += " are off" if len(facts.unsafe) > 1 else " is off"
    return Check(
        name=name,
        ok=not facts.unsafe,
        says=f"{off}: a crash of the machine can lose or damage"
        " acknowledged commits"
        if facts.unsafe
        else "acknowledged commits survive a crash",
        remedy="turn it on in postgresql.conf (embedded: in"
        " postgres/local.conf of the data folder), for the database and for"
        " the role: " + "; ".join(f"SHOW {one}" for one in facts.unsafe),
    )


def judge_role(name: str, facts: ServerFacts) -> Check:
    """Judge which of our roles this one is a member of."""
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
        return wrong(f'role "{role}" is a superuser and bypasses guards', own)
    if facts.owns:
        return wrong(
            f'role "{role}" owns the tables, which `recorder migrate` needs'
            " and recording does not",
            own,
        )
    if facts.writes:
        says = f'role "{role}" can read and append'
        return Check(name=name, ok=True, says=says)
    can = "can read but not append" if facts.reads else "has no privileges"
    return wrong(
        f'role "{role}" {can}',
        f'grant it: GRANT recorder_writer TO "{role}" (for reading only,'
        " recorder_reader is enough)",
    )
