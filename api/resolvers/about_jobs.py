"""Questions about workloads and what ended them."""

from api.resolvers.answers.paging import Page
from api.resolvers.answers.workloads import disruptions, workloads
from api.resolvers.asking import Asked, asks
from api.resolvers.types.arguments import Clusters
from api.resolvers.types.describing import described
from api.resolvers.types.workloads import (
    DisruptionConnection,
    WorkloadConnection,
)
from recorder.answers.job_questions import JobsQuestion


@described
class AboutJobs:
    """Questions about workloads."""

    @asks("jobs")
    @staticmethod
    async def workloads(
        asked: Asked[JobsQuestion], *, page: Page, clusters: Clusters = None
    ) -> WorkloadConnection | None:
        """Workloads with their states and what ended them in a window.

        Those that had Pods in the window. Default: the last day. With
        `clusters`: of all of them, behind one cursor.
        """
        logs = await asked.reading() if clusters is None else clusters
        return await workloads(asked.context, logs, asked.question, page)

    @asks("jobs")
    @staticmethod
    async def disruptions(
        asked: Asked[JobsQuestion], *, page: Page, clusters: Clusters = None
    ) -> DisruptionConnection | None:
        """What ended workloads, or Pods of them, in order of time.

        Completions only if `endedBy` names them. Default: the last day. With
        `clusters`: of all of them, behind one cursor.
        """
        logs = await asked.reading() if clusters is None else clusters
        return await disruptions(asked.context, logs, asked.question, page)
