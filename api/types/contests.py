"""Who fought over a node."""

from datetime import datetime
from typing import Self

import strawberry

from api.describing import described
from api.scalars import Json
from api.types.paths import Actor, actor_of
from recorder.explain import verdict as judged

__all__ = ["Contest", "NodeContest"]


@described
class Contest:
    """Two who undo each other's cordon."""

    cordoned_by: Actor

    uncordoned_by: Actor

    since: datetime

    until: datetime
    """The last change of theirs."""

    entries: list[strawberry.ID]
    """Of each change, in the order of the log."""

    @classmethod
    def of(cls, contest: judged.Contest) -> Self:
        """Take it from a verdict."""
        return cls(
            cordoned_by=actor_of(contest.cordoned_by),
            uncordoned_by=actor_of(contest.uncordoned_by),
            since=contest.since,
            until=contest.until,
            entries=[strawberry.ID(str(one)) for one in contest.entries],
        )


@described
class NodeContestSide:
    """One of two, and what it set a field to."""

    actor: Actor

    value: Json | None
    """Null where it removed it; true of a taint or a cordon that it set."""


@described
class NodeContest:
    """Two who undo each other's changes of one field of the Node."""

    path: str
    """For example `metadata.labels.pool`."""

    sides: list[NodeContestSide]

    since: datetime

    until: datetime
    """The last change of theirs."""

    entries: list[strawberry.ID]
    """Of each change, in the order of the log."""

    @classmethod
    def of(cls, contest: judged.Contest) -> Self:
        """Take it from a verdict."""
        return cls(
            path=contest.path,
            sides=[
                NodeContestSide(
                    actor=actor_of(side.actor), value=Json(side.value)
                )
                for side in contest.sides
            ],
            since=contest.since,
            until=contest.until,
            entries=[strawberry.ID(str(one)) for one in contest.entries],
        )
