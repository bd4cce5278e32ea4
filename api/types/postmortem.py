"""The report of an incident."""

from datetime import datetime

import strawberry

from api.describing import described
from api.publishing import publish
from api.types.coverage import Coverage
from api.types.impact import Impact
from api.types.verdicts import Verdict
from recorder.questions.phases import Phase

__all__ = ["Postmortem"]


publish(Phase)


@described
class Postmortem:
    """Summary, impact, phases, verdicts, evidence and gaps."""

    node: str
    """The names of its nodes, with commas between them."""

    nodes: list[str]

    summary: list[str]
    """What happened and why, the cost, and the confidence."""

    phases: list[Phase]

    factors: list[str]
    """What contributed, by the links of the verdicts."""

    action_items: list[str]
    """What the evidence suggests to do."""

    verdicts: list[Verdict]

    impact: Impact

    began_at: datetime | None
    """Null if no incident is recorded."""

    position: strawberry.ID
    """The entry up to which the log was read: the same question up to there
    gives the same bytes."""

    markdown: str
    """Markdown, as `recorder postmortem` writes it."""

    html: str
    """A self-contained HTML file without scripts."""

    coverage: Coverage
