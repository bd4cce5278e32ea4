"""Find what was claimed of the ports of nodes."""

from pathlib import Path

from alembic import context, op
from sqlalchemy.util import await_only

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    op.execute(f"insert into schema_serves values ('{revision}')")
    script = (SQL / "ports.sql").read_text()
    if context.is_offline_mode():
        op.execute(script)
        return
    # See 0001: the driver's own call takes several statements at once.
    bind = op.get_bind()
    bind.exec_driver_sql("select 1")
    await_only(bind.connection.driver_connection.execute(script))


def downgrade() -> None:
    message = "revision 0020 cannot be undone: restore the database"
    raise NotImplementedError(message)
