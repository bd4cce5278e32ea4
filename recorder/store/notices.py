"""Notices of retention, as a source of the recording.

Retention leaves them in a table. The writer of the log reads them in order,
each with its place, so that each becomes one entry.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import asyncpg

from recorder.intake.ports import Known, Sink
from recorder.model.errors import LogUnavailableError
from recorder.model.observation import (
    RECORDER,
    RETENTION,
    Noticed,
    Observation,
    PlaceReached,
)
from recorder.store.statement import Statement
from recorder.store.translate import translate_errors

AT_ONCE = 100
LOOK_SECONDS = 60.0

NOTICES = Statement.of("""
    select notice_id, document from recorder.notice
    where log_id = :log and notice_id > :after order by notice_id limit :most
""")

PENDING = Statement.of("""
    select l.log_id, l.kind, l.cluster_name, l.cluster_uid, l.kubernetes,
      l.tape_uid, l.redaction_key_id
    from recorder.log l
    where exists (select from recorder.notice n where n.log_id = l.log_id
      and n.notice_id > coalesce((
        select p.completed::int8 from recorder.resume_point p
        join recorder.resource r on r.resource_id = p.resource_id
        where p.log_id = l.log_id and p.source = 'recorder'
          and r.name = 'retention'), 0))
    order by l.log_id
""")


class NoticeSource:
    """Reads the notices of one log; satisfies the port `Source`."""

    def __init__(
        self,
        dsn: str,
        log: Callable[[], int],
        *,
        finite: bool = False,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """Take the log, whose number is known once its lease is taken.

        Args:
            dsn: of the writer's role.
            log: returns its number.
            finite: whether to end when there are no more.
            look_seconds: the interval of polling.
        """
        self._dsn = dsn
        self._log = log
        self.finite = finite
        self._look_seconds = look_seconds

    async def run(self, sink: Sink, known: Known) -> None:
        """Read the notices there are, and those that come."""
        place = int(known.resume_points().get(RETENTION, "0"))
        while True:
            try:
                found = await self._read(place)
            except LogUnavailableError:
                if self.finite:
                    raise
                found = []
            for number, document in found:
                await sink.put(_observed(number, document))
                place = number
            if found:
                continue
            if self.finite:
                return
            await asyncio.sleep(self._look_seconds)

    async def _read(self, after: int) -> list[tuple[int, str]]:
        with translate_errors("read the notices of retention"):
            connection = await asyncpg.connect(
                self._dsn,
                timeout=10,
                server_settings={"application_name": "recorder notices"},
            )
            try:
                async with asyncio.timeout(10):
                    rows = await NOTICES.fetch(
                        connection,
                        log=self._log(),
                        after=after,
                        most=AT_ONCE,
                    )
            finally:
                connection.terminate()
        return [tuple(row) for row in rows]


async def logs_with_notices(dsn: str) -> Sequence[asyncpg.Record]:
    """Return the logs that have notices which are not entries yet.

    Raises:
        LogUnavailableError: PostgreSQL is away, or refused the statement.
    """
    with translate_errors("read the notices"):
        connection = await asyncpg.connect(dsn, timeout=10)
        try:
            found = await PENDING.fetch(connection)
        finally:
            connection.terminate()
    return found


def _observed(number: int, document: str) -> list[Observation]:
    now = datetime.now(UTC)
    return [
        Noticed(observed_at=now, document=document.encode()),
        PlaceReached(
            observed_at=now,
            source=RECORDER,
            stream=RETENTION,
            place=str(number),
        ),
    ]
