"""Reads the catalog of PostgreSQL for the two schemas of the log.

It covers tables with their columns, constraints, indexes, triggers, rules,
policies and grants; views, functions, sequences and all other objects of the
schemas; tables elsewhere that inherit from them; and settings of roles that
change the meaning of a statement. The text is the same for all versions of
PostgreSQL, except for text that it generates, such as that of a view.
"""

from contextlib import suppress
from importlib.resources import files

import asyncpg
import msgspec

from recorder.integrity.catalog import CatalogFound, CatalogMade
from recorder.store.statement import Statement

DAYS = r"^(entry|fact)_(\d{8}|kept)$"
"""Partitions, which are all alike."""

LEFT = "^(entry|fact)_(dropped_.*|kept_next|thin_next)$"
"""Tables that a drop leaves or builds; no query reads them."""

COMMON = f"""
    with ours as (
      select oid, nspname, nspowner, nspacl from pg_namespace
      where nspname in ('recorder', 'history')),
    rel as (
      select c.*, c.oid::regclass::text as name,
        case when n.nspname = 'recorder' and c.relispartition
            and c.relkind = 'r' and c.relname ~ '{DAYS}'
          then 'recorder.' || substring(c.relname from '{DAYS}') || '_DAY'
          else c.oid::regclass::text end as made
      from pg_class c join ours n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
        and not (c.relkind = 'r' and not c.relispartition
          and c.relname ~ '{LEFT}'))
"""
"""Both schemas, and the tables, views and sequences in them."""

QUERIES = (
    # Tables and views.
    """
    select name, made, case when relkind in ('v', 'm') then 'view'
        when relkind = 'S' then 'sequence' else 'table' end,
      concat_ws('; ', relkind::text, relpersistence::text,
        'owner ' || pg_get_userbyid(relowner), am.amname,
        pg_get_partkeydef(rel.oid), 'of ' || nullif(reloftype, 0)::regtype,
        (select string_agg('inherits ' || inhparent::regclass, ', ')
          from pg_inherits where inhrelid = rel.oid),
        (select concat_ws(' ', seqtypid::regtype, seqstart, seqincrement,
            seqmin, seqmax, seqcache, seqcycle)
          from pg_sequence where seqrelid = rel.oid),
        case when relkind in ('v', 'm') then
          concat_ws('; ', pg_get_viewdef(rel.oid),
            array_to_string(reloptions, ', '),
            (select ev_enabled::text from pg_rewrite
              where ev_class = rel.oid and rulename = '_RETURN')) end)
    from rel left join pg_am am on am.oid = rel.relam
    """,
    # What inherits from them, and lies elsewhere.
    """
    select i.inhrelid::regclass::text, i.inhrelid::regclass::text, 'table',
      'inherits ' || i.inhparent::regclass
    from pg_inherits i join rel on rel.oid = i.inhparent
    join pg_class c on c.oid = i.inhrelid
    where c.relnamespace not in (select oid from ours)
    """,
    """
    select name, made, 'column ' || a.attname, concat_ws('; ',
      row_number() over (partition by rel.oid order by a.attnum),
      format_type(a.atttypid, a.atttypmod),
      case when a.attnotnull then 'not null' end,
      'collate ' || nullif(a.attcollation, t.typcollation)::regcollation,
      nullif(a.attidentity, '')::text, nullif(a.attgenerated, '')::text,
      'default ' || pg_get_expr(d.adbin, d.adrelid))
    from rel join pg_attribute a on a.attrelid = rel.oid and a.attnum > 0
      and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = rel.oid and d.adnum = a.attnum
    where rel.relkind <> 'S'
    """,
    """
    select name, made, 'constraint ' || conname, pg_get_constraintdef(k.oid)
    from rel join pg_constraint k on k.conrelid = rel.oid
    where contype not in ('n', 't')
    """,
    # Those of partitions follow from their parent's. An index may lie only
    # where it is built on what is not PostgreSQL's own.
    """
    select name, made, case when is_foreign then 'foreign ' else '' end
      || 'index ' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
    from rel join pg_index i on i.indrelid = rel.oid,
    lateral (select exists (select from pg_depend d
      where d.classid = 'pg_class'::regclass and d.objid = i.indexrelid
        and d.refclassid in ('pg_proc'::regclass, 'pg_opclass'::regclass,
          'pg_operator'::regclass, 'pg_collation'::regclass)) as is_foreign) f
    where name = made or is_foreign
    """,
    # PostgreSQL's own triggers only if they were disabled.
    """
    select name, made, 'trigger ' || tgname,
      replace(pg_get_triggerdef(t.oid), ' ON ' || name || ' ', ' ')
    from rel join pg_trigger t on t.tgrelid = rel.oid where not tgisinternal
    union all
    select name, made, 'trigger ' || tgname || ' (when it fires)',
      tgenabled::text
    from rel join pg_trigger t on t.tgrelid = rel.oid
    where not tgisinternal or tgenabled <> 'O'
    """,
    """
    select name, made, 'rule ' || rulename,
      ev_enabled::text || ' ' || pg_get_ruledef(r.oid)
    from rel join pg_rewrite r on r.ev_class = rel.oid
    where relkind not in ('v', 'm') or rulename <> '_RETURN'
    """,
    """
    select name, made, 'policy ' || polname, concat_ws('; ', polcmd::text,
      polpermissive, array(select case r when 0 then 'PUBLIC'
        else pg_get_userbyid(r) end from unnest(polroles) r)::text,
      pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
    from rel join pg_policy p on p.polrelid = rel.oid
    union all
    select name, made, 'policy (row security is on)',
      relrowsecurity::text || ' ' || relforcerowsecurity
    from rel where relrowsecurity or relforcerowsecurity
    """,
    """
    select shown, shown, 'function', concat_ws('; ', prokind::text,
      'owner ' || pg_get_userbyid(proowner), lanname,
      pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
      provolatile::text, proparallel::text, proisstrict, prosecdef,
      proleakproof, nullif(prosupport, 0)::regproc,
      array_to_string(proconfig, ', '), probin, prosrc,
      pg_get_function_sqlbody(p.oid))
    from pg_proc p join ours n on n.oid = pronamespace
    join pg_language l on l.oid = prolang,
    lateral (select p.oid::regprocedure::text as shown) s
    """,
    """
    select 'schema ' || nspname, 'schema ' || nspname, 'schema',
      'owner ' || pg_get_userbyid(nspowner) from ours
    union all
    select 'type ' || t.oid::regtype, 'type ' || t.oid::regtype, 'other',
      typtype::text
    from pg_type t where typnamespace in (select oid from ours)
      and typrelid = 0 and typcategory <> 'A'
    union all
    select 'operator ' || oprname, 'operator ' || oprname, 'other',
      oprcode::text
    from pg_operator where oprnamespace in (select oid from ours)
    union all
    select 'operator class ' || opcname, 'operator class ' || opcname,
      'other', opcfamily::text
    from pg_opclass where opcnamespace in (select oid from ours)
    union all
    select 'collation ' || collname, 'collation ' || collname, 'other', ''
    from pg_collation where collnamespace in (select oid from ours)
    """,
    """
    select name, made, 'grant ' || a.privilege_type || ' to '
      || case a.grantee when 0 then 'PUBLIC'
        else pg_get_userbyid(a.grantee) end,
      case when is_grantable then 'and may pass it on' else '' end
    from (
      select name, made, relowner as owner, coalesce(relacl,
        acldefault(case relkind when 'S' then 's' else 'r' end::"char",
          relowner)) as acl from rel
      union all
      select p.oid::regprocedure::text, p.oid::regprocedure::text, proowner,
        coalesce(proacl, acldefault('f', proowner))
      from pg_proc p join ours n on n.oid = pronamespace
      union all
      select 'schema ' || nspname, 'schema ' || nspname, nspowner,
        coalesce(nspacl, acldefault('n', nspowner)) from ours) o,
    aclexplode(o.acl) a where a.grantee <> o.owner
    union all
    select name, made, 'grant ' || x.privilege_type || ' (' || a.attname
      || ') to ' || case x.grantee when 0 then 'PUBLIC'
        else pg_get_userbyid(x.grantee) end,
      case when is_grantable then 'and may pass it on' else '' end
    from rel join pg_attribute a on a.attrelid = rel.oid and a.attacl is not
      null, aclexplode(a.attacl) x where x.grantee <> rel.relowner
    """,
    # Settings of roles that change results.
    """
    select r.name, r.name, 'setting ' || v, ''
    from pg_db_role_setting s
    left join pg_roles o on o.oid = s.setrole,
    unnest(s.setconfig) v, split_part(v, '=', 1) as setting,
    lateral (select case when s.setrole = 0 then 'the database'
      else 'role ' || o.rolname end as name) r
    where s.setdatabase in (0, (select oid from pg_database
        where datname = current_database()))
      and (s.setrole = 0 or o.rolname = session_user or not o.rolsuper
        and exists (select from pg_roles g where g.rolname in (
          'recorder_owner', 'recorder_writer', 'recorder_reader',
          'recorder_retention', 'recorder_notifier')
          and pg_has_role(s.setrole, g.oid, 'member')))
      and (setting in ('role', 'session_replication_role', 'row_security',
          'session_preload_libraries', 'local_preload_libraries',
          'transform_null_equals')
        or setting = 'search_path' and v ~ '[=,].*[,= "]pg_catalog'
          and v !~ '=\\s*"?pg_catalog')
    union all
    select 'role ' || m.rolname, 'role ' || m.rolname,
      'setting member of ' || g.rolname, ''
    from pg_auth_members a join pg_roles m on m.oid = a.member
    join pg_roles g on g.oid = a.roleid
    where g.rolname = 'recorder_owner' and m.rolname in ('recorder_writer',
      'recorder_reader', 'recorder_retention', 'recorder_notifier')
    union all
    select 'role ' || rolname, 'role ' || rolname,
      'setting ' || case when rolsuper then 'superuser' else 'bypassrls' end,
      '' from pg_roles
    where (rolsuper or rolbypassrls) and rolname in ('recorder_owner',
      'recorder_writer', 'recorder_reader', 'recorder_retention',
      'recorder_notifier')
    """,
)

HOLD_DAYS = Statement.of(
    "lock table recorder.entry, recorder.fact in access share mode"
)
REVISION = Statement.of("select version_num from recorder.schema_version")


def made_catalog() -> CatalogMade:
    """Return what the migrations of this release make.

    ``python -m tests.store.catalog`` writes it, from migrated databases.
    """
    written = files("recorder.store").joinpath("catalog.json").read_bytes()
    return msgspec.json.decode(written, type=CatalogMade)


async def read_catalog(connection: asyncpg.Connection) -> CatalogFound:
    """Return the objects that exist, and the revision of the schema."""
    found = CatalogFound()
    # One state: a run that drops a day waits for this.
    isolation = None if connection.is_in_transaction() else "repeatable_read"
    async with connection.transaction(isolation=isolation):
        with suppress(asyncpg.PostgresError):
            # A role that lost the right, or a table that is gone, is named.
            async with connection.transaction():
                await HOLD_DAYS.execute(connection)
        # So that names outside of PostgreSQL's schema are written with their
        # schema, and none replaces one of PostgreSQL's.
        await connection.execute("set local search_path = pg_catalog")
        found.revision = await REVISION.fetch_value(connection)
        for query in QUERIES:
            for row in await Statement.of(COMMON + query).fetch(connection):
                found.add(*row)
    return found
