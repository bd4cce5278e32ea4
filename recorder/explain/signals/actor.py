"""Who acts: field managers, reporters and users as people name them.

A field manager names a program, never a person. For a tool such as kubectl,
only audit shows who used it.
"""

import re
from typing import Final, Self

from msgspec import UNSET, UnsetType, field

from recorder.explain.knowledge import ActorName, Knowledge
from recorder.model.document import Document
from recorder.model.outcomes import ActorKind

SERVICE_ACCOUNT = "system:serviceaccount:"
PROGRAMS = frozenset(
    {ActorKind.CONTROLLER, ActorKind.KUBELET, ActorKind.CLOUD}
)

_GENERIC = re.compile(r"[^a-z0-9]|controller|manager|operator")
"""Parts in which spellings of one author differ: manager, user, reporter."""


class Actor(Document, frozen=True, kw_only=True):
    """Who acted."""

    kind: ActorKind

    name: str | None
    """Null if unknown."""

    tool: str | UnsetType = UNSET
    """The tool used, if the actor is unknown."""

    known: bool = field(default=False, name="_known")
    """Whether a rule names it: it acts on behalf of others."""

    library: bool = field(default=False, name="_library")
    """Whether the tool is a library, used by scripts and by programs."""

    @classmethod
    def named(cls, name: ActorName | None) -> Self | None:
        """Return the actor that a rule names."""
        if name is None or not name.name:
            return None
        return cls(kind=name.kind, name=name.name, known=True)

    @property
    def is_program(self) -> bool:
        """Whether it cannot be a person."""
        return self.kind in PROGRAMS

    @property
    def key(self) -> str:
        """The name for comparisons; empty if there is none."""
        name = (self.name or "").lower()
        return _GENERIC.sub("", name) or name


UNKNOWN: Final = Actor(kind=ActorKind.UNKNOWN, name=None)
"""The actor that no record names."""


def is_same(one: Actor | None, other: Actor | None) -> bool:
    """Whether two spellings name one author."""
    return (
        one is not None
        and other is not None
        and bool(one.key)
        and one.key == other.key
    )


def actor_of(
    name: str | None,
    knowledge: Knowledge,
    *,
    audited: bool = False,
    client: str | None = None,
) -> Actor | None:
    """Return the actor of a field manager, or of a user in audit.

    A user whose client has the name of the user is a program.
    """
    if not name:
        return None
    rule = knowledge.writers.first(name)
    known = Actor.named(rule.actor) if rule is not None else None
    if known is not None:
        return known
    if rule is not None and not audited:
        kind = ActorKind.UNKNOWN if rule.actor is None else rule.actor.kind
        return Actor(kind=kind, name=None, tool=name, library=rule.library)
    program = (client or "").partition("/")[0]
    return _by_name(name, by_person=audited and program != name)


def _by_name(name: str, *, by_person: bool) -> Actor:
    if name.startswith(SERVICE_ACCOUNT):
        account = name.rpartition(":")[2]
        return Actor(kind=ActorKind.CONTROLLER, name=account)
    if name.startswith("system:node:"):
        return Actor(kind=ActorKind.KUBELET, name="kubelet")
    if name.startswith("system:"):
        user = name.removeprefix("system:")
        return Actor(kind=ActorKind.CONTROLLER, name=user)
    kind = ActorKind.USER if by_person else ActorKind.CONTROLLER
    return Actor(kind=kind, name=name)
