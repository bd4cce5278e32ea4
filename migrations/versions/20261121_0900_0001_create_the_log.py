"""Create the log: entries, their dimensions, bookkeeping and guards."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"
SCRIPTS = ("tables", "deny", "add_partition", "grants")


def upgrade() -> None:
    for script in SCRIPTS:
        op.execute((SQL / f"{script}.sql").read_text())


def downgrade() -> None:
    op.execute("drop schema recorder cascade; create schema recorder")
