"""Add states of days, what is archived of them, holds, and the drop."""

from pathlib import Path

from alembic import context, op
from sqlalchemy.util import await_only

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"

FUNCTIONS = (
    "give_up_building()",
    "leave_notice(int4, text)",
    "forget_names(int4, text, int8, int4)",
    "prune_batches(int4, int4)",
    "drop_partition(text, text)",
    "build_kept(text, text, jsonb)",
    "remove_dropped()",
    "check_drop(text, text)",
    "holds_over(partition)",
    "archive_partition(text)",
    "is_verified(partition, boolean)",
    "verified_day(text, int4, bytea, bytea, text, int8)",
    "seal_partition(text)",
)


def upgrade() -> None:
    scripts = [
        (SQL / name).read_text() for name in ("retain.sql", "carry.sql")
    ]
    if context.is_offline_mode():
        for script in scripts:
            op.execute(script)
        return
    # See 0001: the driver's own call takes several statements at once.
    bind = op.get_bind()
    bind.exec_driver_sql("select 1")
    for script in scripts:
        await_only(bind.connection.driver_connection.execute(script))


def downgrade() -> None:
    for signature in FUNCTIONS:
        op.execute(f"drop function {signature}")
    for table in ("batch", "object", "node"):
        op.execute(f"drop trigger append_only_kept on {table}")
        op.execute(f"drop trigger append_only on {table}")
        op.execute(
            "create trigger append_only before update or delete or truncate"
            f" on {table} for each statement execute function deny()"
        )
        op.execute(f"alter table {table} enable always trigger append_only")
    op.execute("drop function deny_kept(), deny_unless_pruning()")
    op.execute("drop table notice, hold_lifted, hold, archived_day")
    op.execute(
        "alter table log_head drop column sealed_until,"
        " drop column pruned_batches, drop column pruned_positions,"
        " drop column forgotten"
    )
    op.execute(
        "alter table partition drop column state, drop column sealed_at,"
        " drop column archived_at, drop column dropped_at"
    )
