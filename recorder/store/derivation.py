"""Derivations: which facts a log answers from.

The writer adds the facts of every entry to the current derivation while that
one was made by its own rules. A derivation by other rules ends where the
writer changed, and is replaced as a whole.
"""

import asyncpg

from recorder.facts import DERIVATION

__all__ = ["ensure_derivation"]

MAKE_DERIVATION = """
    insert into recorder.derivation (log_id, rules, state, built_to)
    select log_id, case when size = 0 then $2::int4 else 0 end, 'current',
      case when size = 0 then null else 0 end
    from recorder.log_head where log_id = $1
    on conflict do nothing
"""


async def ensure_derivation(connection: asyncpg.Connection, log: int) -> None:
    """Give a log a current derivation, if it has none.

    A log that has entries and no facts gets one that ends before the first
    of them.
    """
    await connection.execute(MAKE_DERIVATION, log, DERIVATION)
