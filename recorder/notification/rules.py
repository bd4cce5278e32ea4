"""Rules: what is posted, to which receiver, in which shape."""

from datetime import timedelta
from enum import StrEnum

import msgspec

from recorder.model.outcomes import Cause, Confidence, EndedBy, Happened
from recorder.model.setting_values import parse_duration


class _Part(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """A part of a rule; unknown fields are rejected."""


class Shape(StrEnum):
    """The format of a message."""

    SLACK = "slack"
    ALERTMANAGER = "alertmanager"
    CLOUDEVENTS = "cloudevents"


class Condition(_Part, frozen=True, kw_only=True):
    """What a rule reports: each field must match, by any value of a list."""

    happened: tuple[Happened, ...] = ()
    cause: tuple[Cause, ...] = ()
    confidence: tuple[Confidence, ...] = ()
    node: tuple[str, ...] = ()
    """Names of nodes; ``*`` matches any characters."""

    labels: dict[str, str] = {}
    """Labels of a node, as they were at the time."""

    rack: str | None = None
    """The label that names the rack of a node."""

    namespace: tuple[str, ...] = ()
    """Namespaces of the workloads that were affected."""

    workload: tuple[str, ...] = ()
    """Report what ended these workloads, and no incidents: names, or
    ``KIND/NAMESPACE/NAME``; ``*`` matches any characters."""

    owner: tuple[str, ...] = ()
    """The same, of workloads that these users created."""

    ended_by: tuple[EndedBy, ...] = ()
    """The same, by these alone; any but completion by default."""

    gap: str | None = None
    """Report gaps that last longer than this, and no incidents."""

    resource: tuple[str, ...] = ()
    """Only gaps of these resources, such as ``v1/pods``."""

    @property
    def is_of_workloads(self) -> bool:
        """Whether it reports what ended workloads."""
        return bool(self.workload or self.owner or self.ended_by)

    @property
    def about(self) -> str:
        """What it reports, in words."""
        if self.gap is not None:
            return "gaps"
        return "workloads" if self.is_of_workloads else "incidents"

    @property
    def gap_after(self) -> timedelta | None:
        """`gap`, parsed; None for a rule about incidents."""
        return None if self.gap is None else parse_duration(self.gap)


class Post(_Part, frozen=True, kw_only=True):
    """Where and how a message is posted."""

    shape: Shape
    url: str | None = None
    url_file: str | None = None
    """A file with the address, which may be a secret. It is read before each
    post, so that the address can be rotated."""

    token_file: str | None = None
    """A file with a bearer token for the receiver."""

    ca_file: str | None = None
    """A file of CA certificates, instead of those of the system."""

    timeout: str = "10s"
    """For one attempt, from the connection to the end of the response."""

    give_up_after: str = "24h"
    """For how long to retry a message that is not accepted."""

    @property
    def timeout_seconds(self) -> float:
        """`timeout`, in seconds."""
        return parse_duration(self.timeout).total_seconds()

    @property
    def given_up_after(self) -> timedelta:
        """`give_up_after`, parsed."""
        return parse_duration(self.give_up_after)


class Rule(_Part, frozen=True, kw_only=True):
    """A rule: what to report, and where to post it."""

    name: str
    """Identifies the messages that were posted: a renamed rule starts over."""

    when: Condition = Condition()
    """All incidents by default."""

    post: Post
    settle: str = "1m"
    """For how long a verdict must stay the same before it is posted: a node
    that is unreachable, then restarted, then rebooted is one message."""

    page: str | None = None
    """Base URL of the page, for links."""

    labels: dict[str, str] = {}
    """Labels to add to an alert, such as a severity."""

    @property
    def settled_after(self) -> timedelta:
        """`settle`, parsed."""
        return parse_duration(self.settle)


class NotifyRules(_Part, frozen=True, kw_only=True):
    """A file of rules."""

    rules: tuple[Rule, ...]
