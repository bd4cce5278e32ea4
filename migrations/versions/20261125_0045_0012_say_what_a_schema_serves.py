"""Say which releases a schema serves, so that one can be rolled back."""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("create table schema_serves (revision text primary key)")
    op.execute(
        "comment on table schema_serves is 'The revisions whose releases can"
        " use this schema; a revision adds itself, and removes those that it"
        " no longer serves'"
    )
    op.execute("grant select on schema_serves to public")
    op.execute(f"insert into schema_serves values ('{revision}')")


def downgrade() -> None:
    op.execute("drop table schema_serves")
