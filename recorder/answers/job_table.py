"""The tables of `recorder jobs`, of one log and of several."""

from collections.abc import Sequence

from msgspec.structs import replace

from recorder.answers.clusters import Away
from recorder.answers.job_order import JobOrder, rank_of
from recorder.answers.job_questions import JobsQuestion
from recorder.answers.jobs import Jobs, ListedWorkload
from recorder.answers.naming import named
from recorder.answers.slurm_names import SlurmNames, slurm_row
from recorder.answers.text.shown import Item, Listing
from recorder.answers.text.table import Cell, Column, Kind
from recorder.facts.coverage.ports import Log
from recorder.model.reference import written_log

COLUMNS = (
    Column("KIND", rank=4),
    Column("NAMESPACE", rank=2),
    Column("NAME"),
    Column("GPUS", rank=5),
    Column("STATE"),
    Column("BEGAN", Kind.TIME, rank=6),
    Column("AGE", Kind.AGE, rank=3),
    Column("WAITS SINCE", Kind.TIME, wide=True),
    Column("ENDED", Kind.TIME, wide=True),
    Column("LAST ENDING", Kind.TIME, rank=7),
    Column("ENDED BY"),
    Column("RESTARTS", rank=8),
    Column("GPU-HOURS", rank=1),
    Column("SINCE CHECKPOINT", wide=True),
    Column("SLURM", wide=True),
    Column("SUMMARY"),
)


def job_cells(one: ListedWorkload) -> Sequence[Cell]:
    """Return a workload as a row of the table."""
    last = one.last_ending
    return (
        one.kind,
        one.namespace,
        one.name,
        one.gpus,
        one.state,
        one.began_at,
        one.began_at,
        one.waiting_since,
        one.ended_at,
        None if last is None else last.at,
        None if last is None else last.ended_by,
        one.restarts,
        one.gpu_hours_lost,
        one.gpu_hours_since_checkpoint,
        slurm_row(one.slurm) if isinstance(one.slurm, SlurmNames) else None,
        None if last is None else last.sentence,
    )


def _item(one: ListedWorkload, *before: Cell) -> Item:
    name = named(one.kind.lower(), one.namespace, one.name)
    return Item(name, (*before, *job_cells(one)), one)


def _rank(order: JobOrder, one: ListedWorkload) -> int:
    last = one.last_ending
    return rank_of(
        order,
        name=f"{one.namespace}/{one.name}",
        began_at=one.began_at,
        ended_at=None if last is None else last.at,
        gpu_hours_lost=one.gpu_hours_lost,
        gpus=one.gpus,
    )


def shown(answer: Jobs, question: JobsQuestion, *, verbose: bool) -> Listing:
    """Return an answer as `recorder jobs` prints it."""
    del verbose
    count, rows = answer.totals.workloads, len(answer.workloads)
    notes = []
    if question.limit is not None and rows == question.limit != count:
        many = "more" if count is None else f"{count:,}"
        which = "newest" if question.order is None else "last"
        notes = [f"showing the {which} {rows} of {many}; see --limit"]
    return Listing(
        columns=COLUMNS,
        items=[_item(one) for one in answer.workloads],
        whole=lambda workloads: replace(answer, workloads=workloads),
        nothing="no workloads recorded",
        notes=notes,
    )


def shown_each(
    answers: Sequence[tuple[Log, Jobs]],
    question: JobsQuestion,
    away: Sequence[Away],
    *,
    verbose: bool,
) -> Listing:
    """Return the answers of several logs as one list."""
    del verbose
    rows = [
        (log.cluster_name, one)
        for log, answer in answers
        for one in answer.workloads
    ]
    if question.order is not None:
        order = question.order
        rows.sort(key=lambda row: _rank(order, row[1]))
    clusters = [
        {
            "cluster": log.cluster_name,
            "log": written_log(log.id),
            "totals": answer.totals,
            "coverage": answer.coverage,
        }
        for log, answer in answers
    ]
    return Listing(
        columns=(Column("CLUSTER"), *COLUMNS),
        items=[_item(one, cluster) for cluster, one in rows],
        whole=lambda workloads: {
            "workloads": workloads,
            "clusters": clusters,
            "away": [{"cluster": one.cluster, "why": one.why} for one in away],
        },
        nothing="no workloads recorded",
    )
