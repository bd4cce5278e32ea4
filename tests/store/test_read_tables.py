"""The definitions of the read side are the tables of the migrations."""

from sqlalchemy import Connection, Table, inspect
from sqlalchemy.types import TypeEngine

from recorder.store.engine import make_engine
from recorder.store.tables import SCHEMA, metadata
from tests.support.postgres import Database


def in_database(connection: Connection, table: Table) -> dict[str, str]:
    columns = inspect(connection).get_columns(table.name, schema=SCHEMA)
    return {
        column["name"]: written(
            connection, column["type"], nullable=column["nullable"]
        )
        for column in columns
    }


def as_named(connection: Connection, table: Table) -> dict[str, str]:
    return {
        column.name: written(
            connection, column.type, nullable=bool(column.nullable)
        )
        for column in table.columns
    }


def written(
    connection: Connection, kind: TypeEngine[object], *, nullable: bool
) -> str:
    name = kind.compile(connection.dialect)
    return name if nullable else f"{name} NOT NULL"


async def test_every_table_has_exactly_the_columns_that_are_named(
    any_database: Database,
) -> None:
    engine = make_engine(any_database.dsn("reader"))
    try:
        async with engine.connect() as connection:
            for table in metadata.tables.values():
                found = await connection.run_sync(in_database, table)
                named = await connection.run_sync(as_named, table)
                assert found == named, table.name
    finally:
        await engine.dispose()
