"""Plain objects by columns: what graphql-core would answer, to the letter.

The oracle is graphql-core's own executor, given the same queries and objects,
among them objects that hold what they should not.
"""

import math
from collections.abc import Generator
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum
from random import Random
from typing import Any, NewType
from zoneinfo import ZoneInfo

import pytest
import strawberry
from graphql import (
    ExecutionResult,
    execute,
    execute_sync,
    parse,
    validate,
)
from graphql.execution import Executor
from strawberry.schema.config import StrawberryConfig

from api.http.columns import ColumnExecutor
from api.http.graphql_http import json_bytes
from api.resolvers.types.scalars import SCALARS, Json, attribute
from recorder.model.fact import FactKind

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
TIMES = (
    NOON,
    NOON.replace(microsecond=1),
    NOON.replace(microsecond=120_000),
    NOON.replace(microsecond=999_999, fold=1),
    datetime.min.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=UTC),
    NOON.astimezone(timezone(timedelta(hours=-9, minutes=-30))),
    NOON.astimezone(timezone(timedelta(minutes=1, seconds=7))),
    NOON.replace(microsecond=7).astimezone(ZoneInfo("Asia/Kathmandu")),
    NOON.replace(tzinfo=None),
    NOON.replace(microsecond=7, tzinfo=None),
)


@strawberry.enum
class Colour(Enum):
    RED = "red"
    BLUE = "blue"


Odd = NewType("Odd", object)


@strawberry.type
class Leaf:
    text: str
    name: strawberry.ID
    number: int
    size: float
    ready: bool
    colour: Colour
    kind: strawberry.enum(FactKind)  # type: ignore[valid-type]
    at: datetime
    detail: Json
    odd: Odd
    maybe: str | None
    words: list[str]
    texts: list[str | None] | None

    @strawberry.field
    def quoted(self) -> str:
        return f"<{self.text}>"


@strawberry.type
class Branch:
    leaf: Leaf
    perhaps: Leaf | None
    leaves: list[Leaf]
    gaps: list[Leaf | None]
    rows: list[list[Leaf]]
    name: str = strawberry.field(name="class")


@strawberry.type
class Query:
    @strawberry.field
    def branches(self, info: strawberry.Info) -> list[Branch] | None:
        found: list[Branch] = info.context
        return found

    @strawberry.field
    async def branch(self, info: strawberry.Info) -> Branch | None:
        found: Branch = info.context[0]
        return found


ODD = strawberry.scalar(
    name="Odd", serialize=lambda value: value if value == 1 else None
)
SCHEMA = strawberry.Schema(
    query=Query,
    config=StrawberryConfig(
        scalar_map={**SCALARS, Odd: ODD}, default_resolver=attribute
    ),
)._schema

LEAVES = (
    "__typename", "text", "name", "number", "size", "ready", "colour",
    "kind", "at", "detail", "odd", "maybe", "words", "texts",
    "other: text",
    "text @skip(if: $yes)", "number @include(if: $yes)", "...Some",
)  # fmt: skip
BRANCHES = ("leaf", "perhaps", "leaves", "gaps", "rows", "again: leaf")
SOME = "fragment Some on Leaf { maybe size again: at }"


class Word(str):  # noqa: SLOT000 - as little as can be
    """Text that is not quite text."""


class Soon:
    """What can be waited for, by each who asks."""

    def __await__(self) -> Generator[None, None, str]:
        yield from ()
        return "soon"


WRONG: tuple[Any, ...] = (
    Soon(), None, "", "text", Word("word"), 0, -1, True, 1 << 31, 1 << 40,
    0.5, 3.0, math.nan, math.inf, Colour.RED, "red", "event", FactKind.EVENT,
    [], [1], ["a", None], (), ("a",), {}, {"a": 1}, object(), NOON,
    ValueError("of a value"), b"bytes", [[]], iter(()),
)  # fmt: skip


def a_leaf(random: Random) -> Leaf:
    return Leaf(
        text=random.choice(("", "text", "more text")),
        name=strawberry.ID(random.choice(("1/2", "1/3"))),
        number=random.randrange(-9, 9),
        size=random.choice((0.5, 1, 2.0)),
        ready=random.random() < 0.5,
        colour=random.choice(list(Colour)),
        kind=random.choice(list(FactKind)),
        at=random.choice(TIMES),
        detail=Json({"old": None, "new": [1, {"a": "b"}]}),
        odd=Odd(1),
        maybe=random.choice((None, "there")),
        words=["a"] * random.randrange(3),
        texts=random.choice((None, [], ["a", None])),
    )


def a_branch(random: Random) -> Branch:
    def leaves() -> list[Leaf]:
        return [a_leaf(random) for _ in range(random.randrange(4))]

    return Branch(
        leaf=a_leaf(random),
        perhaps=random.choice((None, a_leaf(random))),
        leaves=leaves(),
        gaps=[*leaves(), None, *leaves()],
        rows=[
            *(leaves() for _ in range(random.randrange(3))),
            [a_leaf(random)],
        ],
        name="branch",
    )


def spoil(random: Random, branches: list[Branch], times: int) -> None:
    """Put what does not belong there into attributes."""
    things: list[Any] = [*branches]
    for branch in branches:
        things += [branch.leaf, *branch.leaves]
    for thing in random.choices(things, k=times):
        setattr(thing, random.choice([*vars(thing)]), random.choice(WRONG))


def a_query(random: Random) -> str:
    def leaf() -> str:
        names = random.sample((*LEAVES, "quoted"), random.randrange(1, 8))
        return " ".join(names)

    parts = [
        f"{name} {{ {leaf()} }}"
        for name in random.sample(BRANCHES, random.randrange(1, 6))
    ]
    parts += random.sample(("class", "__typename"), random.randrange(3))
    asked = random.choice(("branches", "branch"))
    return (
        f"query Q($yes: Boolean = {random.choice(('true', 'false'))})"
        f" {{ {asked} {{ {' '.join(parts)} leaf {{ ...Some }} }}"
        f" __typename @skip(if: $yes) }} {SOME}"
    )


async def answered(
    query: str, branches: list[Branch], by: type[Executor[Any]] | None
) -> ExecutionResult:
    found: Any = execute(
        SCHEMA, parse(query), context_value=branches, executor_class=by
    )
    if not isinstance(found, ExecutionResult):
        found = await found
    result: ExecutionResult = found
    return result


ATTRIBUTES = ("leaf", "perhaps", "leaves", "gaps", "rows", "name")
OF_A_LEAF = " ".join(LEAVES[:14])
OF_A_BRANCH = " ".join(f"{name} {{ {OF_A_LEAF} }}" for name in BRANCHES)


@pytest.mark.parametrize("wrong", WRONG, ids=map(str, range(len(WRONG))))
async def test_what_is_wrong_is_as_with_the_stock_executor(
    wrong: Any,
) -> None:
    query = f"{{ branches {{ class {OF_A_BRANCH} }} }}"
    for name in (*ATTRIBUTES, *(f"leaf.{name}" for name in LEAVES[1:14])):
        branches = [a_branch(Random(4)), a_branch(Random(5))]
        place, _, attribute = name.rpartition(".")
        spoiled = branches[0].rows[-1][-1] if place else branches[0]
        setattr(spoiled, attribute, wrong)

        stock = await answered(query, branches, None)
        columns = await answered(query, branches, ColumnExecutor)

        assert columns.formatted == stock.formatted, name


@pytest.mark.parametrize("seed", range(10))
async def test_columns_answer_what_the_stock_executor_does(seed: int) -> None:
    random = Random(seed)
    for _ in range(30):
        branches = [a_branch(random) for _ in range(random.randrange(1, 4))]
        spoil(random, branches, random.choice((0, 0, 1, 3)))
        query = a_query(random)
        assert not validate(SCHEMA, parse(query)), query

        stock = await answered(query, branches, None)
        columns = await answered(query, branches, ColumnExecutor)

        assert columns.formatted == stock.formatted, query
        if stock.data is not None and not stock.errors:
            assert list(map(repr, _leaves(columns.data))) == list(
                map(repr, _leaves(stock.data))
            )


def _leaves(data: Any) -> Any:
    """Yield names and values in the order in which they are answered."""
    if isinstance(data, dict):
        for name, value in data.items():
            yield name
            yield from _leaves(value)
    elif isinstance(data, list):
        for value in data:
            yield from _leaves(value)
    else:
        yield data


class Counting(ColumnExecutor):
    """Counts the fields that are resolved one by one."""

    resolved = 0

    def execute_field(self, *given: Any) -> Any:
        Counting.resolved += 1
        return super().execute_field(*given)


def test_a_list_of_plain_objects_is_not_resolved_item_by_item() -> None:
    Counting.resolved = 0
    branches = [a_branch(Random(1)) for _ in range(100)]
    query = "{ branches { class leaf { text } leaves { kind at detail } } }"

    result = execute_sync(
        SCHEMA,
        parse(query),
        context_value=branches,
        executor_class=Counting,
    )

    assert not result.errors
    assert len(json_bytes(result.data)) > 1000
    assert Counting.resolved == 1
