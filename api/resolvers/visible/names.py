"""Which names of a log a reader may see.

Rights are looked up before names are read, so that a hidden name takes as long
as one that does not exist.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from api.resolvers.visible.sight import NODES, Sight
from recorder.answers.nouns import Incarnation, Place, WorkloadLife
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    ActiveNodes,
    ActiveNodesNear,
    CustomKinds,
    DisplacedPods,
    Incarnations,
    Kinds,
    NameQuery,
    NodeNames,
    NodesLike,
    ObjectNames,
    ObjectsLike,
    PodsOn,
    WorkloadLives,
)
from recorder.model.reference import ObjectIdentity

LOOKED_AT = 1000
"""Names of nodes that are searched for a text."""

Item = TypeVar("Item")


class VisibleNames:
    """The names in one log, as far as a reader may see them."""

    def __init__(self, reading: Reading, sight: Sight) -> None:
        self._reading = reading
        self._sight = sight

    async def names(self, query: NameQuery[Item]) -> Sequence[Item]:
        """Return names, each once; none for an unknown query.

        UIDs of Pods are not filtered, as they lead only to facts; nor are
        kinds.
        """
        found: object
        match query:
            case Incarnations():
                found = await self._incarnations(query)
            case ObjectNames():
                found = await self._object_names(query)
            case ObjectsLike():
                found = await self._objects_like(query)
            case NodesLike():
                found = await self._nodes_like(query)
            case NodeNames() | ActiveNodes() | ActiveNodesNear():
                found = await self._nodes(query)
            case WorkloadLives():
                found = await self._lives(query)
            case PodsOn() | DisplacedPods() | Kinds() | CustomKinds():
                whole = cast("NameQuery[Item]", query)
                found = await self._reading.names(whole)
            case _:
                # Similar words may come from objects that are hidden.
                found = ()
        return cast("Sequence[Item]", found)

    async def _nodes(
        self, query: NodeNames | ActiveNodes | ActiveNodesNear
    ) -> Sequence[str]:
        if isinstance(query, NodeNames) and query.names is not None:
            # Also of names that do not exist, which must take as long.
            await self._sight.nodes(query.names)
        found = await self._reading.names(query)
        seen = await self._sight.nodes(found)
        return [name for name in found if name in seen]

    async def _lives(self, query: WorkloadLives) -> Sequence[WorkloadLife]:
        """Return the workloads that may be seen; facts decide on Pods."""
        found = await self._reading.names(query)
        seen = await self._sight.objects(life.top for life in found)
        return [life for life in found if life.top in seen]

    async def _nodes_like(self, query: NodesLike) -> Sequence[str]:
        """Return nodes with a text in their names, or at the beginning.

        The same number of names is checked for every text: the time must not
        reveal that there is a hidden name.
        """
        if await self._sight.holds(NODES):
            return await self._reading.names(query)
        text = query.text
        names = await self._reading.names(NodeNames())
        found = [name for name in names if name.startswith(text)]
        begun = {*found}
        if query.anywhere:
            found += [n for n in names if text in n and n not in begun]
        others = [*dict.fromkeys([*found, *names])]
        seen = await self._sight.nodes(others[:LOOKED_AT])
        return [name for name in found if name in seen][: query.limit]

    async def _objects_like(
        self, query: ObjectsLike
    ) -> Sequence[ObjectIdentity]:
        kinds = await self._reading.names(Kinds())
        places = await self._sight.places(kinds)
        if query.within is not None:
            places = [one for one in places if one in query.within]
        return await self._reading.names(replace(query, within=places))

    async def _incarnations(
        self, query: Incarnations
    ) -> Sequence[Incarnation]:
        # Rights are looked up before names are read.
        namespace = query.namespace
        if namespace is None:
            places = await self._sight.places(query.kinds)
        else:
            asked = [(*kind, namespace) for kind in query.kinds]
            seen = await self._sight.objects(
                ObjectIdentity(*place, query.name, None) for place in asked
            )
            places = {
                Place(one.group, one.kind, namespace)
                for one in seen
                if one is not None
            }
        if not places:
            return []
        found = await self._reading.names(query)
        return [one for one in found if _is_in(one.identity, places)]

    async def _object_names(
        self, query: ObjectNames
    ) -> Sequence[tuple[str, str]]:
        found = await self._reading.names(query)
        named = {
            place: [
                ObjectIdentity(group, kind, *place, None)
                for group, kind in query.kinds
            ]
            for place in found
        }
        seen = await self._sight.objects(
            one for identities in named.values() for one in identities
        )
        return [
            place for place in found if all(o in seen for o in named[place])
        ]


def _is_in(identity: ObjectIdentity, places: Collection[Place]) -> bool:
    place = Place(identity.group, identity.kind, identity.namespace)
    return place in places or place._replace(namespace=None) in places
