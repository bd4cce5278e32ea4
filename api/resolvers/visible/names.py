"""Which names of a log a reader may see.

What may be seen is looked up before it is known what there is, so that a name
that is hidden takes as long as one that is not there.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from api.resolvers.visible.sight import NODES, Sight
from recorder.answers.nouns import Incarnation, Place
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    ActiveNodes,
    ActiveNodesNear,
    CustomKinds,
    Incarnations,
    Kinds,
    NameQuery,
    NodeNames,
    NodesLike,
    ObjectNames,
    ObjectsLike,
    PodsOn,
    PreemptedPods,
)
from recorder.model.reference import ObjectIdentity

__all__ = ["VisibleNames"]

LOOKED_AT = 1000
"""Names of nodes that are looked through for a text."""

Item = TypeVar("Item")


class VisibleNames:
    """The names in one log, as far as a reader may see them."""

    def __init__(self, reading: Reading, sight: Sight) -> None:
        self._reading = reading
        self._sight = sight

    async def names(self, query: NameQuery[Item]) -> Sequence[Item]:
        """Return names, each once; none for a query that is not known.

        All UIDs of Pods: they lead to nothing but facts. And all kinds.
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
            case PodsOn() | PreemptedPods() | Kinds() | CustomKinds():
                whole = cast("NameQuery[Item]", query)
                found = await self._reading.names(whole)
            case _:
                # Words that are near another may be of others.
                found = ()
        return cast("Sequence[Item]", found)

    async def _nodes(
        self, query: NodeNames | ActiveNodes | ActiveNodesNear
    ) -> Sequence[str]:
        if isinstance(query, NodeNames) and query.names is not None:
            # Also of names that are not there, which must take as long.
            await self._sight.nodes(query.names)
        found = await self._reading.names(query)
        seen = await self._sight.nodes(found)
        return [name for name in found if name in seen]

    async def _nodes_like(self, query: NodesLike) -> Sequence[str]:
        """Return nodes with a text in their names, or at the beginning.

        As many are looked at, whatever the text: the time must not show
        that there is a name which the reader may not see.
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
        # What may be seen is looked up before it is known what there is.
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
