"""The GraphQL schema.

Clients rely on ``api/schema.graphql``; a test compares it with this and fails
on breaking changes. ``python -m api.schema`` writes it.
"""

from pathlib import Path

import strawberry
from strawberry.schema.config import StrawberryConfig

from api.resolvers.about_jobs import AboutJobs
from api.resolvers.about_logs import AboutLogs
from api.resolvers.about_nodes import AboutNodes
from api.resolvers.subscription import Subscription
from api.resolvers.types.describing import described
from api.resolvers.types.scalars import SCALARS, attribute

SDL = Path(__file__).with_name("schema.graphql")


@described
class Query(AboutLogs, AboutNodes, AboutJobs):
    """Queries of what was recorded. Read-only.

    A field that could not be answered is null; `errors` says why, with a
    stable code in `extensions.code`. All fields of a query read the same state
    of a log.
    """


def make_schema() -> strawberry.Schema:
    """Return the schema."""
    return strawberry.Schema(
        query=Query,
        subscription=Subscription,
        config=StrawberryConfig(
            scalar_map=SCALARS, default_resolver=attribute
        ),
    )


if __name__ == "__main__":
    SDL.write_text(make_schema().as_str() + "\n")
