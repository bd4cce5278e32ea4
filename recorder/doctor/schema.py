"""The schema: whether it is this release's, and guards the log."""

from collections.abc import Sequence
from dataclasses import dataclass

from recorder.doctor.check import Check
from recorder.integrity.catalog import Difference

SCHEMA, TABLES, GUARDS = "schema", "table rights", "log guards"
CATALOG = "catalog"


CATALOG_MAX = 5
"""Parts that are named; more are counted."""


@dataclass(frozen=True, slots=True)
class SchemaFacts:
    """The revision of the schema, and those that this release knows."""

    found: str | None
    """None if there is no schema."""

    wanted: str
    known: frozenset[str]
    """Every revision that this release can migrate from."""

    serves: bool = False
    """Whether the schema is newer and declares that it serves this release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardFacts:
    """What the role can do with the tables, and what prevents it."""

    lacking: Sequence[str]
    """Privileges that recording needs, as GRANT writes them."""

    excess: Sequence[str]
    """Tables whose rows it could change or delete."""

    altered: Sequence[Difference]
    """Parts of the schema that differ from the migrations."""


def judge_schema(name: str, facts: SchemaFacts, *, embedded: bool) -> Check:
    """Judge the schema of the database."""
    found, wanted = facts.found, facts.wanted
    if found == wanted:
        return Check(name=name, ok=True, says=f'"{found}"')
    if facts.serves:
        says = f'"{found}" is of a newer release and serves "{wanted}"'
        return Check(name=name, ok=True, says=says)
    needs = f'and this release needs "{wanted}"'
    if found is not None and found not in facts.known:
        return Check(
            name=name,
            ok=False,
            says=f'"{found}" is of a newer release, {needs}',
            remedy="install the release that migrated it, or a newer one; a"
            " schema cannot be downgraded",
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
    """Judge whether the role can append, and nothing else."""
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
        says=f'role "{role}" can change what is in {", ".join(facts.excess)}'
        if facts.excess
        else f'role "{role}" can append but not change anything',
        remedy="as recorder_owner run: "
        + "; ".join(
            f'REVOKE UPDATE, DELETE, TRUNCATE ON recorder."{table}" FROM'
            f' PUBLIC, recorder_writer, recorder_reader, "{role}"'
            for table in facts.excess
        ),
    )


def judge_catalog(name: str, facts: GuardFacts) -> Check:
    """Judge whether the schema is what the migrations make, except guards."""
    found = [
        f"{one.kind}: {one.says}"
        for one in facts.altered
        if one.sleeping is None
    ]
    says = "; ".join(found[:CATALOG_MAX])
    if len(found) > CATALOG_MAX:
        says += f"; and {len(found) - CATALOG_MAX} more"
    return Check(
        name=name,
        ok=not found,
        says=says or "tables, views, functions and grants are as migrated",
        remedy="answers may be wrong: find out who changed it and why, and"
        " restore it as `recorder migrate --sql` prints it, or from a backup"
        " with its privileges; `recorder verify` names every part",
    )


def judge_guards(name: str, facts: GuardFacts) -> Check:
    """Judge whether the triggers that protect the log are enabled."""
    off = [one for one in facts.altered if one.sleeping is not None]
    return Check(
        name=name,
        ok=not off,
        says="no guard is always enabled on "
        + ", ".join(dict.fromkeys(map(_table, off)))
        if off
        else "every table of the log is guarded",
        remedy="someone disabled it: find out why, compare with a backup,"
        " and as recorder_owner run: "
        + "; ".join(
            f'ALTER TABLE recorder."{_table(one)}" ENABLE ALWAYS TRIGGER'
            f" {one.sleeping}"
            for one in off
        ),
    )


def _table(one: Difference) -> str:
    return one.name.removeprefix("recorder.")
