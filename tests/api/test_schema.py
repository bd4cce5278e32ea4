"""The schema that clients rely on is the one that is served."""

import re

import pytest
from graphql import GraphQLObjectType, build_schema, find_breaking_changes
from msgspec.structs import fields

from api.schema import SDL, make_schema
from recorder.documents.document import Document
from recorder.documents.verdict import EvidenceDocument, VerdictDocument

ONLY_IN_GRAPHQL = {
    "Verdict": {"at", "began_at"},
    "Evidence": {"at"},
}
"""What the page shows as the time; JSON has `between`, `steps` and both
clocks instead."""

ONLY_IN_JSON: dict[str, set[str]] = {"Verdict": set(), "Evidence": set()}


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


@pytest.mark.parametrize(
    ("name", "document"),
    [("Verdict", VerdictDocument), ("Evidence", EvidenceDocument)],
)
def test_graphql_and_json_have_the_same_fields(
    name: str, document: type[Document]
) -> None:
    kind = build_schema(SDL.read_text()).type_map[name]
    assert isinstance(kind, GraphQLObjectType)
    served = {re.sub("[A-Z]", r"_\g<0>", f).lower() for f in kind.fields}
    printed = {field.encode_name for field in fields(document)}

    assert served - printed == ONLY_IN_GRAPHQL[name], (
        f"{name} of api/types/verdicts.py has fields that are not in"
        f" {document.__name__} of recorder/documents/verdict.py"
    )
    assert printed - served == ONLY_IN_JSON[name], (
        f"{document.__name__} of recorder/documents/verdict.py has fields"
        f" that are not in {name} of api/types/verdicts.py"
    )
