"""Let entries of a rule go before their day, with their hashes kept."""

from pathlib import Path

from alembic import context, op
from sqlalchemy.util import await_only

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"

FUNCTIONS = (
    "thin_partition(text, int8, text, jsonb, jsonb)",
    "build_thinned(text, int8, text, jsonb)",
    "stage_thinned(int8, int4, int8, int4[], bytea)",
    "begin_thinning(text, text, jsonb)",
    "check_thinning(text, text, jsonb)",
    "rows_to_thin(text, jsonb)",
)


def upgrade() -> None:
    op.execute(f"insert into schema_serves values ('{revision}')")
    script = (SQL / "thin.sql").read_text()
    if context.is_offline_mode():
        op.execute(script)
        return
    # See 0001: the driver's own call takes several statements at once.
    bind = op.get_bind()
    bind.exec_driver_sql("select 1")
    await_only(bind.connection.driver_connection.execute(script))


def downgrade() -> None:
    op.execute(f"delete from schema_serves where revision = '{revision}'")
    for signature in FUNCTIONS:
        op.execute(f"drop function {signature}")
    # The triggers and functions that were replaced do without them too.
    op.execute("drop table thin_next, thinned, thinning")
    op.execute("drop function deny_thinned()")
    op.execute("drop sequence thinning_run")
