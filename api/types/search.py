"""What a search finds."""

import strawberry

from api.describing import described
from api.types.coverage import Coverage
from api.types.words import SearchKind
from recorder.model.reference import ObjectIdentity

__all__ = ["SearchAnswer", "SearchHit"]


@described
class SearchHit:
    """One thing that a search found."""

    kind: SearchKind

    title: str
    """Display name: `gpu-002`, `pod/train/llm-0`, `1/48213`."""

    node: str | None
    """The node, or the one that an entry concerns."""

    object: ObjectIdentity | None

    entry: strawberry.ID | None


@described
class SearchAnswer:
    """What a search found, nodes first."""

    hits: list[SearchHit]

    more: bool
    """Whether there are more than requested."""

    coverage: Coverage
    """Of the whole log."""
