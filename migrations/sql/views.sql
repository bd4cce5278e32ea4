-- Views for people and dashboards that prefer SQL; run by migration 0010.
--
-- Their names and columns are an interface: columns are added, none is renamed
-- or removed. The tables below them are not one.

create schema history;

comment on schema history is
  'Stable views of the log for readers; see docs/sql.md';

-- Inflate raw deflate data (RFC 1951) with a preset dictionary.
--
-- What a fact tells is kept like that, and PostgreSQL has no function for it.
-- Bits are counted from the least significant one of the first byte, as both
-- deflate and get_bit() count them. It takes about a millisecond for a fact.
create function history.inflate(data bytea, dictionary bytea) returns bytea
language plpgsql immutable strict parallel safe
set search_path from current as $$
declare
  window_ bytea := dictionary || ''::bytea;
  known int := length(dictionary);
  told bytea := '';
  p int := 0;
  last_ boolean := false;
  kind int;
  -- Of the codes: how many there are of each length, and their symbols.
  counts int[]; symbols int[]; dist_counts int[]; dist_symbols int[];
  lengths int[]; literals int; distances int; given int;
  code int; first_ int; index_ int; count_ int; symbol int;
  size int; distance int; source int; chunk bytea;
  base_size constant int[] := array[3,4,5,6,7,8,9,10,11,13,15,17,19,23,27,31,
    35,43,51,59,67,83,99,115,131,163,195,227,258];
  more_size constant int[] := array[0,0,0,0,0,0,0,0,1,1,1,1,2,2,2,2,3,3,3,3,4,
    4,4,4,5,5,5,5,0];
  base_distance constant int[] := array[1,2,3,4,5,7,9,13,17,25,33,49,65,97,129,
    193,257,385,513,769,1025,1537,2049,3073,4097,6145,8193,12289,16385,24577];
  more_distance constant int[] := array[0,0,0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,7,8,
    8,9,9,10,10,11,11,12,12,13,13];
  -- The fixed codes of literals, by length and then by symbol.
  fixed_symbols constant int[] := '{
    256,257,258,259,260,261,262,263,264,265,266,267,268,269,
    270,271,272,273,274,275,276,277,278,279,0,1,2,3,4,5,6,
    7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,
    26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,
    44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,
    62,63,64,65,66,67,68,69,70,71,72,73,74,75,76,77,78,79,
    80,81,82,83,84,85,86,87,88,89,90,91,92,93,94,95,96,97,
    98,99,100,101,102,103,104,105,106,107,108,109,110,111,112,
    113,114,115,116,117,118,119,120,121,122,123,124,125,126,
    127,128,129,130,131,132,133,134,135,136,137,138,139,140,
    141,142,143,280,281,282,283,284,285,286,287,144,145,146,
    147,148,149,150,151,152,153,154,155,156,157,158,159,160,
    161,162,163,164,165,166,167,168,169,170,171,172,173,174,
    175,176,177,178,179,180,181,182,183,184,185,186,187,188,
    189,190,191,192,193,194,195,196,197,198,199,200,201,202,
    203,204,205,206,207,208,209,210,211,212,213,214,215,216,
    217,218,219,220,221,222,223,224,225,226,227,228,229,230,
    231,232,233,234,235,236,237,238,239,240,241,242,243,244,
    245,246,247,248,249,250,251,252,253,254,255}';
  fixed_counts constant int[] := '{0,0,0,0,0,0,24,152,112,0,0,0,0,0,0}';
  order_ constant int[] := array[16,17,18,0,8,7,9,6,10,5,11,4,12,3,13,2,14,1,
    15];
begin
  while not last_ loop
    last_ := get_bit(data, p) = 1;
    kind := get_bit(data, p + 1) | (get_bit(data, p + 2) << 1);
    p := p + 3;
    if kind = 0 then
      -- Stored: at the next byte, its length and its complement before it.
      p := ((p + 7) / 8) * 8;
      size := get_byte(data, p / 8) | (get_byte(data, p / 8 + 1) << 8);
      told := told || substr(data, p / 8 + 5, size);
      p := p + 8 * (4 + size);
      continue;
    elsif kind = 1 then
      counts := fixed_counts;
      symbols := fixed_symbols;
      dist_counts := '{0,0,0,0,30,0,0,0,0,0,0,0,0,0,0}';
      dist_symbols := '{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,
        21,22,23,24,25,26,27,28,29}';
    elsif kind = 2 then
      literals := 257; distances := 1; given := 4;
      for i in 0..4 loop
        literals := literals + (get_bit(data, p + i) << i);
        distances := distances + (get_bit(data, p + 5 + i) << i);
      end loop;
      for i in 0..3 loop
        given := given + (get_bit(data, p + 10 + i) << i);
      end loop;
      p := p + 14;
      lengths := array_fill(0, array[19]);
      for i in 1..given loop
        lengths[order_[i] + 1] := get_bit(data, p)
          | (get_bit(data, p + 1) << 1) | (get_bit(data, p + 2) << 2);
        p := p + 3;
      end loop;
      counts := history.code_counts(lengths);
      symbols := history.code_symbols(lengths);
      lengths := array[]::int[];
      while cardinality(lengths) < literals + distances loop
        code := 0; first_ := 0; index_ := 0;
        for l in 1..15 loop
          code := code | get_bit(data, p); p := p + 1;
          count_ := counts[l];
          exit when code - count_ < first_;
          index_ := index_ + count_;
          first_ := (first_ + count_) << 1;
          code := code << 1;
        end loop;
        symbol := symbols[index_ + code - first_ + 1];
        if symbol < 16 then
          lengths := lengths || symbol;
        elsif symbol = 16 then
          size := 3 + (get_bit(data, p) | (get_bit(data, p + 1) << 1));
          p := p + 2;
          lengths := lengths
            || array_fill(lengths[cardinality(lengths)], array[size]);
        else
          size := case symbol when 17 then 3 else 11 end;
          given := case symbol when 17 then 3 else 7 end;
          for i in 0..given - 1 loop
            size := size + (get_bit(data, p + i) << i);
          end loop;
          p := p + given;
          lengths := lengths || array_fill(0, array[size]);
        end if;
      end loop;
      counts := history.code_counts(lengths[1:literals]);
      symbols := history.code_symbols(lengths[1:literals]);
      dist_counts := history.code_counts(lengths[literals + 1:]);
      dist_symbols := history.code_symbols(lengths[literals + 1:]);
    else
      raise exception 'cannot read what a fact tells: it is not deflated';
    end if;
    loop
      code := 0; first_ := 0; index_ := 0;
      for l in 1..15 loop
        code := code | get_bit(data, p); p := p + 1;
        count_ := counts[l];
        exit when code - count_ < first_;
        index_ := index_ + count_;
        first_ := (first_ + count_) << 1;
        code := code << 1;
      end loop;
      symbol := symbols[index_ + code - first_ + 1];
      if symbol < 256 then
        told := told || set_byte('\x00'::bytea, 0, symbol);
        continue;
      end if;
      exit when symbol = 256;
      size := base_size[symbol - 256];
      for i in 0..more_size[symbol - 256] - 1 loop
        size := size + (get_bit(data, p) << i); p := p + 1;
      end loop;
      code := 0; first_ := 0; index_ := 0;
      for l in 1..15 loop
        code := code | get_bit(data, p); p := p + 1;
        count_ := dist_counts[l];
        exit when code - count_ < first_;
        index_ := index_ + count_;
        first_ := (first_ + count_) << 1;
        code := code << 1;
      end loop;
      symbol := dist_symbols[index_ + code - first_ + 1];
      distance := base_distance[symbol + 1];
      for i in 0..more_distance[symbol + 1] - 1 loop
        distance := distance + (get_bit(data, p) << i); p := p + 1;
      end loop;
      while size > 0 loop
        source := known + length(told) - distance;
        if source < known then
          chunk := substr(window_, source + 1, least(size, known - source));
        else
          chunk := substr(told, source - known + 1, least(size, distance));
        end if;
        told := told || chunk;
        size := size - length(chunk);
      end loop;
    end loop;
  end loop;
  return told;
end
$$;

create function history.code_counts(lengths int[]) returns int[]
language sql immutable strict parallel safe as $$
  select array(
    select count(n)::int
    from generate_series(1, 15) as l left join unnest(lengths) as n on n = l
    group by l order by l)
$$;

create function history.code_symbols(lengths int[]) returns int[]
language sql immutable strict parallel safe as $$
  select array(
    select (place - 1)::int
    from unnest(lengths) with ordinality as n(size, place)
    where size > 0 order by size, place)
$$;

-- What a fact tells, as JSON; see docs/facts.md for the members by kind.
create function history.detail(stored bytea) returns json
language plpgsql stable strict parallel safe
set search_path from current as $$
declare
  told text;
begin
  if get_byte(stored, 0) = 0 then
    told := convert_from(substr(stored, 2), 'UTF8');
  else
    select convert_from(history.inflate(substr(stored, 2), d.bytes), 'UTF8')
    into strict told
    from recorder.dictionary d
    where d.dictionary_id = get_byte(stored, 0) - 1;
  end if;
  -- No text of PostgreSQL holds the character NUL.
  return replace(told, '\u0000', '\ufffd')::json;
end
$$;

create view history.entries as
select
  e.log_id || '/' || e.position as entry,
  e.log_id as log,
  l.cluster_name as cluster,
  e.position,
  case e.source
    when 1 then 'watch' when 2 then 'audit' when 3 then 'cloudevents'
    when 4 then 'slurm' when 5 then 'recorder'
  end as source,
  r.name as resource,
  case e.operation
    when 0 then 'recovered' when 1 then 'listed' when 2 then 'added'
    when 3 then 'modified' when 4 then 'deleted' when 5 then 'absent'
    when 6 then 'renewed' when 10 then 'audit' when 11 then 'cloudevent'
    when 12 then 'polled' when 13 then 'retention' when 100 then 'refused'
    when 101 then 'gap-opened' when 102 then 'gap-closed'
    when 103 then 'epoch-began' when 104 then 'clock-jumped'
  end as operation,
  k.api_group,
  k.name as kind,
  nullif(o.namespace, '') as namespace,
  o.name,
  o.uid,
  coalesce(e.version::text, e.resource_version) as resource_version,
  n.name as node,
  reason.text as reason,
  actor.text as actor,
  e.occurred_at,
  e.observed_at,
  e.recorded_at
from recorder.entry e
join recorder.log l on l.log_id = e.log_id
left join recorder.resource r on r.resource_id = e.resource_id
left join recorder.object o on o.object_id = e.object_id
left join recorder.kind k on k.kind_id = o.kind_id
left join recorder.node n on n.node_id = e.node_id
left join recorder.word reason on reason.word_id = e.reason_id
left join recorder.word actor on actor.word_id = e.actor_id;

create view history.facts as
select
  d.log_id || '/' || f.position as entry,
  f.index,
  d.log_id as log,
  l.cluster_name as cluster,
  f.position,
  case f.kind
    when 1 then 'appeared' when 2 then 'vanished'
    when 3 then 'deletion-requested' when 4 then 'condition-changed'
    when 5 then 'label-changed' when 6 then 'annotation-changed'
    when 7 then 'field-changed' when 8 then 'boot-changed'
    when 9 then 'machine-changed' when 10 then 'tainted'
    when 11 then 'untainted' when 12 then 'cordoned'
    when 13 then 'uncordoned' when 14 then 'resource-changed'
    when 15 then 'lease-silent' when 16 then 'bound' when 17 then 'started'
    when 18 then 'ended' when 19 then 'container-ended' when 20 then 'event'
    when 21 then 'requested' when 22 then 'unreadable'
  end as fact,
  n.name as node,
  k.api_group,
  k.name as kind,
  nullif(o.namespace, '') as namespace,
  o.name,
  o.uid,
  f.at,
  case when f.observed_at is not null then f.at end as occurred_at,
  coalesce(f.observed_at, f.at) as observed_at,
  f.recorded_at,
  actor.text as actor,
  topic.text as topic,
  f.bearing = 3 as is_disruption,
  history.detail(f.detail) as detail
from recorder.fact f
join recorder.derivation d
  on d.derivation_id = f.derivation_id and d.state = 'current'
join recorder.log l on l.log_id = d.log_id
left join recorder.object o on o.object_id = f.object_id
left join recorder.kind k on k.kind_id = o.kind_id
left join recorder.node n on n.node_id = f.node_id
left join recorder.word actor on actor.word_id = f.actor_id
left join recorder.word topic on topic.word_id = f.topic_id;

create view history.conditions as
select entry, log, cluster, node, api_group, kind, namespace, name, uid, at,
  observed_at, recorded_at, actor,
  detail ->> 'type' as type,
  detail -> 'old' ->> 'status' as old_status,
  detail -> 'new' ->> 'status' as status,
  detail -> 'new' ->> 'reason' as reason,
  detail -> 'new' ->> 'message' as message,
  false as is_first
from history.facts where fact = 'condition-changed'
union all
select f.entry, f.log, f.cluster, f.node, f.api_group, f.kind, f.namespace,
  f.name, f.uid, f.at, f.observed_at, f.recorded_at, f.actor,
  c.key, null, c.value ->> 'status', c.value ->> 'reason',
  c.value ->> 'message', true
from history.facts f,
  json_each(f.detail -> 'state' -> 'conditions') c
where f.fact = 'appeared';

create view history.events as
select entry, log, cluster, node, api_group, kind, namespace, name, uid, at,
  observed_at, recorded_at,
  actor as reporter,
  topic as reason,
  detail ->> 'type' as type,
  detail ->> 'message' as message,
  (detail ->> 'count')::int as count
from history.facts where fact = 'event';

create view history.boots as
select entry, log, cluster, node, at, observed_at, recorded_at,
  detail ->> 'old' as old_boot_id,
  detail ->> 'new' as boot_id,
  false as is_first
from history.facts where fact = 'boot-changed'
union all
select entry, log, cluster, node, at, observed_at, recorded_at,
  null, detail -> 'state' -> 'fields' ->> 'boot_id', true
from history.facts
where fact = 'appeared' and kind = 'Node'
  and detail -> 'state' -> 'fields' ->> 'boot_id' is not null;

create view history.disruptions as
select entry, log, cluster, fact, node, namespace, name as pod, uid, at,
  observed_at, recorded_at, actor, topic as reason, detail
from history.facts where is_disruption;

create view history.coverage as
select
  p.log_id as log,
  l.cluster_name as cluster,
  p.source,
  r.name as resource,
  p.state,
  p.began_at,
  p.vouched_until,
  p.gap_since as open_gap_since,
  p.gap_reason as open_gap_reason
from recorder.resume_point p
join recorder.log l on l.log_id = p.log_id
left join recorder.resource r on r.resource_id = p.resource_id
where p.source not in ('tape', 'recorder');

grant usage on schema history to recorder_reader, recorder_retention;
grant select on all tables in schema history to recorder_reader,
  recorder_retention;
