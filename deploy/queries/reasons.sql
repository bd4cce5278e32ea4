-- Entries by reason.
select cluster, kind, reason, actor, count(*) as entries,
  sum(octet_length(raw)) as bytes
from entries
where reason is not null and day >= date '2026-01-01'
group by 1, 2, 3, 4
order by 1, 2 nulls last, 3, 4 nulls last
