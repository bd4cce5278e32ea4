"""Facts of archived days verified: derived again, day after day.

What objects were at the beginning of a day is told by the days before it, of
which only the newest entry of each object is remembered; so days are taken in
their order, from the first of the log on. Where one is missing, nothing
behind it is compared.
"""

import asyncio
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

from recorder.archive.facts_set import (
    KINDS,
    FactsSet,
    check_facts,
    facts_of,
)
from recorder.archive.manifest import Manifest
from recorder.archive.ordered import OrderedDay, Row
from recorder.archive.place import Place
from recorder.archive.verifying import draft_of
from recorder.facts import DERIVATION
from recorder.intake.deriving import Deriver
from recorder.integrity.chain import Problem
from recorder.integrity.leaves import from_micros
from recorder.integrity.verified import Derived, FactsMode
from recorder.model.entry import Draft
from recorder.model.reference import ObjectIdentity
from recorder.store.checking_facts import STATES_MAX, WINDOW, WindowChecker
from recorder.store.entry_windows import EntryWindows
from recorder.store.said_facts import Said, kind_of
from recorder.store.stored_said import StoredFact

__all__ = ["ArchivedFacts", "chosen_days"]

ALL = 1 << 62
"""Behind every position."""


def chosen_days(
    manifests: Sequence[Manifest],
    mode: FactsMode | None,
    seed: int,
    all_max: int,
) -> Derived:
    """Return which days are to be derived: all, or a sample by a seed.

    A sample has days of so many entries, and one at least.
    """
    size = sum(manifest.entries for manifest in manifests)
    mode = mode or ("all" if size <= all_max else "sample")
    derived = Derived(mode=mode, entries_of=size)
    days = [manifest.day for manifest in manifests]
    if mode == "sample":
        derived.seed = seed
        Random(seed).shuffle(days)  # noqa: S311 - it hides nothing
    left = size if mode == "all" else all_max
    entries = {manifest.day: manifest.entries for manifest in manifests}
    for day in days if mode != "none" else ():
        if left <= 0:
            break
        derived.days.add(day)
        left -= entries[day]
    return derived


class ArchivedFacts:
    """The facts of a log in an archive, as far as its days were followed."""

    def __init__(self, place: Place, derived: Derived) -> None:
        self._place = place
        self._derived = derived
        self._drafts = _Drafts(place)
        self._heads: dict[int, int] = {}
        self._next = 1

    def follow(self, folder: str, manifest: Manifest) -> Sequence[Problem]:
        """Compare the facts of a day whose entries were verified.

        Raises:
            ArchiveError: a file cannot be read.
            PlaceError: likewise.
        """
        derived = self._derived
        if derived.mode == "none":
            return ()
        if manifest.first_position != self._next:
            derived.not_compared.append(
                f"{manifest.day}: a day before it is missing or damaged, which"
                " tells what objects were"
            )
            return ()
        self._next = manifest.last_position + 1
        found = facts_of(self._place, folder, manifest, DERIVATION)
        is_chosen = manifest.day in derived.days
        if is_chosen and found.rules != DERIVATION:
            is_chosen = False
            derived.not_compared.append(_of_other_rules(manifest, found))
        if is_chosen and found.folder != folder:
            check_facts(self._place, found)
        with _opened(self._place, folder, manifest, found) as day:
            self._drafts.enter(day, folder, manifest)
            if is_chosen:
                return asyncio.run(self._derive(day, manifest))
            for number, position in day.newest():
                if position is not None:
                    self._heads[number] = position
                else:
                    self._heads.pop(number, None)
            return ()

    async def _derive(
        self, day: OrderedDay, manifest: Manifest
    ) -> Sequence[Problem]:
        windows = EntryWindows(self._drafts, self._heads, _none, 0)
        deriver = Deriver(windows, states_max=STATES_MAX)
        checker = WindowChecker(0, _Facts(day))
        problems: list[Problem] = []
        after, last = manifest.first_position - 1, manifest.last_position
        for start in range(after, last, WINDOW):
            stop = min(start + WINDOW, last)
            one = await checker.check(windows, deriver, start, stop)
            self._derived.entries += one.entries
            self._derived.facts += one.facts
            problems += one.problems
        for row in day.facts(ALL):
            problems.append(_stray(row, manifest))
        return problems


class _Drafts:
    """The entries of the day that is open, and documents of all before."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._day: OrderedDay | None = None
        self._days: list[tuple[int, str, Manifest]] = []

    def enter(self, day: OrderedDay, folder: str, manifest: Manifest) -> None:
        """Go on with the next day."""
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
            with _opened(self._place, folder, manifest, None) as day:
                found.update(day.documents(wanted))
        return found


class _Facts:
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


async def _none(_first: int, _last: int) -> Sequence[int]:
    """Return what went early: nothing, since days are archived whole."""
    return ()


@contextmanager
def _opened(
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
    """Return a name; of a number that stands for none another one."""
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


def _stray(row: Row, manifest: Manifest) -> Problem:
    position = row["position"]
    return Problem(
        kind="fact-stray",
        entry=position,
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
