"""Recorded polls of a real Slurm, as answers.

``a`` is of 22.05 (v0.0.38), ``b`` of 24.11 (v0.0.42); each was polled twice a
second, and what changed was written. `tests/slurm/README.md` says what was
done meanwhile.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from recorder.model import zstd
from recorder.sources.slurm.folding import Answer, State, fold
from recorder.sources.slurm.mapping import NodeMapping
from recorder.sources.slurm.shapes import Job, past_runs, read_job, read_node

__all__ = [
    "CLUSTER",
    "answers",
    "events",
    "lines",
    "past",
    "pushed",
    "snapshots",
]

HERE = Path(__file__).parent
CLUSTER = "lab"


def lines(name: str) -> list[dict[str, Any]]:
    """Return the lines of a recording."""
    text = zstd.decompress((HERE / f"{name}.jsonl.zst").read_bytes())
    return [msgspec.json.decode(line) for line in text.splitlines()]


def past() -> dict[int, list[Job]]:
    """Return the runs that slurmdbd of 22.05 had afterwards."""
    text = zstd.decompress((HERE / "a-dbjobs.json.zst").read_bytes())
    found: dict[int, list[Job]] = {}
    for run in past_runs(msgspec.json.decode(text)):
        found.setdefault(run.job, []).append(run)
    return found


def pushed() -> list[bytes]:
    """Return the documents that jobcomp/elasticsearch posted."""
    return [line["body"].encode() for line in lines("es")]


def snapshots(
    name: str,
) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """Yield the jobs and nodes of each poll as they were answered."""
    jobs: dict[str, dict[str, Any]] = {}
    nodes: dict[str, dict[str, Any]] = {}
    objects_of = {"job": jobs, "node": nodes}
    for moment, group in groupby(lines(name), lambda one: int(one["t"] * 2)):
        for line in group:
            objects = objects_of.get(line["kind"])
            if objects is None:
                continue
            if line.get("gone"):
                objects.pop(line["id"], None)
            elif line["first"]:
                objects[line["id"]] = dict(line["full"])
            else:
                changed = {k: v[1] for k, v in line["diff"].items()}
                objects[line["id"]] = objects[line["id"]] | changed
        yield moment // 2 + 1, dict(jobs), dict(nodes)


def answers(
    name: str, accounting: dict[int, list[Job]] | None = None
) -> Iterator[Answer]:
    """Yield what each poll answered."""
    for at, jobs, nodes in snapshots(name):
        read = [read_job(job) for job in jobs.values()]
        yield Answer(
            at=at,
            cluster=CLUSTER,
            jobs=[job for job in read if job is not None],
            ids=frozenset(int(job) for job in jobs),
            nodes=[
                node
                for one in nodes.values()
                if (node := read_node(one)) is not None
            ],
            past=accounting,
        )


def events(
    name: str,
    accounting: dict[int, list[Job]] | None = None,
    *,
    mapping: NodeMapping | None = None,
) -> list[tuple[int, dict[str, Any]]]:
    """Return the claims of all polls, each with the time of its poll."""
    state = State(cluster=CLUSTER)
    where = mapping or NodeMapping(same_names=True)
    found = []
    for answer in answers(name, accounting):
        folded = fold(state, answer, where.of)
        state = folded.state
        found += [(answer.at, event) for event in folded.events]
    return found
