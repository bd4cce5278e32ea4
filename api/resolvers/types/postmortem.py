"""The report of an incident."""

from datetime import datetime

import strawberry

from api.resolvers.types.publishing import publish
from recorder.answers.html import html as as_html
from recorder.answers.markdown import markdown as as_markdown
from recorder.answers.phases import Phase
from recorder.answers.postmortem import Postmortem
from recorder.explain.ending import Ending
from recorder.explain.verdict import Verdict

__all__ = ["Postmortem"]


class _PostmortemFields:
    endings: list[Ending]
    verdicts: list[Verdict]
    position: strawberry.ID
    """The entry up to which the log was read: the same question up to there
    returns the same bytes."""

    @strawberry.field
    @staticmethod
    def node(report: strawberry.Parent[Postmortem]) -> str:
        """The names of its nodes, with commas between them."""
        return ", ".join(report.question.nodes)

    @strawberry.field
    @staticmethod
    def nodes(report: strawberry.Parent[Postmortem]) -> list[str]:
        return [*report.question.nodes]

    @strawberry.field
    @staticmethod
    def began_at(report: strawberry.Parent[Postmortem]) -> datetime | None:
        """Null if no incident is recorded."""
        return report.began_at

    @strawberry.field
    @staticmethod
    def markdown(report: strawberry.Parent[Postmortem]) -> str:
        """Markdown, as `recorder postmortem` writes it."""
        return as_markdown(report)

    @strawberry.field
    @staticmethod
    def html(report: strawberry.Parent[Postmortem]) -> str:
        """A self-contained HTML file without scripts."""
        return as_html(report)


publish(Phase)
publish(
    Postmortem,
    adds=_PostmortemFields,
    without=("question", "timeline", "verdict_gaps", "log"),
    order=(
        "node",
        "nodes",
        "summary",
        "phases",
        "factors",
        "action_items",
        "verdicts",
        "impact",
        "began_at",
        "position",
        "markdown",
        "html",
        "coverage",
    ),
)
