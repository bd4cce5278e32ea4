"""All rules together: look up what a literal means."""

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
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

_Acting: TypeAlias = Act | ConditionRule | LockRule
"""Rules of what an actor does, each with its decision."""

R = TypeVar("R")

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
        """Take the files of the product, and those of a site."""
        own, shipped = tuple(site), tuple(shipped)
        files = (*own, *sorted(shipped, key=repr))
        self._files = shipped, own
        self._clouds = frozenset(file.cloud for file in files)
        self._of_cloud: dict[str, Knowledge] = {}
        self._refusals = [rule for file in files for rule in file.refusals]
        self._commands = [rule for file in files for rule in file.commands]
        self._spot = [item for file in files for item in file.spot.items()]
        self._types = {
            kind.type: kind for file in reversed(files) for kind in file.types
        }
        self.metrics: Mapping[str, MetricRule] = {
            one.name: one for file in reversed(files) for one in file.metrics
        }
        """Metrics that are kept with an incident, by their names."""

        first = len(own)
        self._conditions = _Table[ConditionRule](
            files, first, "conditions", "types"
        )
        self._events = _Table[EventRule](files, first, "events", "reasons")
        self._annotations = _Table[TextRule](
            files, first, "annotations", "keys"
        )
        self._labels = _Table[TextRule](files, first, "labels", "keys")
        self._taints = _Table[TextRule](files, first, "taints", "keys")
        self._objects = _Table[ObjectRule](files, first, "objects", "kinds")
        self._locks = _Table[LockRule](files, first, "locks", "keys")
        self._writers = _Table[WriterRule](files, first, "writers", "names")
        self.locks = self._locks.rules
        self._purposes = _purposes(
            [*self._conditions.rules, *self._events.rules,
             *self._annotations.rules, *self._labels.rules,
             *self._taints.rules, *self._objects.rules, *self.locks]
        )  # fmt: skip
        self._reported = lru_cache(NAMES_MAX)(self._is_reported)

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
        return self._conditions.first(name)

    def event(
        self, reporter: str, reason: str, *, about: str, message: str
    ) -> EventRule | None:
        """Return the rule of a Kubernetes Event."""
        return self._events.first(
            reason,
            lambda rule: (
                matches(rule.reporters, reporter)
                and matches(rule.about, about)
                and rule.message in message
            ),
        )

    def judges(self, reporters: Iterable[str], *, about: str) -> bool:
        """Whether a rule may name an Event of one of these reporters."""
        return any(self._reported(reporter, about) for reporter in reporters)

    def _is_reported(self, reporter: str, about: str) -> bool:
        return any(
            matches(rule.about, about) and matches(rule.reporters, reporter)
            for rule in self._events.rules
        )

    def annotation(self, key: str, value: str) -> TextRule | None:
        """Return the rule of an annotation of a Node."""
        return self._annotations.first(key, lambda r: matches(r.values, value))

    def label(self, key: str, value: str) -> TextRule | None:
        """Return the rule of a label of a Node."""
        return self._labels.first(key, lambda r: matches(r.values, value))

    def taint(self, key: str, value: str) -> TextRule | None:
        """Return the rule of a taint."""
        return self._taints.first(key, lambda r: matches(r.values, value))

    def made(self, group: str, kind: str) -> ObjectRule | None:
        """Return the rule of an object that is created."""
        rules = self._about(group, kind)
        made = (r for r in rules if not (r.condition or r.deleted))
        return next(made, None)

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
        return [r for r in self._objects.of(kind) if matches(r.groups, group)]

    def lock(self, kind: str, key: str) -> LockRule | None:
        """Return the rule of an annotation that names a node."""
        return self._locks.first(key, lambda r: matches(r.kinds, kind))

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
        return self._writers.first(name)


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
    """Return the decisions that each actor makes, by its name."""
    found: dict[str, frozenset[Decision]] = {}
    for rule in rules:
        if rule.actor is not None and rule.decision is not None:
            had = found.get(rule.actor.name, frozenset())
            found[rule.actor.name] = had | {rule.decision}
    return found


class _Table(Generic[R]):
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
        self.of = lru_cache(NAMES_MAX)(self._of)

    def _of(self, name: str) -> Sequence[R]:
        """Return the rules of a name, in order."""
        fitting = [
            (place >= self._own, _vagueness(patterns, name), place, rule)
            for place, rule in enumerate(self.rules)
            if matches(patterns := getattr(rule, self._names), name)
        ]
        fitting.sort(key=lambda one: one[:3])
        return tuple(rule for *_, rule in fitting)

    def first(
        self, name: str, fits: Callable[[R], bool] | None = None
    ) -> R | None:
        """Return the first rule of a name that fits."""
        return next((r for r in self.of(name) if not fits or fits(r)), None)


def _acting(rule: R, file: Rules) -> R:
    """Return a rule of acts with the actor of its file, if it has none."""
    if (
        isinstance(rule, _Acting)
        and rule.actor is None
        and file.controller is not None
    ):
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
