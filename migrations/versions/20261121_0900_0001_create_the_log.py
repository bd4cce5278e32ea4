"""Create the log: entries, their dimensions, bookkeeping and guards."""

from pathlib import Path

from alembic import context, op
from sqlalchemy.util import await_only

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"
SCRIPTS = ("tables", "deny", "add_partition", "grants")


def run(script: str) -> None:
    """Run a script of several statements inside the migration."""
    if context.is_offline_mode():
        op.execute(script)
        return
    # The first statement opens the transaction that the script runs in; the
    # driver's own call is the one that takes several statements at once.
    bind = op.get_bind()
    bind.exec_driver_sql("select 1")
    await_only(bind.connection.driver_connection.execute(script))


def upgrade() -> None:
    for script in SCRIPTS:
        run((SQL / f"{script}.sql").read_text())


def downgrade() -> None:
    run("drop schema recorder cascade; create schema recorder")
