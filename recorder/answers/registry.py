"""The questions that a log answers, by name.

A module is imported when its question is asked: commands are listed without
that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from importlib import import_module
from operator import attrgetter
from types import ModuleType
from typing import TYPE_CHECKING

from recorder.answers.arguments import (
    Argument,
    Asking,
    Asks,
    arguments_of,
    read,
)

if TYPE_CHECKING:
    from recorder.answers.ports import Reading
    from recorder.knowledge import Knowledge

__all__ = ["QUESTIONS", "Question"]


@dataclass(frozen=True)
class Question:
    """One question: what it is asked with, and what answers it."""

    name: str
    module: str
    """In this package."""

    asks: str
    """Of the module, what makes it from its arguments."""

    ask: str
    """Of the module, what answers it."""

    judges: bool = False
    """Whether the answer rests on the rules of controllers."""

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """What it is asked with, in order."""
        return tuple(arguments_of(self._asks))

    def read(
        self, given: Mapping[str, object], asking: Asking, **fixed: object
    ) -> object:
        """Make it from what was given for its arguments, and fixed fields.

        Raises:
            ConfigError: a value cannot be, or they do not fit together.
        """
        return read(self._asks, given, asking, **fixed)

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
        ask = getattr(self._module, self.ask)
        rules = (knowledge,) if self.judges else ()
        answer: object = await ask(reading, asked, *rules, now=now)
        return answer

    @cached_property
    def _asks(self) -> Asks | type:
        asks: Asks = attrgetter(self.asks)(self._module)
        return asks

    @property
    def _module(self) -> ModuleType:
        return import_module(f"recorder.answers.{self.module}")


QUESTIONS = {
    one.name: one
    for one in (
        Question("why", "why", "WhyQuestion", "ask_why", judges=True),
        Question(
            "why_workload",
            "why_workload",
            "WhyWorkloadQuestion",
            "ask_why_workload",
            judges=True,
        ),
        Question(
            "impact", "impact", "ImpactQuestion", "ask_impact", judges=True
        ),
        Question(
            "incidents",
            "incidents",
            "IncidentsQuestion",
            "ask_incidents",
            judges=True,
        ),
        Question("who", "who", "ObjectQuestion", "ask_who"),
        Question("history", "history", "HistoryQuestion", "ask_history"),
        Question("entries", "entries", "EntryQuestion", "ask_entries"),
        Question("object", "show", "ObjectQuestion", "ask_object"),
        Question("diff", "diff", "DifferenceQuestion", "ask_difference"),
        Question("nodes", "nodes", "NodesQuestion", "ask_nodes"),
        Question("stats", "stats", "StatsQuestion", "ask_stats", judges=True),
        Question(
            "replay", "replay", "ReplayQuestion", "ask_replay", judges=True
        ),
        Question(
            "postmortem",
            "postmortem",
            "PostmortemQuestion.about",
            "ask_postmortem",
            judges=True,
        ),
        Question(
            "audit_coverage", "audit_coverage", "within", "ask_audit_coverage"
        ),
        Question("coverage", "gaps", "within", "ask_gaps"),
    )
}
"""By the name that agents and the API know."""
