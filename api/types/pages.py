"""What all connections share."""

from api.describing import described

__all__ = ["PageInfo"]


@described
class PageInfo:
    """Where a page lies among the others."""

    has_next_page: bool
    """Whether more items follow, as of now."""

    has_previous_page: bool
    """Whether more items precede it."""

    start_cursor: str | None
    """Of its first edge; null where the page is empty."""

    end_cursor: str | None
    """Of its last edge. Of an empty page what was asked after, so that
    nothing is lost between two questions."""
