"""Runs that slurmctld posts by itself: documents of jobcomp/elasticsearch.

One for each run that ended, also before a requeue. Its times have no zone, and
what a job does after a requeue it does not say. The script of the job is in
it: only the members that are named here are ever decoded.
"""

from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import Any, TypedDict

import msgspec

from recorder.facts.slurm import REQUEUED, Member, SlurmRun
from recorder.sources.slurm.folding import run_event
from recorder.sources.slurm.shapes import read_pushed

NO_ZONE = (
    "the times of Slurm have no zone: name it in the URL, as in"
    " /ingest/slurm?zone=Europe/Berlin"
)

LASTING = frozenset(
    {
        *("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "DEADLINE"),
        "OUT_OF_MEMORY",
    }
)
"""Ends after which a job is not put back."""


_Pushed = TypedDict(
    "_Pushed",
    {
        "jobid": Any,
        "job_name": Any,
        "username": Any,
        "account": Any,
        "partition": Any,
        "qos": Any,
        "cluster": Any,
        "nodes": Any,
        "state": Any,
        "failed_node": Any,
        "exit_code": Any,
        "array_job_id": Any,
        "array_task_id": Any,
        "het_job_id": Any,
        "total_nodes": Any,
        "tres_alloc": Any,
        "@submit": Any,
        "@start": Any,
        "@end": Any,
    },
    total=False,
)
"""What is read of a document."""

_decode = msgspec.json.Decoder(_Pushed).decode


def pushed_event(
    body: bytes,
    zone: tzinfo,
    place: Callable[[str], str | None],
    cluster: str,
) -> dict[str, Any]:
    """Return the event of a document.

    Args:
        body: the document.
        zone: of its times.
        place: returns the Node of a node of Slurm.
        cluster: the Slurm cluster, which documents name only where Slurm has
            accounting.

    Raises:
        ValueError: it is no such document.
    """

    def seconds(text: Any) -> int:
        try:
            at = datetime.fromisoformat(text).replace(tzinfo=zone)
            return int(at.timestamp())
        except (TypeError, ValueError, OverflowError):
            return 0

    said: dict[str, Any] = dict(_decode(body))
    job = read_pushed(said, seconds)
    if job is None or not job.submit or not job.state:
        msg = '"jobid", "state" or "@submit" is missing'
        raise ValueError(msg)
    cluster = job.cluster or cluster
    if not cluster:
        msg = '"cluster" is missing: set slurm_cluster'
        raise ValueError(msg)
    members = [Member(name, place(name)) for name in job.nodes]
    is_part = bool(job.array or job.het)
    end = job.end or job.start or job.submit
    run = SlurmRun(
        cluster=cluster,
        job=job.job,
        submit=job.submit,
        state=job.state,
        top=job.top if is_part else 0,
        name=job.name,
        user=job.user,
        account=job.account,
        partition=job.partition,
        qos=job.qos,
        reason=REQUEUED if job.state == REQUEUED else "",
        started=job.start or end if members else 0,
        ended=end,
        exit_code=job.exit_code,
        signal=job.signal,
        failed_node=job.failed_node,
        size=job.size or len(members),
        gpus=job.gpus,
        first=True,
        over=job.state if job.state in LASTING and not is_part else "",
        began=members,
        members=members,
    )
    return run_event(run)
