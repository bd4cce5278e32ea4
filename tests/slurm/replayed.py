"""A slurmrestd that answers what a real one of 24.11 was recorded to answer.

Each poll, which begins with the nodes, is answered by the next moment of the
recording. Times are moved so that the recording ends now. What accounting has
is made from the recorded jobs: how each run ended is what was done to it, as
`tests/slurm/README.md` says.

``python -m tests.slurm.replayed URL DSN`` polls one into a database until it
is killed, or asked to end.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from signal import SIGTERM
from typing import Any, Final

from aiohttp import web

from recorder.facts.slurm import REQUEUED
from recorder.intake.recording import Recording
from recorder.intake.redact import Redaction, RedactionRules
from recorder.model.observation import SLURM
from recorder.sources.slurm import NodeMapping, SlurmClient, SlurmSource
from recorder.sources.slurm.shapes import FINAL
from recorder.store.writer import LogSpec, Writer
from tests.slurm.polls import CLUSTER, snapshots

__all__ = ["SPEC", "Replayed", "source_of"]

VERSION: Final = "v0.0.42"
PUT_BACK: Final = {
    **dict.fromkeys((1, 5, 21), "NODE_FAIL"),
    **dict.fromkeys((6, 7), "REQUEUED"),
    8: "PREEMPTED",
}
"""How runs ended after which slurmctld put the job back."""

SPEC = LogSpec(
    cluster_name="prod",
    cluster_uid="11111111-prod",
    kubernetes="v1.36.3",
    redaction_key_id=None,
)
EPOCH_MIN: Final = 1_000_000_000

Objects = dict[str, dict[str, Any]]


class Replayed:
    """Serves the recording; entered with `serving`."""

    def __init__(self, *, waiting: int = 0, times: int = 1) -> None:
        """Prepare.

        Args:
            waiting: tasks of an array that wait all the time, beside.
            times: how often it plays; each begins with the first id of a job,
                as a slurmctld that lost its state.
        """
        once = [*snapshots("b")]
        last = once[-1][0]
        long = last + 10 - once[0][0]
        self._moments = [
            (int(time.time()) - last - long * left, *moment)
            for left in reversed(range(times))
            for moment in once
        ]
        self._later = self._moments[0][0]
        self._place = -1
        self._jobs: Objects = {}
        self._nodes: Objects = {}
        self._past: dict[tuple[int, int], dict[str, Any]] = {}
        first = self._later_by(once[0][1]["1"])
        array = {**first, "array_job_id": {"set": True, "number": 1000}}
        self._queue: Objects = {
            str(number): {**array, "job_id": number}
            for number in range(1000, 1000 + waiting)
        }
        self.asked: list[str] = []
        """The paths of all requests."""

        self.on_request: Callable[[], None] = lambda: None
        self.done = asyncio.Event()
        """Set when the last moment was answered twice."""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Serve; yield the address."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        runner = web.AppRunner(app)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            host, port = runner.addresses[0][:2]
            yield f"http://{host}:{port}"
        finally:
            await runner.cleanup()

    @property
    def ended_runs(self) -> dict[tuple[int, int], str]:
        """How each run ended that accounting has, by job and submission."""
        return {
            key: row["state"]["current"][-1] for key, row in self._past.items()
        }

    async def _answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        self.on_request()
        root = f"/slurm/{VERSION}"
        if request.path == "/openapi/v3":
            paths = [f"{root}/nodes", f"{root}/jobs/state/"]
            paths += [f"/slurmdb/{VERSION}/jobs/"]
            return web.json_response({"paths": {path: {} for path in paths}})
        meta = {"slurm": {"cluster": CLUSTER}}
        said: dict[str, Any] = {"meta": meta, "errors": []}
        match request.path.removeprefix(root).split("/"):
            case ["", "nodes"]:
                self._advance()
                said["nodes"] = [*self._nodes.values()]
            case ["", "jobs", "state", ""]:
                said["jobs"] = [
                    {"job_id": _part(one), "state": one["job_state"]}
                    for one in self._jobs.values()
                ]
            case ["", "job", number] if number in self._jobs:
                said["jobs"] = [self._jobs[number]]
            case ["", "slurmdb", _, "jobs", ""]:
                since = int(request.query["start_time"].removeprefix("uts"))
                since -= int(time.time()) - self._now
                said["jobs"] = self._rows(lambda row: row["end"] >= since)
            case ["", "slurmdb", _, "job", number]:
                said["jobs"] = [
                    row
                    for (job, _), row in self._past.items()
                    if job == int(number)
                ]
            case _:
                raise web.HTTPNotFound
        return web.json_response(said)

    @property
    def _now(self) -> int:
        """The time of the recording that is played."""
        return self._moments[self._place][1] + self._later

    def _rows(
        self, fits: Callable[[dict[str, int]], bool]
    ) -> list[dict[str, Any]]:
        return [row for row in self._past.values() if fits(row["time"])]

    def _advance(self) -> None:
        if self._place + 1 == len(self._moments):
            self.done.set()
            return
        self._place += 1
        self._later, _, jobs, nodes = self._moments[self._place]
        before, self._jobs = self._jobs, self._moved(jobs)
        self._nodes = self._moved(nodes)
        for name, was in before.items():
            now = self._jobs.get(name)
            if now is None or now["submit_time"] != was["submit_time"]:
                self._account(was, PUT_BACK.get(int(name)))
        for now in self._jobs.values():
            if now["job_state"][0] in FINAL:
                self._account(now, now["job_state"][0])
        self._jobs |= self._queue

    def _account(self, run: dict[str, Any], state: str | None) -> None:
        """Write down how a run ended, as slurmdbd has it."""
        submit = run["submit_time"]["number"]
        key = run["job_id"], submit
        if state is None or not run["nodes"] or key in self._past:
            return
        end = run["end_time"]["number"] if state in FINAL else 0
        now = self._now
        start = run["start_time"]["number"]
        self._past[key] = {
            **{name: run[name] for name in ("job_id", "name", "account")},
            **{name: run[name] for name in ("partition", "qos", "cluster")},
            "user": run["user_name"],
            "nodes": run["nodes"],
            "exit_code": run["exit_code"],
            "state": {
                "current": ["PENDING"] * (state == REQUEUED) + [state],
                "reason": run["state_reason"],
            },
            "time": {
                "submission": submit,
                "start": start,
                "end": end if start <= end <= now else now,
            },
            "array": {
                "job_id": run["array_job_id"]["number"],
                "task_id": run["array_task_id"],
            },
            "het": {"job_id": run["het_job_id"]["number"]},
        }

    def _moved(self, objects: Objects) -> Objects:
        return {name: self._later_by(one) for name, one in objects.items()}

    def _later_by(self, one: Any) -> Any:
        if not isinstance(one, dict):
            return one
        number = one.get("number")
        if isinstance(number, int) and number >= EPOCH_MIN:
            return {**one, "number": number + self._later}
        return {name: self._later_by(part) for name, part in one.items()}


def _part(job: dict[str, Any]) -> str:
    """Return the id of a job as ``/jobs/state/`` has it."""
    name, task = str(job["job_id"]), job["array_task_id"]
    if task["set"]:
        return f"{name}_{task['number']}"
    is_het = job["het_job_id"]["number"]
    return f"{name}+{job['het_job_offset']['number']}" if is_het else name


class _Eager(SlurmSource):
    """Polls as fast as it is answered: what it costs is tried elsewhere."""

    @property
    def wait(self) -> float:
        return 0.001


def source_of(url: str) -> SlurmSource:
    """Return a source that polls as fast as it is answered."""
    return _Eager(
        SlurmClient(url, "slurm", lambda: "token"),
        NodeMapping(same_names=True),
        cluster=CLUSTER,
        interval=0.001,
    )


async def _record(url: str, dsn: str) -> None:
    recording = Recording(
        Writer(dsn, SPEC, holder="slurm"),
        Redaction(RedactionRules(), b"0" * 32),
    )
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(SIGTERM, stop.set)
    await recording.run({SLURM: source_of(url)}, stop)


if __name__ == "__main__":
    asyncio.run(_record(*sys.argv[1:]))
