"""Proving a metrics store: which metrics it has, and of how many nodes."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from recorder.explain.knowledge import Knowledge
from recorder.measuring.ports import Sampled, Store, StoreError
from recorder.measuring.store_file import MetricsStore

NODES_MAX: Final = 10
"""Nodes that are asked about."""

RECENT: Final = timedelta(minutes=5)


class Checked(NamedTuple):
    """A metric, and what the store has of it."""

    metric: str
    series: int
    nodes: int
    """Of those asked about."""

    trouble: str
    """What is wrong, and what to do; empty if nothing is."""


async def check_store(
    description: MetricsStore,
    store: Store,
    knowledge: Knowledge,
    nodes: Sequence[str],
    *,
    now: datetime,
) -> Sequence[Checked]:
    """Return what a store has of each metric of nodes in the last minutes.

    Raises:
        MetricsError: a file of the store's description cannot be used.
    """
    asked = nodes[:NODES_MAX]
    rows = []
    for name in description.names(knowledge):
        try:
            rows.append(await _checked(name, description, store, asked, now))
        except StoreError as exc:
            rows.append(Checked(name, 0, 0, str(exc)))
            break
    return rows


async def _checked(
    name: str,
    description: MetricsStore,
    store: Store,
    nodes: Sequence[str],
    now: datetime,
) -> Checked:
    found = [
        await store.samples(
            description.selector(name, node), end=now, span=RECENT
        )
        for node in nodes
    ]
    series, matched = sum(map(len, found)), sum(map(bool, found))
    if matched:
        missing = len(nodes) - matched
        trouble = f"no series of {missing} of {len(nodes)} nodes"
        return Checked(name, series, matched, trouble if missing else "")
    every = await store.samples(name, end=now, span=RECENT)
    if not every:
        return Checked(name, 0, 0, "the store has no such series")
    return Checked(name, len(every), 0, _advice(every, nodes))


def _advice(every: Sequence[Sampled], nodes: Sequence[str]) -> str:
    """Return which label names the nodes, if one does."""
    known = {*nodes}
    naming = Counter(
        label
        for one in every
        for label, value in one.labels.items()
        if value in known
    )
    if naming:
        label, _ = naming.most_common(1)[0]
        return f'no node matched: try match: {label}="{{node}}"'
    labels = sorted({label for one in every for label in one.labels})
    return f"no label names a node; labels are {', '.join(labels)[:200]}"
