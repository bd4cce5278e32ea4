"""A log in an archive, read to be verified without any database.

Every day proves itself; days that follow one another from the first batch on
give the tree of the log. Facts are derived day after day: where a day is
missing or damaged, nothing behind it is compared.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random

from recorder.archive.days import archived_days, logs_of
from recorder.archive.errors import ArchiveError
from recorder.archive.facts_set import FactsSet, check_facts, facts_of
from recorder.archive.kept import check_sizes, read_manifest
from recorder.archive.manifest import LogFile, Manifest
from recorder.archive.ordered import OrderedDay, Row
from recorder.archive.place import Place
from recorder.archive.verifying import check_files, read_headers, verify_day
from recorder.facts import DERIVATION
from recorder.integrity.chain import Chain, Problem
from recorder.integrity.verified import (
    Derived,
    FactsMode,
    ReadDays,
    Verified,
)
from recorder.keeping.following_days import (
    ArchivedSaid,
    FollowedDays,
    opened_day,
    windows_of,
)
from recorder.keeping.verifying import KeptLog, Proving, Verifying, verify_kept
from recorder.model.errors import RecorderError
from recorder.store.checking_facts import WindowChecker
from recorder.store.entry_drafts import UnreadableEntryError

UNFINISHED = timedelta(days=2)
"""Of the newest day: it ended a day ago at most when it was begun, unless
retention was away for longer."""

ALL = 1 << 62
"""Behind every position."""


@dataclass(frozen=True, slots=True)
class ArchivedLog:
    """A log, as an archive has it."""

    place: Place
    log: LogFile
    days: Sequence[str]
    """The folders of its days, in order."""

    @classmethod
    def all_of(cls, place: Place) -> "Sequence[ArchivedLog]":
        """Return every log of an archive.

        Raises:
            ArchiveError: it cannot be read, or holds none.
        """
        return [
            cls(place, log, archived_days(place, log.uid))
            for log in logs_of(place)
        ]


async def verify_archived(
    archived: ArchivedLog, how: Verifying, stop: asyncio.Event
) -> Verified:
    """Verify one log of an archive.

    With a sample only its days are read. Of the others it is checked that
    their files are there, and their manifests give the tree.
    """
    kept: KeptLog = _ReadLog(archived, how)
    return await verify_kept(kept, how, stop)


class _ReadLog:
    """A log in an archive."""

    def __init__(self, archived: ArchivedLog, how: Verifying) -> None:
        self._archived = archived
        self._place = archived.place
        self._how = how
        self._manifests: list[tuple[str, Manifest]] = []
        self._to_read: set[str] = set()
        self._foreign: set[str] = set()
        self._altered: set[str] = set()
        self._followed = FollowedDays(archived.place)

    def begun(self) -> Verified:
        """Return what verifying it fills in."""
        log = self._archived.log
        return Verified(
            log=0,
            cluster=log.cluster_name,
            origin=log.origin,
            size=0,
            batches=0,
            signed=self._how.signed,
        )

    async def check_entries(
        self, found: Verified, stop: asyncio.Event
    ) -> None:
        """Compare the files of days with their manifests and batches."""
        self._choose(found)
        days = [one for name, one in self._manifests if name in self._to_read]
        total = sum(manifest.entries for manifest in days)
        # The state of objects on a day follows from all days before it.
        proving = self._how.facts
        is_sample = self._how.sample is not None
        mode = "none" if is_sample else proving.mode_of(total)
        found.derived = _chosen_days(days, mode, proving)
        for folder, manifest in self._manifests:
            if stop.is_set():
                return
            found.note_all(
                await asyncio.to_thread(self._check_day, folder, manifest)
            )
            if folder in self._to_read:
                found.checked_entries += manifest.entries
            if self._how.on_progress is not None:
                self._how.on_progress(found.checked_entries, total)

    def _choose(self, found: Verified) -> None:
        """Read the manifests, and choose the days that are read."""
        archived, sample = self._archived, self._how.sample
        for folder in archived.days:
            try:
                manifest = read_manifest(self._place, folder)
            except ArchiveError as exc:
                problem = Problem(kind="archive-damaged", says=str(exc))
                found.note_all([problem])
                continue
            if manifest is None:
                found.unfinished.append(folder)
            else:
                self._manifests.append((folder, manifest))
        found.note_all(_unfinished(archived, found.unfinished))
        self._to_read = {folder for folder, _ in self._manifests}
        if sample is not None:
            self._to_read = sample.of(sorted(self._to_read))
            found.read_days = ReadDays(
                read=len(self._to_read),
                of=len(self._manifests),
                seed=sample.seed,
            )

    def _check_day(self, folder: str, manifest: Manifest) -> list[Problem]:
        archived, place = self._archived, self._place
        of = (manifest.origin, f"{archived.log.uid}/{manifest.day}")
        if of != (archived.log.origin, folder):
            self._foreign.add(folder)
            says = (
                f'"{place.uri}/{folder}" is of another log or day,'
                f" {manifest.day} of {manifest.origin}"
            )
            return [Problem(kind="archive-foreign", says=says)]
        try:
            if folder in self._to_read:
                verify_day(place, folder, manifest)
            else:
                check_files(place, folder, manifest)
                check_sizes(place, folder, manifest)
                manifest.batches(f"{place.uri}/{folder}")
        except ArchiveError as exc:
            self._altered.add(folder)
            return [_altered(manifest, exc, batch=manifest.first_batch)]
        return []

    async def follow(
        self, chain: Chain, found: Verified
    ) -> AsyncIterator[Iterable[Problem]]:
        """Feed a chain with the headers of days, or what manifests state."""
        for folder, manifest in self._manifests:
            yield await asyncio.to_thread(
                self._follow_day, chain, folder, manifest
            )
        found.end_with(chain.next_position - 1, chain.tree.end)

    def _follow_day(
        self, chain: Chain, folder: str, manifest: Manifest
    ) -> list[Problem]:
        if folder in self._foreign:
            return []
        last = manifest.last_position
        if folder in self._altered:
            chain.leave_out(manifest.last_batch, last)
            return []
        if folder not in self._to_read:
            uri = f"{self._place.uri}/{folder}"
            return list(chain.skip(manifest.batches(uri), last))
        try:
            headers = read_headers(self._place, folder, manifest)
        except ArchiveError as exc:
            self._altered.add(folder)
            chain.leave_out(manifest.last_batch, last)
            return [_altered(manifest, exc, batch=manifest.first_batch)]
        # Batch by batch, for checkpoints are made within days.
        return [
            problem
            for header, tree in headers
            for problem in chain.follow(header, tree)
        ]

    async def check_facts(self, found: Verified, stop: asyncio.Event) -> None:
        """Compare the facts of the days that were chosen."""
        derived, expected = found.derived, 1
        if derived.mode == "none":
            return
        for folder, manifest in self._manifests:
            if folder in self._foreign or folder in self._altered:
                continue
            if stop.is_set():
                found.stopped = True
                return
            if manifest.first_position != expected:
                derived.not_compared.append(
                    f"{manifest.day}: a day before it is missing or damaged,"
                    " so the state of objects at its beginning is not known"
                )
                continue
            expected = manifest.last_position + 1
            try:
                problems = await asyncio.to_thread(
                    self._check_facts_of, folder, manifest, derived
                )
            except (ArchiveError, UnreadableEntryError) as exc:
                problems = [_altered(manifest, exc)]
            found.note_all(problems)
            if (show := self._how.facts.on_progress) is not None:
                show(derived.entries, derived.entries_of)

    def _check_facts_of(
        self, folder: str, manifest: Manifest, derived: Derived
    ) -> Sequence[Problem]:
        found = facts_of(self._place, folder, manifest, DERIVATION)
        is_chosen = manifest.day in derived.days
        if is_chosen and found.rules != DERIVATION:
            is_chosen = False
            derived.not_compared.append(_of_other_rules(manifest, found))
        if is_chosen and found.folder != folder:
            check_facts(self._place, found)
        with opened_day(self._place, folder, manifest, found) as day:
            self._followed.enter(day, folder, manifest)
            if is_chosen:
                return asyncio.run(self._derive(day, manifest, derived))
            self._followed.leave_out(day)
            return ()

    async def _derive(
        self, day: OrderedDay, manifest: Manifest, derived: Derived
    ) -> Sequence[Problem]:
        deriving = self._followed.deriving()
        checker = WindowChecker(0, ArchivedSaid(day))
        problems: list[Problem] = []
        for window in windows_of(manifest):
            one = await checker.check(*deriving, *window)
            derived.entries += one.entries
            derived.facts += one.facts
            problems += one.problems
        return [
            *problems,
            *(_leftover(row, manifest) for row in day.facts(ALL)),
        ]

    async def check_beside(self, found: Verified) -> None:
        """Check nothing: an archive keeps only entries and facts."""


def _chosen_days(
    manifests: Sequence[Manifest], mode: FactsMode, how: Proving
) -> Derived:
    """Return which days are to be derived: all, or a sample by a seed.

    A sample has days of so many entries, and one at least.
    """
    size = sum(manifest.entries for manifest in manifests)
    derived = Derived(mode=mode, entries_of=size)
    days = [manifest.day for manifest in manifests]
    if mode == "sample":
        derived.seed = how.seed
        Random(how.seed).shuffle(days)  # noqa: S311 - it hides nothing
    left = size if mode == "all" else how.all_max
    entries = {manifest.day: manifest.entries for manifest in manifests}
    for day in days if mode != "none" else ():
        if left <= 0:
            break
        derived.days.add(day)
        left -= entries[day]
    return derived


def _unfinished(
    archived: ArchivedLog, folders: Sequence[str]
) -> Iterator[Problem]:
    """Yield what cannot be a day that is being archived just now.

    That is the newest folder, for as long as a run of retention may take.
    """
    where = archived.place.uri
    if not archived.days:
        says = f'"{where}/{archived.log.uid}" holds no days: restore them'
        yield Problem(kind="archive-missing", says=says)
    for folder in folders:
        day = date.fromisoformat(folder.rpartition("/")[2])
        age = datetime.now(UTC).date() - day
        if folder != archived.days[-1] or age > UNFINISHED:
            yield Problem(
                kind="archive-missing",
                says=f'"{where}/{folder}" has no manifest: restore it, or if'
                " it was never archived whole, run `recorder archive`",
            )


def _altered(
    manifest: Manifest, exc: RecorderError, batch: int | None = None
) -> Problem:
    return Problem(
        kind="archive-altered",
        batch=batch,
        position=manifest.first_position,
        says=str(exc),
    )


def _leftover(row: Row, manifest: Manifest) -> Problem:
    position = row["position"]
    return Problem(
        kind="fact-stray",
        position=position,
        says=f"there is a fact of entry {position}, which is not of"
        f" {manifest.day}",
    )


def _of_other_rules(manifest: Manifest, found: FactsSet) -> str:
    if found.rules is None:
        return f"{manifest.day} has no facts by rules of one number"
    return (
        f"rules {found.rules} derived the facts of {manifest.day}, and this"
        f" release has rules {DERIVATION}: run `recorder rederive`"
    )
