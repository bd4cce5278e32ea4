"""Lead to labels of Nodes, and past the Pods that had to go."""

from pathlib import Path

from alembic import context, op
from sqlalchemy.util import await_only

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    script = (SQL / "questions.sql").read_text()
    if context.is_offline_mode():
        op.execute(script)
        return
    # See 0001: the driver's own call takes several statements at once.
    bind = op.get_bind()
    bind.exec_driver_sql("select 1")
    await_only(bind.connection.driver_connection.execute(script))


def downgrade() -> None:
    for index in (
        "label",
        "standing",
        "place",
        "listing",
        "preemption",
        "disruption",
        "evidence",
    ):
        op.execute(f"drop index fact_by_{index}")
    op.execute(
        "create index fact_by_place on fact (log_id) where place is not null"
    )
    op.execute(
        "create index fact_by_evidence on fact (node_id, at)"
        " where evidence and node_id is not null"
    )
    op.execute(
        "create index fact_by_disruption on fact (node_id, at)"
        " where kind = 4 and evidence and not sign and node_id is not null"
    )
