"""Facts of archived days verified: derived again, day after day.

Where a day is missing, nothing behind it is compared.
"""

import asyncio
from collections.abc import Mapping, Sequence
from random import Random

from recorder.admin.following_days import (
    FollowedDays,
    opened_day,
    windows_of,
)
from recorder.archive.facts_set import FactsSet, check_facts, facts_of
from recorder.archive.manifest import Manifest
from recorder.archive.ordered import OrderedDay, Row
from recorder.archive.place import Place
from recorder.facts import DERIVATION
from recorder.integrity.chain import Problem
from recorder.integrity.leaves import from_micros
from recorder.integrity.verified import Derived, FactsMode
from recorder.model.reference import ObjectIdentity
from recorder.store.checking_facts import WindowChecker
from recorder.store.said_facts import Said, kind_of
from recorder.store.stored_said import StoredFact

__all__ = ["ArchivedFacts", "ArchivedSaid", "chosen_days"]

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
        self._days = FollowedDays(place)
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
                f"{manifest.day}: a day before it is missing or damaged, so"
                " the state of objects at its beginning is not known"
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
        with opened_day(self._place, folder, manifest, found) as day:
            self._days.enter(day, folder, manifest)
            if is_chosen:
                return asyncio.run(self._derive(day, manifest))
            self._days.leave_out(day)
            return ()

    async def _derive(
        self, day: OrderedDay, manifest: Manifest
    ) -> Sequence[Problem]:
        deriving = self._days.deriving()
        checker = WindowChecker(0, ArchivedSaid(day))
        problems: list[Problem] = []
        for window in windows_of(manifest):
            one = await checker.check(*deriving, *window)
            self._derived.entries += one.entries
            self._derived.facts += one.facts
            problems += one.problems
        for row in day.facts(ALL):
            problems.append(_stray(row, manifest))
        return problems


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
