"""Who acted, as the public interface shows it."""

from typing import Self

from msgspec import UNSET, UnsetType

from recorder.explain.signals import Actor
from recorder.model.document import Document

__all__ = ["ActorDocument"]


class ActorDocument(Document, frozen=True, kw_only=True):
    """Who acted."""

    kind: str
    name: str | None
    tool: str | UnsetType = UNSET

    @classmethod
    def of(cls, actor: Actor | None) -> Self:
        """Return the document of an actor; one may not be known."""
        if actor is None:
            return cls(kind="unknown", name=None)
        return cls(kind=actor.kind, name=actor.name, tool=actor.tool or UNSET)
