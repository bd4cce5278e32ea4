"""Translates a selection into conditions on the rows of `entry`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recorder.answers.nouns import Selection, is_about_events
from recorder.model.entry import Operation
from recorder.store.codes import (
    OPERATION_CODES,
    SOURCE_CODES,
    version_columns,
)
from recorder.store.engine import Engine, fetch
from recorder.store.statement import Condition, Statement, question

VERSIONS = tuple(
    OPERATION_CODES[operation]
    for operation in (
        Operation.LISTED,
        Operation.RECOVERED,
        Operation.ADDED,
        Operation.MODIFIED,
        Operation.DELETED,
        Operation.ABSENT,
        Operation.RENEWED,
    )
)

BY_RECORDER = "e.operation >= #refused"
"""The condition that an entry is the recorder's own.

The number is a literal, so that the planner can prove that the partial index
`entry_by_gap` has all such entries.
"""

ACTION = "read entries"
RESOURCES = question("select resource_id, name from recorder.resource")
NODE = question("""
    select node_id from recorder.node where log_id = :log and name = :name
""")
WORD = question("select word_id from recorder.word where text = :name")

REFUSED = """exists (select from recorder.fact f
      where f.recorded_at = e.recorded_at and f.position = e.position
        and f.derivation_id in (select d.derivation_id
          from recorder.derivation d where d.log_id = :log)
        and f.kind = #requested and f.value = :code)"""


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a selection on an entry ``e``."""

    asked: tuple[Condition, ...]
    indexed: bool = True
    """Whether an index covers the selection. Else the log is scanned, which
    takes a second for a million entries."""

    narrows: bool = False
    """Whether it has conditions besides a time: few entries may match."""


class Newest(NamedTuple):
    """The newest entries of a selection that were found."""

    selection: Selection
    after: int
    """The position after which they are."""

    positions: Sequence[int]


async def find_conditions(
    engine: Engine, log: int, selection: Selection
) -> Conditions | None:
    """Return the conditions of a selection; None if no entry can match."""
    asked = [*_plain(selection), *_of_requests(selection)]
    if selection.versions:
        events = await event_resources(engine)
        asked.append(("e.operation = any (:made::int2[])", {"made": VERSIONS}))
        asked.append(
            ("not e.resource_id = any (:events::int2[])", {"events": events})
        )
    if selection.node is not None:
        number = await _number(engine, NODE, log=log, name=selection.node)
        if number is None:
            return None
        asked.append(_about_node(number, selection.beside))
    if selection.code is not None:
        asked.append((REFUSED, {"log": log, "code": str(selection.code)}))
    for name, column in ((selection.reason, "reason"),
                         (selection.actor, "actor")):  # fmt: skip
        if name is not None:
            number = await _number(engine, WORD, name=name)
            if number is None:
                return None
            asked.append((f"e.{column}_id = :{column}", {column: number}))
    indexed = selection.node is not None or selection.objects is not None
    asked_for = (
        selection.reason,
        selection.actor,
        selection.source,
        selection.code,
    )
    narrows = any(one is not None for one in asked_for)
    return Conditions(tuple(asked), indexed, narrows)


async def event_resources(engine: Engine) -> list[int]:
    """Return the numbers of the resources of Kubernetes Events."""
    rows = await fetch(engine, ACTION, RESOURCES)
    return [number for number, name in rows if is_about_events(name)]


async def _number(
    engine: Engine, statement: Statement, **values: object
) -> int | None:
    rows = await fetch(engine, ACTION, statement, **values)
    return rows[0][0] if rows else None


def _about_node(number: int, beside: Sequence[int]) -> Condition:
    if not beside:
        return "e.node_id = :node", {"node": number}
    return (
        "(e.node_id = :node or e.position = any (:beside::int8[]))",
        {"node": number, "beside": list(beside)},
    )


def _plain(selection: Selection) -> Iterator[Condition]:
    if selection.since is not None:
        yield "e.observed_at >= :since", {"since": selection.since}
    if selection.until is not None:
        yield "e.observed_at < :until", {"until": selection.until}
    if selection.source is not None:
        yield "e.source = :source", {"source": SOURCE_CODES[selection.source]}
    if selection.operations is not None:
        codes = [OPERATION_CODES[wanted] for wanted in selection.operations]
        yield "e.operation = any (:operations::int2[])", {"operations": codes}
    if selection.objects is not None:
        objects = list(selection.objects)
        yield "e.object_id = any (:objects::int8[])", {"objects": objects}


def _of_requests(selection: Selection) -> Iterator[Condition]:
    """Yield the conditions for audit records that made versions."""
    if selection.resource_versions is not None:
        yield _of_versions(selection.resource_versions)
    claimed = selection.occurred
    if claimed is not None and claimed.since is not None:
        yield (
            "e.occurred_at >= :claimed_since",
            {"claimed_since": claimed.since},
        )
    if claimed is not None and claimed.until is not None:
        yield (
            "e.occurred_at < :claimed_until",
            {"claimed_until": claimed.until},
        )


def _of_versions(wanted: Sequence[str]) -> Condition:
    """Return the condition that an entry has one of some versions.

    They are numbers in every cluster, but the API does not guarantee it.
    """
    split = [version_columns(one) for one in wanted]
    numbered = "e.version = any (:numbers::int8[])"
    other = "e.resource_version = any (:texts::text[])"
    return f"({numbered} or {other})", {
        "numbers": [one for one, _ in split if one is not None],
        "texts": [text for _, text in split if text is not None],
    }
