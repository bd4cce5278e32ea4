"""Let the writer forget where a stream that is gone would resume."""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("grant delete on resume_point to recorder_writer")
    # A release before does not know the state `ended` of a stream, and would
    # find nothing in the facts of requests.
    op.execute("delete from schema_serves")
    op.execute(f"insert into schema_serves values ('{revision}')")


def downgrade() -> None:
    op.execute("delete from schema_serves")
    op.execute(f"insert into schema_serves values ('{down_revision}')")
    op.execute("revoke delete on resume_point from recorder_writer")
