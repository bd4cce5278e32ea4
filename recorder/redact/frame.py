"""What the walk knows of an object or array that it is still inside.

Whether something must be hidden is often known only at the end: the kind of
an object may follow its data, the name of a variable its value. Until then
the spans in question wait here, and move to the enclosing frame where that
one decides: the items of a list, the variables of an environment.
"""

from dataclasses import dataclass
from typing import TypeVar

from recorder.redact.edits import Edit

__all__ = ["Frame", "Span", "joined"]

Span = tuple[int, int]
_T = TypeVar("_T")


@dataclass(slots=True)
class Frame:
    """An open object or array.

    A document may have millions of them, so lists are made when there is
    something to put in; until then None stands for an empty one.
    """

    start: int
    is_object: bool
    guarded: bool = False
    """Whether everything in here belongs to something secret."""

    is_data: bool = False
    """Whether this is the ``data`` or ``stringData`` of an object."""

    member: str | None = None
    """The key whose value comes next; None where a key does."""

    kinds: list[str] | None = None
    """What ``kind`` says: more than one thing in a strange document."""

    is_operation: bool = False
    """Whether there is an ``op``, as in the operations of a JSON patch."""

    targets_env: bool = False
    """Whether ``path`` points to or into an ``env``, as there too."""

    named_secret: bool = False
    """Whether a ``name`` is that of a secret."""

    values: list[Span] | None = None
    """Where each ``value`` lies."""

    content: list[Span] | None = None
    """Of ``data`` or ``stringData``: where each of its values lies."""

    payload: list[Span] | None = None
    """To be hidden if this is a Secret: the content of its data."""

    items: list[Span] | None = None
    """To be hidden if this is a list of Secrets: the payload of its items."""

    variables: list[Edit] | None = None
    """To be made if this is a variable, or an array of them, in an ``env``
    or in what a patch writes to one."""


def joined(some: list[_T] | None, more: list[_T] | None) -> list[_T] | None:
    """Put one list to the end of another, of which either may be None."""
    if not more:
        return some
    if some is None:
        return list(more)
    some += more
    return some
