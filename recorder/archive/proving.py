"""What a proof of an archived entry needs of its day."""

from collections.abc import Sequence

from recorder.archive.errors import ArchiveError
from recorder.archive.kept import read_manifest
from recorder.archive.manifest import Manifest
from recorder.archive.place import Place, open_place
from recorder.archive.verifying import (
    draft_of,
    entry_rows,
    header_of,
    header_rows,
)
from recorder.integrity.leaves import BatchHeader
from recorder.model.entry import Draft

__all__ = ["BATCHES", "day_entries", "day_headers"]

BATCHES = "batches.parquet"


def day_headers(uri: str) -> Sequence[BatchHeader]:
    """Return the headers of the batches of an archived day, in order.

    Raises:
        ArchiveError: it is not there, or damaged.
        PlaceError: its place cannot be read.
    """
    place, folder, manifest = _day(uri)
    with place.local(f"{folder}/{BATCHES}") as path:
        return [header_of(manifest, row) for row in header_rows(path)]


def day_entries(
    uri: str, header: BatchHeader
) -> Sequence[tuple[int, int, int, Draft]]:
    """Return position, epoch, time of recording and draft of a batch.

    Raises:
        ArchiveError: one is not there, or the day is damaged.
        PlaceError: its place cannot be read.
    """
    place, folder, manifest = _day(uri)
    wanted = range(header.first_position, header.last_position + 1)
    found = {}
    for part in manifest.files:
        if not part.name.startswith("entries-"):
            continue
        with place.local(f"{folder}/{part.name}") as path:
            for row in entry_rows(path):
                position = row["position"]
                if position in wanted:
                    found[position] = (
                        position,
                        row["epoch"],
                        row["recorded_at"],
                        draft_of(row),
                    )
    if len(found) != len(wanted):
        msg = f'entries of batch {header.batch} are missing in "{uri}"'
        raise ArchiveError(msg)
    return [found[position] for position in wanted]


def _day(uri: str) -> tuple[Place, str, Manifest]:
    root, _, day = uri.rpartition("/")
    root, _, uid = root.rpartition("/")
    place, folder = open_place(root), f"{uid}/{day}"
    manifest = read_manifest(place, folder)
    if manifest is None:
        msg = f'"{uri}" has no manifest any more: restore it'
        raise ArchiveError(msg)
    return place, folder, manifest
