"""Joining: which audited request made a version of an object.

Pure. The response of a request has the version that it made. If several
responses have the same version, the first request made it: the others changed
nothing. Responses of deletions, evictions and bindings have no version; these
are joined by object and time. So is a write whose response the audit policy
omits, if it alone matches the time and the field manager: a wrong author is
worse than none.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from recorder.facts.classify.audit_record import AuditRecord, ObjectRef
from recorder.facts.classify.changes import Manifest, value_at
from recorder.facts.classify.managers import managers_of, moved_managers
from recorder.facts.classify.paths import Element
from recorder.facts.classify.requesters import manager_of
from recorder.facts.classify.requests import (
    READS,
    is_answered,
    is_dry_run,
    read_record,
)
from recorder.facts.classify.times import moment
from recorder.model.entry import Entry, Operation
from recorder.model.moment import shifted
from recorder.model.reference import Resource

SLACK = timedelta(seconds=2)
"""Between the clocks of an API server and the recorder, and between a write
and its watch frame."""

LONGEST = timedelta(seconds=60)
"""The API server's time limit of a request that is not a watch."""

SECOND = timedelta(seconds=1)
"""Times in documents are truncated to this."""

_NOTHING = ObjectRef()


@dataclass(frozen=True, slots=True)
class Request:
    """An audit record of a request that succeeded."""

    line: Entry
    record: AuditRecord
    began: datetime
    ended: datetime

    @property
    def about(self) -> ObjectRef:
        """The object that the record refers to."""
        return self.record.object_ref or _NOTHING

    @property
    def removes(self) -> bool:
        """Whether it requests the deletion of an object."""
        about, verb = self.about, self.record.verb
        if about.subresource == "eviction":
            return verb == "create"
        return not about.subresource and verb in {
            "delete",
            "deletecollection",
        }

    @property
    def binds(self) -> bool:
        """Whether it binds a Pod to a node."""
        return (self.record.verb, self.about.subresource) == (
            "create",
            "binding",
        )


def read_requests(lines: Iterable[Entry]) -> Iterator[Request]:
    """Yield the requests that may have made a version."""
    for line in lines:
        record = read_record(line.raw)
        if record is None:
            continue
        began = moment(record.request_received_timestamp)
        ended = moment(record.stage_timestamp) or began
        if (
            record.verb not in READS
            and is_answered(record)
            and not is_dry_run(record)
            and began is not None
            and ended is not None
        ):
            yield Request(line, record, began, ended)


class Joined:
    """Requests about one object, to find the one that made a version."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._all = sorted(requests, key=lambda one: one.ended)
        self._by_version: dict[str, list[Request]] = {}
        self._others: list[Request] = []
        for one in self._all:
            version = one.line.resource_version
            if version is None:
                self._others.append(one)
            else:
                self._by_version.setdefault(version, []).append(one)

    def maker(self, version: Entry) -> Request | None:
        """Return the request whose response has a version."""
        if version.operation is Operation.DELETED:
            return None  # its response has the version before
        for one in self._by_version.get(version.resource_version or "", ()):
            if _is_same(one, version):
                return one
        return None

    def remover(self, version: Entry, last: Manifest | None) -> Request | None:
        """Return the newest request that can have deleted an object.

        ``last`` is the version before the deletion.
        """
        born = moment(_metadata(last).get("creationTimestamp"))
        fitting = [
            one
            for one in self._all
            if one.removes
            and _is_same(one, version)
            and one.began <= shifted(version.observed_at, SLACK)
            and (born is None or one.ended >= born)
        ]
        return max(fitting, key=lambda one: one.began, default=None)

    def guessed(
        self, version: Entry, old: Manifest | None, new: Manifest
    ) -> Request | None:
        """Return the only request that can have made a version."""
        now = shifted(version.observed_at, SLACK)
        if _is_shortened(old, new):
            # The kubelet confirms the deletion of a terminating Pod.
            return self.remover(version, old)
        if (at := _asked_to_go(old, new)) or (at := _evicted(old, new)):
            fitting = [one for one in self._all if one.removes]
            since, until = at, at + SECOND
        elif old is not None and _node(old) is None and _node(new):
            fitting = [one for one in self._others if one.binds]
            since, until = now - LONGEST, now
        else:
            return self._only(version, old, new)
        within = (
            one
            for one in fitting
            if one.began < until
            and one.ended >= since
            and _is_same(one, version)
        )
        return next(within, None)

    def _only(
        self, version: Entry, old: Manifest | None, new: Manifest
    ) -> Request | None:
        """Return the only write that matches the moved field managers.

        A manager that moved but kept its time has lost fields to another
        one: removing fields does not set the time of the owner.
        """
        before = managers_of(old)
        times = {
            manager.name: manager.at
            for manager in moved_managers(old, new)
            if manager.at is not None and manager not in before
        }
        fitting = []
        for one in self._others:
            at = times.get(manager_of(one.record) or "")
            if (
                at is not None
                and one.began < at + SECOND
                and one.ended >= at
                and not one.removes
                and not one.binds
                and _is_same(one, version)
            ):
                fitting.append(one)
        return fitting[0] if len(fitting) == 1 else None


def _is_same(request: Request, version: Entry) -> bool:
    """Return whether a request is about the object of a version.

    Both have the same kind, so compare the name and the incarnation.
    """
    thing, about = version.identity, request.about
    if request.record.verb == "deletecollection":
        return _is_among(request, version)
    named = request.line.identity
    uid = about.uid or (named.uid if named is not None else None)
    return (
        thing is not None
        and named is not None
        and (named.namespace, named.name) == (thing.namespace, thing.name)
        and (not uid or not thing.uid or uid == thing.uid)
    )


def _is_among(request: Request, version: Entry) -> bool:
    """Return whether a request deleted the collection of an object."""
    thing, about = version.identity, request.about
    resource = Resource.parse(version.resource or "")
    listed = bytes(request.record.response_object)
    return (
        thing is not None
        and about.resource == resource.plural
        and (about.api_group or "") == resource.group
        and (about.namespace or "") == thing.namespace
        and (b'"items"' not in listed or (thing.uid or "").encode() in listed)
    )


def _asked_to_go(old: Manifest | None, new: Manifest) -> datetime | None:
    """Return when a deletion was requested, if this version begins it."""
    now, before = _metadata(new), _metadata(old)
    until = moment(now.get("deletionTimestamp"))
    if until is None or before.get("deletionTimestamp") is not None:
        return None
    grace = now.get("deletionGracePeriodSeconds")
    seconds = grace if isinstance(grace, int) else 0
    return shifted(until, -timedelta(seconds=max(0, min(seconds, YEAR))))


def _is_shortened(old: Manifest | None, new: Manifest) -> bool:
    """Return whether a version changes the grace period of a deletion."""
    now, before = _metadata(new), _metadata(old)
    return before.get("deletionTimestamp") is not None and (
        now.get("deletionGracePeriodSeconds")
        != before.get("deletionGracePeriodSeconds")
    )


def _evicted(old: Manifest | None, new: Manifest) -> datetime | None:
    """Return when a Pod was marked as evicted, if this version does so.

    The API server writes the mark before it deletes the Pod.
    """
    if old is None or value_at(old, DISRUPTED) is not None:
        return None
    if value_at(new, (*DISRUPTED, "reason")) != "EvictionByEvictionAPI":
        return None
    return moment(value_at(new, (*DISRUPTED, "lastTransitionTime")))


DISRUPTED = (
    "status",
    "conditions",
    Element((("type", "DisruptionTarget"),)),
)

YEAR = 365 * 24 * 3600
"""Seconds; the longest grace period that is subtracted."""


def _metadata(document: Manifest | None) -> Manifest:
    found = (document or {}).get("metadata")
    return found if isinstance(found, dict) else {}


def _node(document: Manifest | None) -> str | None:
    spec = (document or {}).get("spec")
    found = spec.get("nodeName") if isinstance(spec, dict) else None
    return found if isinstance(found, str) and found else None
