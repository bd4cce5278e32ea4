"""What answers need from the facts of a log.

Questions ask for what can answer them, and not for all there is of a node:
most facts of a fleet are the daily life of Pods.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from recorder.coverage.ports import FactsRecord
from recorder.explain.needs import ObjectName
from recorder.model.fact import StoredFact

__all__ = ["ALWAYS", "Facts", "Gangs", "Stay"]


ALWAYS = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
"""A span that holds every time; the database has room for a day more."""


class Facts(FactsRecord, Protocol):
    """The facts of one log, in its order."""

    async def of_nodes(
        self,
        names: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
        locks: Collection[str] = (),
    ) -> Sequence[StoredFact]:
        """Return what concerns nodes, and what may: locks that name one.

        Of those that a first list showed, the ones with these keys, which
        may hold ``*``.
        """

    async def evidence(
        self,
        names: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
        locks: Collection[str],
    ) -> Sequence[StoredFact]:
        """Return of that what may tell what happened to the nodes.

        Not the daily life of their Pods, nor that those had to go; and of
        locks those with these keys, which may hold ``*``.
        """

    async def disrupted(
        self,
        stays: Collection["Stay"],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> Sequence[StoredFact]:
        """Return that Pods of nodes had to go, as it was seen in some times.

        These may not overlap for one node.
        """

    async def requests(
        self,
        objects: Collection[ObjectName],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> Sequence[StoredFact]:
        """Return what audit says of objects that name no node themselves."""

    async def signs(
        self, since: datetime | None, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Return what is about nodes as such, of the whole fleet."""

    async def losses(
        self, since: datetime | None, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Return of that by what nodes are lost, and that they came or booted.

        Of what appeared at least where it stands, and whether Ready was
        Unknown.
        """

    async def stirred(
        self,
        since: datetime | None,
        until: datetime | None,
        *,
        seen: datetime | None,
    ) -> Collection[str]:
        """Name the nodes of which there is more than that they are there.

        ``seen`` is when it was observed at the earliest.
        """

    async def stirred_near(
        self,
        names: Collection[str],
        times: Collection[datetime],
        within: timedelta,
    ) -> Collection[str]:
        """Name those of some nodes to which something happened about then."""

    async def last_sign(
        self, name: str, until: datetime | None
    ) -> datetime | None:
        """Return when the last sign about a node was."""

    async def labels_within(
        self,
        since: datetime | None,
        until: datetime | None,
        *,
        value: str,
        key: str | None = None,
    ) -> Mapping[str, Sequence[Mapping[str, str]]]:
        """Return all labels that nodes had in a time, as they followed.

        Of those that ever had this value: of a key, or of any that says where
        a node stands; a few more may be among them. Before it was first seen
        a node has the labels of then, and when it is gone those that it had
        last: what it hit may outlast it.
        """

    async def places(
        self, names: Collection[str] | None = None
    ) -> Mapping[str, Mapping[str, str]]:
        """Return of the labels with which nodes appeared where they stand.

        Of some nodes, or of all.
        """


@dataclass(frozen=True, slots=True)
class Stay:
    """A node, and a time in which it is asked what was of its Pods."""

    node: str
    since: datetime
    until: datetime


class Gangs(Protocol):
    """The Pods of one log, and what they belong to."""

    async def pods_on(self, stays: Collection[Stay]) -> Collection[str]:
        """Return the UIDs of all Pods that may have been on nodes then."""

    async def tenants(
        self, nodes: Collection[str]
    ) -> Mapping[str, Collection[str]]:
        """Return of nodes the namespaces of Pods that they ever ran."""

    async def preempted(
        self,
        nodes: Collection[str],
        *,
        since: datetime | None,
        until: datetime | None,
    ) -> Collection[str]:
        """Return the UIDs of all Pods that may have made room for others."""

    async def lives(self, uids: Collection[str]) -> Sequence[StoredFact]:
        """Return how objects of these UIDs came and went."""

    async def family(
        self, uids: Collection[str], *, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Return all about objects of these UIDs and what they control.

        But not what Events and audit say of them.
        """

    async def families(
        self, uids: Collection[str], *, until: datetime | None
    ) -> Sequence[StoredFact]:
        """Return the lives of these objects, of their owners and Pods."""
