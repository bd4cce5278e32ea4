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
    """New facts, by POST with `Accept: text/event-stream`."""

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
