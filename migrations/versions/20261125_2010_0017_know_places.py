"""Know which places a checkpoint was written to, and how its tree goes on."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(f"insert into schema_serves values ('{revision}')")
    op.execute(
        "alter table checkpoint add column places text[],"
        " add column peaks bytea"
    )
    op.execute(
        "comment on column checkpoint.places is 'where it was written; null"
        " of older releases, which did not note it'"
    )
    op.execute(
        "comment on column checkpoint.peaks is 'hashes of the largest complete"
        " subtrees of its tree, which fold to the signed hash: the next"
        " checkpoint must continue them'"
    )


def downgrade() -> None:
    op.execute("alter table checkpoint drop column places, drop column peaks")
    op.execute(f"delete from schema_serves where revision = '{revision}'")
