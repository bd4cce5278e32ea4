"""Reading: a selection as conditions on the rows of `entry`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import (
    ColumnElement,
    exists,
    literal_column,
    not_,
    or_,
    select,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from recorder.model.entry import Operation
from recorder.model.fact import FactKind
from recorder.questions.ports import Selection, is_about_events
from recorder.store.codes import (
    FACT_CODES,
    OPERATION_CODES,
    SOURCE_CODES,
    version_columns,
)
from recorder.store.tables import (
    derivation,
    entry,
    fact,
    node,
    resource,
    word,
)

__all__ = [
    "VERSIONS",
    "Conditions",
    "Newest",
    "find_conditions",
    "told_by_recorder",
]

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


def told_by_recorder() -> ColumnElement[bool]:
    """Return the condition that the recorder itself speaks.

    The number is a literal, so that the planner can prove that the partial
    index `entry_by_gap` holds every such entry.
    """
    first = OPERATION_CODES[Operation.REFUSED]
    return entry.c.operation >= literal_column(str(first))


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a selection asks of an entry, in the numbers of the database."""

    asked: tuple[ColumnElement[bool], ...]
    events: tuple[int, ...]
    """Resources that are those of Kubernetes Events."""

    indexed: bool = True
    """Whether an index leads to what is asked for. Else the log is walked
    through, which takes a second for a million entries."""

    narrows: bool = False
    """Whether it asks for more than a time: few entries may be it."""


class Newest(NamedTuple):
    """The newest of a selection, as they were found."""

    selection: Selection
    after: int
    """The position after which they lie."""

    positions: Sequence[int]


async def find_conditions(
    connection: AsyncConnection, log: int, selection: Selection
) -> Conditions | None:
    """Translate a selection; None if no entry can match it."""
    events = await _event_resources(connection)
    asked: list[ColumnElement[bool]] = list(_plain(selection))
    if selection.versions:
        asked.append(entry.c.operation.in_(VERSIONS))
        asked.append(not_(entry.c.resource_id.in_(events)))
    if selection.node is not None:
        number = await _node(connection, log, selection.node)
        if number is None:
            return None
        asked.append(_about_node(number, selection.beside))
    if selection.code is not None:
        asked.append(_refused(log, selection.code))
    for text, column in (
        (selection.reason, entry.c.reason_id),
        (selection.actor, entry.c.actor_id),
    ):
        if text is not None:
            number = await _word(connection, text)
            if number is None:
                return None
            asked.append(column == number)
    indexed = selection.node is not None or selection.objects is not None
    asked_for = (
        selection.reason,
        selection.actor,
        selection.source,
        selection.code,
    )
    narrows = any(one is not None for one in asked_for)
    return Conditions(tuple(asked), tuple(events), indexed, narrows)


def _about_node(number: int, beside: Sequence[int]) -> ColumnElement[bool]:
    about = entry.c.node_id == number
    return or_(about, entry.c.position.in_(beside)) if beside else about


def _refused(log: int, code: int) -> ColumnElement[bool]:
    """Return the condition that a request was answered with a code."""
    of_log = select(derivation.c.derivation_id).where(
        derivation.c.log_id == log
    )
    return exists().where(
        fact.c.recorded_at == entry.c.recorded_at,
        fact.c.position == entry.c.position,
        fact.c.derivation_id.in_(of_log),
        fact.c.kind == FACT_CODES[FactKind.REQUESTED],
        fact.c.value == str(code),
    )


def _plain(selection: Selection) -> Sequence[ColumnElement[bool]]:
    asked = [*_of_requests(selection)]
    if selection.since is not None:
        asked.append(entry.c.observed_at >= selection.since)
    if selection.until is not None:
        asked.append(entry.c.observed_at < selection.until)
    if selection.source is not None:
        asked.append(entry.c.source == SOURCE_CODES[selection.source])
    if selection.operations is not None:
        codes = [OPERATION_CODES[wanted] for wanted in selection.operations]
        asked.append(entry.c.operation.in_(codes))
    if selection.objects is not None:
        asked.append(entry.c.object_id.in_(selection.objects))
    return asked


def _of_requests(selection: Selection) -> Iterator[ColumnElement[bool]]:
    """Yield what audit records are found by that made some versions."""
    if selection.resource_versions is not None:
        yield _of_versions(selection.resource_versions)
    claimed = selection.occurred
    if claimed is not None and claimed.since is not None:
        yield entry.c.occurred_at >= claimed.since
    if claimed is not None and claimed.until is not None:
        yield entry.c.occurred_at < claimed.until


def _of_versions(wanted: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that an entry is of one of some versions.

    They are numbers in every cluster, but nothing promises it.
    """
    split = [version_columns(one) for one in wanted]
    numbers = [number for number, _ in split if number is not None]
    texts = [text for _, text in split if text is not None]
    return or_(
        entry.c.version.in_(numbers), entry.c.resource_version.in_(texts)
    )


async def _event_resources(connection: AsyncConnection) -> list[int]:
    query = select(resource.c.resource_id, resource.c.name)
    return [
        number
        for number, name in await connection.execute(query)
        if is_about_events(name)
    ]


async def _node(
    connection: AsyncConnection, log: int, name: str
) -> int | None:
    found: int | None = await connection.scalar(
        select(node.c.node_id).where(node.c.log_id == log, node.c.name == name)
    )
    return found


async def _word(connection: AsyncConnection, text: str) -> int | None:
    found: int | None = await connection.scalar(
        select(word.c.word_id).where(word.c.text == text)
    )
    return found
