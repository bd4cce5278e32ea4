"""The schema that clients rely on is the one that is served."""

import re
from collections.abc import Iterator
from typing import TypeGuard, get_args, get_type_hints

from graphql import (
    GraphQLObjectType,
    build_schema,
    find_breaking_changes,
    get_named_type,
)
from msgspec.structs import fields

from api.schema import SDL, make_schema
from recorder.explain.verdict import Verdict
from recorder.model.document import Document, is_left_out

ONLY_IN_GRAPHQL = {
    "Verdict": {"at", "began_at"},
    "Evidence": {"at"},
}
"""What the page shows as the time; JSON has `between`, `steps` and both
clocks instead."""

ONLY_IN_JSON: dict[str, set[str]] = {}
PARTS = 16
"""Of a verdict, it included."""


def test_what_is_served_breaks_no_client_of_the_committed_schema() -> None:
    committed = build_schema(SDL.read_text())
    served = build_schema(make_schema().as_str())

    assert find_breaking_changes(committed, served) == []


def test_the_committed_schema_is_whole() -> None:
    assert SDL.read_text() == make_schema().as_str() + "\n", (
        "run: python -m api.schema"
    )


def test_every_type_field_and_argument_that_is_not_plain_is_described() -> (
    None
):
    schema = build_schema(SDL.read_text())
    for name in ("Query", "Node", "KubernetesObject", "Subscription"):
        kind = schema.type_map[name]
        assert kind.description, name
        for field_name, field in kind.fields.items():  # type: ignore[attr-defined]
            for argument_name, argument in field.args.items():
                where = f"{name}.{field_name}({argument_name})"
                assert argument.description, where
    for name, kind in schema.type_map.items():
        assert name.startswith("__") or kind.description, name


def test_a_removed_field_is_found_out() -> None:
    text = SDL.read_text()
    assert text.count("backInServiceAt: DateTime") == 1
    broken = text.replace("backInServiceAt: DateTime", "backAt: DateTime")

    found = find_breaking_changes(build_schema(text), build_schema(broken))

    assert [change.description for change in found]


def parts_of(
    kind: GraphQLObjectType, document: type[Document]
) -> Iterator[tuple[GraphQLObjectType, type[Document]]]:
    """Yield an answer and all of its parts, in GraphQL and in JSON."""
    yield kind, document
    types = get_type_hints(document)
    for name, field in kind.fields.items():
        part = get_named_type(field.type)
        printed = types.get(snake(name))
        for one in (printed, *get_args(printed)):
            for type_ in (one, *get_args(one)):
                if isinstance(part, GraphQLObjectType) and is_document(type_):
                    yield from parts_of(part, type_)


def is_document(type_: object) -> TypeGuard[type[Document]]:
    return isinstance(type_, type) and issubclass(type_, Document)


def snake(name: str) -> str:
    return re.sub("[A-Z]", r"_\g<0>", name).lower()


def test_graphql_and_json_have_the_same_fields() -> None:
    verdict = build_schema(SDL.read_text()).type_map["Verdict"]
    assert isinstance(verdict, GraphQLObjectType)
    found = dict(parts_of(verdict, Verdict))

    assert len(found) == PARTS
    for kind, document in found.items():
        served = set(map(snake, kind.fields))
        written = {field.encode_name for field in fields(document)}
        printed = {name for name in written if not is_left_out(name)}
        both = f"{kind.name} of GraphQL, {document.__name__} of JSON"
        assert served - printed == ONLY_IN_GRAPHQL.get(kind.name, set()), both
        assert printed - served == ONLY_IN_JSON.get(kind.name, set()), both
