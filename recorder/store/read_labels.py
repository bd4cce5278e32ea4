"""Reading: labels of Nodes, as they were in a time.

Of those alone that ever had a label that is asked for: the other thousands
are told apart by where they stand, or by their labels as they appeared.
"""

from collections.abc import Iterable
from itertools import groupby

from recorder.model.facts import Appeared, Detail, LabelChanged
from recorder.model.state import TOPOLOGY
from recorder.store.details import DetailDecoder
from recorder.store.statement import Record, question
from recorder.store.stored_facts import OF_EXTENT

__all__ = [
    "APPEARED_STANDING",
    "LABELS",
    "LABELS_OF_PLACE",
    "followed",
    "says_where",
]

CHANGED = f"""{OF_EXTENT}
      and f.kind = #label-changed and f.bearing in (#evidence, #sign)
      and f.at < :until"""
APPEARED_STANDING = """f.kind = #appeared and f.bearing = #sign
          and coalesce(f.place, '') <> ''"""
"""The condition that a Node of a few appeared.

Not as the index of places says it, which would be read whole for each.
"""

# All labels of Nodes that appeared, and what changed of them, by entry. A
# node is a name: who had a label may have been another of its name. Of a
# value the index holds as many characters as Kubernetes allows.
LABELLED = f"""
    with holder as (
      select f.node_id from recorder.fact f
      where {OF_EXTENT} and f.labels @> array[{{label}}]
      union
      select f.node_id from recorder.fact f
      where {CHANGED} and f.node_id is not null
        and left(f.value, 63) = left(:value, 63) and f.value = :value
    ), version as (
      select f.* from holder, lateral (
        select f.node_id, f.position, f.index, f.at, f.kind, f.detail
        from recorder.fact f
        where {OF_EXTENT} and f.node_id = holder.node_id
          and {APPEARED_STANDING} offset 0) f
      union all
      select f.node_id, f.position, f.index, f.at, f.kind, f.detail
      from recorder.fact f
      where {CHANGED} and f.node_id in (select node_id from holder)
    )
    select n.name, v.position, v.at <= :since as stood, v.at < :until as began,
      v.kind, v.detail
    from version v join recorder.node n on n.node_id = v.node_id
    order by v.position, v.index
"""
LABELS = question(LABELLED.format(label=":key::text || '=' || :value::text"))
LABELS_OF_PLACE = question(LABELLED.format(label="'=' || :value::text"))


def says_where(key: str | None) -> bool:
    """Return whether a label says where a node stands; None does any."""
    return key is None or key.rpartition("/")[2] in TOPOLOGY


def followed(
    rows: Iterable[Record], details: DetailDecoder
) -> dict[str, list[dict[str, str]]]:
    """Fold labels and their changes into the labels at a time, by name."""
    found: dict[str, list[dict[str, str]]] = {}
    for _, changes in groupby(rows, lambda row: (row.name, row.position)):
        told = [*changes]
        (name, _, stood, began, *_), *_ = told
        known = found.setdefault(name, [])
        if known and not began:
            continue
        now = dict(known[-1]) if known else {}
        for row in told:
            _change(now, details.decode(row.detail, row.kind))
        if stood:
            known[-1:] = [now]
        else:
            known.append(now)
    return found


def _change(labels: dict[str, str], told: Detail) -> None:
    """Make labels what they were after a fact."""
    if isinstance(told, Appeared):
        labels.clear()
        labels.update(told.state.labels)
    elif isinstance(told, LabelChanged):
        if told.new is None:
            labels.pop(told.key, None)
        else:
            labels[told.key] = told.new
