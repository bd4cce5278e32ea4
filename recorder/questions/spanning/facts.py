"""Facts of both halves of a log."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta

from recorder.coverage.ports import FactsEnd
from recorder.explain.needs import ObjectName
from recorder.model.fact import StoredFact
from recorder.questions.fact_ports import Facts, Gangs, Stay
from recorder.questions.ports import Reading
from recorder.questions.spanning.merging import union

__all__ = ["Cold", "SpanningFacts", "SpanningGangs"]

ROUNDS_MAX = 4
"""Steps from one half to the other, as between Pods and what owns them."""

Cold = Callable[[], Reading | None]
"""Returns the days of the archive that are open, if there are any."""

Names = Mapping[str, Sequence[Mapping[str, str]]]


class SpanningFacts:
    """What happened; satisfies the port `Facts`."""

    def __init__(
        self,
        hot: Facts,
        cold: Cold,
        whole: Cold,
        reach: Callable[[datetime | None, datetime | None], Awaitable[None]],
    ) -> None:
        """Take both halves, and the second where it has whole days.

        What is no Event, audit record or silence is asked of those alone.
        """
        self._hot = hot
        self._cold = cold
        self._whole = whole
        self._reach = reach

    async def end(self) -> FactsEnd | None:
        """Return where facts end; None where every entry has its own."""
        return await self._hot.end()

    async def of_nodes(
        self,
        names: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
        locks: Collection[str] = (),
    ) -> Sequence[StoredFact]:
        """Return what concerns nodes, and what may: locks that name one."""
        return await self._union(
            lambda half: half.of_nodes(
                names, since=since, until=until, locks=locks
            ),
            since,
            until,
        )

    async def evidence(
        self,
        names: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
        locks: Collection[str],
    ) -> Sequence[StoredFact]:
        """Return of that what may tell what happened to the nodes."""
        return await self._union(
            lambda half: half.evidence(
                names, since=since, until=until, locks=locks
            ),
            since,
            until,
        )

    async def disrupted(
        self,
        stays: Collection[Stay],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> Sequence[StoredFact]:
        """Return that Pods of nodes had to go, as it was seen in times."""
        return await self._union(
            lambda half: half.disrupted(stays, since=since, until=until),
            since,
            until,
            self._whole,
        )

    async def requests(
        self,
        objects: Collection[ObjectName],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> Sequence[StoredFact]:
        """Return what audit says of objects that name no node."""
        return await self._union(
            lambda half: half.requests(objects, since=since, until=until),
            since,
            until,
        )

    async def signs(
        self, since: datetime | None, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Return what is about nodes as such, of the whole fleet."""
        return await self._union(
            lambda half: half.signs(since, until), since, until
        )

    async def losses(
        self, since: datetime | None, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Return of that by what nodes are lost, and that they came."""
        return await self._union(
            lambda half: half.losses(since, until), since, until
        )

    async def stirred(
        self,
        since: datetime | None,
        until: datetime | None,
        *,
        seen: datetime | None,
    ) -> Collection[str]:
        """Name the nodes of which there is more than that they are there."""
        await self._reach(since, until)
        found = {*await self._hot.stirred(since, until, seen=seen)}
        if cold := self._cold():
            found |= {*await cold.facts.stirred(since, until, seen=seen)}
        return found

    async def stirred_near(
        self,
        names: Collection[str],
        times: Collection[datetime],
        within: timedelta,
    ) -> Collection[str]:
        """Name those of some nodes to which something happened about then."""
        found = {*await self._hot.stirred_near(names, times, within)}
        if cold := self._cold():
            found |= {*await cold.facts.stirred_near(names, times, within)}
        return found

    async def last_sign(
        self, name: str, until: datetime | None
    ) -> datetime | None:
        """Return when the last sign about a node was."""
        found = [await self._hot.last_sign(name, until)]
        if cold := self._cold():
            found.append(await cold.facts.last_sign(name, until))
        return max((at for at in found if at is not None), default=None)

    async def labels_within(
        self,
        since: datetime | None,
        until: datetime | None,
        *,
        value: str,
        key: str | None = None,
    ) -> Names:
        """Return all labels that nodes had in a time, as they followed."""
        await self._reach(since, until)
        hot = await self._hot.labels_within(since, until, value=value, key=key)
        cold = self._whole()
        if cold is None:
            return hot
        found = {
            name: [*had]
            for name, had in (
                await cold.facts.labels_within(
                    since, until, value=value, key=key
                )
            ).items()
        }
        for name, had in hot.items():
            known = found.setdefault(name, [])
            known += [labels for labels in had if labels not in known]
        return found

    async def places(
        self, names: Collection[str] | None = None
    ) -> Mapping[str, Mapping[str, str]]:
        """Return of the labels with which nodes appeared where they stand."""
        hot = await self._hot.places(names)
        cold = self._whole()
        return (
            hot if cold is None else {**await cold.facts.places(names), **hot}
        )

    async def _union(
        self,
        ask: Callable[[Facts], Awaitable[Sequence[StoredFact]]],
        since: datetime | None,
        until: datetime | None,
        opened: Cold | None = None,
    ) -> Sequence[StoredFact]:
        await self._reach(since, until)
        hot = await ask(self._hot)
        cold = (opened or self._cold)()
        return hot if cold is None else union(hot, await ask(cold.facts))


class SpanningGangs:
    """Who was where, and with whom; satisfies the port `Gangs`."""

    def __init__(self, hot: Gangs, cold: Cold, whole: Cold) -> None:
        self._hot = hot
        self._cold = cold
        self._whole = whole

    async def pods_on(self, stays: Collection[Stay]) -> Collection[str]:
        """Return the UIDs of all Pods that may have been on nodes then."""
        found = {*await self._hot.pods_on(stays)}
        if cold := self._whole():
            found |= {*await cold.gangs.pods_on(stays)}
        return found

    async def tenants(
        self, nodes: Collection[str]
    ) -> Mapping[str, Collection[str]]:
        """Return of nodes the namespaces of Pods that they ever ran."""
        halves = [self._hot.tenants(nodes)]
        if cold := self._whole():
            halves.append(cold.gangs.tenants(nodes))
        found: dict[str, set[str]] = {}
        for half in halves:
            for node, namespaces in (await half).items():
                found.setdefault(node, set()).update(namespaces)
        return found

    async def preempted(
        self,
        nodes: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> Collection[str]:
        """Return the UIDs of all Pods that may have made room for others."""
        asked = {"since": since, "until": until}
        found = {*await self._hot.preempted(nodes, **asked)}
        if cold := self._whole():
            found |= {*await cold.gangs.preempted(nodes, **asked)}
        return found

    async def lives(self, uids: Collection[str]) -> Sequence[StoredFact]:
        """Return how objects of these UIDs came and went."""
        hot = await self._hot.lives(uids)
        cold = self._whole()
        return (
            hot if cold is None else union(hot, await cold.gangs.lives(uids))
        )

    async def family(
        self, uids: Collection[str], *, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Return all about objects of these UIDs and what they control."""
        return await self._related(
            lambda half, asked: half.family(asked, until=until), uids
        )

    async def families(
        self, uids: Collection[str], *, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Return the lives of these objects, of their owners and Pods."""
        return await self._related(
            lambda half, asked: half.families(asked, until=until), uids
        )

    async def _related(
        self,
        ask: Callable[
            [Gangs, Collection[str]], Awaitable[Sequence[StoredFact]]
        ],
        uids: Collection[str],
    ) -> Sequence[StoredFact]:
        """Ask both halves, and again for what only one of them knew."""
        cold = self._cold()
        if cold is None:
            return await ask(self._hot, uids)
        found: Sequence[StoredFact] = ()
        asked, known = {*uids}, {*uids}
        for _ in range(ROUNDS_MAX):
            halves = [
                await ask(half, asked) for half in (self._hot, cold.gangs)
            ]
            found = union(*halves, found)
            told = [_uids(half) for half in halves]
            # Whom both halves tell of both have followed.
            asked = (told[0] ^ told[1]) - known
            known |= told[0] | told[1]
            if not asked:
                break
        return found


def _uids(facts: Sequence[StoredFact]) -> set[str]:
    """Return the UIDs of the objects of facts."""
    named = (stored.fact.object for stored in facts)
    return {one.uid for one in named if one is not None and one.uid}
