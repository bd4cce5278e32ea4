-- Facts that were derived for archived days later, beside those archived with
-- them: the digest of their manifest. Answers use the newest, and no others.

create table later_facts (
  log_id int4 not null references log,
  day text not null,
  rules int4 not null,
  manifest_sha256 bytea not null,
  written_at timestamptz not null default clock_timestamp(),
  primary key (log_id, day, rules)
);
comment on table later_facts is 'facts that later rules derived for archived days, beside those in the archive; kept for ever';
comment on column later_facts.day is 'of archived_day the partition, of attached_day the name';

create trigger append_only before update or delete or truncate on later_facts
  for each statement execute function deny();
alter table later_facts enable always trigger append_only;

grant select on later_facts to recorder_writer, recorder_reader, recorder_retention;
grant insert on later_facts to recorder_writer;
