"""Reads the labels of Nodes in a window.

Only Nodes that ever had the label are read: the others, which may be
thousands, are distinguished by their place, or by the labels with which they
appeared.
"""

from collections.abc import Iterable
from itertools import groupby

from recorder.facts.topology import level_of
from recorder.model.facts import Appeared, Detail, LabelChanged
from recorder.store.details import DetailDecoder
from recorder.store.statement import Record, question
from recorder.store.stored_facts import OF_EXTENT

CHANGED = f"""{OF_EXTENT}
      and f.kind = #label-changed and f.bearing in (#evidence, #sign)
      and f.at < :until"""
APPEARED_STANDING = """f.kind = #appeared and f.bearing = #sign
          and coalesce(f.place, '') <> ''"""
"""The condition that one of a few Nodes appeared.

It differs from that of the index of places, which would be read in full for
each.
"""

# All labels of Nodes that appeared, and their changes, by entry. Nodes are
# found by name, which several may have had. The index has as many characters
# of a value as Kubernetes allows.
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
    select n.name, v.position, v.at <= :since as is_before,
      v.at < :until as began, v.kind, v.detail
    from version v join recorder.node n on n.node_id = v.node_id
    order by v.position, v.index
"""
LABELS = question(LABELLED.format(label=":key::text || '=' || :value::text"))
LABELS_OF_PLACE = question(LABELLED.format(label="'=' || :value::text"))


def says_where(key: str | None) -> bool:
    """Return whether a label names the place of a node; None is any label."""
    return key is None or level_of(key) is not None


def followed(
    rows: Iterable[Record], details: DetailDecoder
) -> dict[str, list[dict[str, str]]]:
    """Return the successive labels of each node, by name."""
    found: dict[str, list[dict[str, str]]] = {}
    for _, changes in groupby(rows, lambda row: (row.name, row.position)):
        version = [*changes]
        (name, _, is_before, began, *_), *_ = version
        known = found.setdefault(name, [])
        if known and not began:
            continue
        now = dict(known[-1]) if known else {}
        for row in version:
            _change(now, details.decode(row.detail, row.kind))
        if is_before:
            known[-1:] = [now]
        else:
            known.append(now)
    return found


def _change(labels: dict[str, str], detail: Detail) -> None:
    """Apply a fact to labels."""
    if isinstance(detail, Appeared):
        labels.clear()
        labels.update(detail.state.labels)
    elif isinstance(detail, LabelChanged):
        if detail.new is None:
            labels.pop(detail.key, None)
        else:
            labels[detail.key] = detail.new
