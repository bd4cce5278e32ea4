"""What all connections share."""

from api.resolvers.types.describing import described


@described
class PageInfo:
    """Position of a page among the others."""

    has_next_page: bool
    """Whether more items follow, as of now."""

    has_previous_page: bool
    """Whether more items precede it."""

    start_cursor: str | None
    """Cursor of its first edge; null if the page is empty."""

    end_cursor: str | None
    """Cursor of its last edge. For an empty page, the cursor of the query,
    so that nothing is lost between two queries."""
