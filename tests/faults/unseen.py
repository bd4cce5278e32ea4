"""Events that no list can show, by the one rule under which none need to.

A list of Events after a short absence proves that nothing was missed, because
an Event lives for its TTL. One that is deleted before, in the absence in
which it was made, leaves no trace, and there is no gap to record. That is so
only if the server had forgotten it, nothing was observed of Events meanwhile,
and the list shows nothing that was not held and lacks nothing that was.
"""

import orjson

from recorder.intake.relisting import EVENT_TTL
from recorder.model.observation import EpochBegan, ListPage, WatchFrame
from tests.cluster.comparison import Version
from tests.faults.process import Note
from tests.faults.truth import Truth
from tests.faults.world import World
from tests.support.log_rows import log_rows

__all__ = ["unseen_events"]

EVENTS = "v1/events"
Life = list[Version]


def unseen_events(world: World, truth: Truth) -> set[Version]:
    """Return the versions that may be missing without a gap."""
    rows = log_rows(world.database.log.entries)
    held = {
        (row.epoch, row.uid, row.revision)
        for row in rows
        if row.resource == "events"
    }
    known = {(epoch, uid) for epoch, uid, _ in held}
    lives: dict[tuple[int, str], Life] = {}
    for version in truth:
        if version.resource == "events":
            lives.setdefault((version.epoch, version.uid), []).append(version)
    early = [
        life[-1]
        for key, life in lives.items()
        if key in known and life[-1].deleted
        if (*key, life[-1].revision) not in held
    ]
    found: set[Version] = set()
    for key, life in lives.items():
        listed = _list_after(world, truth, life)
        if key in known or listed is None:
            continue
        upto = int(listed.resource_version)
        items = [orjson.loads(item)["metadata"] for item in listed.items]
        if all(
            (key[0], item["uid"], int(item["resourceVersion"])) in held
            and int(item["resourceVersion"]) < life[0].revision
            for item in items
        ) and not any(
            end.epoch == key[0] and end.revision <= upto for end in early
        ):
            found.update(life)
    return found


def _list_after(world: World, truth: Truth, life: Life) -> ListPage | None:
    """Return the list that ended the absence of a passing Event."""
    made, gone = truth[life[0]], truth[life[-1]]
    if made is None or gone is None or not life[-1].deleted:
        return None
    for note in world.notes:
        if note.at <= made:
            continue
        if isinstance(note.what, EpochBegan) or _is_frame(note):
            return None
        if (
            isinstance(note.what, ListPage)
            and str(note.what.resource) == EVENTS
        ):
            upto = int(note.what.resource_version)
            forgot = any(
                life[0].revision <= revision <= upto
                for _, revision in world.cluster.forgot
            )
            is_short = note.at - made < EVENT_TTL.total_seconds() / 2
            whole = note.at > gone and upto >= life[-1].revision
            proves = forgot and is_short and whole and not note.what.more
            return note.what if proves else None
    return None


def _is_frame(note: Note) -> bool:
    what = note.what
    return isinstance(what, WatchFrame) and str(what.resource) == EVENTS
