"""The catalog of the database, compared with what the migrations make.

An *object* is a table, a view, a function, a schema or a role; its *parts* are
its columns, triggers, policies, grants and so on, each with a definition. What
is expected is data in the release. Partitions of days are all compared with
one definition. Pure: the catalog was read elsewhere.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import msgspec

from recorder.integrity.chain import Problem

SHORT = 100
"""Characters of a definition; of a longer one the hash is compared."""

DAY = "_DAY"
"""Ends the names of objects that represent every partition."""

ABOUT = {
    "policy": "policy-altered",
    "function": "function-altered",
    "trigger": "trigger-altered",
    "view": "view-altered",
    "rule": "rule-altered",
    "grant": "grant-altered",
    "setting": "setting-altered",
}
"""Kinds of problems, by the first word of a part; any other belongs to a
table."""

WHOLE = frozenset({"table", "view", "sequence", "function", "other"})
"""Parts that represent their object if it should not exist."""

Parts = Mapping[str, Sequence[str]]


@dataclass(slots=True)
class CatalogFound:
    """The catalog of a database."""

    revision: str | None = None
    objects: dict[str, dict[str, str]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    """Definitions of parts, by object."""

    made: dict[str, str] = field(default_factory=dict)
    """The names by which objects are expected."""

    def add(self, name: str, made: str, part: str, definition: str) -> None:
        """Add a part of an object."""
        if len(definition) > SHORT:
            digest = sha256(definition.encode()).hexdigest()
            definition = f"sha256:{digest}"
        self.objects[name][part] = definition
        self.made[name] = made


@dataclass(frozen=True, slots=True)
class Difference:
    """A part that is not as the migrations make it."""

    name: str
    """Of the object."""

    part: str
    says: str

    @property
    def kind(self) -> str:
        """Return the kind of problem that it is."""
        return ABOUT.get(self.part.split(" ", 1)[0], "table-altered")

    @property
    def sleeping(self) -> str | None:
        """Return the trigger that does not fire as it should."""
        found = re.fullmatch(r"trigger (\w+) \(when it fires\)", self.part)
        return found and found[1]

    def problem(self) -> Problem:
        """Return the problem that `recorder verify` reports."""
        return Problem(kind=self.kind, says=self.says)


class CatalogMade(msgspec.Struct, frozen=True):
    """What the migrations make."""

    revision: str
    objects: dict[str, dict[str, list[str]]]
    """The possible definitions of a part, by object: PostgreSQL 16 and newer
    print some views differently from 15."""


def differences(
    found: CatalogFound, made: CatalogMade, roles: Collection[str] = ()
) -> Iterator[Difference]:
    """Yield what is not as the migrations make it.

    Read privileges may be granted to any role by name, and other privileges of
    our roles to those in ``roles``. An index may be added, if it uses only
    what is PostgreSQL's own.
    """
    for name, parts in sorted(found.objects.items()):
        wanted = made.objects.get(found.made[name])
        if wanted is None:
            yield from (
                Difference(name, part, f"{_of(part, name)} was added")
                for part in sorted(parts)
                if part in WHOLE or part.startswith("setting")
            )
            continue
        yield from _compared(name, parts, wanted, roles)
    there = set(found.made.values())
    for name, wanted in sorted(made.objects.items()):
        if name not in there and not name.endswith(DAY):
            part = next((part for part in wanted if part in WHOLE), "other")
            yield Difference(name, part, f"{_of(part, name)} is missing")


def _compared(
    name: str, parts: Mapping[str, str], wanted: Parts, roles: Collection[str]
) -> Iterator[Difference]:
    for part in sorted(parts.keys() | wanted.keys()):
        what = _of(part, name)
        if part not in parts:
            yield Difference(name, part, f"{what} is missing")
        elif part not in wanted:
            if not _is_allowed(part, parts[part], wanted, roles):
                yield Difference(name, part, f"{what} was added")
        elif parts[part] not in wanted[part]:
            yield Difference(
                name,
                part,
                f"{what} is not the one that the migrations make"
                + _compared_text(parts[part], wanted[part]),
            )


def _is_allowed(
    part: str, definition: str, wanted: Parts, roles: Collection[str]
) -> bool:
    if part.startswith("index "):
        return True
    if not part.startswith("grant ") or definition:
        return False
    granted, _, role = part.rpartition(" to ")
    right = granted.removeprefix("grant ")
    if role == "PUBLIC":
        return False
    if right.startswith("SELECT") or (right == "USAGE" and "schema" in wanted):
        return True
    return role in roles and any(
        one.startswith(f"{granted} to recorder_") for one in wanted
    )


def _of(part: str, name: str) -> str:
    """Name a part for people."""
    if part in WHOLE:
        return name if part == "other" else f"{part} {name}"
    return f"{part.removeprefix('setting ')} of {name}"


def _compared_text(found: str, wanted: Sequence[str]) -> str:
    if found.startswith("sha256:") or wanted[0].startswith("sha256:"):
        return ""
    return f': "{found}" instead of "{wanted[0]}"'
