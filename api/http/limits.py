"""Limits on the size of one query.

Checked before the query is validated or executed, with its fragments expanded:
a short text can expand to a very large query, and fragments that name each
other to an endless one.
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

TOKENS_MAX = 4000
"""Tokens of the text; the page's largest query has about 700."""

DEPTH_MAX = 15
"""Levels of fields; the introspection query of clients has 13."""

NESTING_MAX = 40
"""Levels including fragments: stops a cycle."""

FIELDS_MAX = 3000
"""Counted with fragments expanded, each use as one more: fragments that name
others twice are few in the text and countless when expanded."""

REPEATED_MAX = 100
"""Selections of one field in one place: each is compared with each other."""

ALIASES_MAX = 100
QUESTIONS_MAX = 30
"""Top-level fields: each is a question of its own to the log."""


@dataclass(slots=True)
class _Count:
    """The counts of one operation."""

    fragments: dict[str, FragmentDefinitionNode]
    fields: int = 0
    aliases: int = field(default=0)


def check_size(document: DocumentNode) -> None:
    """Check that no operation of a document is too large.

    Raises:
        LimitError: an operation is too large.
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
