-- Notifications: what is to be posted to webhooks, and what was posted. Kept
-- by `recorder notify` alone; not a part of the log.

create table notify_rule (
  log_id int4 not null references log,
  rule text not null,
  since timestamptz not null,
  judged_until timestamptz not null,
  primary key (log_id, rule)
);
comment on table notify_rule is 'since when a rule of notifications tells of a log';
comment on column notify_rule.since is 'what was over before is not told';
comment on column notify_rule.judged_until is 'when the last entry was observed up to which the log was judged';

create table notification (
  notification_id int8 generated always as identity primary key,
  log_id int4 not null references log,
  rule text not null,
  name text not null,
  number int4 not null check (number > 0),
  digest text not null,
  position int8 not null,
  message json not null,
  state text not null default 'waiting'
    check (state in ('waiting', 'posted', 'failed')),
  attempts int4 not null default 0,
  said text,
  created_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  give_up_at timestamptz not null,
  leased_until timestamptz,
  settled_at timestamptz,
  unique (log_id, rule, name, number),
  check ((state = 'waiting') = (settled_at is null))
);
comment on table notification is 'messages of rules: each verdict of an incident once';
comment on column notification.name is 'the id under which the incident or gap was told first';
comment on column notification.number is 'counts the messages of it by this rule';
comment on column notification.digest is 'of what is told; the next message has another';
comment on column notification.position is 'where the log ended when it was judged';
comment on column notification.attempts is 'also tells one claim from a later one';
comment on column notification.leased_until is 'until then a process posts it';

create index notification_waiting on notification (rule, due_at)
  where state = 'waiting';
create index notification_of_log on notification (log_id, notification_id);

grant usage on schema recorder to recorder_notifier;
grant select, insert, update on notify_rule to recorder_notifier;
grant select, insert, update, delete on notification to recorder_notifier;
grant select on notify_rule, notification
  to recorder_writer, recorder_reader, recorder_retention;
