"""Questions about workloads of a time.

Without their answers, as `recorder/answers/node_questions.py` explains.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from recorder.answers.arguments import (
    LIMIT,
    WINDOW,
    Argument,
    AtOrWithin,
    Option,
    place_argument,
    rack_argument,
)
from recorder.answers.job_order import JobOrder
from recorder.answers.naming import node_name
from recorder.model.errors import ConfigError
from recorder.model.outcomes import EndedBy, WorkloadState
from recorder.model.place import Place
from recorder.model.window import Window

JOBS_AT = Argument(
    name="at",
    takes=datetime,
    option=Option(
        "As of this time: 2026-11-21T03:18:00Z, or an age: 2h.", ("--at",)
    ),
    graphql="As of this time, in place of a window.",
    agents="As of this time, in place of a window.",
)


ANY_ENDING = "any"
"""Selects all endings but completions."""


def _ended_by(text: str) -> str:
    words = (ANY_ENDING, *(word.value for word in EndedBy))
    if text not in words:
        msg = f'cannot use "{text}": nothing that ends workloads has this name'
        raise ConfigError(
            msg,
            advice=f"use one of {', '.join(words)}",
            code="question.ended_by",
        )
    return text


def _judged_by(what: str, flag: str) -> Argument:
    return Argument(
        many=True,
        null=True,
        option=Option(f"Only workloads {what}. Repeatable.", (flag,)),
        graphql=f"Only workloads {what}, or another of the list; null selects"
        " those for which none is known.",
        agents=f"Only workloads {what}.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFilter:
    """Which workloads to return; None and nothing are no filter."""

    namespaces: Annotated[
        Collection[str] | None,
        Argument(
            many=True,
            option=Option(
                "Only workloads of this namespace. Repeatable.",
                ("-n", "--namespace"),
            ),
            graphql="Only workloads of these namespaces.",
            agents="Only workloads of these namespaces.",
        ),
    ] = None
    kinds: Annotated[
        Collection[str] | None,
        Argument(
            many=True,
            option=Option(
                "Only this kind, such as job, jobset or"
                " job.batch.volcano.sh. Repeatable.",
                ("--kind",),
            ),
            graphql="Only these kinds, such as `jobset` or"
            " `job.batch.volcano.sh`.",
            agents="Only these kinds, such as jobset.",
        ),
    ] = None
    states: Annotated[
        Collection[str] | None,
        Argument(
            takes=WorkloadState,
            many=True,
            option=Option(
                "Only in this state, such as running. Repeatable.",
                ("--state",),
            ),
            graphql="Only in these states.",
            agents="Only in these states.",
        ),
    ] = None
    ended_by: Annotated[
        Collection[str] | None,
        Argument(
            many=True,
            parse=_ended_by,
            option=Option(
                "Only workloads that this ended, such as node-failure; any"
                " stands for all but completion. Repeatable.",
                ("--ended-by",),
            ),
            graphql="Only workloads that one of these ended, such as"
            " `node-failure`; `any` stands for all but `completion`.",
            agents="Only workloads that one of these ended, such as"
            " node-failure; any stands for all but completion.",
        ),
    ] = None
    node: Annotated[
        str | None,
        Argument(
            parse=node_name,
            option=Option(
                "Only workloads that had Pods on this node.",
                ("--node",),
                names="nodes",
            ),
            graphql="Only workloads that had Pods on this node.",
            agents="Only workloads that had Pods on this node.",
        ),
    ] = None
    rack: Annotated[
        str | None,
        rack_argument(
            "Only workloads that had Pods on a node of this rack, or behind"
            " this switch, at the time.",
            "Only workloads that had Pods in this rack.",
        ),
    ] = None
    place: Annotated[
        Place | None,
        place_argument(
            "Only workloads that had Pods on a node behind this place at the"
            " time, such as switch/leaf-7.",
            "Only workloads that had Pods behind this KIND/NAME.",
        ),
    ] = None

    queues: Annotated[
        Collection[str | None] | None,
        _judged_by(
            "of this queue of Kueue or Volcano, or partition of Slurm",
            "--queue",
        ),
    ] = None
    priorities: Annotated[
        Collection[str | None] | None,
        _judged_by("of this PriorityClass, or QOS of Slurm", "--priority"),
    ] = None
    users: Annotated[
        Collection[str | None] | None,
        _judged_by("that this user created", "--user"),
    ] = None
    """In these three, None selects workloads that have none."""

    text: Annotated[
        str | None,
        Argument(
            option=Option(
                "Only workloads whose kind, namespace and name contain each"
                " of these words.",
                ("--text",),
            ),
            graphql="Only workloads whose kind, namespace and name contain"
            " each of these words.",
            agents="Only workloads whose kind, namespace and name contain"
            " each of these words.",
        ),
    ] = None

    @property
    def words(self) -> Sequence[str]:
        """The words to find in names, in lower case."""
        return (self.text or "").lower().split()

    @property
    def judges(self) -> bool:
        """Whether it selects by what is known of judged workloads alone."""
        return bool(
            self.states
            or self.ended_by
            or self.queues
            or self.priorities
            or self.users
        )

    def is_wanted(self, ended_by: EndedBy) -> bool:
        """Return whether the filter selects endings of a kind."""
        words = self.ended_by
        return (
            not words
            or ended_by in words
            or (ANY_ENDING in words and ended_by is not EndedBy.COMPLETION)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsQuestion(AtOrWithin):
    """Which workloads, and when."""

    wanted: JobFilter = JobFilter()
    at: Annotated[datetime | None, JOBS_AT] = None
    window: Annotated[Window, WINDOW]
    limit: Annotated[int | None, LIMIT] = None
    """How many of the newest, or of the last by `order`; None for all."""

    order: Annotated[
        JobOrder | None,
        Argument(
            name="order_by",
            takes=JobOrder,
            option=Option(
                "Show those with the most of this in place of the newest, the"
                " most last: gpu-hours-lost, gpus, last-ending, began or"
                " name.",
                ("--top",),
            ),
            graphql="What to sort by; the most is last. Without it, workloads"
            " by when they began, and disruptions by when they happened. Any"
            " number is sorted by `BEGAN` or `NAME`, at most 500 by what is"
            " judged.",
            agents="What to sort by; the most is last.",
        ),
    ] = None
