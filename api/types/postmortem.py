"""The report of an incident, to paste or to keep."""

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
    """What and why; what it cost; how sure it is."""

    verdicts: list[Verdict]

    impact: Impact

    began_at: datetime | None
    """Null where nothing is known to have happened."""

    position: strawberry.ID
    """The entry up to which the log was read: the same question up to there
    gives the same bytes."""

    markdown: str
    """As `recorder postmortem` writes it."""

    html: str
    """One file that loads nothing and runs nothing."""

    coverage: Coverage
