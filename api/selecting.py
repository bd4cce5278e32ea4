"""What a query selects, so that nothing else is read for it."""

from collections.abc import Iterator
from typing import Any

import strawberry
from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLResolveInfo,
    SelectionSetNode,
)

__all__ = ["EVERYTHING", "selected"]


class _Everything:
    """The fields of who wants all of them."""

    def __contains__(self, name: object) -> bool:
        return True


EVERYTHING = _Everything()


def selected(info: "strawberry.Info[Any, Any]") -> frozenset[str]:
    """Return the names of all fields below one, at any depth.

    They may be more than what is answered, where a directive leaves some out,
    and one name may stand for fields of several types: never less is read.
    """
    names: set[str] = set()
    raw = info._raw_info  # noqa: SLF001 - its own selection is slow to make
    for node in raw.field_nodes:
        names.update(_below(node.selection_set, raw))
    return frozenset(names)


def _below(
    within: SelectionSetNode | None, info: "GraphQLResolveInfo[Any]"
) -> Iterator[str]:
    for node in within.selections if within else ():
        if isinstance(node, FragmentSpreadNode):
            fragment = info.fragments[node.name.value]
            yield from _below(fragment.selection_set, info)
            continue
        if isinstance(node, FieldNode):
            yield node.name.value
        yield from _below(getattr(node, "selection_set", None), info)
