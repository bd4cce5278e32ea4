"""Run migrations: one at a time, each in its transaction, never waiting long.

An advisory lock keeps two deployments from racing; a lock timeout keeps a
migration from queueing in front of the writer.
"""

from alembic import context
from sqlalchemy import Connection, text

LOCK = 0x7265_636F_7264
"""Advisory lock key: the bytes of ``record``."""


def migrate(connection: Connection) -> None:
    connection.execute(text("set lock_timeout = '4s'"))
    connection.execute(text("set statement_timeout = '60s'"))
    connection.execute(text(f"select pg_advisory_lock({LOCK})"))
    connection.execute(text("set role recorder_owner"))
    connection.execute(text("create schema if not exists recorder"))
    connection.execute(text("set search_path = recorder"))
    connection.commit()
    context.configure(
        connection=connection,
        version_table="schema_version",
        version_table_schema="recorder",
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():
    context.configure(
        dialect_name="postgresql",
        literal_binds=True,
        # Any other style would print each per cent sign twice.
        dialect_opts={"paramstyle": "named"},
        version_table="schema_version",
        version_table_schema="recorder",
    )
    with context.begin_transaction():
        context.execute("set role recorder_owner")
        context.execute("create schema if not exists recorder")
        context.execute("set search_path = recorder")
        context.run_migrations()
else:
    migrate(context.config.attributes["connection"])
