"""Which workloads verdicts hit: Pods, their owners, and who failed with them.

A gang is one whole on whatever nodes. Who asks about one node of a rack that
went down gets the gang with all that it lost, for the others failed with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from recorder.explain.impact import Hit, hits
from recorder.explain.verdict import Verdict
from recorder.knowledge import Knowledge
from recorder.model.fact import FactKind, StoredFact
from recorder.projections import Placements, Workloads
from recorder.report.coverage import Coverage
from recorder.report.happened import LOOKBACK, nodes_of, verdicts_of
from recorder.report.ports import Reading
from recorder.report.window import Window

__all__ = ["POD_LIFE", "all_hits_of", "hits_of", "is_pod", "owners_above"]

OWNERS_DEPTH = 4

TOGETHER = timedelta(minutes=1)
"""Between losses of nodes that one gang takes for one."""

POD_LIFE = 30 * LOOKBACK
"""How long before a window a Pod in it may have been bound."""


@dataclass(frozen=True, slots=True)
class _Gangs:
    """The Pods that were on nodes, with the gangs that they belong to."""

    facts: Sequence[StoredFact]
    end: datetime | None
    """Until when anything is known; None if nothing is."""

    def nodes(self) -> set[str]:
        """Give every node that any of these Pods was on."""
        return {
            placement.node
            for placement in Placements(self.facts)
            if placement.node is not None
        }

    def hits(
        self, verdicts: Sequence[Verdict], nodes: Iterable[str]
    ) -> list[Hit]:
        """Give what verdicts hit."""
        if self.end is None:
            return []
        return hits(
            verdicts,
            Placements(self.facts),
            Workloads(self.facts),
            nodes=nodes,
            until=self.end,
        )


async def hits_of(
    reading: Reading,
    nodes: Sequence[str],
    verdicts: Sequence[Verdict],
    window: Window,
) -> list[Hit]:
    """Find what verdicts hit, where they are all there are."""
    gangs = await _gangs(reading, nodes, window)
    return _within(gangs.hits(verdicts, nodes), window)


async def all_hits_of(
    reading: Reading,
    nodes: Sequence[str],
    verdicts: Sequence[Verdict],
    window: Window,
    *,
    coverage: Coverage,
    knowledge: Knowledge,
) -> list[Hit]:
    """Find what verdicts on some nodes hit, with the losses elsewhere."""
    gangs = await _gangs(reading, nodes, window)
    others = gangs.nodes() - set(nodes)
    companions = await _companions(
        reading, others, verdicts, window, coverage, knowledge
    )
    found = gangs.hits([*verdicts, *companions], {*nodes, *others})
    asked = set(nodes)
    return _within((h for h in found if asked & set(h.nodes)), window)


async def _companions(
    reading: Reading,
    others: set[str],
    verdicts: Sequence[Verdict],
    window: Window,
    coverage: Coverage,
    knowledge: Knowledge,
) -> list[Verdict]:
    """Judge the other nodes of the gangs that failed at the same time."""
    times = [verdict.lost_at for verdict in verdicts]
    if not times or not others:
        return []
    signs = await reading.facts.signs(
        min(times) - TOGETHER, max(times) + TOGETHER
    )
    names = sorted(
        {
            stored.fact.node
            for stored in signs
            if stored.fact.node in others
            and stored.fact.kind is not FactKind.APPEARED
            and _is_near(stored.observed_at, times)
        }
    )
    since = min(times) - LOOKBACK
    nodes = await nodes_of(
        reading, names, since=since, until=window.until, knowledge=knowledge
    )
    found: list[Verdict] = []
    for node in nodes:
        found += await verdicts_of(
            reading, node.chains(knowledge), window, coverage
        )
    return [v for v in found if _is_near(v.lost_at, times)]


def _is_near(at: datetime, times: Iterable[datetime]) -> bool:
    return any(abs(at - time) <= TOGETHER for time in times)


async def _gangs(
    reading: Reading, nodes: Sequence[str], window: Window
) -> _Gangs:
    since = window.since
    facts = await reading.facts.of_nodes(
        nodes,
        since=None if since is None else since - POD_LIFE,
        until=window.until,
    )
    on_nodes = [f for f in facts if is_pod(f)]
    uids = {
        f.fact.object.uid
        for f in on_nodes
        if f.fact.object is not None and f.fact.object.uid
    }
    pods = await reading.facts.owners_of(uids)
    family = await _family(reading, pods, window.until)
    known = {(f.entry, f.index): f for f in (*pods, *family)}
    everything = sorted(
        (
            f
            for f in known.values()
            if window.until is None or f.at < window.until
        ),
        key=lambda f: (f.entry.position, f.index),
    )
    end = window.until or max(
        (f.observed_at for f in (*everything, *facts)),
        default=reading.log.recorded_at,
    )
    return _Gangs(everything, end)


def _within(found: Iterable[Hit], window: Window) -> list[Hit]:
    since = window.since
    return [h for h in found if since is None or _is_within(h, since)]


def _is_within(hit: Hit, since: datetime) -> bool:
    end = hit.running_again_at
    return hit.hit_at >= since or end is None or end >= since


async def _family(
    reading: Reading, pods: Sequence[StoredFact], until: datetime | None
) -> Sequence[StoredFact]:
    """Read the owners above Pods, and everything below the topmost."""
    tops = {
        uid for uids, _ in await owners_above(reading, pods) for uid in uids
    }
    return await reading.facts.of_gangs(tops, until=until)


async def owners_above(
    reading: Reading, pods: Sequence[StoredFact]
) -> list[tuple[set[str], Sequence[StoredFact]]]:
    """Read the owners above Pods, level by level: their UIDs and facts."""
    levels: list[tuple[set[str], Sequence[StoredFact]]] = []
    known: set[str] = set()
    above = _owners(pods)
    while above and len(levels) < OWNERS_DEPTH:
        known |= above
        found = await reading.facts.owners_of(above)
        levels.append((above, found))
        above = _owners(found) - known
    return levels


def _owners(facts: Iterable[StoredFact]) -> set[str]:
    found: set[str] = set()
    for stored in facts:
        state = stored.fact.detail.get("state")
        if isinstance(state, dict):
            found |= {
                owner["uid"]
                for owner in state.get("owners", ())
                if owner.get("uid")
                and owner.get("kind") not in {"DaemonSet", "Node", "CronJob"}
            }
    return found


def is_pod(stored: StoredFact) -> bool:
    """Tell whether a fact is about a Pod."""
    thing = stored.fact.object
    return thing is not None and thing.kind == "Pod"
