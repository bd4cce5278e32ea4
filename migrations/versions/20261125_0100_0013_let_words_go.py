"""Let words go that nothing refers to any more."""

from pathlib import Path

from alembic import context, op
from sqlalchemy.util import await_only

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

SQL = Path(__file__).parent.parent / "sql"


def upgrade() -> None:
    op.execute(f"insert into schema_serves values ('{revision}')")
    script = (SQL / "words.sql").read_text()
    if context.is_offline_mode():
        op.execute(script)
        return
    # See 0001: the driver's own call takes several statements at once.
    bind = op.get_bind()
    bind.exec_driver_sql("select 1")
    await_only(bind.connection.driver_connection.execute(script))


def downgrade() -> None:
    op.execute(f"delete from schema_serves where revision = '{revision}'")
    op.execute(
        "drop function forget_words(int4), look_for_words_again(),"
        " look_for_unused_words()"
    )
    op.execute("drop trigger append_only_kept on word")
    op.execute("drop trigger append_only on word")
    op.execute(
        "create trigger append_only before update or delete or truncate"
        " on word for each statement execute function deny()"
    )
    op.execute("alter table word enable always trigger append_only")
    op.execute("drop table unused_word, word_look")
