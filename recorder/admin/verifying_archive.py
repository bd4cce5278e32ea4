"""An archive verified without any database: its days, and the tree over them.

Every day proves itself; days that follow one another from the first batch on
give the tree of the log, which the checkpoints are compared with.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from recorder.admin.verifying_archive_facts import ArchivedFacts, chosen_days
from recorder.admin.verifying_facts import ALL_OR_SAMPLE, Proving
from recorder.archive.days import archived_days, logs_of
from recorder.archive.errors import ArchiveError
from recorder.archive.manifest import LogFile, Manifest
from recorder.archive.place import Place
from recorder.archive.proving import BATCHES
from recorder.archive.verifying import header_of, header_rows, verify_day
from recorder.archive.writing import read_manifest
from recorder.integrity.chain import Chain, Problem, Witnessed
from recorder.integrity.verified import Verified
from recorder.store.entry_drafts import UnreadableEntryError

__all__ = ["ArchivedLog", "verify_archived"]

OnProgress = Callable[[int, int], None]


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
    archived: ArchivedLog,
    checkpoints: Sequence[Witnessed],
    *,
    signed: bool,
    stop: asyncio.Event,
    how: Proving = ALL_OR_SAMPLE,
    on_progress: OnProgress | None = None,
) -> Verified:
    """Verify one log of an archive."""
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
        checkpoints=checkpoints,
        signed=signed,
    )
    manifests = list(_manifests(archived, found))
    total = sum(manifest.entries for _, manifest in manifests)
    found.derived = chosen_days(
        [manifest for _, manifest in manifests],
        how.mode,
        how.seed,
        how.all_max,
    )
    facts = ArchivedFacts(archived.place, found.derived)
    for folder, manifest in manifests:
        if stop.is_set():
            found.stopped = True
            return found
        found.note_all(
            await asyncio.to_thread(
                _day, archived, folder, manifest, (chain, facts)
            )
        )
        found.checked_entries += manifest.entries
        if on_progress is not None:
            on_progress(found.checked_entries, total)
    found.size, found.batches = chain.next_position - 1, chain.tree.end
    if not chain.broken:
        found.root = chain.tree.root()
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


def _day(
    archived: ArchivedLog,
    folder: str,
    manifest: Manifest,
    followed: tuple[Chain, ArchivedFacts],
) -> list[Problem]:
    """Verify a day and its facts, and append it to the tree of the log."""
    chain, facts = followed
    of = (manifest.origin, f"{archived.log.uid}/{manifest.day}")
    if of != (archived.log.origin, folder):
        says = (
            f'"{archived.place.uri}/{folder}" is of another log or day,'
            f" {manifest.day} of {manifest.origin}"
        )
        return [Problem(kind="archive-foreign", says=says)]
    place = archived.place
    try:
        verify_day(place, folder, manifest)
        with place.local(f"{folder}/{BATCHES}") as path:
            rows = header_rows(path)
    except ArchiveError as exc:
        chain.leave_out(manifest.last_batch, manifest.last_position)
        problem = Problem(
            kind="archive-altered",
            batch=manifest.first_batch,
            entry=manifest.first_position,
            says=str(exc),
        )
        return [problem]
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
            Problem(kind="archive-altered", entry=first, says=str(exc))
        )
    return problems
