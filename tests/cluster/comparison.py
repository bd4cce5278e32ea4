"""Comparing a log with the truth.

`differences` says in words where a log is not what etcd's history is. The
rules:

* Every version that is no heartbeat appears exactly once, with its uid and
  its revision; the deletion of an object has the revision of the delete.
* Nothing appears that etcd never had.
* Per object, revisions increase in the order of the log. Per resource, those
  that came from a watch do not decrease (one revision may delete many).
* A heartbeat does not appear, unless a list showed it. With ``full_fidelity``
  it is a version as every other.
* The last renewal of a Lease before a silence may be entered late
  (``renewed``); it is a version of that Lease, and in no order.
* Inside a gap versions may be missing. When it ends with a list, the newest
  version of everything that exists then is known, or the same version without
  the heartbeats since; and of everything the log knew that is gone, the end is
  recorded: ``deleted`` with its revision, or ``absent`` without one.
* ``absent`` is a delete inside a gap, and for nothing else. With a
  revision, which was found afterwards, it is a ``deleted``.
* What was ``recovered`` from the past of the cluster is in the order of a
  watch, before the list that ended the gap.

The first list of a resource ends a gap that began at revision 0: the log
starts with the state at the list. The end of an epoch that was never vouched
for is a gap without an end.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

__all__ = ["RECORDED", "GapSpan", "LogRow", "Version", "differences"]

RECORDED = frozenset(
    {
        ("", "events"),
        ("", "namespaces"),
        ("", "nodes"),
        ("", "pods"),
        ("apiextensions.k8s.io", "customresourcedefinitions"),
        ("apps", "daemonsets"),
        ("apps", "deployments"),
        ("apps", "replicasets"),
        ("apps", "statefulsets"),
        ("batch", "cronjobs"),
        ("batch", "jobs"),
        ("policy", "poddisruptionbudgets"),
    }
)
"""Group and resource of what a log is expected to hold by default.

Leases are not among them: they are recorded in part. Custom resources are
expected where the log has any row or gap of them.
"""

ABSENT, DELETED, LISTED, RENEWED = "absent", "deleted", "listed", "renewed"
RECOVERED = "recovered"
WATCHED = frozenset({"added", "modified", RECOVERED, DELETED})

OTHER_GROUPS = {("events.k8s.io", "events"): ""}
"""Groups that serve the same stored objects as another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One state of one object in etcd, or its end."""

    epoch: int
    group: str
    resource: str
    namespace: str
    """Empty for an object of the cluster."""

    name: str
    uid: str
    revision: int
    heartbeat: bool = False
    deleted: bool = False

    def as_deleted(self, revision: int) -> "Version":
        """Return the end of the object whose last version this is."""
        return replace(self, revision=revision, deleted=True, heartbeat=False)

    def __str__(self) -> str:
        what = "deleted " if self.deleted else ""
        what = "heartbeat " if self.heartbeat else what
        name = f"{self.namespace}/{self.name}".lstrip("/")
        resource = f"{self.resource}.{self.group}".rstrip(".")
        return (
            f"{what}{resource} {name} uid {self.uid} at {self.revision} "
            f"of epoch {self.epoch}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """One entry of the log under test, reduced to what can be compared."""

    epoch: int
    """Counted from 1, as the oracle counts."""

    group: str
    resource: str
    namespace: str
    name: str
    uid: str
    revision: int | None
    operation: str
    """``listed``, ``added``, ``modified``, ``deleted``, ``absent``,
    ``recovered`` or ``renewed``."""

    order: int
    """Position in the log."""

    def __str__(self) -> str:
        name = f"{self.namespace}/{self.name}".lstrip("/")
        resource = f"{self.resource}.{self.group}".rstrip(".")
        return (
            f"row {self.order} {self.operation} {resource} {name} "
            f"uid {self.uid} at {self.revision} of epoch {self.epoch}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GapSpan:
    """Revisions of one resource that the log does not vouch for."""

    epoch: int
    group: str
    resource: str
    after: int = 0
    """The last revision vouched for; 0 where the log begins."""

    upto: int | None = None
    """The revision of the list that ended it; None if the epoch ended."""

    only_expiry: bool = False
    """A relist of Events that proved to be no gap: nothing may be missing
    but deletes, which must then be ``absent``."""

    healed: bool = False
    """Everything in it was read afterwards: nothing may be missing, but the
    list that ended it may show heartbeats."""

    def holds(self, revision: int) -> bool:
        """Whether a revision lies in it."""
        return self.after < revision and (
            self.upto is None or revision <= self.upto
        )


_Resource = tuple[int, str, str]
"""Epoch, group, resource."""

_Life = tuple[int, str, str, str, str, str]
"""Epoch, group, resource, namespace, name, uid."""


def differences(
    versions: Sequence[Version],
    rows: Iterable[LogRow],
    gaps: Iterable[GapSpan] = (),
    *,
    resources: Collection[tuple[str, str]] | None = None,
    through: int | None = None,
    full_fidelity: bool = False,
) -> list[str]:
    """Return every difference between a log and etcd, in words.

    ``resources`` are the (group, resource) compared: all of `RECORDED` and
    what rows and gaps name, if it is None. Of the last epoch, versions after
    the revision ``through`` are not expected, but may be there.
    """
    ordered = sorted(map(_one_group, rows), key=lambda row: row.order)
    spans: dict[_Resource, list[GapSpan]] = defaultdict(list)
    for gap in gaps:
        group = OTHER_GROUPS.get((gap.group, gap.resource), gap.group)
        spans[gap.epoch, group, gap.resource].append(gap)
    if resources is None:
        named = {(row.group, row.resource) for row in ordered}
        named |= {(group, resource) for _, group, resource in spans}
        resources = RECORDED | named
    if full_fidelity:
        versions = [replace(v, heartbeat=False) for v in versions]

    lives: dict[_Life, list[Version]] = defaultdict(list)
    for version in versions:
        if (version.group, version.resource) in resources:
            lives[_life(version)].append(version)
    by_life: dict[_Life, list[LogRow]] = defaultdict(list)
    for row in ordered:
        by_life[_life(row)].append(row)

    last_epoch = max((version.epoch for version in versions), default=0)
    found = list(_disorder(ordered))
    for life in lives.keys() | by_life.keys():
        comparison = _LifeComparison(
            versions=lives.get(life, []),
            rows=by_life.get(life, []),
            gaps=spans.get(life[:3], []),
            through=through if life[0] == last_epoch else None,
        )
        found += comparison.differences()
    return found


def _life(what: Version | LogRow) -> _Life:
    return (
        what.epoch,
        what.group,
        what.resource,
        what.namespace,
        what.name,
        what.uid,
    )


def _one_group(row: LogRow) -> LogRow:
    group = OTHER_GROUPS.get((row.group, row.resource), row.group)
    return row if group == row.group else replace(row, group=group)


def _disorder(rows: Sequence[LogRow]) -> Iterator[str]:
    """Yield rows that come after one with a higher revision."""
    per_object: dict[tuple[object, ...], LogRow] = {}
    per_resource: dict[_Resource, LogRow] = {}
    for row in rows:
        if row.revision is None or row.operation == RENEWED:
            continue
        key = _life(row)[:5]
        before = per_object.get(key)
        if before is not None and _revision(before) >= row.revision:
            yield f"out of order: {row} after {before}"
        per_object[key] = row
        if row.operation in WATCHED:
            stream = (row.epoch, row.group, row.resource)
            before = per_resource.get(stream)
            if before is not None and _revision(before) > row.revision:
                yield f"stream out of order: {row} after {before}"
            per_resource[stream] = row


def _revision(row: LogRow) -> int:
    assert row.revision is not None
    return row.revision


@dataclass(frozen=True, slots=True, kw_only=True)
class _LifeComparison:
    """One object from its creation to its deletion, both accounts of it."""

    versions: list[Version]
    rows: list[LogRow]
    gaps: list[GapSpan]
    through: int | None

    def differences(self) -> Iterator[str]:
        yield from self._invented()
        yield from self._repeated()
        yield from self._missing()
        yield from self._unknown_after_gaps()
        yield from self._end_unrecorded()

    def _invented(self) -> Iterator[str]:
        truth = {(v.revision, v.deleted): v for v in self.versions}
        for row in self.rows:
            if row.operation == ABSENT:
                yield from self._wrong_absence(row)
                continue
            deleted = row.operation == DELETED
            version = truth.get((row.revision or 0, deleted))
            if version is None:
                yield f"etcd never had: {row}"
            elif version.heartbeat and not self._may_show(row):
                yield f"a heartbeat is no entry: {row}"

    def _may_show(self, row: LogRow) -> bool:
        """Whether a heartbeat may be an entry: a list, or a last renewal."""
        if row.operation == RENEWED:
            return row.resource == "leases"
        if row.operation not in {LISTED, RECOVERED}:
            return False
        at = _revision(row)
        return self._in_gap(at) or any(
            gap.healed and gap.holds(at) for gap in self.gaps
        )

    def _wrong_absence(self, row: LogRow) -> Iterator[str]:
        if row.revision is not None:
            yield f"inferred, yet with a revision: {row}"
        end = self._end()
        if end is None:
            yield f"absent, but etcd has no delete: {row}"
        elif not self._in_gap(end.revision, delete=True):
            yield f"absent outside of a gap: {row}, truth is {end}"

    def _repeated(self) -> Iterator[str]:
        seen = Counter(row.revision for row in self.rows)
        ends = sum(row.operation in {ABSENT, DELETED} for row in self.rows)
        for row in self.rows:
            if seen[row.revision] > 1:
                yield f"{seen[row.revision]} times: {row}"
        if ends > 1 and seen[None] <= 1:
            yield f"ended {ends} times: {self.rows[-1]}"

    def _missing(self) -> Iterator[str]:
        there = {(r.revision, r.operation == DELETED) for r in self.rows}
        for version in self._expected():
            lost = version.heartbeat or self._in_gap(
                version.revision, delete=version.deleted
            )
            if not lost and (version.revision, version.deleted) not in there:
                yield f"missing: {version}"

    def _unknown_after_gaps(self) -> Iterator[str]:
        """Yield what existed at the end of a gap and is not known then."""
        recorded = {row.revision for row in self.rows}
        for gap in self.gaps:
            upto = gap.upto
            if upto is None or (self.through or upto) < upto:
                continue
            then = [v for v in self.versions if v.revision <= upto]
            if not then or then[-1].deleted:
                continue
            # Back to the last version that was no heartbeat: all the same.
            while then[-1].heartbeat and then[-1].revision not in recorded:
                then.pop()
            if then[-1].revision not in recorded:
                yield f"unknown after the gap up to {upto}: {then[-1]}"

    def _end_unrecorded(self) -> Iterator[str]:
        end = self._end()
        if end is None or not self.rows or end not in self._expected():
            return
        for gap in self.gaps:
            if gap.holds(end.revision) and gap.upto is None:
                return  # nothing came after it that could show it
        if not {ABSENT, DELETED} & {row.operation for row in self.rows}:
            yield f"known, and its end is not recorded: {end}"

    def _expected(self) -> list[Version]:
        return [
            version
            for version in self.versions
            if self.through is None or version.revision <= self.through
        ]

    def _end(self) -> Version | None:
        last = self.versions[-1] if self.versions else None
        return last if last is not None and last.deleted else None

    def _in_gap(self, revision: int, *, delete: bool = False) -> bool:
        return any(
            gap.holds(revision)
            and not gap.healed
            and (delete or not gap.only_expiry)
            for gap in self.gaps
        )
