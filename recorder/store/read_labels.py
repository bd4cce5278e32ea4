"""Reading: labels of Nodes, as they were in a time.

Of those alone that ever had a label that is asked for: the other thousands
are told apart by where they stand, or by their labels as they appeared.
"""

from collections.abc import Iterable, Mapping

from recorder.facts import TOPOLOGY
from recorder.store.statement import Statement
from recorder.store.stored_facts import OF_EXTENT

__all__ = [
    "APPEARED_STANDING",
    "LABELS",
    "LABELS_OF_PLACE",
    "followed",
    "says_where",
]

Labels = Mapping[str, str | None]
"""Values by key; of changes None where one is gone."""

# Of a label the index holds as many characters as Kubernetes allows.
CHANGED = f"""{OF_EXTENT}
      and f.kind = #label-changed and f.evidence and f.at < :until"""
APPEARED_STANDING = """f.kind = #appeared and f.evidence
          and coalesce(f.place, '0') <> '0'"""
"""The condition that a Node of a few appeared.

Not as the index of places says it, which would be read whole for each.
"""

# All labels of Nodes that appeared, and what changed of them, by entry. A
# node is a name: who had a label may have been another of its name.
LABELLED = f"""
    with holder as (
      select f.node_id from {{who}} f where {OF_EXTENT}
      union
      select f.node_id from recorder.fact f
      where {CHANGED} and f.node_id is not null
        and left(f.detail ->> 'new', 63) = left(:value, 63)
        and f.detail ->> 'new' = :value
    ), version as (
      select f.* from holder, lateral (
        select f.node_id, f.position, f.at, true as whole,
          f.detail -> 'state' -> 'labels' as told
        from recorder.fact f
        where {OF_EXTENT} and f.node_id = holder.node_id
          and {APPEARED_STANDING} offset 0) f
      union all
      select f.node_id, f.position, min(f.at), false,
        jsonb_object_agg(f.detail ->> 'key', f.detail -> 'new')
      from recorder.fact f
      where {CHANGED} and f.node_id in (select node_id from holder)
      group by f.node_id, f.position
    )
    select json_agg(json_build_array(n.name, v.whole, v.at <= :since,
      v.at < :until, v.told) order by v.position)::text
    from version v join recorder.node n on n.node_id = v.node_id
"""
LABELS = Statement.of(
    LABELLED.format(
        who="""(select * from recorder.fact
        where log_id = :log and kind = #appeared and place is not null
          and detail -> 'state' -> 'labels' ->> :key::text = :value)"""
    )
)
# By `fact_by_standing` alone: of a value that it does not know the planner
# expects thousands, and would rather read all that an index holds.
LABELS_OF_PLACE = Statement.of(
    LABELLED.format(
        who="""(select * from recorder.fact where place @@ (
          select ('$.* == ' || to_json(:value::text)::text)::jsonpath)
        offset 0)"""
    )
)


def says_where(key: str | None) -> bool:
    """Return whether a label says where a node stands; None does any."""
    return key is None or key.rpartition("/")[2] in TOPOLOGY


def followed(
    versions: Iterable[tuple[str, bool, bool, bool, Labels | None]],
) -> dict[str, list[dict[str, str]]]:
    """Fold labels and their changes into the labels at a time.

    Each comes with whether it is all labels, whether it was so when the time
    began, and whether it was before the time ended.
    """
    found: dict[str, list[dict[str, str]]] = {}
    for name, whole, stood, began, values in versions:
        known = found.setdefault(name, [])
        if known and not began:
            continue
        before: Labels = {} if whole or not known else known[-1]
        labels = {**before, **(values or {})}
        now = {key: v for key, v in labels.items() if v is not None}
        if stood:
            known[-1:] = [now]
        else:
            known.append(now)
    return found
