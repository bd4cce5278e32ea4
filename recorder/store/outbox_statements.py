"""The statements of the outbox of notifications."""

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

BEGIN = """
    insert into recorder.notify_rule (log_id, rule, since, judged_until)
    select $1, rule, $3, $3 from unnest($2::text[]) rule
    on conflict do nothing
"""
BEGUN = """
    select rule, since, judged_until from recorder.notify_rule
    where log_id = $1 and rule = any($2)
"""
NEWEST = """
    select coalesce(max(notification_id), 0) from recorder.notification
    where log_id = $1
"""
TOLD = """
    select distinct on (rule, name) rule, name, number, position,
      message::text as message
    from (
      select * from recorder.notification where log_id = $1
      order by notification_id desc limit $2
    ) newest
    order by rule, name, number desc
"""
LOCK = "select pg_advisory_xact_lock(hashtext('recorder.notify'), $1)"
PUT = """
    insert into recorder.notification
      (log_id, rule, name, number, digest, position, message, give_up_at)
    values ($1, $2, $3, $4, $5, $6, $7::json, clock_timestamp() + $8)
    on conflict do nothing returning notification_id
"""
JUDGED = """
    update recorder.notify_rule
    set judged_until = greatest(judged_until, $3)
    where log_id = $1 and rule = any($2) and judged_until < $3
"""
GIVE_UP = """
    update recorder.notification set state = 'failed', leased_until = null,
      settled_at = clock_timestamp(),
      said = 'given up after ' || attempts || ' attempts: '
        || coalesce(said, 'it was never posted')
    where state = 'waiting' and give_up_at < clock_timestamp()
      and (leased_until is null or leased_until < clock_timestamp())
"""
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
DUE = f"""
    select distinct n.rule from recorder.notification n
    where n.rule = any($1) and {FREE}
"""  # noqa: S608 - a condition of its own
CLAIM = f"""
    update recorder.notification set attempts = attempts + 1,
      leased_until = clock_timestamp() + $2
    where notification_id = (
      select n.notification_id from recorder.notification n
      where n.rule = $1 and {FREE}
      order by n.due_at, n.notification_id
      limit 1 for update skip locked
    )
    returning notification_id, attempts, give_up_at, message::text as message
"""  # noqa: S608 - a condition of its own
MINE = "notification_id = $1 and attempts = $2 and state = 'waiting'"
POSTED = f"""
    update recorder.notification set state = 'posted', leased_until = null,
      settled_at = clock_timestamp(), said = null where {MINE}
"""  # noqa: S608 - a condition of its own
FAILED = f"""
    update recorder.notification set state = 'failed', leased_until = null,
      settled_at = clock_timestamp(), said = $3 where {MINE}
"""  # noqa: S608 - a condition of its own
AGAIN = f"""
    update recorder.notification set leased_until = null, said = $3,
      due_at = clock_timestamp() + $4 where {MINE}
"""  # noqa: S608 - a condition of its own
FORGET = """
    delete from recorder.notification n
    where n.settled_at < clock_timestamp() - $1::interval
      and not exists (
        select from recorder.notification later
        where later.log_id = n.log_id and later.rule = n.rule
          and later.name = n.name
          and coalesce(later.settled_at, clock_timestamp())
            >= clock_timestamp() - $1::interval
      )
"""
TALLIES = """
    select rule, count(*) filter (where state = 'waiting') as waiting,
      count(*) filter (where state = 'failed') as failed,
      min(created_at) filter (where state = 'waiting') as oldest_waiting,
      max(settled_at) filter (where state = 'posted') as last_posted
    from recorder.notification group by rule order by rule
"""
LIST = """
    select notification_id as id, state, attempts, created_at, due_at,
      settled_at, said as why, message::text as message
    from recorder.notification
    where ($1::text[] is null or state = any($1))
      and ($2::text is null or rule = $2)
      and ($3::int4 is null or log_id = $3)
    order by notification_id desc limit $4
"""
RETRY = """
    update recorder.notification set state = 'waiting', settled_at = null,
      due_at = clock_timestamp(), attempts = 0,
      give_up_at = clock_timestamp() + $2
    where notification_id = $1 and state = 'failed'
    returning notification_id
"""
