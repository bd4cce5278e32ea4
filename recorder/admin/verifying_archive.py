"""An archive verified without any database: its days, and the tree over them.

Every day proves itself; days that follow one another from the first batch on
give the tree of the log, which the checkpoints are compared with.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from random import Random

from recorder.admin.verifying_archive_facts import ArchivedFacts, chosen_days
from recorder.admin.verifying_facts import ALL_OR_SAMPLE, Proving
from recorder.archive.days import archived_days, logs_of
from recorder.archive.errors import ArchiveError
from recorder.archive.kept import check_sizes, read_manifest
from recorder.archive.manifest import LogFile, Manifest
from recorder.archive.place import Place
from recorder.archive.proving import BATCHES
from recorder.archive.verifying import (
    check_files,
    header_of,
    header_rows,
    verify_day,
)
from recorder.integrity.chain import Chain, Problem, Witnessed
from recorder.integrity.verified import ReadDays, Verified
from recorder.store.entry_drafts import UnreadableEntryError

__all__ = ["ArchivedLog", "Sample", "verify_archived"]

OnProgress = Callable[[int, int], None]


UNFINISHED = timedelta(days=2)
"""Of the newest day: it ended a day ago at most when it was begun, unless
retention was away for longer."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Which days of an archive are read: the newest, and a part of others."""

    part: int
    """One in so many."""

    seed: int

    def of(self, days: Sequence[str]) -> set[str]:
        """Choose among days, oldest first; the same by the same seed."""
        count = -(-len(days[:-1]) // self.part)
        # To be chosen again by who knows the seed, and not to be secret.
        others = Random(self.seed).sample(days[:-1], count)  # noqa: S311
        return {*others, *days[-1:]}


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


async def verify_archived(  # noqa: PLR0913 - what of it, and by what
    archived: ArchivedLog,
    checkpoints: Sequence[Witnessed],
    *,
    signed: bool,
    stop: asyncio.Event,
    how: Proving = ALL_OR_SAMPLE,
    sample: Sample | None = None,
    on_progress: OnProgress | None = None,
) -> Verified:
    """Verify one log of an archive.

    With a sample only its days are read. Of the others it is seen that their
    files are there, and their manifests give the tree.
    """
    log = archived.log
    by_size = defaultdict(list)
    for witness in checkpoints:
        by_size[witness.checkpoint.batches].append(witness)
    chain = Chain(checkpoints=by_size)
    found = Verified(
        log=0,
        cluster=log.cluster_name,
        origin=log.origin,
        size=0,
        batches=0,
        signed=signed,
    )
    found.compare_with(checkpoints)
    manifests = list(_manifests(archived, found))
    found.note_all(_unfinished(archived, found.unfinished))
    read = {folder for folder, _ in manifests}
    if sample is not None:
        read = sample.of(sorted(read))
        found.read_days = ReadDays(
            read=len(read), of=len(manifests), seed=sample.seed
        )
    days = [manifest for folder, manifest in manifests if folder in read]
    total = sum(manifest.entries for manifest in days)
    # The state of objects on a day follows from all days before it.
    mode = how.mode if sample is None else "none"
    found.derived = chosen_days(days, mode, how.seed, how.all_max)
    facts = ArchivedFacts(archived.place, found.derived)
    for folder, manifest in manifests:
        if stop.is_set():
            found.stopped = True
            return found
        look = _day if folder in read else _unread_day
        found.note_all(
            await asyncio.to_thread(
                look, archived, folder, manifest, (chain, facts)
            )
        )
        if folder in read:
            found.checked_entries += manifest.entries
        if on_progress is not None:
            on_progress(found.checked_entries, total)
    found.end_with(chain.next_position - 1, chain.tree.end)
    if not chain.broken:
        found.root = chain.tree.root().hex()
        found.agreed = chain.agreed
    return found


def _manifests(
    archived: ArchivedLog, found: Verified
) -> Iterator[tuple[str, Manifest]]:
    for folder in archived.days:
        try:
            manifest = read_manifest(archived.place, folder)
        except ArchiveError as exc:
            found.note_all([Problem(kind="archive-damaged", says=str(exc))])
            continue
        if manifest is not None:
            yield folder, manifest
        else:
            found.unfinished.append(folder)


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


def _foreign(
    archived: ArchivedLog, folder: str, manifest: Manifest
) -> list[Problem]:
    of = (manifest.origin, f"{archived.log.uid}/{manifest.day}")
    if of == (archived.log.origin, folder):
        return []
    says = (
        f'"{archived.place.uri}/{folder}" is of another log or day,'
        f" {manifest.day} of {manifest.origin}"
    )
    return [Problem(kind="archive-foreign", says=says)]


def _unread_day(
    archived: ArchivedLog,
    folder: str,
    manifest: Manifest,
    followed: tuple[Chain, ArchivedFacts],
) -> list[Problem]:
    """See that a day is there, and append it as its manifest has it."""
    chain, _ = followed
    if foreign := _foreign(archived, folder, manifest):
        return foreign
    place = archived.place
    try:
        check_files(place, folder, manifest)
        check_sizes(place, folder, manifest)
        batches = manifest.batches(f"{place.uri}/{folder}")
    except ArchiveError as exc:
        return _altered(manifest, chain, exc)
    return list(chain.skip(batches, manifest.last_position))


def _altered(
    manifest: Manifest, chain: Chain, exc: ArchiveError
) -> list[Problem]:
    chain.leave_out(manifest.last_batch, manifest.last_position)
    problem = Problem(
        kind="archive-altered",
        batch=manifest.first_batch,
        position=manifest.first_position,
        says=str(exc),
    )
    return [problem]


def _day(
    archived: ArchivedLog,
    folder: str,
    manifest: Manifest,
    followed: tuple[Chain, ArchivedFacts],
) -> list[Problem]:
    """Verify a day and its facts, and append it to the tree of the log."""
    chain, facts = followed
    if foreign := _foreign(archived, folder, manifest):
        return foreign
    place = archived.place
    try:
        verify_day(place, folder, manifest)
        with place.local(f"{folder}/{BATCHES}") as path:
            rows = header_rows(path)
    except ArchiveError as exc:
        return _altered(manifest, chain, exc)
    # Batch by batch, for checkpoints are made within days.
    problems = [
        problem
        for row in rows
        for problem in chain.follow(header_of(manifest, row), row["tree"])
    ]
    try:
        problems += facts.follow(folder, manifest)
    except (ArchiveError, UnreadableEntryError) as exc:
        first = manifest.first_position
        problems.append(
            Problem(kind="archive-altered", position=first, says=str(exc))
        )
    return problems
