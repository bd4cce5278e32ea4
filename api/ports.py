"""The ports of the API: the logs, and who has access; the wiring has both.

None depends on a database: a `Reading` answers the questions of
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


class Logs(Protocol):
    """The logs of one database, or of all databases of a registry."""

    def beside(
        self, *, connections: int, statement_timeout: timedelta
    ) -> "Logs":
        """Return the same logs over connections of their own."""

    async def read(
        self, number: int | None, *, cluster: str | None = None
    ) -> Reading:
        """Open the log that is meant, as it is now.

        Raises:
            NotFoundError: there is no such log or cluster, or none at all.
            LogUnavailableError: its database does not respond.
            ConfigError: several could be meant.
        """

    async def known(self) -> Known:
        """Return all logs that can be read now, and which clusters are away.

        Raises:
            LogError: the only database does not respond.
        """

    def note_delivery(self, log: int) -> None:
        """Note that something of a log that was read before is delivered."""

    async def leave(self, log: int) -> None:
        """Close the connections to one of many logs until it is read again."""

    async def rest(self) -> None:
        """Close what need not stay open between two requests."""

    async def status(self, number: int | None) -> Status:
        """Return the status of all logs, or of the one named."""

    def bell(self, reading: Reading) -> AbstractAsyncContextManager[Bell]:
        """Return a bell that rings when a log has grown."""

    async def ping(self) -> None:
        """Check that the database responds.

        Raises:
            LogError: it does not.
        """

    async def close(self) -> None:
        """Close the connections."""


class Holder(Protocol):
    """The holder of a token."""

    @property
    def name(self) -> str:
        """The name of the token."""


class TokenFile(Protocol):
    """The valid tokens."""

    def holder(self, presented: str) -> Holder | None:
        """Return the holder of a presented token; None if it is not valid.

        Raises:
            ConfigError: the file cannot be read.
        """


class Reads(Protocol):
    """The log of reads."""

    def begun(self) -> "Reads":
        """Return the port for an answer that is started now."""

    async def record(self, record: Mapping[str, Any]) -> None:
        """Commit a record of a read.

        Raises:
            LogError: it cannot be committed.
        """


class Rights(Protocol):
    """The current permissions of the caller in a cluster."""

    @property
    def cluster_uid(self) -> str:
        """The UID of the cluster."""

    async def held(self, wanted: Collection[Right]) -> Collection[Right]:
        """Return which of some rights the caller holds.

        Raises:
            ApiError: the API server does not respond.
        """


class Reviews(Protocol):
    """Reviews of tokens and permissions by the API server of a cluster."""

    async def cluster_uid(self) -> str:
        """Return the UID of the cluster.

        Raises:
            ClusterError: the API server does not respond.
        """

    async def holder(self, token: str) -> Person | None:
        """Return the holder of a token that is valid for this server.

        Raises:
            ClusterError: the API server does not respond.
        """

    async def may(self, person: Person, right: Right) -> bool:
        """Return whether a person has a right.

        Raises:
            ClusterError: the API server does not respond.
        """
