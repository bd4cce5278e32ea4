"""Every field of the schema, asked for: one query for each root field."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphql import (
    GraphQLField,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

import api

__all__ = ["root_fields", "schema", "walk"]

DEPTH = 7
"""Levels of fields: the deepest that names an object has five."""


def schema() -> GraphQLSchema:
    """Return the schema that is served."""
    text = (Path(api.__file__).parent / "schema.graphql").read_text()
    return build_schema(text)


def root_fields() -> Mapping[str, GraphQLField]:
    """Return the fields of the type Query."""
    query = schema().query_type
    assert query is not None, "the schema has no queries"
    fields: Mapping[str, GraphQLField] = query.fields
    return fields


def walk(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each root field with a query for all that is below it.

    Args:
        given: values of arguments, as GraphQL writes them, by their names;
            or by field and name, as ``object.name``.
    """
    for name, field in root_fields().items():
        yield name, "{ " + _asked(name, field, given, ()) + " }"


def _asked(
    name: str,
    field: GraphQLField,
    given: Mapping[str, Any],
    path: tuple[str, ...],
) -> str:
    arguments = []
    for argument, declared in field.args.items():
        value = given.get(f"{name}.{argument}", given.get(argument))
        if value is not None:
            arguments.append(f"{argument}: {value}")
        else:
            assert not is_required_argument(declared), (name, argument)
    called = f"{name}({', '.join(arguments)})" if arguments else name
    kind = get_named_type(field.type)
    if is_leaf_type(kind):
        return called
    if isinstance(kind, GraphQLUnionType):
        parts = [
            f"... on {one.name} {_below(one, given, path)}"
            for one in kind.types
        ]
        return f"{called} {{ __typename {' '.join(parts)} }}"
    assert isinstance(kind, GraphQLObjectType), kind
    return f"{called} {_below(kind, given, path)}"


def _below(
    kind: GraphQLObjectType, given: Mapping[str, Any], path: tuple[str, ...]
) -> str:
    fields = [
        _asked(name, field, given, (*path, kind.name))
        for name, field in kind.fields.items()
        if is_leaf_type(get_named_type(field.type))
        or (
            get_named_type(field.type).name not in (*path, kind.name)
            and len(path) < DEPTH
        )
    ]
    return "{ __typename " + " ".join(fields) + " }"
