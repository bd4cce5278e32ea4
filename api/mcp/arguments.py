"""What an agent may say to each tool, checked before anything is asked.

The schemas that agents see are made of these, with their descriptions.
"""

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from api.answers.windows import window
from recorder.model.window import Window, parse_time

__all__ = [
    "Arguments",
    "OfClusters",
    "OfEntries",
    "OfHistory",
    "OfImpact",
    "OfIncidents",
    "OfLog",
    "OfWho",
    "OfWhy",
    "OfWhyWorkload",
    "Windowed",
]

Name = Annotated[str, Meta(min_length=1, max_length=400)]
Object = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=400,
        description="As kubectl writes it: pod/train/llm-0, node/n1.",
    ),
]
Moment = Annotated[str, Meta(min_length=1, max_length=40)]
Limit = Annotated[
    int,
    Meta(ge=1, le=200, description="How many of the newest. Default: 50."),
]
LIMIT = 50


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of a tool; an unknown one is an error."""


class OfClusters(Arguments, frozen=True, forbid_unknown_fields=True):
    """None."""


class OfLog(Arguments, frozen=True, kw_only=True):
    """Which log is asked."""

    cluster: Annotated[
        Name | None,
        Meta(description="Name or UID, where several are recorded."),
    ] = None
    log: Annotated[
        Annotated[int, Meta(ge=1, lt=1 << 31)]
        | Annotated[str, Meta(min_length=1, max_length=400)]
        | None,
        Meta(
            description="Exactly this log, by its number, or as"
            " CLUSTER:NUMBER where it is listed so."
        ),
    ] = None


class Windowed(OfLog, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When."""

    since: Annotated[
        Moment | None,
        Meta(
            description="From this time on, inclusive: RFC 3339 with a zone,"
            " or an age such as 90s, 2h, 3d."
        ),
    ] = None
    until: Annotated[
        Moment | None,
        Meta(description="Before this time, as since. Default: the end."),
    ] = None

    def window(self, now: datetime) -> Window:
        """Return the window.

        Raises:
            TimeError: something is no time, or nothing lies between.
            WindowTooWideError: too much does.
        """
        return window(
            _time("since", self.since, now), _time("until", self.until, now)
        )


class OfMoment(
    Windowed, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """When: a window, or a moment."""

    at: Annotated[
        Moment | None,
        Meta(description="What happened at this time, or last before it."),
    ] = None

    def moment(self, now: datetime) -> datetime | None:
        """Return the time that is asked about, if one is.

        Raises:
            TimeError: it is none.
        """
        return _time("at", self.at, now)


class OfWhy(OfMoment, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A node, and when."""

    node: Annotated[Name, Meta(description="Its name, as node/gpu-002.")]


class OfWhyWorkload(
    OfMoment, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """A workload or a Pod, and when."""

    object: Object


class OfWho(OfLog, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An object, and when."""

    object: Object
    at: Annotated[
        Moment | None,
        Meta(description="As it was at this time. Default: as it is now."),
    ] = None

    def moment(self, now: datetime) -> datetime | None:
        """Return the time that is asked about, if one is.

        Raises:
            TimeError: it is none.
        """
        return _time("at", self.at, now)


class OfImpact(
    Windowed, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """Nodes, by name, rack or label, and when."""

    nodes: Annotated[list[Name], Meta(max_length=100)] = []
    rack: Annotated[
        Name | None, Meta(description="Nodes with this rack label then.")
    ] = None
    labels: Annotated[
        list[Name],
        Meta(
            max_length=10,
            description="Nodes with each LABEL=VALUE at the time.",
        ),
    ] = []


class OfIncidents(
    Windowed, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """When, and how many."""

    limit: Limit = LIMIT


class OfHistory(
    Windowed, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """An object, and when."""

    object: Object
    limit: Limit = LIMIT


class OfEntries(
    Windowed, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """Which entries."""

    entry: Annotated[
        Name | None,
        Meta(description="This one alone, as LOG/POSITION. No other filter."),
    ] = None
    node: Name | None = None
    object: Object | None = None
    source: Annotated[
        Name | None,
        Meta(description="watch, audit, cloudevents, slurm or recorder."),
    ] = None
    reason: Annotated[
        Name | None,
        Meta(description="Of Events, as Rebooted; of requests, their verb."),
    ] = None
    actor: Annotated[
        Name | None,
        Meta(description="Who reported an Event or made a request."),
    ] = None
    code: Annotated[
        int | None,
        Meta(description="With which requests were refused, as 403."),
    ] = None
    documents: Annotated[
        bool,
        Meta(description="Whether each document is wanted, as received."),
    ] = False
    limit: Limit = LIMIT


def _time(name: str, text: str | None, now: datetime) -> datetime | None:
    return None if text is None else parse_time(text, now=now, name=name)
