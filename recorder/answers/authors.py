"""Authors of versions: by audit, else by ``managedFields``, else unknown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from recorder.answers.joining import (
    LONGEST,
    SLACK,
    Joined,
    Request,
    read_requests,
)
from recorder.answers.nouns import Part, Selection
from recorder.answers.ports import Reading
from recorder.answers.queries import EntryQuery
from recorder.facts.classify.changes import Change, Manifest
from recorder.facts.classify.managers import FieldManager
from recorder.facts.classify.owners import Owners
from recorder.facts.classify.requesters import requester
from recorder.model.author import UNKNOWN, Author, KnownBy
from recorder.model.entry import Entry, Operation
from recorder.model.moment import shifted
from recorder.model.observation import AUDIT
from recorder.model.window import Window

REQUESTS_MAX = 1_000
"""Audit records read around versions of a page that no record names; if
there are more, several would match each of them."""

COLLECTIONS_MAX = 100

SEEN_LATE = LONGEST * 2
"""How long after a deletion its record is in the log, unless imported."""

EXACT = frozenset({Operation.ADDED, Operation.MODIFIED, Operation.DELETED})
"""Operations delivered by a watch; a list may have skipped versions."""


@dataclass(frozen=True, slots=True)
class Attribution:
    """Who made a version, and each of its changes."""

    author: Author
    """Who made the version as such."""

    alone: bool = True
    """Whether this author made all changes. A list may have skipped versions:
    then the author made only the last of them."""

    owners: Owners | None = field(default=None, compare=False)
    """Owners of fields by the ``managedFields`` of both versions."""

    def of(self, change: Change) -> Author:
        """Return who made one change."""
        if self.author.known_by is KnownBy.AUDIT and self.alone:
            return self.author
        owner = None if self.owners is None else self.owners.of(change.path)
        return UNKNOWN if owner is None else by_manager(owner)


class Authors:
    """Finds the authors of the versions of one object, page by page."""

    def __init__(self, reading: Reading, numbers: tuple[int, ...]) -> None:
        """Take the numbers of all incarnations of the object."""
        self._reading = reading
        self._numbers = numbers
        self._audited = any(s.source == AUDIT for s in reading.streams)

    async def joined(self, lines: Sequence[Entry]) -> Joined:
        """Read the audit records of requests that may have made versions."""
        if not self._audited or not lines:
            return Joined(())
        versions = {line.resource_version for line in lines}
        found = await self._read(
            Selection(
                objects=self._numbers,
                operations=(Operation.AUDIT,),
                resource_versions=tuple(v for v in versions if v),
            )
        )
        shown = {one.line.resource_version for one in found}
        left = [
            line
            for line in lines
            if line.operation is Operation.DELETED
            or line.resource_version not in shown
        ]
        for window in _around(left):
            found += await self._read(
                Selection(
                    objects=self._numbers,
                    operations=(Operation.AUDIT,),
                    occurred=window,
                ),
                limit=REQUESTS_MAX,
            )
        return Joined({one.line.entry: one for one in found}.values())

    async def remover(
        self, version: Entry, last: Manifest | None
    ) -> Request | None:
        """Return the request that deleted an object with its collection."""
        if not self._audited:
            return None
        at = version.observed_at
        found = await self._read(
            Selection(
                source=AUDIT,
                reason="deletecollection",
                since=shifted(at, -SEEN_LATE),
                until=shifted(at, SEEN_LATE),
            ),
            limit=COLLECTIONS_MAX,
        )
        return Joined(found).remover(version, last)

    async def _read(
        self, selection: Selection, limit: int = REQUESTS_MAX
    ) -> list[Request]:
        found: list[Request] = []
        async for page in self._reading.pages(
            EntryQuery(selection, Part.OPENED), after=0
        ):
            found.extend(read_requests(page))
            if len(found) >= limit:
                break
        return found


def _around(versions: Sequence[Entry]) -> Iterable[Window]:
    """Yield the windows in which requests that made versions arrived."""
    since: datetime | None = None
    until: datetime | None = None
    for at in sorted(line.observed_at for line in versions):
        begins = shifted(at, -(LONGEST + SLACK))
        if since is not None and until is not None and begins > until:
            yield Window(since, until)
            since = None
        since = since or begins
        until = shifted(at, SLACK)
    if since is not None:
        yield Window(since, until)


async def attribution(
    authors: Authors,
    joined: Joined,
    version: Entry,
    old: Manifest | None,
    new: Manifest | None,
) -> Attribution:
    """Return who made a version; ``old`` is the version before it."""
    if version.operation is Operation.DELETED:
        found = joined.remover(version, old or new)
        found = found or await authors.remover(version, old or new)
        if found is None:
            return Attribution(UNKNOWN)
        return Attribution(requester(found.record, found.line.entry))
    if new is None:
        return Attribution(UNKNOWN)
    # If an object existed before its first entry, compare the version with
    # itself: the author of a field is its owner.
    begins = version.operation is Operation.ADDED
    owners = Owners(old if old is not None or begins else new, new)
    request = joined.maker(version) or joined.guessed(version, old, new)
    if request is None and _begins_to_go(old, new):
        request = await authors.remover(version, old)
    if request is None:
        return Attribution(_only(owners), alone=False, owners=owners)
    return Attribution(
        requester(request.record, request.line.entry),
        alone=version.operation in EXACT,
        owners=owners,
    )


def by_manager(manager: FieldManager) -> Author:
    """Return a field manager as an author."""
    return Author(
        known_by=KnownBy.MANAGED_FIELDS, name=manager.name, at=manager.at
    )


def _begins_to_go(old: Manifest | None, new: Manifest) -> bool:
    if old is None:
        return False
    return "deletionTimestamp" in (
        new.get("metadata") or {}
    ) and "deletionTimestamp" not in (old.get("metadata") or {})


def _only(owners: Owners) -> Author:
    """Return the field manager that wrote a version, if it is only one."""
    movers = owners.movers
    return by_manager(movers[0]) if len(movers) == 1 else UNKNOWN
