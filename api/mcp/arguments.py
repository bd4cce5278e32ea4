"""The arguments of each tool, validated before the question is asked.

The schemas that agents see are made of the arguments of the question, with
their descriptions for agents.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from recorder.answers.arguments import Argument, Newest
from recorder.answers.naming import Reference
from recorder.answers.registry import QUESTIONS

TIMES = ("since", "until", "at")
"""Arguments that come first if there is a window."""

LIMIT = 50

Name = Annotated[str, Meta(min_length=1, max_length=400)]
TYPES: dict[type, Any] = {
    datetime: Annotated[str, Meta(min_length=1, max_length=40)],
    str: Name,
    Newest: Annotated[int, Meta(ge=1, le=200)],
    Reference: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=400,
            description="As kubectl writes it: pod/train/llm-0, node/n1.",
        ),
    ],
}
"""The types that agents see, where they are not that of the argument."""


class OfNothing(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """The arguments of a tool; an unknown one is an error."""


class OfClusters(OfNothing, frozen=True):
    """None."""


class OfLog(OfNothing, frozen=True, kw_only=True):
    """Which log is asked."""

    cluster: Annotated[
        Name | None,
        Meta(description="Name or UID, where several are recorded."),
    ] = None
    log: Annotated[
        Annotated[int, Meta(ge=1, lt=1 << 31)]
        | Annotated[str, Meta(min_length=1, max_length=400)]
        | None,
        Meta(
            description="Exactly this log, by its number, or as"
            " CLUSTER:NUMBER where it is listed so."
        ),
    ] = None


def tool_arguments(
    question: str, name: str, description: str, last: Collection[str] = ()
) -> type[OfLog]:
    """Make the arguments of a tool from those of a question."""
    arguments = QUESTIONS[question].arguments
    offered = [one for one in arguments if one.agents is not None]
    first = TIMES if any(one.name == "since" for one in offered) else ()
    order = [*first, *last]
    offered.sort(
        key=lambda one: (
            one.name in last,
            order.index(one.name) if one.name in order else len(order),
        )
    )
    made: Any = msgspec.defstruct(
        name,
        [(one.name, *_field(one)) for one in offered],
        bases=(OfLog,),
        namespace={"__doc__": description},
        module=__name__,
        frozen=True,
        kw_only=True,
    )
    taken: type[OfLog] = made
    return taken


def _field(one: Argument) -> tuple[Any, ...]:
    """Return the type of an argument, and its default if it has one."""
    kind: Any = TYPES.get(one.takes, one.takes)
    if one.many:
        several = Annotated[list[kind], Meta(max_length=one.most)]
        return _worded(several, one), []
    if one.required:
        return (_worded(kind, one),)
    if one.takes is Newest:
        return _worded(kind, one), LIMIT
    if one.takes is bool:
        return _worded(kind, one), False
    return _worded(kind | None, one), None


def _worded(kind: Any, one: Argument) -> Any:
    return (
        Annotated[kind, Meta(description=one.agents)] if one.agents else kind
    )
