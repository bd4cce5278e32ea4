"""Lists: which versions are new, what is absent, what the list proves.

Items become entries as their pages come; absent objects, and where the watch
continues, are known with the last page and committed with it. A list of a
resource that was listed before is a relist: something could not be resumed, so
there is a gap, except for Events, when a list can prove that nothing was
missed.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from recorder.intake.document import (
    Document,
    collection_of,
    is_events,
    read,
)
from recorder.intake.gaps import RELISTED, Outcome, Relist, own_draft
from recorder.intake.known_events import KnownEvent, KnownEvents
from recorder.intake.ledger import Ledger
from recorder.intake.refusals import input_refused, refusal
from recorder.intake.state import (
    Head,
    HeadKey,
    ResumePoint,
    StreamKey,
    StreamState,
)
from recorder.intake.streams import (
    compare_versions,
    complete,
    settle,
    vouch,
)
from recorder.intake.versions import is_known
from recorder.intake.walking import Walking
from recorder.model.entry import Draft, Operation
from recorder.model.errors import InputError
from recorder.model.observation import ListPage

EVENT_TTL = timedelta(hours=1)
"""The API server's default of ``--event-ttl``."""


class Ended(NamedTuple):
    """The end of an object, found in the past of its cluster."""

    version: str
    """Of its deletion."""

    by: datetime | None
    """By when it was gone, if known."""


@dataclass(slots=True)
class _Listing:
    """A list whose last page is still to come."""

    version: str
    began_at: datetime
    relist: bool
    seen: set[HeadKey] = field(default_factory=set)
    outcome: Relist = field(default_factory=Relist)


class Relisting:
    """Takes the pages of lists."""

    def __init__(
        self, ledger: Ledger, *, event_ttl: timedelta = EVENT_TTL
    ) -> None:
        self._ledger = ledger
        self._event_ttl = event_ttl
        self._listings: dict[StreamKey, _Listing] = {}
        self._reasons: dict[StreamKey, str] = {}
        self.walking = Walking(ledger)
        self.events = KnownEvents(ledger, event_ttl=event_ttl)
        self._namespace_went_at: datetime | None = None

    def is_listing(self) -> bool:
        """Return whether a list is incomplete."""
        return bool(self._listings)

    def explain(self, key: StreamKey, reason: str) -> None:
        """Note why the next list of a stream will be a relist."""
        self._reasons[key] = reason

    def abandon(self, key: StreamKey) -> None:
        """Forget the pages of a list that will not be completed."""
        self._listings.pop(key, None)

    def jumped(self, at: datetime, by: timedelta) -> None:
        """Note that our clock was set, while lists are incomplete."""
        for listing in self._listings.values():
            if listing.began_at > at:
                listing.began_at = min(listing.began_at + by, at)

    def namespace_went(self, at: datetime) -> None:
        """Note that a namespace was deleted, and its Events with it."""
        self._namespace_went_at = at

    def page(self, page: ListPage) -> None:
        """Take one page."""
        key = (page.source, str(page.resource))
        if page.partial:
            self._part(key, page)
            return
        listing = self._listings.get(key)
        if listing is None or listing.version != page.resource_version:
            # Pages of another version are of another list: the previous one
            # was abandoned.
            listing = self._begin(key, page)
        self._items(key, listing, page)
        if not page.more:
            del self._listings[key]
            self._completed(key, listing, page)

    def _part(self, key: StreamKey, page: ListPage) -> None:
        """Enter some objects, each in its state at one time.

        A stream that no list began has ended: nothing follows.
        """
        point = self._ledger.moved(key)
        listing = _Listing(
            page.resource_version, page.observed_at, relist=False
        )
        self._items(key, listing, page)
        if point.last_frame_at is None or (
            point.last_frame_at < page.observed_at
        ):
            point.last_frame_at = page.observed_at
        if point.began_at is None:
            point.state = StreamState.ENDED

    def _items(
        self, key: StreamKey, listing: _Listing, page: ListPage
    ) -> None:
        for raw in page.items:
            try:
                document = read(raw, resource=page.resource, kind=page.kind)
            except InputError as exc:
                input_refused(self._ledger, refusal(page, raw, str(exc)))
                continue
            self._item(key, listing, document, page)

    def _begin(self, key: StreamKey, page: ListPage) -> _Listing:
        point = self._ledger.moved(key)
        point.state = StreamState.LISTING
        listing = _Listing(
            page.resource_version,
            page.observed_at,
            point.began_at is not None,
        )
        if listing.relist and not is_events(page.resource):
            self._ledger.open_gap(key, RELISTED, page.observed_at)
        self._listings[key] = listing
        return listing

    def _item(
        self,
        key: StreamKey,
        listing: _Listing,
        document: Document,
        page: ListPage,
    ) -> None:
        ledger, outcome = self._ledger, listing.outcome
        thing = document.key
        version = document.resource_version
        if thing in listing.seen:
            return  # the list was started again, at the same version
        listing.seen.add(thing)
        head = ledger.versions.get(thing)
        known: Head | KnownEvent | None = head
        if document.is_event:
            known = self.events.by_uid.get(thing[1])
            if known is not None and _has(known, version, ledger, page):
                outcome.unchanged += 1
                return
        elif head is not None and is_known(head, version, ledger.epoch):
            outcome.unchanged += 1
            return
        if known is None:
            outcome.new += 1
        else:
            outcome.changed += 1
        draft = document.draft(
            Operation.LISTED, observed_at=page.observed_at, source=page.source
        )
        previous = None if head is None else head.position
        if not document.is_event:
            ledger.versions.store(
                head, document, draft.identity, ledger.epoch, ledger.position
            )
        ledger.enter(key, draft, previous=previous, wire=document.wire)

    def _completed(
        self, key: StreamKey, listing: _Listing, page: ListPage
    ) -> None:
        ledger = self._ledger
        since, vouched = _proofs(ledger.moved(key))
        if is_events(page.resource):
            unexplained = self._absent_events(key, listing, page)
            if listing.relist and (
                unexplained or not self._events_proved(listing, since, vouched)
            ):
                reason = self._reasons.pop(key, RELISTED)
                ledger.open_gap(key, reason, listing.began_at)
            self.events.forget()
        else:
            self._absent_objects(key, listing, page)
        ledger.close_gap(
            key,
            listing.began_at,
            version=page.resource_version,
            outcome=self._outcome(key, listing),
        )
        point = ledger.moved(key)
        complete(point, page.resource_version)
        settle(point, listing.began_at)
        vouch(point, listing.began_at, StreamState.LIVE)
        if point.began_at is None:
            point.began_at = listing.began_at
            point.began_version = page.resource_version

    def _outcome(self, key: StreamKey, listing: _Listing) -> Outcome:
        """Return what a list proved, and what was read of the past first."""
        proved = listing.outcome.proved(listing.version)
        possible = listing.outcome.possible()
        walked = self.walking.to(key, listing.version)
        if walked is None:
            return Outcome(proved, possible)
        if walked.possible is not None:
            possible = list(walked.possible)
        return Outcome(
            f"{walked.proved}; {proved}",
            possible,
            {"since": walked.since, "proved": walked.proved},
        )

    def _absent_objects(
        self, key: StreamKey, listing: _Listing, page: ListPage
    ) -> None:
        collection = collection_of(page.resource)
        alive = self._ledger.versions.of(collection)
        for thing in sorted(alive.keys() - listing.seen):
            self.absent(key, thing, page.observed_at)
            listing.outcome.absent += 1

    def absent(
        self,
        key: StreamKey,
        thing: HeadKey,
        at: datetime,
        *,
        ended: Ended | None = None,
    ) -> None:
        """Infer the end of an object that should be there and is not.

        ``ended`` is when that was, if it was found out.
        """
        ledger = self._ledger
        head = ledger.versions.get(thing)
        assert head is not None, "only live objects can be absent"
        renewal = ledger.versions.remove(thing)
        if renewal is not None:
            ledger.enter_renewal(renewal)
        if thing[0] == "namespaces":
            self.namespace_went(at)
        absence = _absence(head, key, at, ledger.log, ended)
        ledger.enter(key, absence, previous=head.position)

    def _absent_events(
        self, key: StreamKey, listing: _Listing, page: ListPage
    ) -> bool:
        """Enter the deleted Events; return whether any is unexplained."""
        unexplained = bool(listing.outcome.new or listing.outcome.changed)
        present = {uid for _, uid in listing.seen}
        for uid in sorted(self.events.by_uid.keys() - present):
            known = self.events.by_uid[uid]
            age = self._ledger.age(
                known.position, known.observed_at, listing.began_at
            )
            unexplained |= age < self._event_ttl
            listing.outcome.absent += 1
            self._ledger.enter(
                key,
                own_draft(
                    Operation.ABSENT,
                    page.observed_at,
                    key[0],
                    key[1],
                    {
                        "uid": uid,
                        "namespace": known.namespace,
                        "name": known.name,
                        "last": f"{self._ledger.log}/{known.position}",
                    },
                ),
            )
        return unexplained

    def _events_proved(
        self,
        listing: _Listing,
        since: datetime | None,
        vouched: datetime | None,
    ) -> bool:
        """Return whether an absence was short, with no namespace deleted.

        An Event lives for its TTL unless it is deleted with its namespace, so
        a list within the TTL of the last news shows every Event that existed
        since; less than half of that may have passed without any proof.
        """
        if since is None or vouched is None:
            return False
        went, reach = self._namespace_went_at, self._ledger.reach
        return (
            reach(listing.began_at, self._event_ttl) < since
            and reach(listing.began_at, self._event_ttl / 2) < vouched
            and (went is None or went < since)
        )


def _has(
    known: KnownEvent, version: str, ledger: Ledger, page: ListPage
) -> bool:
    """Return whether the log has a version of an Event, or needs none.

    A dump that is added to a log may be older than it.
    """
    if known.epoch != ledger.epoch:
        return False
    if page.partial:
        return compare_versions(known.resource_version, version) >= 0
    return known.resource_version == version


def _proofs(point: ResumePoint) -> tuple[datetime | None, datetime | None]:
    """Return the last news, and the last proof of any kind."""
    return point.doubtful_from, point.vouched_until


def _absence(
    head: Head, key: StreamKey, at: datetime, log: int, ended: Ended | None
) -> Draft:
    source, resource = key
    document = {
        "last": f"{log}/{head.position}",
        "resource_version_before": head.resource_version,
    }
    if ended is not None:
        document["gone_at_resource_version"] = ended.version
    absence = own_draft(Operation.ABSENT, at, source, resource, document)
    node = head.identity.name if head.identity.kind == "Node" else None
    return Draft(
        source=source,
        operation=Operation.ABSENT,
        observed_at=at,
        raw=absence.raw,
        resource=resource,
        identity=head.identity,
        resource_version=ended and ended.version,
        occurred_at=ended and ended.by,
        node=node,
    )
