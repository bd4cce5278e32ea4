"""The statements of the outbox of notifications."""

from recorder.store.statement import Statement

__all__ = [
    "BEGIN",
    "BEGUN",
    "NEWEST",
    "TOLD",
    "LOCK",
    "PUT",
    "JUDGED",
    "GIVE_UP",
    "DUE",
    "CLAIM",
    "POSTED",
    "FAILED",
    "AGAIN",
    "FORGET",
    "TALLIES",
    "LIST",
    "RETRY",
]

BEGIN = Statement.of("""
    insert into recorder.notify_rule (log_id, rule, since, judged_until)
    select :log, rule, :since, :since from unnest(:rules::text[]) rule
    on conflict do nothing
""")
BEGUN = Statement.of("""
    select rule, since, judged_until from recorder.notify_rule
    where log_id = :log and rule = any(:rules)
""")
NEWEST = Statement.of("""
    select coalesce(max(notification_id), 0) from recorder.notification
    where log_id = :log
""")
TOLD = Statement.of("""
    select distinct on (rule, name) rule, name, number, position,
      message::text as message
    from (
      select * from recorder.notification where log_id = :log
      order by notification_id desc limit :most
    ) newest
    order by rule, name, number desc
""")
LOCK = Statement.of(
    "select pg_advisory_xact_lock(hashtext('recorder.notify'), :log)"
)
PUT = Statement.of("""
    insert into recorder.notification
      (log_id, rule, name, number, digest, position, message, give_up_at)
    values (:log, :rule, :name, :number, :digest, :position, :message::json,
      clock_timestamp() + :patience)
    on conflict do nothing returning notification_id
""")
JUDGED = Statement.of("""
    update recorder.notify_rule
    set judged_until = greatest(judged_until, :until)
    where log_id = :log and rule = any(:rules) and judged_until < :until
""")
GIVE_UP = Statement.of("""
    update recorder.notification set state = 'failed', leased_until = null,
      settled_at = clock_timestamp(),
      said = 'given up after ' || attempts || ' attempts: '
        || coalesce(said, 'it was never posted')
    where state = 'waiting' and give_up_at < clock_timestamp()
      and (leased_until is null or leased_until < clock_timestamp())
""")
FREE = """
    n.state = 'waiting' and n.due_at <= clock_timestamp()
    and (n.leased_until is null or n.leased_until < clock_timestamp())
    and not exists (
      select from recorder.notification earlier
      where earlier.log_id = n.log_id and earlier.rule = n.rule
        and earlier.name = n.name and earlier.number < n.number
        and earlier.state = 'waiting'
    )
"""
DUE = Statement.of(f"""
    select distinct n.rule from recorder.notification n
    where n.rule = any(:rules) and {FREE}
""")  # noqa: S608 - a condition of its own
CLAIM = Statement.of(f"""
    update recorder.notification set attempts = attempts + 1,
      leased_until = clock_timestamp() + :lease
    where notification_id = (
      select n.notification_id from recorder.notification n
      where n.rule = :rule and {FREE}
      order by n.due_at, n.notification_id
      limit 1 for update skip locked
    )
    returning notification_id, attempts, give_up_at, message::text as message
""")  # noqa: S608 - a condition of its own
MINE = (
    "notification_id = :number and attempts = :attempt and state = 'waiting'"
)
POSTED = Statement.of(f"""
    update recorder.notification set state = 'posted', leased_until = null,
      settled_at = clock_timestamp(), said = null where {MINE}
""")  # noqa: S608 - a condition of its own
FAILED = Statement.of(f"""
    update recorder.notification set state = 'failed', leased_until = null,
      settled_at = clock_timestamp(), said = :why where {MINE}
""")  # noqa: S608 - a condition of its own
AGAIN = Statement.of(f"""
    update recorder.notification set leased_until = null, said = :why,
      due_at = clock_timestamp() + :after where {MINE}
""")  # noqa: S608 - a condition of its own
FORGET = Statement.of("""
    delete from recorder.notification n
    where n.settled_at < clock_timestamp() - :kept::interval
      and not exists (
        select from recorder.notification later
        where later.log_id = n.log_id and later.rule = n.rule
          and later.name = n.name
          and coalesce(later.settled_at, clock_timestamp())
            >= clock_timestamp() - :kept::interval
      )
""")
TALLIES = Statement.of("""
    select rule, count(*) filter (where state = 'waiting') as waiting,
      count(*) filter (where state = 'failed') as failed,
      min(created_at) filter (where state = 'waiting') as oldest_waiting,
      max(settled_at) filter (where state = 'posted') as last_posted
    from recorder.notification group by rule order by rule
""")
LIST = Statement.of("""
    select notification_id as id, state, attempts, created_at, due_at,
      settled_at, said as why, message::text as message
    from recorder.notification
    where (:states::text[] is null or state = any(:states))
      and (:rule::text is null or rule = :rule)
      and (:log::int4 is null or log_id = :log)
    order by notification_id desc limit :most
""")
RETRY = Statement.of("""
    update recorder.notification set state = 'waiting', settled_at = null,
      due_at = clock_timestamp(), attempts = 0,
      give_up_at = clock_timestamp() + :patience
    where notification_id = :number and state = 'failed'
    returning notification_id
""")
