"""The registry of questions, by name.

The code that answers a question is imported when it is asked, so that the help
of commands does not need it.
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
from recorder.answers.job_questions import JobsQuestion
from recorder.answers.log_questions import (
    DifferenceQuestion,
    EntryQuestion,
    FieldsQuestion,
    HistoryQuestion,
    ObjectQuestion,
    ObjectsQuestion,
    OpenedQuestion,
    SearchQuestion,
)
from recorder.answers.node_questions import (
    ConditionsQuestion,
    ImpactQuestion,
    IncidentsQuestion,
    MetricsQuestion,
    NodesQuestion,
    PostmortemQuestion,
    ReplayQuestion,
    StatsQuestion,
    TimelineQuestion,
    WhyQuestion,
    WhyWorkloadQuestion,
    WorkloadQuestion,
)
from recorder.answers.place_questions import PlaceQuestion, PlacesQuestion

if TYPE_CHECKING:
    from recorder.answers.clusters import Away
    from recorder.answers.ports import Reading
    from recorder.answers.text.shown import Listing, Text
    from recorder.explain.knowledge import Knowledge
    from recorder.facts.coverage.ports import Log

LIST = ("table", "wide", "json", "yaml", "csv", "name")
"""Output formats of a list, the default first."""


@dataclass(frozen=True, slots=True)
class Printed:
    """How commands print an answer."""

    shown: str
    """The function that returns it as text or list: ``module.name``."""

    forms: tuple[str, ...] = ("table", "json", "yaml")
    """Output formats, the default first."""

    each: str = ""
    """The function that returns answers of several logs as one; empty if the
    command asks only one."""


@dataclass(frozen=True)
class Question:
    """One question: its arguments, its function, and how it is printed."""

    name: str
    asks: Asks
    """The class, or the function that returns it, from its arguments."""

    ask: str
    """The function that answers it: ``module.name`` in this package."""

    judges: bool = False
    """Whether the answer needs the rules of controllers."""

    printed: Printed | None = None
    """None if no command asks it, or its command prints it in its own way."""

    @cached_property
    def arguments(self) -> tuple[Argument, ...]:
        """Its arguments, in order."""
        return tuple(arguments_of(self.asks))

    def read(
        self, given: Mapping[str, object], asking: Asking, **fixed: object
    ) -> object:
        """Return the question made from values by argument, and fixed fields.

        Raises:
            ConfigError: a value is not valid, or values exclude each other.
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
        """Return the answer to a question.

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
        assert self.printed is not None, "its command prints it in its own way"
        show = _function(self.printed.shown)
        found: Text | Listing = show(answer, asked, verbose=verbose)
        return found

    def shown_each(
        self,
        answers: "Sequence[tuple[Log, object]]",
        asked: object,
        away: "Sequence[Away]",
        *,
        verbose: bool,
    ) -> "Text | Listing":
        """Return the answers of several logs as commands print them."""
        assert self.printed is not None, "its command prints it in its own way"
        found: Text | Listing = _function(self.printed.each)(
            answers, asked, away, verbose=verbose
        )
        return found


def _function(place: str) -> Any:  # type: ignore[explicit-any]
    module, _, name = place.partition(".")
    return getattr(import_module(f"recorder.answers.{module}"), name)


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
        Question(
            "why_named",
            WhyWorkloadQuestion,
            "why_named.ask_why_named",
            judges=True,
            printed=Printed("why_named.shown", each="why_named.shown_each"),
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
            "jobs",
            JobsQuestion,
            "jobs.ask_jobs",
            judges=True,
            printed=Printed("job_table.shown", LIST, "job_table.shown_each"),
        ),
        Question(
            "who", FieldsQuestion, "who.ask_who", printed=Printed("who.shown")
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
            judges=True,
            printed=Printed("nodes.shown_nodes", LIST),
        ),
        Question(
            "places",
            PlacesQuestion,
            "topology.ask_places",
            judges=True,
            printed=Printed("topology.shown_places", LIST),
        ),
        Question("place", PlaceQuestion, "topology.ask_place", judges=True),
        Question(
            "objects",
            ObjectsQuestion,
            "objects.ask_objects",
            printed=Printed("objects.shown", LIST),
        ),
        Question(
            "search",
            SearchQuestion,
            "search.ask_search",
            printed=Printed("search.shown", LIST, "search.shown_each"),
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
        Question(
            "metrics",
            MetricsQuestion,
            "metrics.ask_metrics",
            judges=True,
        ),
    )
}
"""Questions by the name that agents and the API use."""
