"""Which facts, entries and nodes of one log somebody may see.

Whoever may get an object may read its history. Of a node, whoever may get
Pods of a namespace that it ran may read what happened to it, but not the
documents of the Node, which name the images and volumes of everybody.
"""

from collections.abc import Collection, Iterable, Sequence

from api.ports import LogReading, Rights
from recorder.model.access import Right
from recorder.model.entry import Operation
from recorder.model.fact import StoredFact
from recorder.model.kinds import plural_of
from recorder.model.observation import WATCH
from recorder.model.reference import ObjectIdentity
from recorder.questions.kinds import BUILT_IN
from recorder.questions.ports import Line, is_about_events

__all__ = ["Sight"]

NODES = Right("", "nodes", "")
NODE_LEASES = "kube-node-lease"
BUILT_IN_PLURALS = {(one.group, one.kind): one.plural for one in BUILT_IN}

OF_THE_LOG = frozenset(
    {
        Operation.GAP_OPENED,
        Operation.GAP_CLOSED,
        Operation.EPOCH_BEGAN,
        Operation.CLOCK_JUMPED,
    }
)
"""What the recorder says of itself, which names no object. Not holds, which
name nodes and incidents, and why they are kept."""


class Sight:
    """What one reader sees of one log, while one question is answered."""

    def __init__(self, rights: Rights, reading: LogReading) -> None:
        self._rights = rights
        self._reading = reading
        self._held: dict[Right, bool] = {}
        self._concerned: dict[str, bool] = {}
        self._plurals: dict[tuple[str, str], str] | None = None

    def afresh(self) -> "Sight":
        """Return the same, with rights that are looked up again."""
        return Sight(self._rights, self._reading)

    async def facts(self, found: Sequence[StoredFact]) -> list[StoredFact]:
        """Return those facts that may be seen, in their order."""
        seen = await self.objects(stored.fact.object for stored in found)
        return [stored for stored in found if stored.fact.object in seen]

    async def lines(self, found: Sequence[Line]) -> list[Line]:
        """Return those lines that may be seen, in their order."""
        seen = await self.objects(line.identity for line in found)
        holds_nodes = await self.holds(NODES)
        return [
            line
            for line in found
            if (
                line.operation in OF_THE_LOG
                or (holds_nodes and line.operation is Operation.RETENTION)
                if line.identity is None
                else line.identity in seen
                and (
                    holds_nodes
                    or not _is_node(line.identity)
                    or _tells_no_document(line)
                )
            )
        ]

    async def objects(
        self, identities: Iterable[ObjectIdentity | None]
    ) -> Collection[ObjectIdentity | None]:
        """Return those objects that may be seen; of nodes also through Pods.

        What names no object is not among them.
        """
        asked = {one for one in identities if one is not None}
        rights = {one: await self._right(one) for one in asked}
        await self.learn(rights.values())
        seen = {one for one in asked if self._held[rights[one]]}
        nodes = {one.name for one in asked - seen if _is_about_node(one)}
        if nodes:
            near = await self.nodes(nodes)
            seen |= {
                one
                for one in asked
                if _is_about_node(one) and one.name in near
            }
        return seen

    async def nodes(self, names: Iterable[str]) -> Collection[str]:
        """Return those nodes that may be seen, or that concern the reader."""
        wanted = set(names)
        await self.learn([NODES])
        if self._held[NODES]:
            return wanted
        unknown = wanted - self._concerned.keys()
        if unknown:
            tenants = await self._reading.gangs.tenants(unknown)
            pods = {
                space: Right("", "pods", space)
                for spaces in tenants.values()
                for space in spaces
            }
            await self.learn(pods.values())
            for name in unknown:
                self._concerned[name] = any(
                    self._held[pods[space]] for space in tenants.get(name, ())
                )
        return {name for name in wanted if self._concerned[name]}

    async def learn(self, rights: Iterable[Right]) -> None:
        """Look up which of some rights the reader holds."""
        unknown = {one for one in rights if one not in self._held}
        if unknown:
            held = await self._rights.held(unknown)
            self._held |= {one: one in held for one in unknown}

    async def holds(self, right: Right) -> bool:
        """Return whether the reader holds a right."""
        await self.learn([right])
        return self._held[right]

    async def _right(self, identity: ObjectIdentity) -> Right:
        """Return the right that an object takes."""
        named = identity.group, identity.kind
        plural = BUILT_IN_PLURALS.get(named)
        if plural is None and identity.kind.islower():
            plural = identity.kind
        if plural is None:
            if self._plurals is None:
                self._plurals = {
                    (one.group, one.kind): one.plural
                    for one in await self._reading.custom_kinds()
                }
            plural = self._plurals.get(named) or plural_of(identity.kind)
        return Right(identity.group, plural, identity.namespace)


def _is_node(identity: ObjectIdentity) -> bool:
    return identity.group == "" and identity.kind in {"Node", "nodes"}


def _is_about_node(identity: ObjectIdentity) -> bool:
    return _is_node(identity) or (
        identity.group == "coordination.k8s.io"
        and identity.namespace == NODE_LEASES
    )


def _tells_no_document(line: Line) -> bool:
    """Return whether an entry about a node is an Event, not the Node itself.

    Audit records hold the bodies of requests, which are Nodes too.
    """
    return line.source == WATCH and is_about_events(line.resource)
