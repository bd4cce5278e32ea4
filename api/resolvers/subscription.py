"""Subscriptions: new facts, and the incidents and verdicts that they change.

Arguments are declared here: a subscription asks no question, it follows a log.
"""

from collections.abc import AsyncGenerator
from typing import Annotated

import strawberry

from api.resolvers.context import Info
from api.resolvers.judging import (
    disruptions_of_last_day,
    incidents_of_last_day,
)
from api.resolvers.node import Kinds
from api.resolvers.types.arguments import (
    ClusterArgument,
    LogArgument,
    OfNode,
)
from api.resolvers.types.describing import described
from api.resolvers.types.facts import FactBatch
from api.resolvers.types.incidents import (
    IncidentChanges,
    Renamed,
    VerdictChanges,
)
from api.resolvers.types.workloads import DisruptionChanges
from recorder.answers.growing import (
    Changes,
    disruption_essence,
    disruption_trace,
    essence_of,
    trace_of,
)
from recorder.explain.verdict import Verdict


@described
class Subscription:
    """New facts, and the incidents and verdicts that they change.

    By POST with `Accept: text/event-stream`, or over a WebSocket.
    """

    @strawberry.subscription
    async def facts(
        self,
        info: Info,
        node: OfNode = None,
        kinds: Kinds = None,
        after: Annotated[
            str | None,
            strawberry.argument(
                description="Resume after this cursor, of a batch or of a"
                " page. Default: from now on."
            ),
        ] = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> AsyncGenerator[FactBatch, None]:
        """New facts of a node, or of the whole cluster, in log order.

        Each fact is delivered once; a client that resumes after the cursor of
        a batch gets every later fact exactly once. A client that reads too
        slowly gets an error with the code `api.slow_reader` and the cursor to
        resume from.
        """
        async for batch in info.context.follow(
            cluster, log, node=node, kinds=kinds, after=after
        ):
            yield batch

    @strawberry.subscription
    async def incidents(
        self,
        info: Info,
        node: OfNode = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> AsyncGenerator[IncidentChanges, None]:
        """Incidents of the last day, and then each that is new or changes.

        The last day of the record is judged again as facts come. A client that
        reconnects gets all of its incidents again.
        """
        changes = Changes(essence_of, lambda one: trace_of(one.judged))
        async for found in info.context.watch(
            cluster, log, incidents_of_last_day
        ):
            news = changes.since(
                {
                    one.id: one
                    for one in found.incidents
                    if node is None or node in one.nodes
                },
                found.coverage.since,
            )
            if news is not None:
                yield IncidentChanges(
                    incidents=[*news.changed],
                    gone=[strawberry.ID(one) for one in news.gone],
                    renamed=Renamed.of(news.renamed),
                    coverage=found.coverage,
                )

    @strawberry.subscription
    async def verdicts(
        self,
        info: Info,
        node: OfNode = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> AsyncGenerator[VerdictChanges, None]:
        """Verdicts of the last day, and then each that is new or changes.

        A verdict changes when evidence comes: unknown becomes proven, a node
        is back in service.
        """
        changes: Changes[Verdict] = Changes(
            lambda one: one, lambda one: trace_of([one])
        )
        async for found in info.context.watch(
            cluster, log, incidents_of_last_day
        ):
            news = changes.since(
                {
                    one.id: one
                    for incident in found.incidents
                    for one in incident.judged
                    if node is None or one.node == node
                },
                found.coverage.since,
            )
            if news is not None:
                yield VerdictChanges(
                    verdicts=[*news.changed],
                    gone=[strawberry.ID(one) for one in news.gone],
                    renamed=Renamed.of(news.renamed),
                    coverage=found.coverage,
                )

    @strawberry.subscription
    async def disruptions(
        self,
        info: Info,
        namespaces: Annotated[
            list[str] | None,
            strawberry.argument(
                description="Only of workloads of these namespaces."
            ),
        ] = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> AsyncGenerator[DisruptionChanges, None]:
        """What ended workloads on the last day, and then what is new.

        Without completions. A disruption changes when evidence comes, or when
        its workload runs again.
        """
        changes = Changes(disruption_essence, disruption_trace)
        async for found in info.context.watch(
            cluster, log, disruptions_of_last_day
        ):
            news = changes.since(
                {
                    str(one.ending.id): one
                    for one in found.disruptions
                    if not namespaces or one.workload.namespace in namespaces
                },
                found.coverage.since,
            )
            if news is not None:
                yield DisruptionChanges(
                    disruptions=[*news.changed],
                    gone=[strawberry.ID(one) for one in news.gone],
                    renamed=Renamed.of(news.renamed),
                    coverage=found.coverage,
                )
