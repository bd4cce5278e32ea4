"""What the walk knows of an object or array that it is still inside.

Whether something must be hidden is often known only at the end: the kind of
an object may follow its data, the name of a variable its value. Until then
the spans in question wait here, and move to the enclosing frame where that
one decides: the items of a list, the variables of an environment.
"""

from dataclasses import dataclass, field

from recorder.redact.edits import Edit

__all__ = ["Frame", "Span"]

Span = tuple[int, int]


@dataclass(slots=True, kw_only=True)
class Frame:
    """An open object or array."""

    start: int
    is_object: bool
    guarded: bool = False
    """Whether everything in here belongs to something secret."""

    is_data: bool = False
    """Whether this is the ``data`` or ``stringData`` of an object."""

    member: str | None = None
    """The key whose value comes next; None where a key does."""

    kinds: set[str] = field(default_factory=set)
    """What ``kind`` says: more than one thing in a strange document."""

    is_operation: bool = False
    """Whether there is an ``op``, as in the operations of a JSON patch."""

    targets_env: bool = False
    """Whether ``path`` points to or into an ``env``, as there too."""

    named_secret: bool = False
    """Whether a ``name`` is that of a secret."""

    values: list[Span] = field(default_factory=list)
    """Where each ``value`` lies."""

    payload: list[Span] = field(default_factory=list)
    """To be hidden if this is a Secret: the values of its data."""

    items: list[Span] = field(default_factory=list)
    """To be hidden if this is a list of Secrets: the payload of its items."""

    variables: list[Edit] = field(default_factory=list)
    """To be made if this is a variable, or an array of them, in an ``env``
    or in what a patch writes to one."""
