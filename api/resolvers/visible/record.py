"""What a reader of only a part of a log may know about the log itself.

The reader sees when and in which resource something may be missing, but not
what the recorder wrote about it: reasons and proofs count the objects of
others, and name files, servers and the place of the archive. Hidden are also
the sizes of the log and its database, its writer, and the writer's machine.
"""

from dataclasses import replace

from msgspec import structs

from recorder.answers.status import LogStatus, Status
from recorder.facts.coverage.audit_state import worded
from recorder.facts.coverage.hole import Gap
from recorder.facts.coverage.ports import Archived, Log, Stream

REASON = "not recorded without a break"
PROVED = "something"
POSSIBLE = ("any change since then",)
UNREAD = "dropped by retention: only the archive has these days"
PLACE = "the archive"


def log_of(log: Log) -> Log:
    """Return a log without its writer; its size is not shown."""
    return replace(log, is_part=True, holder=log.holder and "the recorder")


def gap_of(gap: Gap) -> Gap:
    """Return a gap without counts and texts of errors."""
    return structs.replace(
        gap,
        reason=REASON,
        resource_version_before=None,
        resource_version_after=None,
        proved=PROVED,
        possible=POSSIBLE if gap.possible else (),
    )


def stream_of(stream: Stream) -> Stream:
    """Return a stream without counts of what it delivered."""
    return replace(
        stream,
        entries=0,
        audited=None,
        gap=stream.gap and gap_of(stream.gap),
    )


def unread_of(found: Archived) -> Archived:
    """Return what is archived, without its place and why it was not read."""
    return replace(
        found,
        read=[structs.replace(one, place=PLACE) for one in found.read],
        holes=[structs.replace(one, reason=UNREAD) for one in found.holes],
        thinned=[replace(one, archive=None) for one in found.thinned],
    )


def status_of(status: Status) -> Status:
    """Return a status without sizes, places and machines."""
    return Status(
        logs=[_standing(one) for one in status.logs],
        database=structs.replace(status.database, bytes=0, disk=None),
        now=status.now,
        away=status.away,
    )


def _standing(status: LogStatus) -> LogStatus:
    audit = structs.replace(status.audit, records=0, unanswered=0, left_out=())
    return replace(
        status,
        log=log_of(status.log),
        streams=[stream_of(one) for one in status.streams],
        entries_per_minute=0,
        waiting_for=None,
        judged=worded(audit),
    )
