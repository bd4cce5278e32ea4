"""Whether the gaps of a log are exactly as wide as they must be.

A rule of the oracle's own, from what the cluster held and what passed from
the source into intake; nothing of it asks intake. A gap starts at the last
proof before it: of its own session, or else of what is certainly committed of
those before. A proof is a list, or a frame of a version that had not been
seen and that did not trickle in. It ends at the first complete list after it,
or where all that was missed has been read.
It has a cause: the cluster no longer held the history after its start, or
history was rewound, or a frame could not be read, or the kind was not served.
What was recovered from the past is no proof of anything but itself; whether
nothing is missing where a walk says so is seen by comparing with the truth.
"""

from collections.abc import Iterator
from datetime import datetime

import orjson

from recorder.model.entry import Operation
from recorder.model.observation import (
    EpochBegan,
    HistoryWalked,
    InputRefused,
    ListPage,
    RequestFailed,
    StreamClosed,
    StreamResumed,
    WatchFrame,
)
from tests.faults.process import Note
from tests.faults.world import World
from tests.support.log_rows import LogGap, log_gaps

__all__ = ["CERTAIN", "Newest", "forget", "news", "wrong_gaps"]

UNREADABLE = "undecodable input"
VANISHED = "kind no longer served (404)"
REWOUND = "history rewound"
CAUSES = {UNREADABLE: (InputRefused,), REWOUND: (EpochBegan,)}
OTHER_CAUSES = (ListPage, RequestFailed, StreamClosed)
"""What opens gaps; a frame may have come in the same moment."""

CERTAIN = 3
"""Commits sealed after an observation by which it is surely in the log: one
may be under way, and one may wait for it with what came before."""

Newest = dict[tuple[int, int], int]
"""The newest version by session, and by epoch of the cluster."""


def wrong_gaps(world: World) -> Iterator[str]:
    """Yield errors of gaps, one text each."""
    notes: dict[str, list[tuple[int, Note]]] = {}
    for index, note in enumerate(world.notes):
        notes.setdefault(_resource(note), []).append((index, note))
    for gap in log_gaps(world.database.log.entries):
        own = notes.get(gap.resource, []) + notes.get("", [])
        judge = _Judge(world, gap, sorted(own, key=lambda pair: pair[0]))
        yield from (f"{why}: {gap}" for why in judge.complaints())


def _resource(note: Note) -> str:
    return str(getattr(note.what, "resource", None) or "")


def _is_read(what: object) -> bool:
    """Return whether it was read of the past; a stage of that opens a gap."""
    return isinstance(what, WatchFrame) and what.recovered


class _Judge:
    """Judges one gap."""

    def __init__(
        self, world: World, gap: LogGap, notes: list[tuple[int, Note]]
    ) -> None:
        self._world = world
        self._gap = gap
        self._notes = notes
        self._first = self._session(gap.opened)
        self._last = self._session(gap.closed) if gap.closed else 0
        causes = CAUSES.get(gap.reason, OTHER_CAUSES)
        self._cause = next(
            (
                index
                for index, note in notes
                if note.session == self._first
                and (isinstance(note.what, causes) or _is_read(note.what))
                and note.what.observed_at == gap.opened_at
            ),
            None,
        )

    def complaints(self) -> Iterator[str]:
        if not self._gap.closed:
            yield "never closed"
            return
        if self._cause is None:
            yield "opened for nothing that was observed"
            return
        yield from self._start(self._cause)
        yield from self._place()
        if self._gap.reason not in {UNREADABLE, VANISHED}:
            yield from self._end(self._cause)
        if self._gap.possible:
            yield from self._needless()

    def _session(self, position: int) -> int:
        return next(
            commit.session
            for commit in self._world.database.commits
            if commit.upto >= position
        )

    # Where it starts.

    def _start(self, cause: int) -> Iterator[str]:
        proofs = list(self._proofs(cause))
        certain = [
            (note, at)
            for note, at, is_news in proofs
            if is_news
            and (note.session == self._first or self._is_committed(note))
        ]
        since = self._gap.since
        if not proofs:
            yield "nothing was proven before it"
            return
        first = certain[-1][0] if certain else proofs[0][0]
        if self._jumped(first.at, cause):
            return
        if since not in {at for _, at, _ in proofs}:
            yield "it starts at no proof"
        if certain and since < certain[-1][1]:
            yield f"a proof of {certain[-1][1]} was committed before"

    def _proofs(self, cause: int) -> Iterator[tuple[Note, datetime, bool]]:
        """Yield what may be a proof before an observation, and when it was.

        What a session saw of a version that another had seen before is one
        only if that other could not commit it: it is no news for certain.
        """
        listing: dict[tuple[int, str], datetime] = {}
        newest: Newest = {}
        for index, note in self._notes:
            if index >= cause:
                return
            what = note.what
            match what:
                case ListPage():
                    key = note.session, what.resource_version
                    began = listing.setdefault(key, what.observed_at)
                    if not what.more:
                        yield note, began, True
                        del listing[key]
                        upto = int(what.resource_version)
                        newest[note.session, note.epoch] = upto
                case WatchFrame(recovered=False) | HistoryWalked(resumes=True):
                    yield from news(note, what, newest)
                case EpochBegan():
                    forget(note, newest)
                case StreamClosed(reason="404") | RequestFailed(status=404):
                    yield note, what.observed_at, True
                case _:
                    continue

    def _is_committed(self, note: Note) -> bool:
        later = [
            commit
            for commit in self._world.database.commits
            if commit.session == note.session and commit.sealed > note.at
        ]
        return len(later) >= CERTAIN

    def _jumped(self, since: float, cause: int) -> bool:
        """Return whether the clock was set between a proof and a cause."""
        until = self._world.notes[cause].at
        jumps = self._world.wall.jumps
        return any(since - 2 <= at <= until for at, _ in jumps)

    def _place(self) -> Iterator[str]:
        """Yield what is known to be whole beyond the version it starts at."""
        entries = self._world.database.log.entries[: self._gap.opened - 1]
        revisions = sorted(
            {
                int(orjson.loads(draft.raw)["metadata"]["resourceVersion"])
                for epoch, draft in entries
                if epoch == self._gap.epoch
                and draft.resource == self._gap.resource
                and draft.operation
                in {Operation.ADDED, Operation.MODIFIED, Operation.DELETED}
            }
        )
        before = self._gap.before
        if len(revisions) > 1 and before and before < revisions[-2]:
            yield f"everything up to {revisions[-2]} was seen"

    # Where it ends.

    def _end(self, cause: int) -> Iterator[str]:
        gap = self._gap
        if not gap.possible and not self._is_walked(cause, resumes=False):
            if not self._is_healed(cause):
                yield "healed by nothing that was observed"
            return
        if gap.after is None and self._is_unserved():
            return
        lists = list(self._lists(cause))
        ended = [
            began
            for began, note, version in lists
            if (note.session, version, began)
            == (self._last, gap.after, gap.to)
        ]
        if not ended:
            yield "it ends at no complete list"
            return
        for began, note, version in lists:
            if (note.session, version, began) == (
                self._last,
                gap.after,
                gap.to,
            ):
                return
            if note.session == self._last or self._is_committed(note):
                yield f"a list of {began} at {version} was complete before"

    def _is_healed(self, cause: int) -> bool:
        """Return whether a watch resumes where nothing is missing."""
        return self._is_walked(cause, resumes=True) or any(
            note.session == self._last
            and index > cause
            and note.what.observed_at == self._gap.to
            and isinstance(note.what, WatchFrame | StreamResumed)
            for index, note in self._notes
        )

    def _is_walked(self, cause: int, *, resumes: bool) -> bool:
        """Return whether all that was missed had been read.

        Before a list, or as the end of the gap. A walk for a gap before this
        one may have ended at the same version.
        """
        return any(
            note.session == self._last
            and index > cause
            and isinstance(note.what, HistoryWalked)
            and note.what.resumes == resumes
            and (not resumes or note.what.observed_at == self._gap.to)
            and note.what.until == str(self._gap.after)
            and note.what.possible == []
            and int(note.what.since) <= (self._gap.before or 0)
            for index, note in self._notes
        )

    def _is_unserved(self) -> bool:
        """Return whether it ended because nothing of the kind can exist."""
        return self._gap.resource.startswith("example.com/") and any(
            note.session == self._last
            and note.what.observed_at == self._gap.to
            and isinstance(note.what, RequestFailed | StreamClosed)
            for _, note in self._notes
        )

    def _lists(self, cause: int) -> Iterator[tuple[datetime, Note, int]]:
        """Yield the lists that were complete after the gap began."""
        listing: dict[tuple[int, str], datetime] = {}
        for index, note in self._notes:
            what = note.what
            if index < cause or not isinstance(what, ListPage):
                continue
            key = note.session, what.resource_version
            began = listing.setdefault(key, what.observed_at)
            if not what.more:
                yield began, note, int(what.resource_version)
                del listing[key]

    # Why it is.

    def _needless(self) -> Iterator[str]:
        gap = self._gap
        match gap.reason:
            case _ if gap.reason in {UNREADABLE, VANISHED, REWOUND}:
                return
            case _ if gap.closed_epoch != gap.epoch:
                return  # history was rewound while it was open
            case _ if gap.before is None:
                if not gap.resource.startswith("example.com/"):
                    yield "it has no version to start at"
            case _:
                if self._held(gap.before, gap.after):
                    yield "the server still held the history"

    def _held(self, before: int, after: int | None) -> bool:
        cluster = self._world.cluster
        if after is not None and after <= before:
            # What it had forgotten was undone when etcd was restored.
            return not any(
                revision > before and epoch < cluster.epoch
                for epoch, revision in cluster.forgot
            )
        forgot = [revision for _, revision in cluster.forgot]
        if self._gap.resource.startswith("example.com/"):
            # No watch begins before the definition of a kind.
            forgot += [
                change.revision
                for change in cluster.history
                if change.plural == "customresourcedefinitions"
                and change.type == "ADDED"
            ]
        return not any(
            before < revision <= (after or revision) for revision in forgot
        )


def news(
    note: Note, frame: WatchFrame | HistoryWalked, newest: Newest
) -> Iterator[tuple[Note, datetime, bool]]:
    """Yield a frame that may show a version not seen before.

    Two sessions may overlap, one of them fenced off and not aware of it, and
    each notices for itself that history was rewound: note the newest of each.

    What was read of the past is none, and is none when it comes again.
    """
    if isinstance(frame, HistoryWalked):
        newest[note.session, note.epoch] = int(frame.until)
        return
    version = int(orjson.loads(frame.object)["metadata"]["resourceVersion"])
    own = [seen for (who, _), seen in newest.items() if who == note.session]
    if version > max(own, default=0) and not frame.late:
        is_news = version > max(newest.values(), default=0)
        yield note, frame.observed_at, is_news
    newest[note.session, note.epoch] = max([*own, version])


def forget(note: Note, newest: Newest) -> None:
    """Forget versions of a history that is over.

    Another session may have noticed before, and seen versions of the new one.
    """
    for who, epoch in list(newest):
        if who == note.session or epoch < note.epoch:
            del newest[who, epoch]
