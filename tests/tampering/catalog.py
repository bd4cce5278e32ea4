"""What an owner of the schema may do to it so that answers lie.

Each is a statement, the kind of problem by which it is found, and a word that
the problem names.
"""

__all__ = ["ALLOWED", "CHANGES"]

CHANGES: dict[str, tuple[str, str, str]] = {
    "a policy hides entries from readers": (
        (
            "alter table recorder.entry enable row level security;"
            " create policy hide on recorder.entry for select"
            " to recorder_reader using (actor_id is distinct from 1)"
        ),
        "policy-altered",
        "hide of recorder.entry",
    ),
    "a policy hides facts of one day": (
        (
            "alter table recorder.fact_{day} enable row level security;"
            " alter table recorder.fact_{day} force row level security"
        ),
        "policy-altered",
        "(row security is on) of recorder.fact_{day}",
    ),
    "a policy that is not on yet": (
        "create policy later on recorder.object using (false)",
        "policy-altered",
        "later of recorder.object",
    ),
    "a view shows less": (
        (
            "create or replace view history.boots as"
            " select * from recorder_was.boots where node <> 'gpu-1'"
        ),
        "view-altered",
        "view history.boots",
    ),
    "a view reads as its reader": (
        "alter view history.entries set (security_invoker = true)",
        "view-altered",
        "view history.entries",
    ),
    "a table becomes a view": (
        (
            "alter table recorder.word rename to word_was;"
            " create view recorder.word as select * from recorder.word_was"
        ),
        "view-altered",
        "view recorder.word was added",
    ),
    "a function allows any drop": (
        (
            "create or replace function recorder.check_drop(wanted text,"
            " unarchived text) returns recorder.partition language sql stable"
            " set search_path = recorder, pg_catalog, pg_temp as"
            " $$ select * from partition where name = wanted $$"
        ),
        "function-altered",
        "recorder.check_drop(text,text)",
    ),
    "a guard does nothing": (
        (
            "create or replace function recorder.deny() returns trigger"
            " language plpgsql as $$ begin return new; end $$"
        ),
        "function-altered",
        "recorder.deny()",
    ),
    "a function runs as its owner": (
        "alter function history.detail(bytea) security definer",
        "function-altered",
        "history.detail(bytea)",
    ),
    "a function finds other names": (
        (
            "alter function recorder.seal_partition(text) set search_path ="
            " evil, recorder"
        ),
        "function-altered",
        "recorder.seal_partition(text)",
    ),
    "a function is added beside one": (
        (
            "create function history.detail(text) returns json language sql"
            " as $$ select '{}'::json $$"
        ),
        "function-altered",
        "history.detail(text) was added",
    ),
    "an operator shadows PostgreSQL's": (
        (
            "create function recorder.never(text, text) returns bool"
            " language sql as $$ select false $$;"
            " create operator recorder.= (leftarg = text,"
            " rightarg = text, function = recorder.never)"
        ),
        "table-altered",
        "operator =",
    ),
    "a guard is off": (
        "alter table recorder.batch disable trigger append_only",
        "trigger-altered",
        "append_only (when it fires) of recorder.batch",
    ),
    "a guard of a day sleeps while replicas are fed": (
        "alter table recorder.entry_{day} enable trigger append_only",
        "trigger-altered",
        "append_only (when it fires) of recorder.entry_{day}",
    ),
    "a guard is gone": (
        "drop trigger append_only_truncate on recorder.fact_{day}",
        "trigger-altered",
        "append_only_truncate of recorder.fact_{day} is missing",
    ),
    "a trigger writes otherwise": (
        (
            "create function evil.edit() returns trigger language plpgsql as"
            " $$ begin new.node_id := null; return new; end $$; create trigger"
            " edit before insert on recorder.entry for each row"
            " execute function evil.edit()"
        ),
        "trigger-altered",
        "edit of recorder.entry",
    ),
    "references are not checked": (
        "alter table recorder.archived_day disable trigger all",
        "trigger-altered",
        "RI_ConstraintTrigger",
    ),
    "a rule drops what is written": (
        (
            "create rule none as on insert to recorder.checkpoint do instead"
            " nothing"
        ),
        "rule-altered",
        "none of recorder.checkpoint",
    ),
    "a rule is added to a view": (
        "create rule go as on delete to history.boots do instead nothing",
        "rule-altered",
        "go of history.boots",
    ),
    "everyone may delete": (
        "grant delete on recorder.object_head to public",
        "grant-altered",
        "DELETE to PUBLIC of recorder.object_head",
    ),
    "everyone may read": (
        "grant select on recorder.entry to public",
        "grant-altered",
        "SELECT to PUBLIC of recorder.entry",
    ),
    "the reader may edit a column": (
        "grant update (cluster_name) on recorder.log to recorder_reader",
        "grant-altered",
        "UPDATE (cluster_name) to recorder_reader of recorder.log",
    ),
    "everyone may drop days": (
        (
            "grant execute on function recorder.drop_partition(text, text)"
            " to public"
        ),
        "grant-altered",
        "EXECUTE to PUBLIC of recorder.drop_partition(text,text)",
    ),
    "readers may add to the schema": (
        "grant create on schema recorder to recorder_reader",
        "grant-altered",
        "CREATE to recorder_reader of schema recorder",
    ),
    "the writer lost a right": (
        "revoke insert on recorder.entry from recorder_writer",
        "grant-altered",
        "INSERT to recorder_writer of recorder.entry is missing",
    ),
    "a column holds less": (
        (
            "alter table recorder.resume_point alter last_frame_at type"
            " timestamptz(0)"
        ),
        "table-altered",
        "last_frame_at of recorder.resume_point",
    ),
    "a column has a default": (
        "alter table recorder.entry alter node_id set default 1",
        "table-altered",
        "node_id of recorder.entry",
    ),
    "a column may be null": (
        "alter table recorder.checkpoint alter made_at drop not null",
        "table-altered",
        "made_at of recorder.checkpoint",
    ),
    "a column is added": (
        "alter table recorder.hold add is_off boolean",
        "table-altered",
        "is_off of recorder.hold was added",
    ),
    "a constraint is gone": (
        "alter table recorder.log drop constraint log_check",
        "table-altered",
        "log_check of recorder.log is missing",
    ),
    "a unique index is gone": (
        "drop index recorder.batch_by_position",
        "table-altered",
        "batch_by_position of recorder.batch is missing",
    ),
    "an index lies": (
        (
            "create function evil.compare(int4, int4) returns int4"
            " language sql immutable as $$ select 1 $$;"
            " create operator class evil.lies for type int4 using btree as"
            " operator 3 =, function 1"
            " evil.compare(int4, int4);"
            " create index lie on recorder.entry_{day} (node_id evil.lies)"
        ),
        "table-altered",
        "lie of recorder.entry_{day}",
    ),
    "a table elsewhere is read as well": (
        "create table evil.more () inherits (recorder.log)",
        "table-altered",
        "evil.more",
    ),
    "a day lies elsewhere": (
        (
            "create table evil.day (like recorder.entry); alter table"
            " recorder.entry attach partition evil.day for values from"
            " ('2001-01-01') to ('2001-01-02')"
        ),
        "table-altered",
        "evil.day",
    ),
    "a day has another name": (
        (
            "create table recorder.entry_more (like recorder.entry);"
            " alter table recorder.entry"
            " attach partition recorder.entry_more"
            " for values from ('2002-01-01') to ('2002-01-02')"
        ),
        "table-altered",
        "recorder.entry_more was added",
    ),
    "a table does not survive a crash": (
        "alter table recorder.checkpoint set unlogged",
        "table-altered",
        "recorder.checkpoint",
    ),
    "a sequence begins again": (
        "alter sequence recorder.object_id_block increment by 1",
        "table-altered",
        "recorder.object_id_block",
    ),
    "a table has another owner": (
        "alter table recorder.notice owner to recorder_writer",
        "table-altered",
        "recorder.notice",
    ),
    "a table is gone": (
        "drop table recorder.hold_lifted cascade",
        "table-altered",
        "recorder.hold_lifted is missing",
    ),
    "sessions find other functions": (
        "alter database {database} set search_path = evil, pg_catalog",
        "setting-altered",
        "search_path=evil, pg_catalog of the database",
    ),
    "sessions of readers are another's": (
        "alter role {reader} set role = recorder_writer",
        "setting-altered",
        "role=recorder_writer of role {reader}",
    ),
    "readers own the tables": (
        "grant recorder_owner to recorder_reader",
        "setting-altered",
        "member of recorder_owner of role recorder_reader",
    ),
}

ALLOWED: dict[str, str] = {
    "another schema": "create table evil.mine (n int)",
    "a dashboard that reads": (
        "create role dashboard; grant usage on schema history to dashboard;"
        " grant select on all tables in schema history to dashboard;"
        " grant select (position) on recorder.entry to dashboard"
    ),
    "an index of a site": (
        "create index site on recorder.object (uid, lower(name))"
    ),
    "limits of a role": (
        "alter role {reader} set statement_timeout = '10s';"
        " alter role {reader} set search_path = history, public"
    ),
    "a role of the settings": (
        "grant insert on recorder.entry to {writer};"
        " grant select on recorder.entry to {writer}"
    ),
    "days that come and go": (
        "select recorder.add_partition(now() + interval '3 days');"
        " create table recorder.entry_kept_next (like recorder.entry);"
        " create table recorder.fact_dropped_20260101 (like recorder.fact)"
    ),
}
"""What a site does that changes no answer."""
