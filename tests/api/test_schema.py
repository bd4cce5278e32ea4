"""The schema that clients rely on is the one that is served."""

from graphql import build_schema, find_breaking_changes

from api.schema import SDL, make_schema


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
