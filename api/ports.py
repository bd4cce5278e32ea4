"""What the API needs of the logs, and of who may ask; the wiring has both.

Nothing here knows a database: a reading answers the questions of
`recorder.answers`.
"""

from collections.abc import Collection, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Any, Protocol

from recorder.answers.clusters import Known
from recorder.answers.growing import Bell
from recorder.answers.ports import Reading
from recorder.answers.status import Status
from recorder.model.access import Person, Right

__all__ = [
    "Logs",
    "Reads",
    "Reviews",
    "Rights",
    "TokenFile",
]


class Logs(Protocol):
    """The logs of one database, or of all of a registry."""

    def beside(
        self, *, connections: int, statement_timeout: timedelta
    ) -> "Logs":
        """Return the same logs over connections of their own."""

    async def read(
        self, number: int | None, *, cluster: str | None = None
    ) -> Reading:
        """Open the log that is meant, as it stands now.

        Raises:
            NotFoundError: there is no such log or cluster, or none at all.
            LogUnavailableError: the database that has it is away.
            ConfigError: several could be meant.
        """

    async def known(self) -> Known:
        """Return all logs that can be read now, and which clusters are away.

        Raises:
            LogError: there is one database, and it does not answer.
        """

    def note_delivery(self, log: int) -> None:
        """Note that something of a log that was read before is delivered."""

    async def leave(self, log: int) -> None:
        """Close what is open of one of many logs, until it is asked again."""

    async def rest(self) -> None:
        """Close what need not be open between two questions."""

    async def status(self, number: int | None) -> Status:
        """Return everything at a glance: of all logs, or of the one named."""

    def bell(self, reading: Reading) -> AbstractAsyncContextManager[Bell]:
        """Return what rings when a log has grown."""

    async def ping(self) -> None:
        """See that the database answers.

        Raises:
            LogError: it does not.
        """

    async def close(self) -> None:
        """Close the connections."""


class Holder(Protocol):
    """Who holds a token."""

    @property
    def name(self) -> str:
        """What the token is called."""


class TokenFile(Protocol):
    """The tokens that admit."""

    def holder(self, presented: str) -> Holder | None:
        """Return the token that somebody presents, if it counts.

        Raises:
            ConfigError: the file cannot be read.
        """


class Reads(Protocol):
    """Where it is recorded what is read."""

    def begun(self) -> "Reads":
        """Return where an answer is recorded that is worked on from here."""

    async def record(self, record: Mapping[str, Any]) -> None:
        """Return when a record of a read is committed.

        Raises:
            LogError: it cannot be.
        """


class Rights(Protocol):
    """What somebody may get in a cluster, now."""

    @property
    def cluster_uid(self) -> str:
        """Which cluster."""

    async def held(self, wanted: Collection[Right]) -> Collection[Right]:
        """Return those of some rights that are held.

        Raises:
            ApiError: the API server does not say.
        """


class Reviews(Protocol):
    """What the API server of a cluster says of people."""

    async def cluster_uid(self) -> str:
        """Return which cluster answers.

        Raises:
            ClusterError: it does not answer.
        """

    async def holder(self, token: str) -> Person | None:
        """Return whose token it is, if it counts and is meant for us.

        Raises:
            ClusterError: the API server does not say.
        """

    async def may(self, person: Person, right: Right) -> bool:
        """Return whether somebody has a right.

        Raises:
            ClusterError: the API server does not say.
        """
