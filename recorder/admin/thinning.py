"""Days thinned out: what goes before its day, log by log and batch by batch.

A batch is hashed whole before anything goes out of it, so that the hashes that
stay are those of what was recorded: one that was edited stops the day with its
name, and stays.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg

from recorder.admin.archiving_day import altered
from recorder.integrity.thinned import Digest, Thinned
from recorder.retention.policy import Policy, Rule
from recorder.store.checking import check_batches
from recorder.store.read_batches import read_end
from recorder.store.read_day import Day
from recorder.store.read_retention import ArchivedRow
from recorder.store.thinning import Gone, ThinningStore, asked_of
from recorder.store.translate import translate_errors

__all__ = ["ThinnedDay", "Thinner"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinnedDay:
    """What went out of a day, or would."""

    name: str
    by_rule: Mapping[str, int]
    """Entries by rule, and days, as ``Lease=1``."""

    lock_seconds: float = 0.0
    logs: Sequence[int] = ()
    """Those that a notice was left for."""

    @property
    def entries(self) -> int:
        """How many in all."""
        return sum(self.by_rule.values())

    def document(self) -> Mapping[str, Any]:
        """Return it as a notice states it."""
        return {"day": self.name, "rules": dict(self.by_rule)}


@dataclass(slots=True)
class _OfLog:
    """What goes out of one log, as it is counted on the way."""

    row: ArchivedRow
    digest: Digest
    entries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinner:
    """Thins out one day after another."""

    connection: asyncpg.Connection
    policy: Policy

    async def count(self, day: Day, rules: Sequence[Rule]) -> ThinnedDay:
        """Return what would go out of a day."""
        store = ThinningStore(self.connection)
        found = await store.count(day, asked_of(rules, self.policy))
        return ThinnedDay(name=day.name, by_rule=_named(found, rules))

    async def thin(
        self, day: Day, rules: Sequence[Rule], rows: Sequence[ArchivedRow]
    ) -> ThinnedDay:
        """Take out of a day what goes by some rules, and note that it is done.

        Args:
            day: one that was verified, and archived if days are.
            rules: those that it has not gone by yet.
            rows: what was verified of it, by log.

        Raises:
            AlteredError: a batch is not what was recorded.
            RefusedError: the database finds that the day may not be.
        """
        if not rows:
            return ThinnedDay(name=day.name, by_rule={})
        store = ThinningStore(self.connection)
        how = self.policy.unarchived, asked_of(rules, self.policy)
        with translate_errors(f"thin out {day.name}"):
            run = await store.begin(day, *how)
            going = [await self._stage(store, run, day, row) for row in rows]
            found: Sequence[Gone] = ()
            if any(one.entries for one in going):
                found = await store.build(day, run, *how)
            made = [_made(one, rules, found) for one in going]
            notices = {
                one.row.log: self._notice(day, run, one, said)
                for one, said in zip(going, made, strict=True)
                if one.entries
            }
            seconds = await store.thin(day, run, how, made, notices)
        by_rule: dict[str, int] = {}
        for gone in found:
            by_rule[gone.rule] = by_rule.get(gone.rule, 0) + gone.entries
        return ThinnedDay(
            name=day.name,
            by_rule=_named(by_rule, rules),
            lock_seconds=seconds,
            logs=sorted(notices),
        )

    async def _stage(
        self, store: ThinningStore, run: int, day: Day, row: ArchivedRow
    ) -> _OfLog:
        """Note the hashes of what goes out of a log."""
        found = _OfLog(row, Digest())
        end = await read_end(self.connection, row.log)
        checked = check_batches(
            self.connection,
            end,
            after=row.first_batch - 1,
            until=row.last_batch,
        )
        async for one in checked:
            header = one.stored.header
            if one.problems or one.root is None or not one.stored.is_hashed:
                raise altered(row.log, header.batch, day)
            first = header.first_position
            going = await store.going(row.log, first, header.last_position)
            if not going:
                continue
            offsets = [position - first for position in going]
            hashes = b"".join(one.leaves[offset] for offset in offsets)
            gone = Thinned(header.batch, offsets, hashes)
            await store.stage(run, row.log, gone)
            found.digest.add(gone)
            found.entries += len(offsets)
        return found

    def _notice(
        self, day: Day, run: int, one: _OfLog, made: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            "action": "thinned",
            "day": f"{day.lower:%Y-%m-%d}",
            "run": run,
            "entries": one.entries,
            "rules": made["rules"],
            "sha256": made["sha256"],
            "first_batch": one.row.first_batch,
            "last_batch": one.row.last_batch,
            "archive": one.row.uri,
            "manifest_sha256": one.row.manifest_sha256,
            "policy": self.policy.document(),
        }


def _made(
    one: _OfLog, rules: Sequence[Rule], found: Sequence[Gone]
) -> Mapping[str, Any]:
    """Return what went of a log, as it is noted."""
    counts = {
        gone.rule: (gone.entries, gone.facts)
        for gone in found
        if gone.log == one.row.log
    }
    said = []
    for rule in rules:
        entries, facts = counts.get(rule.text, (0, 0))
        said.append({**rule.document(), "entries": entries, "facts": facts})
    return {
        "log_id": one.row.log,
        "rules": said,
        "entries": one.entries,
        "sha256": one.digest.value().hex(),
    }


def _named(
    found: Mapping[str, int], rules: Sequence[Rule]
) -> Mapping[str, int]:
    return {
        f"{rule.text}={rule.days}": found.get(rule.text, 0) for rule in rules
    }
