"""Add an outbox of notifications, and who keeps it."""

from pathlib import Path

from alembic import context, op
from sqlalchemy.util import await_only

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    script = (SQL / "notify.sql").read_text()
    if context.is_offline_mode():
        op.execute(script)
        return
    # See 0001: the driver's own call takes several statements at once.
    bind = op.get_bind()
    bind.exec_driver_sql("select 1")
    await_only(bind.connection.driver_connection.execute(script))


def downgrade() -> None:
    op.execute("drop table notification, notify_rule")
    op.execute("revoke usage on schema recorder from recorder_notifier")
