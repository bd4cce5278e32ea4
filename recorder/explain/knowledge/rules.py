"""What signals mean: rules as data.

A rule names literals of one controller and says what they are evidence for.
Names may hold ``*``. Which evidence makes which verdict is code, not data.
"""

import json
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from recorder.facts.topology import Related
from recorder.model.outcomes import ActorKind, Decision, Fault, Role


class _Rule(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """A rule without unknown members."""


class MetricOf(StrEnum):
    """What a metric is asked for."""

    NODE = "node"
    CONTROL_PLANE = "control-plane"


class ActorName(_Rule, frozen=True, kw_only=True):
    """Who acts."""

    kind: ActorKind = ActorKind.CONTROLLER
    name: str


class ConditionRule(_Rule, frozen=True, kw_only=True):
    """A condition of a Node."""

    types: tuple[str, ...]
    when: str
    """The status that is the fault, or the request."""

    fault: Fault | None = None
    reasons: dict[str, Fault | None] = {}
    """Another fault by reason, in the order of the file; null for none."""

    messages: dict[str, Fault | None] = {}
    """The same by a part of the message, which is tried first."""

    decision: Decision | None = None
    decisions: dict[str, Decision] = {}
    """Another decision by reason."""

    announced: dict[str, Decision] = {}
    """The same by a part of the message, which is tried first."""

    role: Role | None = None
    actor: ActorName | None = None


class Act(_Rule, frozen=True, kw_only=True):
    """What is written or reported, and what it is evidence for."""

    role: Role
    fault: Fault | None = None
    decision: Decision | None = None
    vague: bool = False
    """Whether it happens for other reasons as well."""

    actor: ActorName | None = None


class EventRule(Act, frozen=True, kw_only=True):
    """A Kubernetes Event: the pair of its reporter and its reason."""

    reporters: tuple[str, ...]
    reasons: tuple[str, ...]
    message: str = ""
    """A part of the message that the Event must have."""

    about: tuple[str, ...] = ("*",)


class RefusalRule(_Rule, frozen=True, kw_only=True):
    """A message of a kubelet that could not give a device to a Pod."""

    message: str
    """A part of the message."""

    fault: Fault


class CommandRule(_Rule, frozen=True, kw_only=True):
    """A command of a Pod that may do anything to its node."""

    words: tuple[str, ...]
    """Rows of words; one row must be part of the command."""

    decision: Decision


class TextRule(Act, frozen=True, kw_only=True):
    """A label, an annotation or a taint of a Node."""

    keys: tuple[str, ...]
    values: tuple[str, ...] = ("*",)
    is_time: bool = False
    """Whether the value is the time of the action, in seconds since 1970."""

    of_spot: Decision | None = None
    """The decision for a machine that may be reclaimed at any time."""


class ObjectRule(Act, frozen=True, kw_only=True):
    """An object about a node whose creation is evidence.

    If the rule names them, its deletion or a change of its condition is.
    """

    groups: tuple[str, ...]
    kinds: tuple[str, ...]
    deleted: bool = False
    condition: str = ""
    when: str = "True"
    """The status of the condition."""

    reasons: tuple[str, ...] = ("*",)
    """The reasons of the condition."""

    role: Role = Role.DECISION


class LockRule(Act, frozen=True, kw_only=True):
    """An annotation of another object that names nodes while they hold it."""

    kinds: tuple[str, ...]
    keys: tuple[str, ...]
    member: str
    """The member with the name of the node in the JSON of the annotation."""

    several: str = ""
    """The member with the list of such objects, if several may hold it."""

    decision: Decision
    role: Role = Role.DECISION

    def holders(self, annotation: str | None) -> frozenset[str]:
        """Return the nodes that an annotation names."""
        try:
            held = json.loads(annotation or "null")
        except (ValueError, RecursionError):
            return frozenset()
        if not isinstance(held, dict):
            return frozenset()
        several = held.get(self.several)
        each = several if isinstance(several, list) else [held]
        names = (one.get(self.member) for one in each if isinstance(one, dict))
        return frozenset(name for name in names if isinstance(name, str))


class WriterRule(_Rule, frozen=True, kw_only=True):
    """A field manager or user, and its actor."""

    names: tuple[str, ...]
    actor: ActorName | None = None
    """None for a tool that anyone may use, such as kubectl; without a name for
    a program whose name is common."""

    library: bool = False
    """Whether the tool is a library, which programs use as well."""


class Claimant(ActorName, frozen=True, kw_only=True):
    """Who acted, according to a claim."""

    member: str = ""
    """The member of the data with the name; without it, or where the claim
    has none, ``name`` is used."""

    name: str = ""
    kind: ActorKind = ActorKind.USER


class ClaimRule(Act, frozen=True, kw_only=True):
    """What claims of a type are evidence for, if their data has the values."""

    when: dict[str, tuple[str, ...]] = {}
    """Members of the data, `a.b` for `b` in `a`, with the values that one of
    them must have, as text; `*` matches any text."""

    excludes: tuple[Fault, ...] = ()
    """Causes of the same loss that the claim rules out. With any of them it
    is a record of the machine itself, and decides: what a monitor says is
    never more than likely."""

    actor: Claimant | None = None


class ClaimTime(_Rule, frozen=True, kw_only=True):
    """When it happened, for claims without a time in the envelope."""

    member: str
    """The member of the data: a time by ISO 8601, or in seconds since 1970.
    """

    zone: str = "UTC"
    """Of a time that names none, as in the IANA time zone database."""


class ClaimType(_Rule, frozen=True, kw_only=True):
    """A type of CloudEvents: what they look like, and what they mean."""

    type: str
    about: tuple[str, ...] = ("*",)
    """The kinds of places that the subject may be; claims about others mean
    nothing."""

    data: dict[str, object] = {}
    """The JSON Schema of the data; other data means nothing."""

    time: ClaimTime | None = None
    each: tuple[str, ...] = ()
    """Members of the data that distinguish things of one subject."""

    holds: bool = False
    """Whether what a claim says holds until another about the same says
    otherwise, as a state does; an event is over at once."""

    stage: str = ""
    """The member of the data that says how far a machine came while it
    started."""

    claims: Sequence[ClaimRule] = ()
    """The first that fits is used; without one, a claim is no evidence."""


class MetricRule(_Rule, frozen=True, kw_only=True):
    """A metric that is kept around an incident, and what it speaks for.

    A value is never a fault by itself.
    """

    name: str
    labels: tuple[str, ...] = ()
    """The labels that distinguish the series of one node."""

    of: MetricOf = MetricOf.NODE
    thing: str = ""
    """What a series is about, for people, before the values of its labels."""

    unit: str = ""
    fault: Fault | None = None
    """The class of the fault that a value may support."""

    above: float | None = None
    """From which value on it supports the fault."""

    below: float | None = None
    """It speaks against the fault if it was always below this value."""

    changes: bool = False
    """Whether only a change supports the fault."""


class PlaceRule(
    Related, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """Places that are behind a parent, or built into it."""

    children: tuple[str, ...]


class Rules(_Rule, frozen=True, kw_only=True):
    """One file: what one controller writes."""

    controller: ActorName | None = None
    """Who acts by these rules, unless a rule names another."""

    cloud: str = ""
    """The scheme of the provider IDs of Nodes that the rules are for; empty
    for all. Where the cloud of a Node is not known, the reporter `*` takes no
    Event."""

    spot: dict[str, tuple[str, ...]] = {}
    """Labels of machines that may be reclaimed at any time, with values."""

    conditions: Sequence[ConditionRule] = ()
    events: Sequence[EventRule] = ()
    refusals: Sequence[RefusalRule] = ()
    commands: Sequence[CommandRule] = ()
    annotations: Sequence[TextRule] = ()
    labels: Sequence[TextRule] = ()
    taints: Sequence[TextRule] = ()
    objects: Sequence[ObjectRule] = ()
    locks: Sequence[LockRule] = ()
    writers: Sequence[WriterRule] = ()
    types: Sequence[ClaimType] = ()
    """Types of CloudEvents that other systems post."""

    metrics: Sequence[MetricRule] = ()
    """Metrics that are kept with an incident."""

    places: Sequence[PlaceRule] = ()
    """What is behind what, where no label of a Node names it."""
