"""The questions that a log answers, by name.

What answers a question is imported when it is asked: commands and their
options are shown without that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING

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
    from recorder.answers.ports import Reading
    from recorder.knowledge import Knowledge

__all__ = ["QUESTIONS", "Question"]


@dataclass(frozen=True)
class Question:
    """One question: what it is asked with, and what answers it."""

    name: str
    asks: Asks
    """Makes it of its arguments."""

    ask: str
    """Answers it: a function of a module of this package."""

    judges: bool = False
    """Whether the answer rests on the rules of controllers."""

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
        module, _, function = self.ask.partition(".")
        ask = getattr(import_module(f"recorder.answers.{module}"), function)
        rules = (knowledge,) if self.judges else ()
        answer: object = await ask(reading, asked, *rules, now=now)
        return answer


QUESTIONS = {
    one.name: one
    for one in (
        Question("why", WhyQuestion, "why.ask_why", judges=True),
        Question(
            "why_workload",
            WhyWorkloadQuestion,
            "why_workload.ask_why_workload",
            judges=True,
        ),
        Question("impact", ImpactQuestion, "impact.ask_impact", judges=True),
        Question(
            "incidents",
            IncidentsQuestion,
            "incidents.ask_incidents",
            judges=True,
        ),
        Question("who", ObjectQuestion, "who.ask_who"),
        Question("history", HistoryQuestion, "history.ask_history"),
        Question("entries", EntryQuestion, "entries.ask_entries"),
        Question("object", ObjectQuestion, "show.ask_object"),
        Question("diff", DifferenceQuestion, "diff.ask_difference"),
        Question("nodes", NodesQuestion, "nodes.ask_nodes"),
        Question("stats", StatsQuestion, "stats.ask_stats", judges=True),
        Question("replay", ReplayQuestion, "replay.ask_replay", judges=True),
        Question(
            "postmortem",
            PostmortemQuestion.about,
            "postmortem.ask_postmortem",
            judges=True,
        ),
        Question(
            "audit_coverage", within, "audit_coverage.ask_audit_coverage"
        ),
        Question("coverage", within, "gaps.ask_gaps"),
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
