"""Days of an archive in the order of the log, to derive their facts.

The state of objects at the beginning of a day follows from the days before
it. Only the newest entry of each object is kept of these, so days are taken
in their order, from the first of the log on.
"""

import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from recorder.archive.facts_set import KINDS, FactsSet
from recorder.archive.kept import check_kept, day_at
from recorder.archive.manifest import Manifest
from recorder.archive.ordered import OrderedDay, Row
from recorder.archive.place import Place
from recorder.archive.verifying import draft_of
from recorder.intake.deriving import Deriver
from recorder.integrity.leaves import from_micros
from recorder.model.entry import Draft
from recorder.model.reference import ObjectIdentity
from recorder.store.checking_facts import STATES_MAX, WINDOW
from recorder.store.entry_windows import EntryWindows
from recorder.store.later_facts import OldDay
from recorder.store.said_facts import Said, kind_of
from recorder.store.stored_said import StoredFact


def day_of(day: OldDay) -> tuple[Place, str, Manifest]:
    """Return the place of a day, and its manifest, which is unchanged.

    Raises:
        ArchiveError: it is not.
        PlaceError: the archive cannot be read.
    """
    assert day.uri is not None, "it was archived"
    assert day.sha256 is not None, "it has a manifest"
    place, folder = day_at(day.uri)
    return place, folder, check_kept(place, folder, day.sha256)


def windows_of(manifest: Manifest) -> Iterator[tuple[int, int]]:
    """Yield the windows in which a day is derived."""
    after, last = manifest.first_position - 1, manifest.last_position
    for start in range(after, last, WINDOW):
        yield start, min(start + WINDOW, last)


class FollowedDays:
    """The days of a log that were followed, and the heads after them."""

    def __init__(self, place: Place) -> None:
        self._drafts = ArchivedDrafts(place)
        self._heads: dict[int, int] = {}

    def enter(self, day: OrderedDay, folder: str, manifest: Manifest) -> None:
        """Continue with the next day."""
        self._drafts.enter(day, folder, manifest)

    def deriving(self) -> tuple[EntryWindows, Deriver]:
        """Return what derives the day that was entered."""
        windows = EntryWindows(self._drafts, self._heads, nothing_went, 0)
        return windows, Deriver(windows, states_max=STATES_MAX)

    def leave_out(self, day: OrderedDay) -> None:
        """Keep from a day only what the next ones need."""
        for number, position in day.newest():
            if position is not None:
                self._heads[number] = position
            else:
                self._heads.pop(number, None)


class ArchivedDrafts:
    """The entries of the day that is open, and documents of all before."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._day: OrderedDay | None = None
        self._days: list[tuple[int, str, Manifest]] = []

    def enter(self, day: OrderedDay, folder: str, manifest: Manifest) -> None:
        """Continue with the next day."""
        self._day = day
        self._days.append((manifest.first_position, folder, manifest))

    async def read(
        self, _after: int, until: int
    ) -> tuple[Sequence[Row], list[Draft]]:
        """Return the rows up to a position, and their drafts."""
        assert self._day is not None, "a day was entered"
        rows = self._day.entries(until)
        kept = [
            {
                "position": row["position"],
                "recorded_at": from_micros(row["recorded_at"]),
                "epoch": row["epoch"],
                "object_id": row["object_id"],
            }
            for row in rows
        ]
        return kept, [draft_of(row) for row in rows]

    async def documents(self, positions: Sequence[int]) -> Mapping[int, bytes]:
        """Return the documents of entries by position."""
        firsts = [first for first, _, _ in self._days]
        of_days: dict[int, list[int]] = {}
        for position in positions:
            of_days.setdefault(bisect_right(firsts, position) - 1, []).append(
                position
            )
        found: dict[int, bytes] = {}
        for number, wanted in of_days.items():
            _, folder, manifest = self._days[number]
            with opened_day(self._place, folder, manifest, None) as day:
                found.update(day.documents(wanted))
        return found


class ArchivedSaid:
    """The facts of the day that is open; satisfies the port of a checker."""

    def __init__(self, day: OrderedDay) -> None:
        self._day = day

    async def read(
        self, _after: int, until: int
    ) -> Mapping[int, Sequence[StoredFact]]:
        """Return the facts up to a position, by position."""
        found: dict[int, list[StoredFact]] = {}
        for row in self._day.facts(until):
            one = StoredFact(row["index"], row["object_id"], _said(row))
            found.setdefault(row["position"], []).append(one)
        return found


def _said(row: Row) -> Said:
    kind = kind_of(row["kind"])
    observed = row["observed_at"]
    return Said(
        kind=kind if row["fact"] == kind else f"{kind}, or {row['fact']}",
        recorded_at=from_micros(row["recorded_at"]),
        node=_name(row, "node_id", "node"),
        object=_object(row, "object"),
        owner=_object(row, "owner"),
        actor=_name(row, "actor_id", "actor"),
        at=from_micros(row["at"]),
        observed_at=None if observed is None else from_micros(observed),
        bearing=row["bearing"],
        mark=row["mark"],
        topic=_name(row, "topic_id", "topic"),
        value=row["value"],
        place=row["place"],
        labels=_texts(row["labels"]),
        keys=_texts(row["keys"]),
        owners=_texts(row["owners"]),
        detail=row["detail"].encode(),
    )


def _name(row: Row, number: str, name: str) -> str | None:
    """Return a name; "?" for a number that has none."""
    if row[number] is None:
        return None
    found: str | None = row[name]
    return "?" if found is None else found


def _object(row: Row, whose: str) -> ObjectIdentity | None:
    if row[f"{whose}_id"] is None:
        return None
    return ObjectIdentity(
        *(
            row[f"{whose}_{part}"]
            for part in ("group", "kind", "namespace", "name", "uid")
        )
    )


def _texts(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if texts is None else tuple(texts)


async def nothing_went(_first: int, _last: int) -> Sequence[int]:
    """Return the entries removed from a day: none, as days are whole."""
    return ()


@contextmanager
def opened_day(
    place: Place, folder: str, manifest: Manifest, found: FactsSet | None
) -> Iterator[OrderedDay]:
    """Open the files of a day, with those of the facts that count."""
    with ExitStack() as stack:
        scratch = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="rec-")
        )
        files: dict[str, list[Path]] = {}
        if found is not None:
            for kind in KINDS:
                files[kind] = [
                    stack.enter_context(place.local(name))
                    for name in found.paths(kind)
                ]
        files["entries"] = [
            stack.enter_context(place.local(f"{folder}/{part.name}"))
            for part in manifest.files
            if part.name.startswith("entries-")
        ]
        yield stack.enter_context(OrderedDay(files, Path(scratch)))
