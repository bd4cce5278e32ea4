"""Cutting pages of a list so that each fits on one line.

A page of 500 objects may hold hundreds of megabytes, and a reader bounds the
line. A list is complete when its last page came, however many there are, so
cutting a page changes nothing of what it says.
"""

from collections.abc import Iterator
from dataclasses import replace

from recorder.model.observation import ListPage

__all__ = ["PAGE_BYTES_MAX", "cut_page"]

PAGE_BYTES_MAX = 2 * 2**20
"""Bytes of items in one line, unless a single item is longer. Four times an
ordinary page of 500 Events, and far below what a reader takes."""


def cut_page(
    page: ListPage, bytes_max: int = PAGE_BYTES_MAX
) -> Iterator[ListPage]:
    """Yield pages that together are this one, all but the last with more."""
    items: list[bytes] = []
    items_bytes = 0
    for item in page.items:
        if items and items_bytes + len(item) > bytes_max:
            yield replace(page, items=items, more=True)
            items = []
            items_bytes = 0
        items.append(item)
        items_bytes += len(item)
    yield replace(page, items=items)
