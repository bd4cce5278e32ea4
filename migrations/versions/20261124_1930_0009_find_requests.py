"""Find audit records by the moment of their request."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # 10: an audit record, by which each is known whichever way it comes.
    op.execute(
        "create index entry_by_request on entry (log_id, occurred_at)"
        " where operation = 10"
    )


def downgrade() -> None:
    op.execute("drop index entry_by_request")
