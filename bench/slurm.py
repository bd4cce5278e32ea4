"""What a poll of 20,000 jobs of Slurm costs the recorder, in its own CPU.

``python -m bench.slurm``. Answers are made of recorded ones, of 22.05 and of
24.11, with new jobs and without.
"""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from recorder.model import zstd
from recorder.sources.slurm import NodeMapping, SlurmClient, SlurmSource
from recorder.sources.slurm.folding import Answer, fold
from recorder.sources.slurm.poller import (
    DETAILS_MAX,
    FRESH_MAX,
    _Jobs,
    _Nodes,
)
from recorder.sources.slurm.shapes import (
    Job,
    job_states,
    read_job,
    read_node,
)
from tests.slurm.polls import CLUSTER, lines

JOBS = 20_000
RUNNING = 2_000
NODES = 5_000


def _first(name: str, kind: str) -> dict[str, Any]:
    return next(
        dict(line["full"])
        for line in lines(name)
        if line["kind"] == kind and line.get("first")
    )


def _answer(name: str) -> tuple[bytes, bytes]:
    """Return what ``/jobs`` and ``/nodes`` would answer."""
    job, node = _first(name, "job"), _first(name, "node")
    found = []
    for number in range(JOBS):
        one = job | {"job_id": 1000 + number, "name": f"llm-{number % 200}"}
        if number < RUNNING:
            is_text = isinstance(job["job_state"], str)
            one |= {
                "job_state": "RUNNING" if is_text else ["RUNNING"],
                "nodes": f"gpu-[{number % 500:03}-{number % 500 + 3:03}]",
                "start_time": job["submit_time"],
            }
        found.append(one)
    nodes = [node | {"name": f"gpu-{number:04}"} for number in range(NODES)]
    return (
        msgspec.json.encode({"errors": [], "jobs": found}),
        msgspec.json.encode({"errors": [], "nodes": nodes}),
    )


def _timed(work: Callable[[], None]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _polls(name: str, label: str, *, states: bool) -> None:
    """Time polls until all jobs are claimed, and two more."""
    client = SlurmClient("http://127.0.0.1:9", "slurm", str)
    mapping = NodeMapping(same_names=True)
    source = SlurmSource(client, mapping, cluster=CLUSTER, interval=1)
    jobs, nodes = _answer(name)
    most = DETAILS_MAX
    details: Mapping[int, dict[str, Any]] = {}
    if states:
        every = msgspec.json.decode(jobs)["jobs"]
        details = {one["job_id"]: one for one in every}
        listed = [
            {"job_id": str(one["job_id"]), "state": one["job_state"]}
            for one in every
        ]
        jobs = msgspec.json.encode({"jobs": listed})
    print(f"{label}: {JOBS:,} jobs, {len(jobs) / 1e6:.1f} MB")

    def asked() -> tuple[Sequence[Job], frozenset[int]]:
        if not states:
            said = msgspec.json.decode(jobs, type=_Jobs)
            return source._fresh(said)
        has = job_states(msgspec.json.decode(jobs))
        wanted = source._changed(has, ())[:most]
        source._states |= {number: has[number] for number in wanted}
        read = [read_job(details[number]) for number in wanted]
        return [job for job in read if job is not None], frozenset(has)

    def poll() -> None:
        fresh, ids = asked()
        answered = msgspec.json.decode(nodes, type=_Nodes)["nodes"]
        found = [read_node(one) for one in answered]
        answer = Answer(
            at=int(time.time()),
            cluster=CLUSTER,
            jobs=fresh,
            ids=ids,
            nodes=[node for node in found if node is not None],
        )
        source.state = fold(source.state, answer, mapping.of).state
        zstd.compress(msgspec.json.encode(source.state))

    gc.freeze()  # what the answers are made of is no part of a poll
    took = [_timed(poll) for _ in range(JOBS // FRESH_MAX)]
    most = JOBS
    poll()
    quiet = _timed(poll)
    print(
        f"  new jobs {min(took):.2f} to {max(took):.2f} s, none {quiet:.2f} s"
    )


def main() -> None:
    """Print the CPU of polls."""
    _polls("a", "22.05, /jobs", states=False)
    _polls("b", "as large as on 23.11, /jobs", states=False)
    _polls("b", "24.11, /jobs/state/", states=True)


if __name__ == "__main__":
    main()
