"""What an archive holds: its logs, and the complete days of each.

Only what is quick to check is checked: manifests, the sizes of files, and
that the days join to one log. `recorder verify` recomputes the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recorder.archive.days import archived_days, logs_of
from recorder.archive.errors import ArchiveError
from recorder.archive.kept import MANIFEST, check_kept
from recorder.archive.manifest import LogFile, Manifest, digest_of
from recorder.archive.place import Place
from recorder.integrity.tree import CompactRange, ProofError


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDay:
    """A complete day."""

    manifest: Manifest
    sha256: str
    uri: str
    recorded_at: datetime
    """When the last entry of the day was recorded."""

    observed_min: datetime
    observed_max: datetime


@dataclass(frozen=True, slots=True)
class ListedLog:
    """A log, and its days, oldest first."""

    identity: LogFile
    days: Sequence[ListedDay]


def list_archive(place: Place) -> Sequence[ListedLog]:
    """Return the logs of an archive.

    Raises:
        ArchiveError: there is none, or one is damaged or has holes.
        PlaceError: it cannot be read.
    """
    found = []
    for identity in logs_of(place):
        days = [
            day
            for folder in archived_days(place, identity.uid)
            if (day := _day(place, identity, folder)) is not None
        ]
        if days:
            _check_joined(days)
            found.append(ListedLog(identity, days))
    if not found:
        msg = f'"{place.uri}" is no archive: no log in it has a whole day'
        raise ArchiveError(msg)
    return found


def _day(place: Place, identity: LogFile, folder: str) -> ListedDay | None:
    content = place.read(f"{folder}/{MANIFEST}")
    if content is None:
        return None
    uri = f"{place.uri}/{folder}"
    manifest = Manifest.parse(content, f"{uri}/{MANIFEST}")
    of = (manifest.origin, f"{identity.uid}/{manifest.day}")
    if of != (identity.origin, folder):
        msg = (
            f'"{uri}" is {manifest.day} of {manifest.origin}, not a day of'
            f" {identity.origin}"
        )
        raise ArchiveError(msg)
    digest = digest_of(content)
    check_kept(place, folder, digest)
    with place.local(f"{folder}/batches.parquet") as path:
        try:
            batches = pq.read_table(
                path, columns=["recorded_at", "observed_min", "observed_max"]
            )
        except (pa.ArrowException, OSError) as exc:
            msg = f'cannot read "{uri}/batches.parquet": {exc}'
            raise ArchiveError(msg) from exc
    return ListedDay(
        manifest=manifest,
        sha256=digest,
        uri=uri,
        recorded_at=pc.max(batches["recorded_at"]).as_py(),
        observed_min=pc.min(batches["observed_min"]).as_py(),
        observed_max=pc.max(batches["observed_max"]).as_py(),
    )


def _check_joined(days: Sequence[ListedDay]) -> None:
    """Compare each day with the one before it, and all with the tree."""
    for before, day in pairwise(days):
        expected = before.manifest.last_batch + 1
        if day.manifest.first_batch != expected:
            msg = (
                f'batch {expected} is missing before "{day.uri}": a day of'
                " the archive is not there"
            )
            raise ArchiveError(msg)
    last = days[-1].manifest
    tree = CompactRange()
    try:
        for day in days:
            tree.join(day.manifest.batches(day.uri))
    except ProofError:
        # The first days are not in this archive.
        return
    if last.tree is not None and tree.root().hex() != last.tree:
        msg = (
            f'the days up to "{days[-1].uri}" are not those of one log: the'
            " hash of its tree differs"
        )
        raise ArchiveError(msg)
