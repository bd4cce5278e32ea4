"""Names in statements become what the driver takes, once."""

import pkgutil
from importlib import import_module

import asyncpg
import pytest

from recorder import keeping as admin
from recorder import store
from recorder.model.fact import FactKind
from recorder.store.codes import (
    BEARING_CODES,
    FACT_CODES,
    MARK_CODES,
    OPERATION_CODES,
)
from recorder.store.statement import NUMBERS, Statement
from tests.support.postgres import Database


def test_values_are_numbered_in_the_order_in_which_they_are_first_named() -> (
    None
):
    made = Statement.of("a = :one and b < :sha256::int8 and c > :one")

    assert made.text == "a = $1 and b < $2::int8 and c > $1"
    assert made.values({"sha256": 2, "one": 1}) == [1, 2]


def test_a_kind_is_a_literal_for_the_planner() -> None:
    bound = FACT_CODES[FactKind.BOUND]

    made = Statement.of("f.kind in (#bound) and f.kind <> #deletion-requested")

    assert made.text == f"f.kind in ({bound}) and f.kind <> 3"


def test_unknown_names_are_refused_where_the_statement_is_made() -> None:
    with pytest.raises(KeyError, match="bond"):
        Statement.of("f.kind = #bond")
    with pytest.raises(AssertionError):
        Statement.of("a = :one").values({"one": 1, "two": 2})


def test_no_two_things_that_have_numbers_have_one_name() -> None:
    names = [*BEARING_CODES, *FACT_CODES, *MARK_CODES, *OPERATION_CODES]
    assert len(NUMBERS) == len(names)


async def test_postgresql_prepares_every_statement(
    any_database: Database,
) -> None:
    connection = await asyncpg.connect(any_database.superuser_dsn())
    try:
        found = [
            *pkgutil.iter_modules(store.__path__, "recorder.store."),
            *pkgutil.iter_modules(admin.__path__, "recorder.keeping."),
        ]
        for module in found:
            loaded = import_module(module.name)
            for name, one in vars(loaded).items():
                if isinstance(one, Statement):
                    try:
                        await connection.prepare(one.text)
                    except asyncpg.PostgresError as exc:
                        exc.add_note(f"{module.name}.{name}")
                        raise
    finally:
        await connection.close()
