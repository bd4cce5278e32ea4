"""What signals mean: rules as data.

A rule names literals of one controller and says what they are evidence for.
Names may hold ``*``. Which evidence makes which verdict is code, not data.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import TypeVar

import msgspec

__all__ = [
    "ActorName",
    "ConditionRule",
    "Decision",
    "EventRule",
    "Fault",
    "Knowledge",
    "LockRule",
    "ObjectRule",
    "Role",
    "Rules",
    "TaintRule",
    "TextRule",
    "WriterRule",
    "matches",
]


class Fault(StrEnum):
    """What broke; the contract's names."""

    KERNEL_PANIC = "kernel-panic"
    HUNG_KERNEL = "hung-kernel"
    GPU = "gpu-fault"
    MEMORY = "memory-fault"
    POWER_LOSS = "power-loss"
    THERMAL = "thermal-fault"
    LINK = "link-fault"
    DISK = "disk-fault"
    SYSTEM_OOM = "system-oom"
    CONTAINER_OOM = "container-oom"
    KUBELET = "kubelet-failure"
    RUNTIME = "runtime-failure"
    PARTITION = "network-partition"
    CONTROL_PLANE = "control-plane-outage"
    OTHER = "other-fault"


class Decision(StrEnum):
    """What was decided; the contract's names."""

    ADMIN_REQUEST = "admin-request"
    AUTO_REMEDIATION = "auto-remediation"
    OS_UPGRADE = "os-upgrade"
    DRIVER_UPGRADE = "driver-upgrade"
    HOST_MAINTENANCE = "host-maintenance"
    SCALE_DOWN = "scale-down"
    PREEMPTION = "preemption"
    MANUAL_DRAIN = "manual-drain"
    NODE_DELETION = "node-deletion"


class Role(StrEnum):
    """Which part of a chain something is evidence for."""

    FAULT = "fault"
    DECISION = "decision"
    ACT = "act"
    EFFECT = "effect"
    RECOVERY = "recovery"


class _Rule(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True
):
    """A rule: every member is known."""


class ActorName(_Rule, frozen=True, kw_only=True):
    """Who acts."""

    kind: str = "controller"
    name: str


class ConditionRule(_Rule, frozen=True, kw_only=True):
    """A condition of a Node."""

    types: Sequence[str]
    when: str
    """The status that is the fault, or the request."""

    fault: Fault | None = None
    reasons: dict[str, Fault | None] = {}
    """Another fault by reason, in the order of the file; null for none."""

    messages: dict[str, Fault | None] = {}
    """The same by a part of the message, asked first."""

    decision: Decision | None = None
    role: Role | None = None
    actor: ActorName | None = None


class EventRule(_Rule, frozen=True, kw_only=True):
    """A Kubernetes Event: the pair of its reporter and its reason."""

    reporters: Sequence[str]
    reasons: Sequence[str]
    message: str = ""
    """A part of the message, without which it is another Event."""

    about: Sequence[str] = ("*",)
    role: Role
    fault: Fault | None = None
    decision: Decision | None = None
    actor: ActorName | None = None


class TextRule(_Rule, frozen=True, kw_only=True):
    """A label or an annotation of a Node."""

    keys: Sequence[str]
    values: Sequence[str] = ("*",)
    is_time: bool = False
    """Whether the value tells when it is to be done, in seconds since 1970."""

    role: Role
    fault: Fault | None = None
    decision: Decision | None = None
    actor: ActorName | None = None


class TaintRule(_Rule, frozen=True, kw_only=True):
    """A taint of a Node."""

    keys: Sequence[str]
    values: Sequence[str] = ("*",)
    role: Role
    decision: Decision | None = None
    actor: ActorName | None = None


class ObjectRule(_Rule, frozen=True, kw_only=True):
    """An object that exists for what it asks: its coming is evidence."""

    groups: Sequence[str]
    kinds: Sequence[str]
    role: Role = Role.DECISION
    decision: Decision | None = None
    actor: ActorName | None = None


class LockRule(_Rule, frozen=True, kw_only=True):
    """An annotation of another object that names a node while it is held."""

    kinds: Sequence[str]
    keys: Sequence[str]
    member: str
    """Of the JSON in the annotation: the name of the node."""

    decision: Decision
    actor: ActorName | None = None

    def holder(self, annotation: str | None) -> str | None:
        """Give the node that an annotation names, None if it names none."""
        try:
            held = json.loads(annotation or "null")
        except ValueError:
            return None
        name = held.get(self.member) if isinstance(held, dict) else None
        return name if isinstance(name, str) else None


class WriterRule(_Rule, frozen=True, kw_only=True):
    """A field manager or user: who is behind it."""

    names: Sequence[str]
    actor: ActorName | None = None
    """None for a tool in anybody's hands, such as kubectl."""


class Rules(_Rule, frozen=True, kw_only=True):
    """One file: what one controller writes."""

    controller: ActorName | None = None
    """Who acts by these rules, unless a rule names another."""

    conditions: Sequence[ConditionRule] = ()
    events: Sequence[EventRule] = ()
    annotations: Sequence[TextRule] = ()
    labels: Sequence[TextRule] = ()
    taints: Sequence[TaintRule] = ()
    objects: Sequence[ObjectRule] = ()
    locks: Sequence[LockRule] = ()
    writers: Sequence[WriterRule] = ()


R = TypeVar(
    "R",
    ConditionRule,
    EventRule,
    TextRule,
    TaintRule,
    ObjectRule,
    LockRule,
)


class Knowledge:
    """All rules, in the order in which they are asked: a site's first."""

    def __init__(self, files: Iterable[Rules]) -> None:
        files = tuple(files)
        self.conditions = _all(files, lambda file: file.conditions)
        self.events = _all(files, lambda file: file.events)
        self.annotations = _all(files, lambda file: file.annotations)
        self.labels = _all(files, lambda file: file.labels)
        self.taints = _all(files, lambda file: file.taints)
        self.objects = _all(files, lambda file: file.objects)
        self.locks = _all(files, lambda file: file.locks)
        self.writers = tuple(chain(*(file.writers for file in files)))

    def condition(self, name: str) -> ConditionRule | None:
        """Give the rule of a condition of a Node."""
        return next(
            (r for r in self.conditions if matches(r.types, name)), None
        )

    def event(
        self, reporter: str, reason: str, *, about: str, message: str
    ) -> EventRule | None:
        """Give the rule of a Kubernetes Event."""
        return next(
            (
                rule
                for rule in self.events
                if matches(rule.reasons, reason)
                and matches(rule.reporters, reporter)
                and matches(rule.about, about)
                and rule.message in message
            ),
            None,
        )

    def judges(self, reporters: Iterable[str], *, about: str) -> bool:
        """Tell whether a rule may name an Event of one of these reporters."""
        return any(
            matches(rule.about, about) and matches(rule.reporters, reporter)
            for rule in self.events
            for reporter in reporters
        )

    def text(
        self, rules: Iterable[TextRule], key: str, value: str
    ) -> TextRule | None:
        """Give the rule of a label or an annotation."""
        return next(
            (
                rule
                for rule in rules
                if matches(rule.keys, key) and matches(rule.values, value)
            ),
            None,
        )

    def taint(self, key: str, value: str) -> TaintRule | None:
        """Give the rule of a taint."""
        return next(
            (
                rule
                for rule in self.taints
                if matches(rule.keys, key) and matches(rule.values, value)
            ),
            None,
        )

    def made(self, group: str, kind: str) -> ObjectRule | None:
        """Give the rule of an object that came to be."""
        return next(
            (
                rule
                for rule in self.objects
                if matches(rule.groups, group) and matches(rule.kinds, kind)
            ),
            None,
        )

    def lock(self, kind: str, key: str) -> LockRule | None:
        """Give the rule of an annotation that names a node."""
        return next(
            (
                rule
                for rule in self.locks
                if matches(rule.kinds, kind) and matches(rule.keys, key)
            ),
            None,
        )

    def writer(self, name: str) -> WriterRule | None:
        """Give who is behind a field manager or a user."""
        return next((r for r in self.writers if matches(r.names, name)), None)


def _all(
    files: Sequence[Rules], members: Callable[[Rules], Sequence[R]]
) -> tuple[R, ...]:
    """Give the rules of all files, each with somebody who acts."""
    return tuple(
        msgspec.structs.replace(rule, actor=file.controller)
        if rule.actor is None and file.controller is not None
        else rule
        for file in files
        for rule in members(file)
    )


@lru_cache(4096)
def _pattern(pattern: str) -> re.Pattern[str]:
    parts = map(re.escape, pattern.split("*"))
    return re.compile(".*".join(parts), re.DOTALL)


def matches(patterns: Iterable[str], text: str) -> bool:
    """Tell whether a text is as any of the patterns."""
    return any(_pattern(p).fullmatch(text) is not None for p in patterns)
