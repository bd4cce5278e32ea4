"""Add to each stream where a gap would start that opens now."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SAYS = (
    "where a gap starts that opens now;"
    " null until the first list or news after this column came"
)


def upgrade() -> None:
    op.execute("alter table resume_point add column settled_until timestamptz")
    op.execute(f"comment on column resume_point.settled_until is '{SAYS}'")


def downgrade() -> None:
    op.execute("alter table resume_point drop column settled_until")
