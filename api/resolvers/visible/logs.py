"""The logs of one database, as far as a reader may see them."""

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import timedelta

from api.access import Principal
from api.ports import Logs, Rights
from api.resolvers.visible.reading import VisibleReading
from api.resolvers.visible.record import status_of
from api.resolvers.visible.sight import NODES, PODS, Sight
from recorder.answers.clusters import Known
from recorder.answers.growing import Bell
from recorder.answers.ports import Reading
from recorder.answers.status import Status
from recorder.model.errors import (
    ConfigError,
    LogUnavailableError,
    NotFoundError,
    RecorderError,
)


def visible(logs: Logs, who: Principal) -> Logs:
    """Return the logs as far as the caller may see them."""
    if who.rights is None:
        return logs
    return VisibleLogs(logs, who.rights)


class VisibleLogs:
    """Satisfies the port `Logs`, for one reader of one cluster."""

    def __init__(self, logs: Logs, rights: Rights) -> None:
        self._logs = logs
        self._rights = rights

    def beside(
        self, *, connections: int, statement_timeout: timedelta
    ) -> "VisibleLogs":
        """Return the same logs over connections of their own."""
        beside = self._logs.beside(
            connections=connections, statement_timeout=statement_timeout
        )
        return VisibleLogs(beside, self._rights)

    async def read(
        self, number: int | None, *, cluster: str | None = None
    ) -> VisibleReading:
        """Open the log that is meant, as it is now.

        Raises:
            NotFoundError: there is none that the reader may see.
            LogUnavailableError: the database of their cluster is away.
            ForbiddenError: the reader has no right in the cluster.
        """
        own = self._rights.cluster_uid
        if number is None and cluster is None:
            cluster = own
        try:
            found = await self._logs.read(number, cluster=cluster)
        except (NotFoundError, ConfigError) as exc:
            # Do not reveal which other logs there are.
            raise _nothing(number, cluster) from exc
        except LogUnavailableError as exc:
            # Nor which of them are away, or share a database with this one.
            raise await self._away(number, cluster) from exc
        if found.log.cluster_uid != own:
            raise _nothing(number, cluster)
        sight = Sight(self._rights, found)
        await sight.check()
        return VisibleReading(found, sight, whole=await sight.is_whole())

    async def _away(
        self, number: int | None, cluster: str | None
    ) -> RecorderError:
        """Return the error for a log that is away: the reader's or another."""
        own = self._rights.cluster_uid
        asked = cluster or getattr(number, "cluster", own)
        known = await self._logs.known()
        names = {
            log.cluster_name for log in known.logs if log.cluster_uid == own
        }
        if names and asked not in {own, *names}:
            return _nothing(number, cluster)
        msg = "cannot read the log: its database is away; try again later"
        return LogUnavailableError(msg)

    async def known(self) -> Known:
        """Return the logs of the reader's cluster, or that it is away.

        Raises:
            NotFoundError: there is none.
            LogUnavailableError: a database that may have one is away.
        """
        own = self._rights.cluster_uid
        known = await self._logs.known()
        logs = [log for log in known.logs if log.cluster_uid == own]
        away = [one for one in known.away if one.uid == own]
        if not (logs or away) and known.away:
            # One that was never reached may be the reader's.
            await self.read(None)
        return Known(logs=logs, away=away)

    def note_delivery(self, log: int) -> None:
        """Note that something of a log that was read before is delivered."""
        self._logs.note_delivery(log)

    async def leave(self, log: int) -> None:
        """Close the connections to one of many logs until it is read again."""
        await self._logs.leave(log)

    async def rest(self) -> None:
        """Close what need not stay open between two requests."""
        await self._logs.rest()

    async def status(self, number: int | None) -> Status:
        """Return the status of the logs of the reader's cluster."""
        status = await self._logs.status(number)
        own = self._rights.cluster_uid
        logs = [one for one in status.logs if one.log.cluster_uid == own]
        away = [one for one in status.away if one.uid == own]
        if not (logs or away) and status.away:
            # One that was never reached may be the reader's.
            await self.read(None)
        status = replace(status, logs=logs, away=away)
        whole = {NODES, PODS} == await self._rights.held({NODES, PODS})
        return status if whole else status_of(status)

    def bell(self, reading: Reading) -> AbstractAsyncContextManager[Bell]:
        """Return a bell that rings when a log has grown."""
        return self._logs.bell(reading)

    async def ping(self) -> None:
        """Check that the database responds."""
        await self._logs.ping()

    async def close(self) -> None:
        """Close the connections."""
        await self._logs.close()


def _nothing(number: int | None, cluster: str | None) -> NotFoundError:
    what = f"log {number}" if number is not None else f'cluster "{cluster}"'
    return NotFoundError(f"there is no {what} that you may read")
