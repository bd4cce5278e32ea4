"""${message}.

Before you write this: the previous release is still writing while it runs;
expand in one release and contract in a later one; entries that exist are
never touched; a long index build is CONCURRENTLY, alone, outside a
transaction; never import `recorder` (a migration is a photograph, not a
window).
"""

from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = ${repr(branch_labels)}
depends_on = ${repr(depends_on)}


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
