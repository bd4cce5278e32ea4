"""`recorder incidents`: what happened to any node, one line each."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.asking import (
    given_window,
    judge_all,
    now,
    open_readings,
    wait_for,
)
from recorder.cli.completing import node_option
from recorder.cli.listing import (
    Item,
    Listing,
    list_options,
    print_listing,
)
from recorder.cli.options import (
    all_option,
    reading_options,
    window_options,
    words_option,
)
from recorder.model.outcomes import Cause, Confidence, Happened

if TYPE_CHECKING:
    from recorder.cli.asking import Readings
    from recorder.questions.incidents import IncidentFilter, Incidents

__all__ = ["incidents"]


@click.command()
@words_option("--happened", Happened, "Only these, such as reboot.")
@words_option("--cause", Cause, "Only these causes, such as gpu-fault.")
@words_option("--confidence", Confidence, "Only with this confidence.")
@node_option("--node", metavar="NODE", help="Only incidents of this node.")
@click.option(
    "--workload",
    metavar="NAME",
    help="Only incidents that affected a workload whose name contains this.",
)
@click.option(
    "--rack",
    metavar="RACK",
    multiple=True,
    help="Only incidents that struck a node of this rack, or behind this"
    " switch.",
)
@click.option(
    "--namespace",
    "-n",
    metavar="NAMESPACE",
    multiple=True,
    help="Only incidents that affected a workload of this namespace.",
)
@click.option(
    "--controller",
    metavar="NAME",
    multiple=True,
    help="Only incidents whose decision this program carried out.",
)
@window_options
@all_option
@list_options()
@reading_options
@click.pass_context
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
    from recorder.documents.incidents import IncidentDocument
    from recorder.knowledge import load
    from recorder.questions.incidents import (
        IncidentsQuestion,
        ask_incidents,
        selected,
    )
    from recorder.render.incidents import COLUMNS, incident_cells
    from recorder.render.table import Column

    present = now()
    question = IncidentsQuestion(
        window=given_window(given["since"], given["until"], present)
    )
    wanted, knowledge = _filter(given), load(ctx.obj.knowledge)
    every = given["all_clusters"]
    async with open_readings(ctx, every=every) as readings:
        answers = [
            await ask_incidents(reading, question, knowledge, now=present)
            for reading in readings
        ]
        listed = [
            (reading.log.cluster_name, IncidentDocument.of(one))
            for reading, answer in zip(readings, answers, strict=True)
            for one in await selected(reading, answer.incidents, wanted)
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
    print_listing(listing, given, now=present)
    return judge_all(readings, [one.coverage for one in answers])


def _filter(given: Mapping[str, Any]) -> "IncidentFilter":
    from recorder.questions.incidents import IncidentFilter
    from recorder.questions.references import node_name

    return IncidentFilter(
        happened=given["happened"] or None,
        causes=given["cause"] or None,
        confidence=given["confidence"] or None,
        node=given["node"] and node_name(given["node"]),
        workload=given["workload"],
        racks=given["rack"] or None,
        namespaces=given["namespace"] or None,
        controllers=given["controller"] or None,
    )


def _whole(
    readings: "Readings",
    answers: Sequence["Incidents"],
    *,
    every: bool,
) -> Callable[[Sequence[Any]], Any]:
    """Return what makes the document of one log, or of every log."""
    from recorder.documents.coverage import CoverageDocument
    from recorder.documents.incidents import IncidentsDocument
    from recorder.model.reference import told_log

    coverages = [CoverageDocument.of(one.coverage) for one in answers]
    if not every:
        return lambda shown: IncidentsDocument(
            incidents=shown, coverage=coverages[0]
        )
    clusters = [
        {
            "cluster": reading.log.cluster_name,
            "log": told_log(reading.log.id),
            "coverage": coverage,
        }
        for reading, coverage in zip(readings, coverages, strict=True)
    ]
    away = [{"cluster": one.cluster, "why": one.why} for one in readings.away]
    return lambda shown: {
        "incidents": shown,
        "clusters": clusters,
        "away": away,
    }
