"""`recorder stats`: what happened in a window, counted."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from recorder.cli.answering import ask_each, read_command
from recorder.cli.asking import judge_all, wait_for
from recorder.cli.listing import (
    TEXTS,
    Item,
    Listing,
    list_options,
    print_listing,
)
from recorder.cli.options import all_option
from recorder.cli.output import note

__all__ = ["stats"]


@read_command("stats", all_option, list_options())
def stats(ctx: click.Context, /, **given: Any) -> int:
    r"""Count incidents, reboots, time away and GPU-hours lost.

    A loss is counted where it is attributed, so that the groups add up to the
    whole. An incident that affected several nodes or namespaces is counted in
    each of their groups. How much of the window is vouched for is printed on
    stderr with the totals.

    \b
    Example:
      recorder stats --since 7d
      recorder stats --by node --since 30d --sort-by -reboots
      recorder stats --by day -A -o csv
    """
    return wait_for(_stats(ctx, given))


async def _stats(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from msgspec.structs import replace

    from recorder.answers.stats import count_cells, count_columns, totals_line
    from recorder.answers.text.table import Column

    every = given["all_clusters"]
    readings, found = await ask_each(ctx, given)
    (by,), answers = found.asked.by, found.answer

    def whole(groups: Sequence[Any]) -> Any:
        if every:
            away = [
                {"cluster": one.cluster, "why": one.why}
                for one in readings.away
            ]
            return {"clusters": answers, "away": away}
        return replace(answers[0], groups=groups)

    if given["output"] in TEXTS:
        for answer in answers:
            note(totals_line(answer))
    columns = count_columns(by)
    listing = Listing(
        columns=[Column("CLUSTER"), *columns] if every else columns,
        items=[
            Item(
                name=count.key or "",
                cells=(answer.question.cluster, *count_cells(count))
                if every
                else count_cells(count),
                document=count,
            )
            for answer in answers
            for count in answer.groups
        ],
        whole=whole,
        nothing="no incidents recorded",
    )
    print_listing(listing, given, now=found.now)
    return judge_all(readings, [one.coverage for one in answers])
