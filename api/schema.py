"""The schema, put together.

``api/schema.graphql`` is what clients rely on; a test compares it with this,
and fails on what would break one of them. Written anew with
``python -m api.schema``.
"""

from pathlib import Path

import strawberry
from strawberry.schema.config import StrawberryConfig

from api.roots.query import Query
from api.roots.subscription import Subscription
from api.types.scalars import SCALARS

__all__ = ["SDL", "make_schema"]

SDL = Path(__file__).with_name("schema.graphql")


def make_schema() -> strawberry.Schema:
    """Make the schema."""
    return strawberry.Schema(
        query=Query,
        subscription=Subscription,
        config=StrawberryConfig(scalar_map=SCALARS),
    )


if __name__ == "__main__":
    SDL.write_text(make_schema().as_str() + "\n")
