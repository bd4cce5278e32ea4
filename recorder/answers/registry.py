"""The questions that a log answers, by name.

What answers a question is imported when it is asked: commands and their
options are shown without that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recorder.answers.arguments import (
    Argument,
    Asking,
    Asks,
    arguments_of,
    read,
    within,
)
from recorder.answers.log_questions import (
    DifferenceQuestion,
    EntryQuestion,
    HistoryQuestion,
    ObjectQuestion,
    OpenedQuestion,
)
from recorder.answers.node_questions import (
    ConditionsQuestion,
    ImpactQuestion,
    IncidentsQuestion,
    NodesQuestion,
    PostmortemQuestion,
    ReplayQuestion,
    StatsQuestion,
    TimelineQuestion,
    WhyQuestion,
    WhyWorkloadQuestion,
    WorkloadQuestion,
)

if TYPE_CHECKING:
    from recorder.answers.clusters import Away
    from recorder.answers.ports import Reading
    from recorder.answers.text.shown import Listing, Text
    from recorder.explain.knowledge import Knowledge
    from recorder.facts.coverage.ports import Log

__all__ = ["QUESTIONS", "Question"]


LIST = ("table", "wide", "json", "yaml", "csv", "name")
"""Forms of a list, the default first."""


@dataclass(frozen=True, slots=True)
class Printed:
    """How commands print an answer."""

    shown: str
    """Returns it as a text or a list: a function of a module of this
    package."""

    forms: tuple[str, ...] = ("table", "json", "yaml")
    """The default first."""

    each: str = ""
    """Returns the answers of several logs as one list, if they can be asked
    at once."""


@dataclass(frozen=True)
class Question:
    """One question: its arguments, what answers it, and how it is printed."""

    name: str
    asks: Asks
    """Makes it of its arguments."""

    ask: str
    """Answers it: a function of a module of this package."""

    judges: bool = False
    """Whether the answer rests on the rules of controllers."""

    printed: Printed | None = None
    """None where no command asks it, or the command prints it by itself."""

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """What it is asked with, in order."""
        return tuple(arguments_of(self.asks))

    def read(
        self, given: Mapping[str, object], asking: Asking, **fixed: object
    ) -> object:
        """Make it from what was given for its arguments, and fixed fields.

        Raises:
            ConfigError: a value cannot be, or they do not fit together.
        """
        return read(self.asks, given, asking, **fixed)

    async def answer(
        self,
        reading: "Reading",
        asked: object,
        knowledge: "Knowledge",
        *,
        now: datetime,
    ) -> object:
        """Answer it.

        Raises:
            RecorderError: it cannot be answered.
        """
        ask = _function(self.ask)
        rules = (knowledge,) if self.judges else ()
        answer: object = await ask(reading, asked, *rules, now=now)
        return answer

    def shown(
        self, answer: object, asked: object, *, verbose: bool
    ) -> "Text | Listing":
        """Return an answer as commands print it."""
        assert self.printed is not None, "a command prints it by itself"
        show = _function(self.printed.shown)
        found: Text | Listing = show(answer, asked, verbose=verbose)
        return found

    def shown_each(
        self,
        answers: "Sequence[tuple[Log, object]]",
        asked: object,
        away: "Sequence[Away]",
    ) -> "Listing":
        """Return the answers of several logs as commands print them."""
        assert self.printed is not None, "a command prints it by itself"
        found: Listing = _function(self.printed.each)(answers, asked, away)
        return found


def _function(place: str) -> Any:  # type: ignore[explicit-any]
    module, _, name = place.partition(".")
    return getattr(import_module(f"recorder.answers.{module}"), name)


QUESTIONS = {
    one.name: one
    for one in (
        Question(
            "why",
            WhyQuestion,
            "why.ask_why",
            judges=True,
            printed=Printed("why.shown"),
        ),
        Question(
            "why_workload",
            WhyWorkloadQuestion,
            "why_workload.ask_why_workload",
            judges=True,
            printed=Printed("why_workload.shown"),
        ),
        Question(
            "impact",
            ImpactQuestion,
            "impact.ask_impact",
            judges=True,
            printed=Printed("impact.shown", LIST),
        ),
        Question(
            "incidents",
            IncidentsQuestion,
            "incidents.ask_incidents",
            judges=True,
            printed=Printed("incidents.shown", LIST, "incidents.shown_each"),
        ),
        Question(
            "who", ObjectQuestion, "who.ask_who", printed=Printed("who.shown")
        ),
        Question("history", HistoryQuestion, "history.ask_history"),
        Question("entries", EntryQuestion, "entries.ask_entries"),
        Question(
            "object",
            ObjectQuestion,
            "show.ask_object",
            printed=Printed("versions.shown_object", ("yaml", "json")),
        ),
        Question(
            "diff",
            DifferenceQuestion,
            "diff.ask_difference",
            printed=Printed("versions.shown_difference"),
        ),
        Question(
            "nodes",
            NodesQuestion,
            "nodes.ask_nodes",
            printed=Printed("nodes.shown_nodes", LIST),
        ),
        Question(
            "stats",
            StatsQuestion,
            "stats.ask_stats",
            judges=True,
            printed=Printed("stats.shown", LIST, "stats.shown_each"),
        ),
        Question("replay", ReplayQuestion, "replay.ask_replay", judges=True),
        Question(
            "postmortem",
            PostmortemQuestion.about,
            "postmortem.ask_postmortem",
            judges=True,
        ),
        Question(
            "audit_coverage",
            within,
            "audit_coverage.ask_audit_coverage",
            printed=Printed("audit_coverage.shown"),
        ),
        Question(
            "coverage",
            within,
            "gaps.ask_gaps",
            printed=Printed("gaps.shown", (*LIST, "ndjson")),
        ),
        Question("entry", OpenedQuestion, "entry.ask_opened"),
        Question(
            "workload",
            WorkloadQuestion,
            "workload.ask_workload",
            judges=True,
        ),
        Question(
            "timeline",
            TimelineQuestion,
            "timeline.ask_timeline",
            judges=True,
        ),
        Question(
            "conditions",
            ConditionsQuestion,
            "series.ask_conditions",
            judges=True,
        ),
    )
}
"""By the name that agents and the API know."""
