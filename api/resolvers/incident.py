"""One incident, with everything that its page shows."""

from typing import Annotated, Self

import strawberry

from api.resolvers.answers.incidents import one_incident
from api.resolvers.context import RequestContext
from api.resolvers.node import Node
from api.resolvers.types.coverage import Coverage
from api.resolvers.types.describing import described
from recorder.answers.incidents import Incident
from recorder.answers.ports import Reading


@described
class IncidentAnswer:
    """One incident and the nodes it affected."""

    reading: strawberry.Private[Reading]

    first: strawberry.Private[str]
    """The node whose verdict names the incident."""

    incident: Incident

    cluster: str

    log: strawberry.ID

    coverage: Coverage

    @classmethod
    async def named(cls, asked: RequestContext, id: str) -> Self:  # noqa: A002
        """Find an incident by the ID of any of its verdicts.

        Raises:
            NotFoundError: there is no such incident.
        """
        reading, found = await one_incident(asked, id)
        incident = found.incidents[0]
        return cls(
            reading=reading,
            first=incident.first.node,
            incident=incident,
            cluster=reading.log.cluster_name,
            log=strawberry.ID(str(reading.log.id)),
            coverage=found.coverage,
        )

    @strawberry.field
    def node(
        self,
        name: Annotated[
            str | None,
            strawberry.argument(
                description="Name of an affected node. Default: the first."
            ),
        ] = None,
    ) -> Node | None:
        """A node of the incident, with its timeline, facts and jobs."""
        struck = self.incident.nodes
        if name is not None and name not in struck:
            return None
        return Node.of(self.reading, name or self.first)
