"""Answers of `recorder history`: versions, what changed in each, by whom.

A version is compared with the previous one of the same incarnation, even if
that one is before the window or outside the limit. Versions are read page by
page; only the newest document of each incarnation is kept in memory.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from msgspec import field

from recorder.answers.authors import Attribution, Authors, attribution
from recorder.answers.changes import (
    ShownChange,
    document_of,
    shown_change,
    visible_changes,
)
from recorder.answers.entries import is_of
from recorder.answers.joining import Joined
from recorder.answers.lines import ShownObject, shown_object
from recorder.answers.log_questions import HistoryQuestion
from recorder.answers.nouns import Heartbeats, Part, Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import EntryQuery, HeartbeatsOf
from recorder.answers.references import (
    KnownObject,
    find_objects,
    no_versions,
)
from recorder.facts.classify.changes import Change, Manifest
from recorder.facts.classify.managers import FieldManager, moved_managers
from recorder.facts.coverage.account import read_account
from recorder.facts.coverage.coverage import Coverage, cover
from recorder.model.author import Author
from recorder.model.document import Document
from recorder.model.entry import Entry, Operation
from recorder.model.observation import WATCH
from recorder.model.reference import EntryName
from recorder.model.window import Window

INCARNATIONS_KEPT = 50
"""Documents kept for comparison; others are read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One entry of an object's history."""

    line: Entry
    changed: Sequence[Change]
    managers: Sequence[FieldManager]
    """Field managers whose entries changed; empty if none is known."""

    attribution: Attribution
    """Who made it: by audit, else by its field managers."""

    begins: bool
    """Whether it is the first of its incarnation in the log."""

    before: str | None
    """The uid of the previous incarnation, if a new one begins here."""

    @property
    def uid(self) -> str | None:
        """The uid of its incarnation."""
        return self.line.identity and self.line.identity.uid

    def shown(self) -> "ShownVersion":
        """Return it as answers show it."""
        line, author = self.line, self.attribution.author
        return ShownVersion(
            entry=line.entry,
            operation=line.operation,
            resource_version=line.resource_version,
            observed_at=line.observed_at,
            uid=self.uid,
            actor=self.managers or None,
            author=author,
            changed=[
                shown_change(one, self.attribution.of(one), author)
                for one in self.changed
            ],
            begins=self.begins,
            uid_before=self.before,
            line=line,
        )


class ShownVersion(Document, frozen=True, kw_only=True):
    """One entry of an object's history."""

    entry: EntryName
    operation: Operation
    resource_version: str | None
    observed_at: datetime
    uid: str | None
    actor: Sequence[FieldManager] | None
    author: Author
    """Who made it: by audit, else by field managers."""

    changed: Sequence[ShownChange]
    """Differences from the previous version of the same incarnation."""

    begins: bool = field(name="_begins")
    """Whether it is the first of its incarnation in the log."""

    uid_before: str | None = field(name="_uid_before")
    """The previous incarnation, if a new one begins here."""

    line: Entry = field(name="_line")


class History(Document, frozen=True, kw_only=True):
    """The versions that a question selects, to be read page by page.

    JSON has the object before the versions, and the rest after them.
    """

    more: bool
    """Whether the limit leaves out older versions."""

    heartbeats: Heartbeats | None
    """Heartbeats of the live incarnation, which are only counted."""

    coverage: Coverage
    object: ShownObject = field(name="_object")
    question: HistoryQuestion = field(name="_question")
    found: KnownObject = field(name="_found")
    after: int = field(name="_after")
    """The position after which the selected versions begin."""

    async def pages(
        self, reading: Reading, *, limit: int | None = None
    ) -> AsyncIterator[list[ShownVersion]]:
        """Yield pages of versions in log order, at most ``limit`` in each."""
        async for page in self.compared(reading, limit=limit):
            yield [version.shown() for version in page]

    async def compared(
        self, reading: Reading, *, limit: int | None = None
    ) -> AsyncIterator[list[Version]]:
        """Yield the same pages with authors and field managers."""
        comparing = _Comparing(
            reading, self.found, all_fields=self.question.all_fields
        )
        async for page in reading.pages(
            EntryQuery(
                _selection(self.found, self.question.window), Part.OPENED
            ),
            after=self.after,
            limit=limit,
        ):
            yield await comparing.versions(page)


async def ask_history(
    reading: Reading, question: HistoryQuestion, *, now: datetime
) -> History:
    """Find the versions of an object.

    Raises:
        NotFoundError: the log has no such object, or no version of it.
    """
    await reading.reach(question.window.since, question.window.until)
    found = await find_objects(reading, question.object)
    newest = await reading.newest(_selection(found, Window()))
    if newest is None:
        raise no_versions(reading, question.object)
    after = 0
    if question.limit is not None:
        after = await reading.skip_to_newest(
            EntryQuery(_selection(found, question.window)), question.limit
        )
    return History(
        object=shown_object(newest, found.kind.kind),
        question=question,
        found=found,
        after=after,
        more=after > 0,
        heartbeats=await _heartbeats(reading, found),
        coverage=await version_coverage(
            reading, found, question.window, now=now
        ),
    )


async def version_coverage(
    reading: Reading, found: KnownObject, window: Window, *, now: datetime
) -> Coverage:
    """Return the coverage of the versions of an object."""

    def reads(source: str, resource: str) -> bool:
        return source == WATCH and is_of(found, resource)

    account = await read_account(reading, window, now=now, reads=reads)
    return cover(account, authored=lambda name: is_of(found, name))


async def versions_between(
    reading: Reading,
    found: KnownObject,
    first: EntryName,
    last: EntryName,
    *,
    limit: int,
) -> AsyncIterator[Version]:
    """Yield the newest versions after one entry, up to another.

    The audit record of a version may come after ``last``.
    """
    selection = _selection(found, Window())
    ended = reading.as_of(last.position)
    after = await ended.skip_to_newest(EntryQuery(selection), limit)
    comparing = _Comparing(reading, found, all_fields=False)
    async for page in ended.pages(
        EntryQuery(selection, Part.OPENED), after=max(after, first.position)
    ):
        for version in await comparing.versions(page):
            yield version


class _Comparing:
    """Compares each version with the previous one."""

    def __init__(
        self, reading: Reading, found: KnownObject, *, all_fields: bool
    ) -> None:
        self._reading = reading
        self._kind = found.kind.kind
        self._all_fields = all_fields
        self._numbers: dict[str | None, tuple[int, ...]] = {}
        for one in found.incarnations:
            uid = one.identity.uid
            known = self._numbers.get(uid, ())
            self._numbers[uid] = (*known, one.number)
        self._documents: dict[str | None, Manifest] = {}
        self._uid: str | None = None
        self._authors = Authors(reading, found.numbers)

    async def versions(self, page: Sequence[Entry]) -> list[Version]:
        """Return the versions of a page, compared and with their authors."""
        joined = await self._authors.joined(page)
        return [await self._version(line, joined) for line in page]

    async def _version(self, line: Entry, joined: Joined) -> Version:
        uid = line.identity and line.identity.uid
        old = self._documents.pop(uid, None)
        if old is None and line.operation is not Operation.ADDED:
            old = await self._before(uid, line.entry.position)
        other = self._uid if self._uid != uid else None
        self._uid = uid
        changed: Sequence[Change] = ()
        managers: Sequence[FieldManager] = ()
        new = old
        if line.operation is not Operation.ABSENT:
            new = document_of(line, self._kind)
            if old is not None:
                changed = visible_changes(
                    old, new, all_fields=self._all_fields
                )
            if old is not None or line.operation is Operation.ADDED:
                managers = moved_managers(old, new)
        if new is not None:
            self._keep(uid, new)
        return Version(
            line=line,
            changed=changed,
            managers=managers,
            attribution=await attribution(
                self._authors,
                joined,
                line,
                old,
                None if line.operation is Operation.ABSENT else new,
            ),
            begins=old is None,
            before=other,
        )

    def _keep(self, uid: str | None, document: Manifest) -> None:
        self._documents[uid] = document
        if len(self._documents) > INCARNATIONS_KEPT:
            del self._documents[next(iter(self._documents))]

    async def _before(self, uid: str | None, position: int) -> Manifest | None:
        """Return the newest document before a position, if any."""
        while position > 1:
            line = await self._reading.newest(
                Selection(objects=self._numbers[uid], versions=True),
                before=position,
            )
            if line is None:
                return None
            if line.operation is not Operation.ABSENT:
                return document_of(line, self._kind)
            position = line.entry.position
        return None


def _selection(found: KnownObject, window: Window) -> Selection:
    return Selection(
        objects=found.numbers,
        since=window.since,
        until=window.until,
        versions=True,
    )


async def _heartbeats(
    reading: Reading, found: KnownObject
) -> Heartbeats | None:
    """Return the heartbeats counted of the live incarnation, if any."""
    counted = await reading.states(HeartbeatsOf(found.numbers))
    lives = [number for number in found.numbers if number in counted]
    beats = counted[lives[-1]] if lives else None
    return beats if beats is not None and beats.count else None
