"""The steps of retention in the database: seal, archive and drop days.

Each step is a function of the schema that checks its own conditions. An
advisory lock allows one process at a time.
"""

from collections.abc import Mapping
from typing import Any

import asyncpg
import orjson

from recorder.store.engine import check_address
from recorder.store.read_day import Day
from recorder.store.statement import Statement
from recorder.store.steps import LEAVE_NOTICE, Steps, refusals
from recorder.store.translate import translate_errors

LOCK = Statement.of(
    "select pg_try_advisory_lock(hashtext('recorder.keeping.retention'))"
)

BATCHES_AT_ONCE = 5_000
NAMES_AT_ONCE = 1_000
"""Deleting them holds the head of the log for some 50 ms, of a lease of six
seconds."""

SEAL = Statement.of("select recorder.seal_partition(:day)")
VERIFIED = Statement.of(
    "select recorder.verified_day(:day, :log, :packed, :digest, :uri, :bytes)"
)
ARCHIVE = Statement.of("select recorder.archive_partition(:day)")
BUILD_KEPT = Statement.of(
    "select recorder.build_kept(:day, :unarchived, '{}')"
)
DROP = Statement.of("select recorder.drop_partition(:day, :unarchived)")
REMOVE_DROPPED = Statement.of("select recorder.remove_dropped()")
PRUNE_BATCHES = Statement.of("select recorder.prune_batches(:log, :most)")
FORGET_NAMES = Statement.of(
    "select upto, gone from recorder.forget_names(:log, :what, :after, :most)"
)
LOOK_FOR_WORDS = Statement.of("select recorder.look_for_unused_words()")
FORGET_WORDS = Statement.of("select recorder.forget_words(:most)")
GIVE_UP_BUILDING = Statement.of("select recorder.give_up_building()")


async def connect_for_retention(dsn: str) -> asyncpg.Connection:
    """Open a connection without a statement timeout."""
    check_address(dsn)
    with translate_errors("connect to PostgreSQL"):
        return await asyncpg.connect(
            dsn,
            timeout=10,
            server_settings={
                "application_name": "recorder retention",
                "statement_timeout": "0",
                "lock_timeout": "2s",
                "work_mem": "32MB",
                "max_parallel_workers_per_gather": "0",
                "timezone": "UTC",
            },
        )


class RetentionStore(Steps):
    """Takes the steps, on one connection."""

    async def lock(self) -> bool:
        """Lock retention; return False if another process has the lock."""
        with translate_errors("begin retention"):
            taken: bool = await LOCK.fetch_value(self._connection)
        return taken

    async def seal(self, day: Day) -> None:
        """Seal a day: no writer adds entries to it."""
        await self._patiently(f"seal {day.name}", SEAL, day=day.name)

    async def verified(
        self, day: Day, log: int, *, packed: bytes, kept: Mapping[str, Any]
    ) -> None:
        """Note what was verified of a log in a day.

        Args:
            day: the day.
            log: the number of the log.
            packed: the range over its batches.
            kept: ``sha256`` of the manifest, ``uri`` and ``bytes``; empty if
                nothing is archived.
        """
        digest = kept.get("sha256")
        action = f"note what {day.name} holds"
        with refusals(action), translate_errors(action):
            async with self._connection.transaction():
                await VERIFIED.execute(
                    self._connection,
                    day=day.name,
                    log=log,
                    packed=packed,
                    digest=None if digest is None else bytes.fromhex(digest),
                    uri=kept.get("uri"),
                    bytes=kept.get("bytes", 0),
                )
                if digest is not None:
                    said = {
                        "action": "archived",
                        "day": f"{day.lower:%Y-%m-%d}",
                        "range": packed.hex(),
                        "manifest_sha256": digest,
                        "archive": kept["uri"],
                    }
                    await LEAVE_NOTICE.execute(
                        self._connection,
                        log=log,
                        document=orjson.dumps(said).decode(),
                    )

    async def archive(self, day: Day) -> None:
        """Mark a day as archived."""
        await self._patiently(f"archive {day.name}", ARCHIVE, day=day.name)

    async def build_kept(self, day: Day, unarchived: str) -> None:
        """Build the table of what is carried forward up to a day."""
        await self._patiently(
            f"carry forward {day.name}",
            BUILD_KEPT,
            day=day.name,
            unarchived=unarchived,
        )

    async def drop(
        self, day: Day, unarchived: str, notices: Mapping[int, Any]
    ) -> float:
        """Drop a day, and leave notices of it, by log.

        Returns:
            The seconds from requesting the locks to releasing them.
        """
        return await self._briefly(
            f"drop {day.name}",
            notices,
            DROP,
            day=day.name,
            unarchived=unarchived,
        )

    async def leave_notices(self, documents: Mapping[int, Any]) -> None:
        """Leave notices for the writers of logs."""
        for log, document in documents.items():
            said = orjson.dumps(document).decode()
            await self._patiently(
                "leave a notice", LEAVE_NOTICE, log=log, document=said
            )

    async def remove_dropped(self) -> int:
        """Remove the tables of dropped days; return how many."""
        found: int = await self._patiently("remove tables", REMOVE_DROPPED)
        return found

    async def prune_batches(self) -> int:
        """Delete the batches of dropped days in steps; return how many."""
        count = 0
        for log in await self.pruned():
            while gone := await self._patiently(
                "remove batches", PRUNE_BATCHES, log=log, most=BATCHES_AT_ONCE
            ):
                count += gone
        return count

    async def forget_names(self) -> int:
        """Delete unused names in steps; return how many."""
        count = 0
        for log in await self.pruned():
            for what in ("object", "node"):
                after: int | None = 0
                while after is not None:
                    row = await self._patiently_row(
                        "remove names",
                        FORGET_NAMES,
                        log=log,
                        what=what,
                        after=after,
                        most=NAMES_AT_ONCE,
                    )
                    after = row["upto"]
                    count += row["gone"]
        await self._patiently("look for words", LOOK_FOR_WORDS)
        while gone := await self._patiently(
            "remove words", FORGET_WORDS, most=NAMES_AT_ONCE
        ):
            count += gone
        return count

    async def leave_building(self) -> bool:
        """Abandon an unfinished derivation; False if a process builds it."""
        is_left: bool = await self._patiently("look", GIVE_UP_BUILDING)
        return is_left
