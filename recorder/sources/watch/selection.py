"""Which of the served resources are recorded. Pure.

Patterns are ``group/resource``; either part may be ``*``, and ``*`` alone is
everything. The core group is written ``core``, or omitted: ``pods``. Excludes
take precedence over includes. Secrets and ConfigMaps are recorded only when an
include names them, and Events of ``events.k8s.io`` never: they are the same
objects as the Events of the core group.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from recorder.model.errors import ConfigError
from recorder.model.reference import Resource
from recorder.sources.watch.catalog import (
    BUILT_IN,
    EVERY,
    NAMESPACE_ONLY,
    NEVER,
)
from recorder.sources.watch.target import Served, Target

_EVENTS_AGAIN = ("events.k8s.io", "events")


@dataclass(frozen=True, slots=True)
class Pattern:
    """One ``group/resource`` of the configuration."""

    group: str
    plural: str

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the written form.

        Raises:
            ConfigError: it is not a pattern.
        """
        if text == EVERY:
            return cls(EVERY, EVERY)
        group, stroke, plural = text.partition("/")
        if not stroke:
            group, plural = "core", text
        if not (group and plural) or "/" in plural:
            msg = (
                f'"{text}" names no resource: write "group/resource", for'
                ' example "batch/jobs", "core/pods", "ray.io/*" or "*"'
            )
            raise ConfigError(msg)
        return cls("" if group == "core" else group, plural)

    def matches(self, served: Served) -> bool:
        """Return whether the pattern covers a resource."""
        return self.group in {EVERY, served.group} and self.plural in {
            EVERY,
            served.plural,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The built-in list with what the configuration adds and removes."""

    include: Sequence[Pattern] = ()
    exclude: Sequence[Pattern] = ()

    def choose(
        self, served: Iterable[Served], prefer: Iterable[Resource] = ()
    ) -> Mapping[Resource, Target]:
        """Choose what is recorded, in the order of the built-in list.

        ``prefer`` are versions in use, which are kept while they are served: a
        new preferred version is no reason to list again.
        """
        in_use = {(r.group, r.plural): r.version for r in prefer}
        chosen = sorted(filter(self.chooses, served), key=_rank)
        targets = [_target(item, in_use) for item in chosen]
        return {target.resource: target for target in targets}

    def chooses(self, served: Served) -> bool:
        """Return whether a resource is recorded."""
        key = (served.group, served.plural)
        if key == _EVENTS_AGAIN:
            return False
        if any(pattern.matches(served) for pattern in self.exclude):
            return False
        if key in NEVER:
            return Pattern(*key) in self.include
        listed = BUILT_IN.get(served.group, ())
        return (
            EVERY in listed
            or served.plural in listed
            or any(pattern.matches(served) for pattern in self.include)
        )


def _rank(served: Served) -> tuple[int, int, str, str]:
    groups = list(BUILT_IN)
    if served.group not in groups:
        return len(groups), 0, served.group, served.plural
    listed = BUILT_IN[served.group]
    place = listed.index(served.plural) if served.plural in listed else 99
    return groups.index(served.group), place, served.group, served.plural


def _target(served: Served, in_use: Mapping[tuple[str, str], str]) -> Target:
    key = (served.group, served.plural)
    version = in_use.get(key, "")
    if version not in served.versions:
        version = served.versions[0]
    return Target(
        resource=Resource(served.group, version, served.plural),
        kind=served.kind,
        namespaced=served.namespaced,
        namespace=NAMESPACE_ONLY.get(key),
    )
