"""How much one query may ask.

Checked before anything is validated or asked, on what the query becomes when
its fragments are put in: a short text can stand for a very large query, and
fragments that name each other for one without end.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
)

from api.errors import LimitError

__all__ = ["TOKENS_MAX", "check_size"]

TOKENS_MAX = 4000
"""Of the text; the page's largest query has about 700."""

DEPTH_MAX = 15
"""Fields within fields; the introspection query of clients has 13."""

NESTING_MAX = 40
"""Fragments within fragments too: a cycle ends here."""

FIELDS_MAX = 3000
"""Each fragment counts as one wherever it is put in: fragments that name
others twice are few in the text and countless in what it stands for."""

REPEATED_MAX = 100
"""Times that one field is selected in one place: all of them are compared
with one another."""

ALIASES_MAX = 100
QUESTIONS_MAX = 30
"""Fields at the top: each is a question of its own to the log."""


@dataclass(slots=True)
class _Count:
    """What was seen of one operation."""

    fragments: dict[str, FragmentDefinitionNode]
    fields: int = 0
    aliases: int = field(default=0)


def check_size(document: DocumentNode) -> None:
    """See that no operation of a document is too large.

    Raises:
        LimitError: one is.
    """
    fragments = {
        node.name.value: node
        for node in document.definitions
        if isinstance(node, FragmentDefinitionNode)
    }
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            count = _Count(fragments)
            _walk(node.selection_set, count, depth=1, nesting=1)
            _check_top(node.selection_set, count)


def _check_top(selected: SelectionSetNode, count: _Count) -> None:
    questions = sum(1 for _ in _top(selected, count, 1))
    if questions > QUESTIONS_MAX:
        msg = (
            f"the query has {questions} top-level fields, the limit is"
            f" {QUESTIONS_MAX}: split it"
        )
        raise LimitError(msg)


def _top(
    selected: SelectionSetNode, count: _Count, nesting: int
) -> Iterator[FieldNode]:
    for node in selected.selections:
        if isinstance(node, FieldNode):
            yield node
            continue
        within = _within(node, count)
        if within is not None:
            yield from _top(within, count, nesting + 1)


def _walk(
    selected: SelectionSetNode, count: _Count, *, depth: int, nesting: int
) -> None:
    if depth > DEPTH_MAX or nesting > NESTING_MAX:
        msg = (
            f"the query is too deep: the limit is {DEPTH_MAX} levels, and"
            " fragments cannot be recursive"
        )
        raise LimitError(msg)
    names = Counter(
        (node.alias or node.name).value
        for node in selected.selections
        if isinstance(node, FieldNode)
    )
    if max(names.values(), default=0) > REPEATED_MAX:
        msg = f"the query has a field more than {REPEATED_MAX} times in a row"
        raise LimitError(msg)
    for node in selected.selections:
        _count(node, count)
        within = _within(node, count)
        if within is not None:
            _walk(
                within,
                count,
                depth=depth + isinstance(node, FieldNode),
                nesting=nesting + 1,
            )


def _count(node: SelectionNode, count: _Count) -> None:
    count.fields += 1
    count.aliases += isinstance(node, FieldNode) and node.alias is not None
    if count.fields > FIELDS_MAX:
        msg = f"the query has more than {FIELDS_MAX} fields: split it"
        raise LimitError(msg)
    if count.aliases > ALIASES_MAX:
        msg = f"the query has more than {ALIASES_MAX} aliases: split it"
        raise LimitError(msg)


def _within(node: SelectionNode, count: _Count) -> SelectionSetNode | None:
    if isinstance(node, FragmentSpreadNode):
        fragment = count.fragments.get(node.name.value)
        return None if fragment is None else fragment.selection_set
    within: SelectionSetNode | None = getattr(node, "selection_set", None)
    return within
