"""Facts and Pods of a log, as far as a reader may see them."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime, timedelta

from api.visible.counting import newest_seen
from api.visible.sight import Sight
from recorder.coverage.ports import FactsEnd
from recorder.explain.needs import ObjectName
from recorder.model.fact import StoredFact
from recorder.questions.fact_ports import Facts, Gangs, Stay
from recorder.questions.ports import FactPages, Line, OnDay, Selection

__all__ = ["VisibleFactPages", "VisibleFacts", "VisibleGangs"]

Time = datetime | None


class VisibleFacts:
    """Satisfies the port `Facts`."""

    def __init__(self, facts: Facts, sight: Sight) -> None:
        self._facts = facts
        self._sight = sight

    async def end(self) -> FactsEnd | None:
        """Return where facts end; None where every entry has its own."""
        return await self._facts.end()

    async def of_nodes(
        self,
        names: Collection[str],
        *,
        since: Time,
        until: Time,
        locks: Collection[str] = (),
    ) -> Sequence[StoredFact]:
        """Return what concerns nodes, and what may."""
        found = await self._facts.of_nodes(
            names, since=since, until=until, locks=locks
        )
        return await self._sight.facts(found)

    async def evidence(
        self,
        names: Collection[str],
        *,
        since: Time,
        until: Time,
        locks: Collection[str],
    ) -> Sequence[StoredFact]:
        """Return of that what may tell what happened to the nodes."""
        found = await self._facts.evidence(
            names, since=since, until=until, locks=locks
        )
        return await self._sight.facts(found)

    async def disrupted(
        self, stays: Collection[Stay], *, since: Time, until: Time
    ) -> Sequence[StoredFact]:
        """Return that Pods of nodes had to go."""
        found = await self._facts.disrupted(stays, since=since, until=until)
        return await self._sight.facts(found)

    async def requests(
        self, objects: Collection[ObjectName], *, since: Time, until: Time
    ) -> Sequence[StoredFact]:
        """Return what audit says of objects that name no node themselves."""
        found = await self._facts.requests(objects, since=since, until=until)
        return await self._sight.facts(found)

    async def signs(self, since: Time, until: Time) -> Sequence[StoredFact]:
        """Return what is about nodes as such, of the whole fleet."""
        return await self._sight.facts(await self._facts.signs(since, until))

    async def losses(self, since: Time, until: Time) -> Sequence[StoredFact]:
        """Return of that by what nodes are lost, and came or booted."""
        return await self._sight.facts(await self._facts.losses(since, until))

    async def stirred(
        self, since: Time, until: Time, *, seen: Time
    ) -> Collection[str]:
        """Name the nodes of which there is more than that they are there."""
        found = await self._facts.stirred(since, until, seen=seen)
        return await self._sight.nodes(found)

    async def stirred_near(
        self,
        names: Collection[str],
        times: Collection[datetime],
        within: timedelta,
    ) -> Collection[str]:
        """Name those of some nodes to which something happened about then."""
        found = await self._facts.stirred_near(names, times, within)
        return await self._sight.nodes(found)

    async def last_sign(self, name: str, until: Time) -> Time:
        """Return when the last sign about a node was."""
        if name not in await self._sight.nodes([name]):
            return None
        return await self._facts.last_sign(name, until)

    async def labels_within(
        self,
        since: Time,
        until: Time,
        *,
        value: str,
        key: str | None = None,
    ) -> Mapping[str, Sequence[Mapping[str, str]]]:
        """Return all labels that nodes had in a time, as they followed."""
        found = await self._facts.labels_within(
            since, until, value=value, key=key
        )
        seen = await self._sight.nodes(found)
        return {name: found[name] for name in found if name in seen}

    async def places(
        self, names: Collection[str] | None = None
    ) -> Mapping[str, Mapping[str, str]]:
        """Return where nodes stand, by the labels that they came with."""
        found = await self._facts.places(names)
        seen = await self._sight.nodes(found)
        return {name: found[name] for name in found if name in seen}


class VisibleGangs:
    """Satisfies the port `Gangs`.

    UIDs of Pods lead to nothing but their facts, which are looked through.
    """

    def __init__(self, gangs: Gangs, sight: Sight) -> None:
        self._gangs = gangs
        self._sight = sight

    async def pods_on(self, stays: Collection[Stay]) -> Collection[str]:
        """Return the UIDs of all Pods that may have been on nodes then."""
        return await self._gangs.pods_on(stays)

    async def tenants(
        self, nodes: Collection[str]
    ) -> Mapping[str, Collection[str]]:
        """Return of nodes the namespaces of Pods of the reader they ran."""
        found = await self._gangs.tenants(await self._sight.nodes(nodes))
        return await self._sight.tenants(found)

    async def preempted(
        self, nodes: Collection[str], *, since: Time, until: Time
    ) -> Collection[str]:
        """Return the UIDs of all Pods that may have made room for others."""
        return await self._gangs.preempted(nodes, since=since, until=until)

    async def lives(self, uids: Collection[str]) -> Sequence[StoredFact]:
        """Return how objects of these UIDs came and went."""
        return await self._sight.facts(await self._gangs.lives(uids))

    async def family(
        self, uids: Collection[str], *, until: Time
    ) -> Sequence[StoredFact]:
        """Return all about objects of these UIDs and what they control."""
        found = await self._gangs.family(uids, until=until)
        return await self._sight.facts(found)

    async def families(
        self, uids: Collection[str], *, until: Time
    ) -> Sequence[StoredFact]:
        """Return the lives of these objects, of their owners and Pods."""
        found = await self._gangs.families(uids, until=until)
        return await self._sight.facts(found)


class VisibleFactPages:
    """Satisfies the port `FactPages`."""

    def __init__(self, pages: FactPages, sight: Sight) -> None:
        self._pages = pages
        self._sight = sight

    async def skip_to_newest(
        self, selection: Selection, count: int, *, on_day: OnDay | None = None
    ) -> int:
        """Return a position behind which about the newest facts lie.

        Of those that may be seen: hidden ones are neither counted nor told.
        """
        return await newest_seen(
            lambda n: self._pages.skip_to_newest(selection, n, on_day=on_day),
            lambda after: self.pages(selection, after=after),
            count,
        )

    async def pages(
        self, selection: Selection, *, after: int, limit: int | None = None
    ) -> AsyncIterator[Sequence[StoredFact]]:
        """Yield facts behind a position, page by page; none is empty."""
        async for page in self._pages.pages(
            selection, after=after, limit=limit
        ):
            if seen := await self._sight.facts(page):
                yield seen

    async def of_lines(self, lines: Sequence[Line]) -> Sequence[StoredFact]:
        """Return the facts of some entries, in log order."""
        return await self._sight.facts(await self._pages.of_lines(lines))
