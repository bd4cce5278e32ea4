-- Words, the reasons and actors that entries and facts refer to, go as well
-- once nothing refers to them. No index leads to their uses: all rows are
-- looked at beside whoever writes, and with the heads of all logs held only
-- what was appended since.

create table unused_word (
  word_id int4 primary key,
  confirmed xid8
);
comment on table unused_word is 'words that nothing referred to when it was looked; only forget_words and look_for_unused_words write here';
comment on column unused_word.confirmed is 'the transaction that holds all heads and knows that it is still so';

create table word_look (
  log_id int4 primary key,
  size int8 not null,
  derivation_id int4 not null
);
comment on table word_look is 'how far each log was looked at for uses of words, and its newest derivation then';

create or replace function deny_kept() returns trigger language plpgsql as $$
declare
  free boolean;
begin
  case tg_table_name
    when 'batch' then
      free := exists (select from recorder.log_head
        where log_id = old.log_id and pruned_batches >= old.batch);
    when 'object' then
      free := not exists (select from recorder.object_head where object_id = old.object_id)
        and not exists (select from recorder.entry where object_id = old.object_id)
        and not exists (select from recorder.fact where object_id = old.object_id)
        and not exists (select from recorder.fact where owner_id = old.object_id);
    when 'node' then
      free := not exists (select from recorder.entry where node_id = old.node_id)
        and not exists (select from recorder.fact where node_id = old.node_id);
    when 'word' then
      free := exists (select from recorder.unused_word
        where word_id = old.word_id and confirmed = pg_current_xact_id());
  end case;
  if free then
    return old;
  end if;
  raise exception 'the log is append-only: % on % is refused: something refers to it',
    tg_op, tg_table_name using errcode = 'insufficient_privilege';
end
$$;

drop trigger append_only on word;
create trigger append_only before update or delete or truncate on word
  for each statement execute function deny_unless_pruning();
create trigger append_only_kept before delete on word
  for each row execute function deny_kept();
alter table word enable always trigger append_only;
alter table word enable always trigger append_only_kept;

-- Notes the words that nothing refers to, and answers how many. Who appends
-- meanwhile writes behind the sizes that are read first.
create function look_for_unused_words() returns int4
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  count int4;
begin
  delete from unused_word;
  delete from word_look;
  insert into word_look (log_id, size, derivation_id)
    select h.log_id, h.size, coalesce((select max(derivation_id)
      from derivation d where d.log_id = h.log_id), 0)
    from log_head h;
  insert into unused_word (word_id)
    select word_id from word
    except select used from (
      select unnest(array[reason_id, actor_id]) as used from entry
      union select unnest(array[actor_id, topic_id]) from fact) u;
  get diagnostics count = row_count;
  return count;
end
$$;

-- Looks at what was appended since the last look. Positions of facts are those
-- of any log, so a word may be kept that could go: the next run notices.
create function look_for_words_again() returns void
language plpgsql set search_path = recorder, pg_catalog, pg_temp as $$
declare
  one record;
begin
  for one in
    select h.log_id, coalesce(l.size, 0) as after, h.size as until
    from log_head h left join word_look l on l.log_id = h.log_id
    where h.size > coalesce(l.size, 0)
  loop
    delete from unused_word where word_id in (
      select unnest(array[reason_id, actor_id]) from entry
      where log_id = one.log_id and position > one.after and position <= one.until);
    delete from unused_word where word_id in (
      select unnest(array[actor_id, topic_id]) from fact
      where position > one.after and position <= one.until);
    insert into word_look (log_id, size, derivation_id) values (one.log_id, one.until,
        coalesce((select max(derivation_id) from derivation where log_id = one.log_id), 0))
      on conflict (log_id) do update set size = one.until;
  end loop;
end
$$;

-- Deletes some of the words that were noted, and answers how many. Holds the
-- heads of all logs, so that no writer is about to refer to them, and makes
-- all writers forget. Nothing goes while facts are built beside the writers,
-- or where they were since the look.
create function forget_words(most int4) returns int4
language plpgsql security definer set search_path = recorder, pg_catalog, pg_temp as $$
declare
  ids int4[];
  log int4;
  gone int4;
begin
  perform look_for_words_again();
  for log in select log_id from log_head order by log_id for update loop
    if not pg_try_advisory_xact_lock(hashtext('recorder.rederive'), log) then
      return 0;
    end if;
  end loop;
  if exists (select from derivation where state = 'building')
    or exists (select from derivation d join word_look l on l.log_id = d.log_id
      where d.derivation_id > l.derivation_id) then
    return 0;
  end if;
  perform look_for_words_again();
  ids := array(select word_id from unused_word order by word_id limit most);
  update unused_word set confirmed = pg_current_xact_id() where word_id = any(ids);
  perform set_config('recorder.pruning', 'on', true);
  delete from word where word_id = any(ids);
  get diagnostics gone = row_count;
  perform set_config('recorder.pruning', 'off', true);
  delete from unused_word where word_id = any(ids);
  if gone > 0 then
    update log_head set forgotten = forgotten + 1;
  end if;
  return gone;
end
$$;

do $$
declare
  signature text;
begin
  foreach signature in array array[
    'look_for_unused_words()', 'look_for_words_again()', 'forget_words(int4)']
  loop
    execute format('revoke all on function %s from public', signature);
  end loop;
end
$$;
grant execute on function look_for_unused_words(), forget_words(int4)
  to recorder_retention;
grant select on unused_word, word_look to recorder_retention;
