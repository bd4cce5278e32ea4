"""`recorder incidents`: what happened to any node, one line each."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.answering import ask_each, read_command
from recorder.cli.asking import judge_all, wait_for
from recorder.cli.listing import (
    Item,
    Listing,
    list_options,
    print_listing,
)
from recorder.cli.options import all_option

if TYPE_CHECKING:
    from recorder.answers.incidents import Incidents
    from recorder.cli.asking import Readings

__all__ = ["incidents"]


@read_command("incidents", all_option, list_options())
def incidents(ctx: click.Context, /, **given: Any) -> int:
    r"""List incidents on all nodes, oldest first.

    An incident that affected several nodes at once, such as a rack or the
    whole cluster, is one line.

    \b
    Example:
      recorder incidents --since 24h
      recorder incidents --cause gpu-fault --cause hung-kernel -o wide
      recorder incidents -A --since 7d --sort-by -gpu-hours
      recorder incidents --since 7d -o json
    """
    return wait_for(_incidents(ctx, given))


async def _incidents(ctx: click.Context, given: Mapping[str, Any]) -> int:
    from recorder.answers.incidents import COLUMNS, incident_cells
    from recorder.answers.text.table import Column

    every = given["all_clusters"]
    readings, found = await ask_each(ctx, given)
    answers = found.answer
    listed = [
        (reading.log.cluster_name, one)
        for reading, answer in zip(readings, answers, strict=True)
        for one in answer.incidents
    ]
    listing = Listing(
        columns=(Column("CLUSTER"), *COLUMNS) if every else COLUMNS,
        items=[
            Item(
                name=shown.id,
                cells=(name, *incident_cells(shown))
                if every
                else incident_cells(shown),
                document=shown,
            )
            for name, shown in listed
        ],
        whole=_whole(readings, answers, every=every),
        nothing="no incidents recorded",
    )
    print_listing(listing, given, now=found.now)
    return judge_all(readings, [one.coverage for one in answers])


def _whole(
    readings: "Readings",
    answers: Sequence["Incidents"],
    *,
    every: bool,
) -> Callable[[Sequence[Any]], Any]:
    """Return what makes the document of one log, or of every log."""
    from msgspec.structs import replace

    from recorder.model.reference import told_log

    if not every:
        return lambda shown: replace(answers[0], incidents=shown)
    clusters = [
        {
            "cluster": reading.log.cluster_name,
            "log": told_log(reading.log.id),
            "coverage": answer.coverage,
        }
        for reading, answer in zip(readings, answers, strict=True)
    ]
    away = [{"cluster": one.cluster, "why": one.why} for one in readings.away]
    return lambda shown: {
        "incidents": shown,
        "clusters": clusters,
        "away": away,
    }
