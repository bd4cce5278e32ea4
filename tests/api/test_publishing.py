"""A published struct is the GraphQL type, and its JSON stays what it is."""

from collections.abc import Sequence

import pytest
import strawberry
from graphql import execute_sync, parse
from msgspec import UNSET, UnsetType, field
from strawberry.schema.config import StrawberryConfig

from api.http.columns import ColumnExecutor
from api.resolvers.types.publishing import publish
from api.resolvers.types.scalars import SCALARS, attribute
from recorder.model.document import Document, plain
from recorder.model.outcomes import Mode
from recorder.model.reference import EntryName


class Part(Document, frozen=True, kw_only=True):
    """A part."""

    kept_in: str = field(name="class")
    """Where it is kept."""


class Whole(Document, frozen=True, kw_only=True):
    """A whole, in
    two lines."""

    first_entry: EntryName
    """The entry that proves it."""

    entries: Sequence[EntryName]
    parts: Sequence[Part]
    mode: Mode | UnsetType = UNSET
    hidden: int = 0

    @property
    def count(self) -> int:
        """The number of entries."""
        return len(self.entries)


class Added:
    """Fields that only GraphQL has."""

    count: int
    """A property."""

    @strawberry.field
    @staticmethod
    def twice(whole: strawberry.Parent[Whole], by: int) -> int:
        """Twice something."""
        assert whole is WHOLE
        return 2 * by


WHOLE = Whole(
    first_entry=EntryName(1, 7),
    entries=[EntryName(1, 7), EntryName(1, 9)],
    parts=[Part(kept_in="a")],
)
QUERY = "{ whole { firstEntry entries parts { class } mode count } }"
SHOWN = {
    "firstEntry": "1/7",
    "entries": ["1/7", "1/9"],
    "parts": [{"class": "a"}],
    "mode": None,
    "count": 2,
}


@pytest.fixture(scope="module")
def schema() -> strawberry.Schema:
    """Return a schema of published structs."""
    publish(Part)
    publish(
        Whole,
        adds=Added,
        without=("hidden",),
        order=("count", "first_entry"),
    )

    @strawberry.type
    class Query:
        @strawberry.field
        def whole(self) -> Whole:
            return WHOLE

    return strawberry.Schema(
        query=Query,
        config=StrawberryConfig(
            scalar_map=SCALARS, default_resolver=attribute
        ),
    )


def test_a_type_has_the_fields_and_the_texts_of_its_struct(
    schema: strawberry.Schema,
) -> None:
    assert '''"""A whole, in two lines."""
type Whole {
  """A property."""
  count: Int!

  """The entry that proves it."""
  firstEntry: ID!
  entries: [ID!]!
  parts: [Part!]!
  mode: Mode

  """Twice something."""
  twice(by: Int!): Int!
}''' in schema.as_str()
    assert '"""Where it is kept."""\n  class: String!' in schema.as_str()


@pytest.mark.parametrize("by_columns", [True, False])
def test_instances_are_resolved_as_they_are(
    schema: strawberry.Schema, *, by_columns: bool
) -> None:
    # A field with arguments is resolved one by one, and so all beside it.
    query = QUERY if by_columns else QUERY.replace("mode", "mode twice(by: 2)")
    result = execute_sync(
        schema._schema,
        parse(query),
        executor_class=ColumnExecutor,
    )

    twice = {} if by_columns else {"twice": 4}
    assert not result.errors
    assert result.data == {"whole": {**SHOWN, **twice}}


def test_json_is_what_it_is_without_graphql() -> None:
    assert plain(WHOLE) == {
        "first_entry": "1/7",
        "entries": ["1/7", "1/9"],
        "parts": [{"class": "a"}],
        "hidden": 0,
    }


@pytest.mark.parametrize("order", [("kept_in", "kept_in"), ("unknown",)])
def test_an_order_names_fields_each_once(order: tuple[str, ...]) -> None:
    with pytest.raises(TypeError, match="cannot publish Part"):
        publish(Part, order=order)
