"""The report of an incident."""

from datetime import datetime

import strawberry

from api.describing import described
from api.types.coverage import Coverage
from api.types.impact import Impact
from api.types.verdicts import Verdict

__all__ = ["Postmortem"]


@described
class Postmortem:
    """Summary, timeline, verdict, evidence, impact and gaps."""

    node: str

    summary: list[str]
    """What happened and why, the cost, and the confidence."""

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
