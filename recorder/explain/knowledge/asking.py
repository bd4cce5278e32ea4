"""All rules together: look up what a literal means."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import Generic, TypeAlias, TypeVar

import msgspec

from recorder.explain.knowledge.claiming import member, misfit
from recorder.explain.knowledge.rules import (
    Act,
    ClaimRule,
    ClaimType,
    ConditionRule,
    EventRule,
    LockRule,
    MetricRule,
    ObjectRule,
    Rules,
    TextRule,
    WriterRule,
)
from recorder.facts.topology import Sighting, related
from recorder.model.facts import Claimed
from recorder.model.outcomes import Decision, Fault, Role

_Acting: TypeAlias = Act | ConditionRule
"""Rules of what an actor does, each with its decision."""

R = TypeVar("R", bound=_Acting | WriterRule)

_UNRULED = frozenset(
    {"digitalocean", "hcloud", "ibm", "linode", "oci", "openstack", "vsphere"}
)
"""Clouds without rules, as their controllers name them in provider IDs."""

NAMES_MAX = 4096
"""How many names are cached for each table; a fleet has fewer."""


OF_SITE = "rules of the site"
"""What shows a relation of places that a file of rules states."""

_WORD = re.compile(r"[\w.-]+")
"""A word of a command, without the folders of a path."""


class Table(Generic[R]):
    """The rules in one member of all files, found by the names they hold."""

    def __init__(
        self, files: Sequence[Rules], own: int, member: str, names: str
    ) -> None:
        """Take the rules of files; the first ``own`` precede."""
        ruled = [[*getattr(file, member)] for file in files]
        self._own = sum(map(len, ruled[:own]))
        self._names = names
        self.rules: Sequence[R] = [
            _acting(rule, file)
            for file, rules in zip(files, ruled, strict=True)
            for rule in rules
        ]
        self._named = lru_cache(NAMES_MAX)(self._ranked)

    def _ranked(self, name: str) -> Sequence[R]:
        fitting = [
            (place >= self._own, _vagueness(patterns, name), place, rule)
            for place, rule in enumerate(self.rules)
            if matches(patterns := getattr(rule, self._names), name)
        ]
        fitting.sort(key=lambda one: one[:3])
        return tuple(rule for *_, rule in fitting)

    def of(self, name: str, **members: str | bool) -> Iterator[R]:
        """Yield the rules of a name, in order, that have these members.

        Of patterns, one matches.
        """
        for rule in self._named(name):
            if all(_has(rule, *wanted) for wanted in members.items()):
                yield rule

    def first(self, name: str, **members: str | bool) -> R | None:
        """Return the first of them."""
        return next(self.of(name, **members), None)


class Knowledge:
    """All rules: those of a site first, and more specific ones first.

    The order of the files makes no difference.
    """

    def __init__(
        self, shipped: Iterable[Rules], site: Iterable[Rules] = ()
    ) -> None:
        """Take the files of the product, and those of a site."""
        own, shipped = tuple(site), tuple(shipped)
        files = (*own, *sorted(shipped, key=repr))
        self._files = shipped, own
        self._clouds = _UNRULED.union(file.cloud for file in files)
        self._of_cloud: dict[str, Knowledge] = {}
        self._refusals = [rule for file in files for rule in file.refusals]
        self._commands = [rule for file in files for rule in file.commands]
        self._spot = [item for file in files for item in file.spot.items()]
        self.types: Mapping[str, ClaimType] = {
            kind.type: kind for file in reversed(files) for kind in file.types
        }
        """Types of claims, by their names."""

        self.metrics: Mapping[str, MetricRule] = {
            one.name: one for file in reversed(files) for one in file.metrics
        }
        """Metrics that are kept with an incident, by their names."""

        of = files, len(own)
        self.conditions = Table[ConditionRule](*of, "conditions", "types")
        self.events = Table[EventRule](*of, "events", "reasons")
        self.annotations = Table[TextRule](*of, "annotations", "keys")
        self.labels = Table[TextRule](*of, "labels", "keys")
        self.taints = Table[TextRule](*of, "taints", "keys")
        self.objects = Table[ObjectRule](*of, "objects", "kinds")
        self.locks = Table[LockRule](*of, "locks", "keys")
        self.writers = Table[WriterRule](*of, "writers", "names")
        self._purposes: dict[str, set[Decision]] = {}
        for rule in chain[_Acting](
            self.conditions.rules, self.events.rules, self.annotations.rules,
            self.labels.rules, self.taints.rules, self.objects.rules,
            self.locks.rules,
        ):  # fmt: skip
            if rule.actor is not None and rule.decision is not None:
                made = self._purposes.setdefault(rule.actor.name, set())
                made.add(rule.decision)

    def of_cloud(self, provider_id: str | None) -> "Knowledge":
        """Return the rules for a node, without those of other clouds.

        Where its cloud is not known, an Event is a cloud's by its reporter.
        """
        cloud, named, _ = (provider_id or "").partition("://")
        if not named or cloud not in self._clouds:
            cloud = ""
        if cloud not in self._of_cloud:
            fit = [
                [
                    file if cloud or not file.cloud else _reported(file)
                    for file in files
                    if not cloud or file.cloud in {"", cloud}
                ]
                for files in self._files
            ]
            self._of_cloud[cloud] = Knowledge(*fit)
        return self._of_cloud[cloud]

    def refusal(self, message: str) -> Fault | None:
        """Return what broke, by the message with which a kubelet refused."""
        return next(
            (r.fault for r in self._refusals if r.message in message), None
        )

    def commanded(self, command: str) -> Decision | None:
        """Return the decision that a command on a node carries out."""
        words = f" {' '.join(_WORD.findall(command))} "
        return next(
            (
                rule.decision
                for rule in self._commands
                if any(f" {row} " in words for row in rule.words)
            ),
            None,
        )

    def is_spot(self, labels: Mapping[str, str]) -> bool:
        """Return whether a machine may be reclaimed at any time."""
        return any(labels.get(key) in values for key, values in self._spot)

    def event(
        self, reporter: str, reason: str, *, about: str, message: str
    ) -> EventRule | None:
        """Return the rule of a Kubernetes Event."""
        rules = self.events.of(reason, reporters=reporter, about=about)
        return next((r for r in rules if r.message in message), None)

    def judges(self, reporters: Iterable[str], *, about: str) -> bool:
        """Whether a rule may name an Event of one of these reporters."""
        known = [*reporters]
        return any(
            matches(rule.about, about)
            and any(matches(rule.reporters, one) for one in known)
            for rule in self.events.rules
        )

    def purpose(self, actor: str) -> Decision | None:
        """Return the only decision that an actor makes, if there is one."""
        decided = self._purposes.get(actor, ())
        return next(iter(decided)) if len(decided) == 1 else None

    @cached_property
    def places(self) -> Sequence[Sighting]:
        """What is behind what, by files of the site."""
        return [
            sighting
            for file in chain(*self._files)
            for rule in file.places
            for child in rule.children
            for sighting in related(child, rule, witness=OF_SITE)
        ]

    def misfit(self, name: str, document: bytes) -> str | None:
        """Return what is wrong with the data of an event of a type.

        None if nothing is, or there is no such type, or no data that is JSON.
        """
        kind = self.types.get(name)
        if kind is None:
            return None
        try:
            return misfit(kind, msgspec.json.decode(document, type=_Data).data)
        except (ValueError, RecursionError):
            return None

    def claimed(self, claim: Claimed) -> tuple[ClaimType, ClaimRule] | None:
        """Return the type of a claim, and the rule that fits it, if any.

        A claim that is not as its type says has none. A stage that a machine
        reached fits the rule of all stages.
        """
        kind = self.types.get(claim.type)
        if kind is None or not matches(
            kind.about, claim.subject.partition("/")[0]
        ):
            return None
        rules = [_STAGE] if kind.stage else kind.claims
        rule = next((r for r in rules if _fits(r, claim)), None)
        if rule is None or (not claim.shortened and misfit(kind, claim.data)):
            return None
        return kind, rule


class _Data(msgspec.Struct):
    data: object = None


_STAGE = ClaimRule(role=Role.RECOVERY)


def _fits(rule: ClaimRule, claim: Claimed) -> bool:
    return all(
        any(matches(values, value) for value in member(claim.data, path))
        for path, values in rule.when.items()
    )


def _has(rule: object, name: str, value: object) -> bool:
    held = getattr(rule, name)
    if isinstance(held, tuple):
        return matches(held, str(value))
    return bool(held == value)


def _reported(file: Rules) -> Rules:
    """Return the rules of a file, its Events without those of anyone."""
    replace = msgspec.structs.replace
    events = [
        replace(rule, reporters=tuple(r for r in rule.reporters if r != "*"))
        for rule in file.events
    ]
    return replace(file, events=events)


def _acting(rule: R, file: Rules) -> R:
    """Return a rule of acts with the actor of its file, if it has none."""
    if isinstance(rule, _Acting) and rule.actor is None:
        return msgspec.structs.replace(rule, actor=file.controller)
    return rule


def _vagueness(patterns: tuple[str, ...], name: str) -> int:
    """Return how vague patterns are for a name; exact ones are least."""
    return min(
        len(name) - len(pattern.replace("*", "")) + ("*" in pattern)
        for pattern in patterns
        if matches((pattern,), name)
    )


@lru_cache(4096)
def _compiled(patterns: tuple[str, ...]) -> re.Pattern[str]:
    escaped = (re.escape(pattern).replace(r"\*", ".*") for pattern in patterns)
    return re.compile("|".join(escaped) if patterns else "(?!)", re.DOTALL)


def matches(patterns: tuple[str, ...], text: str) -> bool:
    """Return whether a text matches any of the patterns."""
    return _compiled(patterns).fullmatch(text) is not None
