"""What a poll of 20,000 jobs of Slurm costs the recorder, in its own CPU.

``python -m bench.slurm``. Answers are made of recorded ones, of 22.05 and of
24.11; the first poll reads all, later ones nothing new.
"""

import time
from collections.abc import Callable
from typing import Any

import msgspec

from recorder.model import zstd
from recorder.sources.slurm.folding import Answer, State, fold
from recorder.sources.slurm.mapping import NodeMapping
from recorder.sources.slurm.shapes import job_states, read_job, read_node
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


def _timed(label: str, work: Callable[[], Any]) -> Any:
    began = time.process_time()
    found = work()
    print(f"{label:36} {time.process_time() - began:6.2f} s")
    return found


def _read(jobs: bytes, nodes: bytes, at: int) -> Answer:
    read = [read_job(one) for one in msgspec.json.decode(jobs)["jobs"]]
    kept = [job for job in read if job is not None]
    found = [read_node(one) for one in msgspec.json.decode(nodes)["nodes"]]
    return Answer(
        at=at,
        cluster=CLUSTER,
        jobs=kept,
        ids=frozenset(job.job for job in kept),
        nodes=[node for node in found if node is not None],
    )


def _polls(name: str, release: str) -> None:
    place = NodeMapping(same_names=True).of
    jobs, nodes = _answer(name)
    print(f"Slurm {release}: {JOBS:,} jobs, {len(jobs) / 1e6:.0f} MB")
    first = _timed("read all", lambda: _read(jobs, nodes, 1))
    folded = _timed("claim all", lambda: fold(State(), first, place))
    quiet = Answer(at=2, cluster=CLUSTER, ids=first.ids, nodes=first.nodes)
    _timed("fold what is as before", lambda: fold(folded.state, quiet, place))
    raw = msgspec.json.encode(folded.state)
    _timed("compress the state", lambda: zstd.compress(raw))


def main() -> None:
    """Print the CPU of each step."""
    _polls("a", "22.05")
    _polls("b", "24.11")
    found = [
        {"job_id": str(1000 + number), "state": ["PENDING"]}
        for number in range(JOBS)
    ]
    states = msgspec.json.encode({"jobs": found})
    _timed(
        "read /jobs/state/",
        lambda: job_states(msgspec.json.decode(states)),
    )


if __name__ == "__main__":
    main()
