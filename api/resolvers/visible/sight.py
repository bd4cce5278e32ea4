"""Which facts, entries and nodes of one log a reader may see.

A reader who may get an object may read its history. A reader who may get Pods
of a namespace that ran on a node may read what happened to the node: Events
about it, and the facts of its versions; but not its documents, which name the
images and volumes of all tenants, nor its audit records, which contain those
documents. What other systems claim about a Node takes the right to get Nodes;
what they claim about other places, what Slurm reports and metrics take the
right to list Nodes. Entries of the recorder about itself are visible to
readers who may get all Nodes and Pods.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum, auto
from typing import TypeVar

from api.access import ForbiddenError
from api.ports import Rights
from api.resolvers.visible.naming import namespaces_in, words_of_event
from recorder.answers.kinds import BUILT_IN
from recorder.answers.nouns import Place, Version, is_about_events
from recorder.answers.ports import Reading
from recorder.answers.queries import (
    CustomKinds,
    FactQuery,
    ObjectNames,
    Purpose,
    Tenants,
)
from recorder.facts.classify import CLAIM_GROUP, CLAIM_KIND, claim_type
from recorder.facts.metrics import METRICS
from recorder.facts.slurm import SLURM_GROUP
from recorder.model.access import Right
from recorder.model.entry import Entry, Operation
from recorder.model.fact import FactKind, StoredFact
from recorder.model.facts import Claimed, EventOccurred
from recorder.model.kinds import plural_of
from recorder.model.observation import WATCH
from recorder.model.place import PlaceKind
from recorder.model.reference import EntryName, ObjectIdentity

NODES, PODS = Right("", "nodes", ""), Right("", "pods", "")
FLEET = NODES._replace(verb="list")
"""For what is about more than one Node: no API server has rights to racks,
switches, jobs of Slurm or metrics."""

ABOUT_A_NODE = f"{PlaceKind.NODE}/"
OF_THE_FLEET = ("slurm.", METRICS)
"""How types of claims begin that take `FLEET`, also if about a Node."""

NODE_LEASES = "kube-node-lease"
NAMESPACES = [("", "Namespace"), ("", "namespaces")]

NAMESPACES_MAX = 500
"""Of a cluster, that are reviewed one by one before the first answer."""

PLACES_MAX = 2000
"""Kinds times namespaces that are searched for one text."""

BUILT_IN_PLURALS = {(one.group, one.kind): one.plural for one in BUILT_IN}

OF_THE_LOG = frozenset(
    {
        Operation.GAP_OPENED,
        Operation.GAP_CLOSED,
        Operation.EPOCH_BEGAN,
        Operation.CLOCK_JUMPED,
        Operation.RETENTION,
    }
)
"""Entries of the recorder about itself: they count the objects of all tenants,
and name files, servers, and the nodes and incidents that are held."""


Key = TypeVar("Key")


class View(Enum):
    """How much of an object the reader may see."""

    WHOLE = auto()
    """Everything: the reader may get it."""

    NEAR = auto()
    """Only what happened to it: a node that ran Pods of the reader."""

    def shows(self, kind: FactKind) -> bool:
        """Return whether facts of a kind are visible."""
        return self is View.WHOLE or kind is not FactKind.REQUESTED


class Sight:
    """What one reader may see of one log, during one request."""

    def __init__(
        self,
        rights: Rights,
        reading: Reading,
        shown_by: Collection[Right] = (),
    ) -> None:
        """Take a log, and the rights that gave access to it before."""
        self._rights = rights
        self._reading = reading
        self._shown_by = shown_by
        self._held: dict[Right, bool] = {}
        self._concerned: dict[str, bool] = {}
        self._plurals: dict[tuple[str, str], str] | None = None

    async def afresh(self, reading: Reading | None = None) -> "Sight":
        """Return the same with rights that are looked up again.

        Raises:
            ForbiddenError: the reader no longer has any right.
        """
        held = {right for right, held in self._held.items() if held}
        shown_by = held or self._shown_by
        afresh = Sight(self._rights, reading or self._reading, shown_by)
        await afresh.check()
        return afresh

    async def check(self) -> None:
        """Check that the reader may see anything, as far as is known.

        Raises:
            ForbiddenError: the reader has no right in the cluster.
        """
        known = {NODES, PODS, *self._shown_by}
        await self.learn(known)
        if any(self._held[right] for right in known):
            return
        places = await self._reading.names(ObjectNames(NAMESPACES))
        rights = [Right("", "pods", name) for _, name in places]
        if len(rights) > NAMESPACES_MAX:
            rights = []
        await self.learn(rights)
        if any(self._held[right] for right in rights):
            return
        if not (rights or self._shown_by):
            # Too many to review, or none known: each query decides.
            return
        msg = (
            "you may not read anything of this cluster: it takes the right to"
            " get nodes, or to get pods of a namespace"
        )
        raise ForbiddenError(msg)

    async def facts(self, found: Sequence[StoredFact]) -> list[StoredFact]:
        """Return the visible facts, in their order."""
        views = await self.views(stored.fact.object for stored in found)
        near = [
            _words(stored)
            for stored in found
            if views.get(stored.fact.object) is View.NEAR
        ]
        hidden = await self._of_others(near)
        fleet = await self.holds(FLEET)
        return [
            stored
            for stored in found
            if (view := views.get(stored.fact.object)) is not None
            and view.shows(stored.fact.kind)
            and not (view is View.NEAR and _words(stored) in hidden)
            and (fleet or not _is_of_the_fleet(stored))
        ]

    async def lines(self, found: Sequence[Entry]) -> list[Entry]:
        """Return the visible entries, in their order.

        Entries of Events must have their documents.
        """
        views = await self.views(line.identity for line in found)
        of_the_log = await self.is_whole()
        words = {
            line.entry: words_of_event(line.raw)
            for line in found
            if views.get(line.identity) is View.NEAR and _is_an_event(line)
        }
        hidden = await self._of_others(words.values())
        seen = await self._claims(found, views)
        return [
            line
            for line in found
            if (
                of_the_log and line.operation in OF_THE_LOG
                if line.identity is None
                else line.entry in seen
                if line.operation is Operation.CLOUDEVENT
                else views.get(line.identity) is View.WHOLE
                or (line.entry in words and words[line.entry] not in hidden)
            )
        ]

    async def _claims(
        self,
        found: Iterable[Entry],
        views: Mapping[ObjectIdentity | None, View],
    ) -> Collection[EntryName]:
        """Return the visible claims; their types are known by their facts."""
        claims = {
            line.entry: line.recorded_at
            for line in found
            if line.operation is Operation.CLOUDEVENT
            and views.get(line.identity) is View.WHOLE
        }
        if not claims or await self.holds(FLEET):
            return claims.keys()
        query = FactQuery(
            purpose=Purpose.ENTRIES,
            entries={name.position: at for name, at in claims.items()},
        )
        return {
            stored.entry
            for stored in await self._reading.facts(query)
            if isinstance(stored.fact.detail, Claimed)
            and not _is_of_the_fleet(stored)
        }

    async def versions(
        self, found: Mapping[Key, Version]
    ) -> dict[Key, Version]:
        """Return the visible versions of objects, which are documents."""
        views = await self.views(one.identity for one in found.values())
        fleet = await self.holds(FLEET)
        return {
            key: one
            for key, one in found.items()
            if views.get(one.identity) is View.WHOLE
            and (
                fleet
                or one.identity.group != CLAIM_GROUP
                or not claim_type(one.raw).startswith(OF_THE_FLEET)
            )
        }

    async def _of_others(self, texts: Iterable[str]) -> Collection[str]:
        """Return the texts that name a namespace of other tenants."""
        named = {text: namespaces_in(text) for text in {*texts}}
        named = {text: names for text, names in named.items() if names}
        if not named:
            return ()
        places = await self._reading.names(ObjectNames(NAMESPACES))
        pods = {name: Right("", "pods", name) for _, name in places}
        there = {n for names in named.values() for n in names} & pods.keys()
        await self.learn(pods[name] for name in there)
        others = {name for name in there if not self._held[pods[name]]}
        return {text for text, names in named.items() if others & {*names}}

    async def objects(
        self, identities: Iterable[ObjectIdentity | None]
    ) -> Collection[ObjectIdentity | None]:
        """Return the objects that the reader may see, in part or whole."""
        return (await self.views(identities)).keys()

    async def views(
        self, identities: Iterable[ObjectIdentity | None]
    ) -> Mapping[ObjectIdentity | None, View]:
        """Return how much of objects is visible; nodes also through Pods.

        None, which names no object, is never visible.
        """
        asked = {one for one in identities if one is not None}
        rights = {one: await self._right(one) for one in asked}
        await self.learn(rights.values())
        views: dict[ObjectIdentity | None, View] = {
            one: View.WHOLE for one in asked if self._held[rights[one]]
        }
        about = [o for o in asked - views.keys() if _is_about_node(o)]
        if about:
            near = await self.nodes(one.name for one in about)
            views |= {one: View.NEAR for one in about if one.name in near}
        return views

    async def places(
        self, kinds: Collection[tuple[str, str]]
    ) -> Collection[Place]:
        """Return where the reader may get objects of some kinds.

        In all namespaces, or in those whose Pods they may get. Looked up
        before names are read, so that a hidden name takes as long as one that
        does not exist.
        """
        anywhere = {Place(*kind, None) for kind in kinds}
        seen = await self._held_places(anywhere)
        narrow = anywhere - seen
        spaces = await self._namespaces()
        own = [one for one in spaces if self._held[Right("", "pods", one)]]
        own = own[: PLACES_MAX // max(len(narrow), 1)]
        return seen | await self._held_places(
            one._replace(namespace=space) for one in narrow for space in own
        )

    async def _held_places(self, places: Iterable[Place]) -> set[Place]:
        rights = {
            place: await self._right(
                ObjectIdentity(
                    place.group, place.kind, place.namespace or "", "", None
                )
            )
            for place in places
        }
        await self.learn(rights.values())
        return {place for place, right in rights.items() if self._held[right]}

    async def _namespaces(self) -> Sequence[str]:
        """Return the namespaces of the log, after a review of their Pods."""
        found = await self._reading.names(ObjectNames(NAMESPACES))
        names = [name for _, name in found][:NAMESPACES_MAX]
        await self.learn(Right("", "pods", name) for name in names)
        return names

    async def is_whole(self) -> bool:
        """Return whether the reader may get all Nodes and Pods."""
        await self.learn([NODES, PODS])
        return self._held[NODES] and self._held[PODS]

    async def nodes(self, names: Iterable[str]) -> Collection[str]:
        """Return the visible nodes: all, or those that ran Pods of theirs."""
        wanted = set(names)
        await self.learn([NODES])
        if self._held[NODES]:
            return wanted
        unknown = wanted - self._concerned.keys()
        if unknown:
            own = await self.tenants(
                await self._reading.states(Tenants(unknown))
            )
            for name in unknown:
                self._concerned[name] = bool(own.get(name))
        return {name for name in wanted if self._concerned[name]}

    async def tenants(
        self, found: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]]:
        """Return which namespaces on each node are the reader's."""
        pods = {
            space: Right("", "pods", space)
            for spaces in found.values()
            for space in spaces
        }
        await self.learn(pods.values())
        return {
            name: [space for space in spaces if self._held[pods[space]]]
            for name, spaces in found.items()
        }

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
        """Return the right that is needed to get an object."""
        named = identity.group, identity.kind
        if named == (CLAIM_GROUP, CLAIM_KIND):
            about_a_node = identity.name.startswith(ABOUT_A_NODE)
            return NODES if about_a_node else FLEET
        if identity.group == SLURM_GROUP:
            return FLEET
        plural = BUILT_IN_PLURALS.get(named)
        if plural is None and identity.kind.islower():
            plural = identity.kind
        if plural is None:
            if self._plurals is None:
                self._plurals = {
                    (one.group, one.kind): one.plural
                    for one in await self._reading.names(CustomKinds())
                }
            plural = self._plurals.get(named) or plural_of(identity.kind)
        return Right(identity.group, plural, identity.namespace)


def _words(stored: StoredFact) -> str:
    """Return the text of an Event, which may name objects of others."""
    detail = stored.fact.detail
    return (detail.message or "") if isinstance(detail, EventOccurred) else ""


def _is_of_the_fleet(stored: StoredFact) -> bool:
    """Return whether a fact is a claim that takes `FLEET` by its type."""
    detail = stored.fact.detail
    return isinstance(detail, Claimed) and detail.type.startswith(OF_THE_FLEET)


def _is_about_node(identity: ObjectIdentity) -> bool:
    return (identity.group == "" and identity.kind in {"Node", "nodes"}) or (
        identity.group == "coordination.k8s.io"
        and identity.namespace == NODE_LEASES
    )


def _is_an_event(line: Entry) -> bool:
    """Return whether an entry about a node is an Event, not the Node itself.

    Audit records hold the bodies of requests, which are Nodes too.
    """
    return line.source == WATCH and is_about_events(line.resource)
