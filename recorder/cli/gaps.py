"""`recorder gaps`: the spans that the log cannot vouch for."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.answering import ask, read_command
from recorder.cli.asking import INCOMPLETE, judge, wait_for
from recorder.cli.listing import (
    TEXTS,
    Item,
    Listing,
    list_options,
    print_listing,
)
from recorder.cli.output import json_bytes, note, print_lines

if TYPE_CHECKING:
    from recorder.answers.gaps import Gaps

__all__ = ["gaps"]


@read_command("coverage", list_options("ndjson"))
def gaps(ctx: click.Context, /, **given: Any) -> int:
    r"""List the time spans in which the log may be incomplete.

    A gap begins at the last proof that nothing was missed and ends with the
    first complete list after it. PROVED is what that list showed. A gap is
    healed if its watch could be resumed after all: nothing is missing.

    The exit status is 4 if anything in the window may be missing, so a script
    can check whether last night was recorded completely.

    \b
    Example:
      recorder gaps --since 12h
      recorder gaps --since 2026-11-21T03:00:00Z --until 2026-11-21T04:00:00Z
    """
    return wait_for(_gaps(ctx, given))


async def _gaps(ctx: click.Context, given: Mapping[str, Any]) -> int:
    found = await ask(ctx, given)
    answer, output = found.answer, found.output
    if answer.more:
        note(f"{answer.more} older gaps not shown: use --since")
    listing = _listing(answer, with_holes=output in {*TEXTS, "csv"})
    if output == "ndjson":
        print_lines(
            json_bytes(item.document, on_one_line=True).decode()
            for item in listing.items
        )
        return judge(answer.coverage)
    print_listing(listing, given, now=found.now)
    if output not in TEXTS:
        return judge(answer.coverage)
    print_lines(_details(answer))
    return 0 if answer.coverage.complete else INCOMPLETE


def _listing(answer: "Gaps", *, with_holes: bool) -> Listing:
    """Return the gaps, and for people the holes without an entry too."""
    from msgspec.structs import replace

    from recorder.answers.coverage import (
        GAP_COLUMNS,
        coverage_lines,
        gap_cells,
        hole_cells,
    )

    items = [Item(str(gap.opened), gap_cells(gap), gap) for gap in answer.gaps]
    if with_holes:
        items += [Item("-", row, None) for row in hole_cells(answer.coverage)]
    return Listing(
        columns=GAP_COLUMNS,
        items=items,
        whole=lambda shown: replace(answer, gaps=shown),
        nothing=f"no gaps: {coverage_lines(answer.coverage)[0]}",
    )


def _details(answer: "Gaps") -> list[str]:
    from recorder.answers.coverage import detail_lines

    return [line for gap in answer.gaps for line in detail_lines(gap)]
