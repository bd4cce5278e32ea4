"""Rules: what is told, to whom, in which shape. As data, with defaults."""

from datetime import timedelta
from enum import StrEnum

import msgspec

from recorder.model.outcomes import Cause, Confidence, Happened
from recorder.model.setting_values import parse_duration

__all__ = ["Condition", "NotifyRules", "Post", "Rule", "Shape"]


class _Part(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """A part of a rule: every member is known."""


class Shape(StrEnum):
    """What a receiver reads."""

    SLACK = "slack"
    ALERTMANAGER = "alertmanager"
    CLOUDEVENTS = "cloudevents"


class Condition(_Part, frozen=True, kw_only=True):
    """What a rule tells of: all that is given must hold, of a list one."""

    happened: tuple[Happened, ...] = ()
    cause: tuple[Cause, ...] = ()
    confidence: tuple[Confidence, ...] = ()
    node: tuple[str, ...] = ()
    """Names of nodes; ``*`` stands for any characters."""

    labels: dict[str, str] = {}
    """Labels of a node, as they were at the time."""

    rack: str | None = None
    """The label that names the rack of a node."""

    namespace: tuple[str, ...] = ()
    """Namespaces of the workloads that were affected."""

    gap: str | None = None
    """Gaps that last longer than this are told, and no incidents."""

    resource: tuple[str, ...] = ()
    """Of gaps: only of these resources, such as ``v1/pods``."""

    @property
    def gap_after(self) -> timedelta | None:
        """`gap`, read; None for a rule about incidents."""
        return None if self.gap is None else parse_duration(self.gap)


class Post(_Part, frozen=True, kw_only=True):
    """Where and how a message is posted."""

    shape: Shape
    url: str | None = None
    url_file: str | None = None
    """A file that holds the address, which may be a secret. It is read
    before each post, so that it can be renewed."""

    token_file: str | None = None
    """A file that holds a bearer token for the receiver."""

    ca_file: str | None = None
    """Certificates of authorities, instead of those of the system."""

    timeout: str = "10s"
    """For one post, from the connection to the end of the answer."""

    give_up_after: str = "24h"
    """For how long a message that is not taken is posted again."""

    @property
    def timeout_seconds(self) -> float:
        """`timeout`, read."""
        return parse_duration(self.timeout).total_seconds()

    @property
    def given_up_after(self) -> timedelta:
        """`give_up_after`, read."""
        return parse_duration(self.give_up_after)


class Rule(_Part, frozen=True, kw_only=True):
    """One rule."""

    name: str
    """By which what was posted is remembered: a rule that is renamed begins
    anew."""

    when: Condition = Condition()
    """Everything that happens, where it is left out."""

    post: Post
    settle: str = "0s"
    """For how long a verdict must stay the same before it is told."""

    page: str | None = None
    """Address of the page, for links."""

    labels: dict[str, str] = {}
    """Labels to add to an alert, such as a severity."""

    @property
    def settled_after(self) -> timedelta:
        """`settle`, read."""
        return parse_duration(self.settle)


class NotifyRules(_Part, frozen=True, kw_only=True):
    """A file of rules."""

    rules: tuple[Rule, ...]
