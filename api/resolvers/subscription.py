"""What goes on: new facts, as they are committed."""

from collections.abc import AsyncGenerator
from typing import Annotated

import strawberry

from api.context import Info
from api.describing import described
from api.resolvers.node import Kinds
from api.types.arguments import (
    ClusterArgument,
    LogArgument,
    OfNode,
)
from api.types.facts import FactBatch

__all__ = ["Subscription"]


@described
class Subscription:
    """What is told as it comes, by POST with `Accept: text/event-stream`."""

    @strawberry.subscription
    async def facts(
        self,
        info: Info,
        node: OfNode = None,
        kinds: Kinds = None,
        after: Annotated[
            str | None,
            strawberry.argument(
                description="Behind this cursor, of a batch or of a page;"
                " from now on without."
            ),
        ] = None,
        cluster: ClusterArgument = None,
        log: LogArgument = None,
    ) -> AsyncGenerator[FactBatch, None]:
        """New facts of a node, or of the whole cluster, in log order.

        Each is told once; who goes on after the cursor of a batch loses none
        and gets none twice. Who reads too slowly is sent an error with the
        code `api.slow_reader` and the cursor to go on from.
        """
        async for batch in info.context.follow(
            cluster, log, node=node, kinds=kinds, after=after
        ):
            yield batch
