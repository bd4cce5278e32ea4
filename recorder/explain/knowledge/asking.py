"""All rules together: look up what a literal means."""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from typing import TypeAlias, TypeVar

import msgspec

from recorder.explain.knowledge.claiming import member, misfit
from recorder.explain.knowledge.rules import (
    ClaimRule,
    ClaimType,
    ConditionRule,
    EventRule,
    LockRule,
    MetricRule,
    ObjectRule,
    Rules,
    TaintRule,
    TextRule,
    WriterRule,
)
from recorder.facts.topology import Sighting, related
from recorder.model.facts import Claimed
from recorder.model.outcomes import Decision, Fault, Role

__all__ = ["Knowledge", "matches"]

_Acting: TypeAlias = (
    ConditionRule | EventRule | TextRule | TaintRule | ObjectRule | LockRule
)
"""Rules of what an actor does, each with its decision."""

R = TypeVar(
    "R",
    ConditionRule,
    EventRule,
    TextRule,
    TaintRule,
    ObjectRule,
    LockRule,
)
N = TypeVar("N")
V = TypeVar("V", TextRule, TaintRule)

NAMES_MAX = 4096
"""How many names are cached for each table; a fleet has fewer."""


OF_SITE = "rules of the site"
"""What shows a relation of places that a file of rules states."""

_WORD = re.compile(r"[\w.-]+")
"""A word of a command, without the folders of a path."""


class Knowledge:
    """All rules: those of a site first, and more specific ones first.

    The order of the files makes no difference.
    """

    def __init__(
        self, shipped: Iterable[Rules], site: Iterable[Rules] = ()
    ) -> None:
        """Take files of rules.

        Args:
            shipped: the rules of the product.
            site: the rules of a site, which come first.
        """
        own, shipped = tuple(site), tuple(shipped)
        files = (*own, *sorted(shipped, key=repr))
        self._files = shipped, own
        self._clouds = frozenset(file.cloud for file in files)
        self._of_cloud: dict[str, Knowledge] = {}
        self._refusals = [rule for file in files for rule in file.refusals]
        self._commands = [rule for file in files for rule in file.commands]
        self._spot = [item for file in files for item in file.spot.items()]
        self.conditions = _all(files, lambda file: file.conditions)
        self.events = _all(files, lambda file: file.events)
        self.annotations = _all(files, lambda file: file.annotations)
        self.labels = _all(files, lambda file: file.labels)
        self.taints = _all(files, lambda file: file.taints)
        self.objects = _all(files, lambda file: file.objects)
        self.locks = _all(files, lambda file: file.locks)
        self._purposes = _purposes(
            [*self.conditions, *self.events, *self.annotations, *self.labels,
             *self.taints, *self.objects, *self.locks]
        )  # fmt: skip
        self._types = {
            kind.type: kind for file in reversed(files) for kind in file.types
        }
        self.metrics: Mapping[str, MetricRule] = {
            one.name: one for file in reversed(files) for one in file.metrics
        }
        """Metrics that are kept with an incident, by their names."""
        self.writers = tuple(chain(*(file.writers for file in files)))
        self._reported = lru_cache(NAMES_MAX)(self._is_reported)
        self._conditions = _of(
            self.conditions, lambda rule: rule.types, _count(own, "conditions")
        )
        self._events = _of(
            self.events, lambda rule: rule.reasons, _count(own, "events")
        )
        self._annotations = _of(
            self.annotations,
            lambda rule: rule.keys,
            _count(own, "annotations"),
        )
        self._labels = _of(
            self.labels, lambda rule: rule.keys, _count(own, "labels")
        )
        self._taints = _of(
            self.taints, lambda rule: rule.keys, _count(own, "taints")
        )
        self._objects = _of(
            self.objects, lambda rule: rule.kinds, _count(own, "objects")
        )
        self._locks = _of(
            self.locks, lambda rule: rule.keys, _count(own, "locks")
        )
        self._writers = _of(
            self.writers, lambda rule: rule.names, _count(own, "writers")
        )

    def of_cloud(self, provider_id: str | None) -> "Knowledge":
        """Return the rules for a node, without those of other clouds."""
        cloud, named, _ = (provider_id or "").partition("://")
        if not named or cloud not in self._clouds:
            return self  # the cloud is not known
        if cloud not in self._of_cloud:
            fit = [
                [file for file in files if file.cloud in {"", cloud}]
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

    def condition(self, name: str) -> ConditionRule | None:
        """Return the rule of a condition of a Node."""
        return next(iter(self._conditions(name)), None)

    def event(
        self, reporter: str, reason: str, *, about: str, message: str
    ) -> EventRule | None:
        """Return the rule of a Kubernetes Event."""
        return next(
            (
                rule
                for rule in self._events(reason)
                if matches(rule.reporters, reporter)
                and matches(rule.about, about)
                and rule.message in message
            ),
            None,
        )

    def judges(self, reporters: Iterable[str], *, about: str) -> bool:
        """Whether a rule may name an Event of one of these reporters."""
        return any(self._reported(reporter, about) for reporter in reporters)

    def _is_reported(self, reporter: str, about: str) -> bool:
        return any(
            matches(rule.about, about) and matches(rule.reporters, reporter)
            for rule in self.events
        )

    def annotation(self, key: str, value: str) -> TextRule | None:
        """Return the rule of an annotation of a Node."""
        return _of_value(self._annotations(key), value)

    def label(self, key: str, value: str) -> TextRule | None:
        """Return the rule of a label of a Node."""
        return _of_value(self._labels(key), value)

    def taint(self, key: str, value: str) -> TaintRule | None:
        """Return the rule of a taint."""
        return _of_value(self._taints(key), value)

    def made(self, group: str, kind: str) -> ObjectRule | None:
        """Return the rule of an object that is created."""
        return next(
            (
                rule
                for rule in self._about(group, kind)
                if not rule.condition and not rule.deleted
            ),
            None,
        )

    def unmade(self, group: str, kind: str) -> ObjectRule | None:
        """Return the rule of an object that is deleted."""
        return next((r for r in self._about(group, kind) if r.deleted), None)

    def turned(
        self, group: str, kind: str, *, condition: str
    ) -> Sequence[ObjectRule]:
        """Return the rules of a condition of an object."""
        rules = self._about(group, kind)
        return [rule for rule in rules if rule.condition == condition]

    def _about(self, group: str, kind: str) -> Sequence[ObjectRule]:
        return [r for r in self._objects(kind) if matches(r.groups, group)]

    def lock(self, kind: str, key: str) -> LockRule | None:
        """Return the rule of an annotation that names a node."""
        return next(
            (r for r in self._locks(key) if matches(r.kinds, kind)), None
        )

    def purpose(self, actor: str) -> Decision | None:
        """Return the only decision that an actor makes, if there is one."""
        decided = self._purposes.get(actor, frozenset())
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

    @property
    def types(self) -> Container[str]:
        """The types of claims that a file describes."""
        return self._types.keys()

    def claim_type(self, name: str) -> ClaimType | None:
        """Return the type of CloudEvents of a name, that of a site first."""
        return self._types.get(name)

    def misfit(self, name: str, document: bytes) -> str | None:
        """Return what is wrong with the data of an event of a type.

        None if nothing is, or there is no such type.
        """
        kind = self._types.get(name)
        if kind is None:
            return None
        return misfit(kind, _data_of(document))

    def claimed(self, claim: Claimed) -> tuple[ClaimType, ClaimRule] | None:
        """Return the type of a claim, and the rule that fits it, if any.

        A claim that is not as its type says has none. A stage that a machine
        reached fits the rule of all stages.
        """
        kind = self._types.get(claim.type)
        if kind is None or not matches(
            kind.about, claim.subject.partition("/")[0]
        ):
            return None
        rules = [_STAGE] if kind.stage else kind.claims
        rule = next((r for r in rules if _fits(r, claim)), None)
        if rule is None or (not claim.shortened and misfit(kind, claim.data)):
            return None
        return kind, rule

    def writer(self, name: str) -> WriterRule | None:
        """Return the rule of a field manager or a user."""
        return next(iter(self._writers(name)), None)


class _Data(msgspec.Struct):
    data: object = None


def _data_of(document: bytes) -> object:
    """Return the data of an event; None if it has none that is JSON."""
    try:
        return msgspec.json.decode(document, type=_Data).data
    except (ValueError, RecursionError):
        return None


_STAGE = ClaimRule(role=Role.RECOVERY)


def _fits(rule: ClaimRule, claim: Claimed) -> bool:
    """Return whether the data of a claim has the values of a rule."""
    return all(
        any(matches(values, value) for value in member(claim.data, path))
        for path, values in rule.when.items()
    )


def _purposes(
    rules: Iterable[_Acting],
) -> Mapping[str, frozenset[Decision]]:
    found: dict[str, frozenset[Decision]] = {}
    for rule in rules:
        if rule.actor is not None and rule.decision is not None:
            had = found.get(rule.actor.name, frozenset())
            found[rule.actor.name] = had | {rule.decision}
    return found


def _of(
    rules: Sequence[N], patterns: Callable[[N], tuple[str, ...]], own: int
) -> Callable[[str], Sequence[N]]:
    """Return a cached function that finds the rules of a name, in order."""

    @lru_cache(NAMES_MAX)
    def found(name: str) -> Sequence[N]:
        fitting = [
            (place >= own, _vagueness(patterns(rule), name), place, rule)
            for place, rule in enumerate(rules)
            if matches(patterns(rule), name)
        ]
        fitting.sort(key=lambda one: one[:3])
        return tuple(rule for *_, rule in fitting)

    return found


def _count(files: Iterable[Rules], member: str) -> int:
    """Return how many rules the files have in a member."""
    return sum(len(getattr(file, member)) for file in files)


def _vagueness(patterns: tuple[str, ...], name: str) -> int:
    """Return how vague patterns are for a name; exact ones are least."""
    return min(
        len(name) - len(pattern.replace("*", "")) + ("*" in pattern)
        for pattern in patterns
        if matches((pattern,), name)
    )


def _of_value(rules: Iterable[V], value: str) -> V | None:
    return next((r for r in rules if matches(r.values, value)), None)


def _all(
    files: Sequence[Rules], members: Callable[[Rules], Sequence[R]]
) -> tuple[R, ...]:
    """Return the rules of all files, each with its actor."""
    return tuple(
        msgspec.structs.replace(rule, actor=file.controller)
        if rule.actor is None and file.controller is not None
        else rule
        for file in files
        for rule in members(file)
    )


@lru_cache(4096)
def _compiled(
    patterns: tuple[str, ...],
) -> tuple[frozenset[str], re.Pattern[str] | None]:
    """Return the plain patterns, and one expression for all others."""
    plain = frozenset(p for p in patterns if "*" not in p)
    others = [
        ".*".join(map(re.escape, p.split("*")))
        for p in patterns
        if p not in plain
    ]
    whole = re.compile("|".join(others), re.DOTALL) if others else None
    return plain, whole


def matches(patterns: tuple[str, ...], text: str) -> bool:
    """Return whether a text matches any of the patterns."""
    plain, whole = _compiled(patterns)
    return text in plain or (
        whole is not None and whole.fullmatch(text) is not None
    )
