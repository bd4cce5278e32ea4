"""The source that polls Slurm, while the recording that it is of runs.

Nodes and the states of jobs at an interval, then the jobs that changed, and
accounting for the ends that only it knows and for what was missed between. The
interval is at least twenty times as long as the last answer took, so that at
most a twentieth of one core of slurmrestd is used. A poll that failed is a gap
of this source. What must be known to go on is committed with the claims.
"""

import asyncio
import time
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypedDict

import msgspec

from recorder.facts.classify.claims import claim_key
from recorder.intake.ports import Known, Sink
from recorder.model import zstd
from recorder.model.observation import (
    SLURM,
    CloudEventPosted,
    Observation,
    PlaceReached,
    RecordsLost,
)
from recorder.sources.slurm.client import (
    DUPLICATES,
    Api,
    SlurmClient,
    SlurmError,
    errors_of,
)
from recorder.sources.slurm.folding import Answer, Folded, State, fold
from recorder.sources.slurm.log_lines import (
    LogFollower,
    holders,
    preemptors,
)
from recorder.sources.slurm.mapping import NodeMapping
from recorder.sources.slurm.shapes import (
    FINAL,
    JOB_HELD,
    Job,
    cluster_of,
    job_states,
    past_runs,
    read_job,
    read_node,
)

SHARE: Final = 20
"""The interval is this many times as long as the last answer took."""

DETAILS_MAX: Final = 200
"""Jobs that are asked for one by one in a poll."""

FRESH_MAX: Final = 4000
"""Jobs of an answer with all jobs that are claimed in a poll."""

ASKED_MAX: Final = 50
"""Jobs that accounting is asked for one by one in a poll."""

ACCOUNTING_EVERY: Final = 60.0
OVERLAP: Final = 300
"""Seconds by which the windows of accounting overlap."""

PREEMPTORS_MAX: Final = 10_000
"""Jobs that the log called preempted, remembered until their runs end."""

HELD: Final = f'"{JOB_HELD}'.encode()

LATE: Final = 3
"""Intervals after which a recording that goes on has missed something."""


class _Job(TypedDict, total=False):
    """What is read of a job: the decoder drops everything else.

    Most jobs are as the last answer had them, so members are kept as they are
    written, and decoded of those that changed.
    """

    job_id: Any
    job_state: msgspec.Raw
    name: msgspec.Raw
    user_name: msgspec.Raw
    account: msgspec.Raw
    partition: msgspec.Raw
    qos: msgspec.Raw
    state_reason: msgspec.Raw
    cluster: Any
    submit_time: msgspec.Raw
    start_time: msgspec.Raw
    end_time: msgspec.Raw
    nodes: msgspec.Raw
    restart_cnt: msgspec.Raw
    exit_code: msgspec.Raw
    failed_node: msgspec.Raw
    array_job_id: msgspec.Raw
    array_task_id: msgspec.Raw
    het_job_id: msgspec.Raw
    node_count: msgspec.Raw
    tres_alloc_str: msgspec.Raw
    tres_req_str: msgspec.Raw


class _Jobs(TypedDict, total=False):
    meta: Any
    errors: Any
    jobs: list[_Job]


class _Node(TypedDict, total=False):
    """What is read of a node."""

    name: Any
    state: Any
    state_flags: Any
    reason: Any
    reason_set_by_user: Any
    reason_changed_at: Any
    boot_time: Any
    slurmd_start_time: Any
    cluster_name: Any
    instance_id: Any
    comment: Any


class _Nodes(TypedDict, total=False):
    meta: Any
    errors: Any
    nodes: list[_Node]


class SlurmSource:
    """Polls one cluster of Slurm."""

    finite = False

    def __init__(
        self,
        client: SlurmClient,
        mapping: NodeMapping,
        *,
        cluster: str,
        interval: float,
        log: Path | None = None,
    ) -> None:
        """Prepare.

        Args:
            client: of its slurmrestd.
            mapping: finds the Nodes of its nodes.
            cluster: its name; answers of another are refused.
            interval: seconds between two polls, at least.
            log: the log file of slurmctld, if it is to be followed.
        """
        self._client = client
        self._mapping = mapping
        self._cluster = cluster
        self._stream = f"slurm/{cluster}"
        self._interval = self._waited = interval
        self._api: Api | None = None
        self.state = State(cluster=cluster)
        self._states: dict[int, frozenset[str]] = {}
        self._written: dict[Any, tuple[Any, ...]] = {}
        self._accounted = 0.0
        self.failed = ""
        """Why the last poll failed; empty if it did not."""

        self._log = None if log is None else LogFollower(log)
        self._preemptors: dict[int, str] = {}
        self._held: dict[int, str] = {}
        self.took = 0.0
        """Seconds that the last poll that succeeded took."""

    async def run(self, sink: Sink, known: Known) -> None:
        """Poll until cancelled."""
        self._resume(known.resume_points().get(self._stream))
        async with self._client:
            while True:
                try:
                    answer, folded = await self._poll()
                except SlurmError as exc:
                    await self._note_failure(sink, str(exc))
                else:
                    await self._put(sink, answer, folded)
                self._waited = self.wait
                await asyncio.sleep(self._waited)

    @property
    def wait(self) -> float:
        """Seconds until the next poll."""
        return max(self._interval, SHARE * self.took)

    async def proof(self) -> tuple[str, int, int, float]:
        """Poll once, with a client that is entered, and keep nothing.

        Returns the version, how many nodes there are and how many of them are
        found in Kubernetes, and the seconds that it took.

        Raises:
            SlurmError: Slurm does not answer as it must.
        """
        answer, _ = await self._poll()
        assert self._api is not None, "it was asked"
        nodes = answer.nodes or ()
        mapped = [one for one in nodes if self._mapping.of(one.name)]
        return self._api.name, len(nodes), len(mapped), self.took

    def _resume(self, place: str | None) -> None:
        if not place:
            return
        try:
            raw = zstd.decompress(b64decode(place))
            self.state = msgspec.json.decode(raw, type=State)
        except (ValueError, zstd.ZstdError):
            # Of another release: what is there now is claimed once more.
            self.state = State(cluster=self._cluster)

    async def _put(self, sink: Sink, answer: Answer, folded: Folded) -> None:
        at = datetime.fromtimestamp(answer.at, UTC)
        lost = self._lost(at, folded)
        posted = [
            CloudEventPosted(
                observed_at=at,
                event=msgspec.json.encode({"specversion": "1.0", **event}),
                source=SLURM,
                key=claim_key(event["source"], event["id"]),
            )
            for event in folded.events
        ]
        observations: list[Observation] = [*lost, *posted]
        observations.append(self._place(at, folded.state, is_live=True))
        await sink.put(observations)
        self.state, self.failed = folded.state, ""

    def _lost(self, at: datetime, folded: Folded) -> Sequence[RecordsLost]:
        """Return what may be missing since the last answer."""
        before = self.state.at
        reason = self.failed
        if (
            not reason
            and before
            and (at.timestamp() - before > LATE * self._waited + 1)
        ):
            reason = "Slurm was not polled"
        if folded.epoch_began:
            reason = "slurmctld lost its state: ids of jobs are used again"
        if not reason:
            return ()
        return [
            RecordsLost(
                observed_at=at,
                source=SLURM,
                stream=self._stream,
                reason=reason,
                since=datetime.fromtimestamp(before, UTC) if before else None,
                possible="runs and states of nodes between the two",
            )
        ]

    async def _note_failure(self, sink: Sink, why: str) -> None:
        if self.failed:
            return
        self.failed = why
        now = datetime.now(UTC)
        await sink.put([self._place(now, self.state, is_live=False)])

    def _place(
        self, at: datetime, state: State, *, is_live: bool
    ) -> PlaceReached:
        kept = zstd.compress(msgspec.json.encode(state))
        return PlaceReached(
            observed_at=at,
            source=SLURM,
            stream=self._stream,
            place=b64encode(kept).decode(),
            state="live" if is_live else "backing-off",
        )

    async def _poll(self) -> tuple[Answer, Folded]:
        began = time.monotonic()
        answer = await self._ask()
        folded = self._fold(answer)
        if folded.unsettled and answer.past is not None:
            answer.past = await self._past(folded.unsettled, answer)
            folded = self._fold(answer)
        # What fails costs slurmrestd nothing but time.
        self.took = time.monotonic() - began
        return answer, folded

    def _fold(self, answer: Answer) -> Folded:
        return fold(self.state, answer, self._mapping.of)

    async def _ask(self) -> Answer:
        if self._api is None:
            self._api = await self._client.api()
        api = self._api
        try:
            said = await self._client.get(f"/slurm/{api.name}/nodes", _Nodes)
        except SlurmError:
            self._api = None  # another version may be served next
            raise
        self._check(said)
        nodes = [
            node
            for one in said.get("nodes") or ()
            if (node := read_node(one)) is not None
        ]
        self._mapping.learn(nodes)
        await self._mapping.refresh()
        recent = await self._recent()
        jobs, ids = await self._jobs(api, recent)
        # What an answer shows was logged before it.
        held = self._held
        self._read_log()
        return Answer(
            at=int(time.time()),
            cluster=self._cluster,
            jobs=jobs,
            ids=ids,
            nodes=nodes,
            past={} if api.accounting else None,
            recent=recent,
            preemptors=self._preemptors,
            holders=held | self._held,
        )

    def _read_log(self) -> None:
        """Read which jobs were preempted, held or released meanwhile.

        States alone do not show a hold: the next poll asks for the job.
        """
        if self._log is None:
            return
        lines = self._log.read()
        self._preemptors |= dict(preemptors(lines))
        while len(self._preemptors) > PREEMPTORS_MAX:
            del self._preemptors[next(iter(self._preemptors))]
        self._held = dict(holders(lines))
        for number in self._held:
            self._states.pop(number, None)

    def _check(self, said: Mapping[str, Any]) -> None:
        """Refuse the answer of another cluster, and one of errors alone.

        Raises:
            SlurmError: it is such an answer.
        """
        errors = errors_of(said)
        if errors:
            msg = f"Slurm answered with errors: {errors}"
            raise SlurmError(msg)
        cluster = cluster_of(said)
        if cluster and cluster != self._cluster:
            msg = (
                f'the answer is of the Slurm cluster "{cluster}", not of'
                f' "{self._cluster}": correct slurm_url or slurm_cluster'
            )
            raise SlurmError(msg)

    async def _jobs(
        self, api: Api, recent: Sequence[Job]
    ) -> tuple[Sequence[Job], frozenset[int]]:
        if not api.states:
            said = await self._client.get(f"/slurm/{api.name}/jobs", _Jobs)
            self._check(said)
            return self._fresh(said)
        said = await self._client.get(
            f"/slurm/{api.name}/jobs/state/", dict[str, Any]
        )
        self._check(said)
        states = job_states(said)
        wanted = self._changed(states, recent)
        jobs = []
        for number in wanted[:DETAILS_MAX]:
            path = f"/slurm/{api.name}/job/{number}"
            try:
                found = await self._client.get(path, _Jobs)
            except SlurmError:
                continue  # it is gone; or asked for again with the next poll
            read = [job for job in _read(found) if job.job == number]
            jobs += read
            if read:
                self._states[number] = states[number]
        self._states = {
            number: was
            for number, was in self._states.items()
            if number in states
        }
        return jobs, frozenset(states)

    def _fresh(self, said: _Jobs) -> tuple[Sequence[Job], frozenset[int]]:
        """Return the jobs that are not as the last answer had them.

        Most are: what decides that is compared as it was written. Of too many
        those that wait are left for the next poll.
        """
        before, runs = self._written, self.state.runs
        now: dict[Any, tuple[Any, ...]] = {}
        fresh = []
        for one in said.get("jobs") or ():
            number = one.get("job_id")
            now[number] = key = (
                bytes(one.get("job_state", b"")),
                bytes(one.get("submit_time", b"")),
                bytes(one.get("nodes", b"")),
                bytes(one.get("state_reason", b"")).startswith(HELD),
            )
            waits = number in runs and runs[number].waits
            if before.get(number) != key or waits:
                fresh.append(one)
        ids = frozenset(n for n in now if isinstance(n, int))
        if len(fresh) > FRESH_MAX:
            fresh.sort(
                key=lambda one: b"PENDING" in bytes(one.get("job_state", b""))
            )
            for one in fresh[FRESH_MAX:]:
                del now[one.get("job_id")]
            del fresh[FRESH_MAX:]
        self._written = now
        return _read({"jobs": fresh}), ids

    def _changed(
        self, states: Mapping[int, frozenset[str]], recent: Sequence[Job]
    ) -> list[int]:
        """Return the jobs to ask for, those that run first."""
        runs = self.state.runs
        again = {job.job for job in recent if job.job in runs}
        found = [
            number
            for number, has in states.items()
            if number in again
            or self._states.get(number) != has
            or (number in runs and runs[number].waits)
        ]
        known = {number: {run.state} for number, run in runs.items()}
        return sorted(
            found,
            key=lambda n: (
                known.get(n, set()) <= states[n] and n in known,
                "PENDING" in states[n],
                n,
            ),
        )

    async def _recent(self) -> Sequence[Job]:
        """Return the runs that accounting has of the last minutes.

        Without an answer the next poll asks for the same time once more.
        """
        api, now = self._api, time.monotonic()
        if api is None or api.accounting < DUPLICATES:
            return ()
        if self._accounted and now - self._accounted < ACCOUNTING_EVERY:
            return ()
        since = (self.state.at or int(time.time())) - OVERLAP
        try:
            said = await self._accounting(since)
        except SlurmError:
            return ()
        self._accounted = now
        return [
            run
            for run in past_runs(said)
            if run.state in FINAL or run.state == "REQUEUED"
        ]

    async def _accounting(self, since: int) -> Mapping[str, Any]:
        assert self._api is not None, "it was asked"
        said: dict[str, Any] = await self._client.get(
            f"/slurmdb/v0.0.{self._api.accounting}/jobs/"
            "?show_duplicates=true&skip_steps=true"
            f"&start_time=uts{since}",
            dict[str, Any],
        )
        return said

    async def _past(
        self, jobs: Sequence[int], answer: Answer
    ) -> dict[int, Sequence[Job]]:
        """Return the runs of jobs; of each an empty list if none is known."""
        found: dict[int, list[Job]] = {number: [] for number in jobs}
        assert self._api is not None, "it was asked"
        try:
            if self._api.accounting >= DUPLICATES:
                # They may have ended while nothing was polled.
                since = (self.state.at or answer.at) - OVERLAP
                said = await self._accounting(since)
                for run in past_runs(said):
                    if run.job in found:
                        found[run.job].append(run)
            else:
                version = self._api.accounting
                for number in jobs[:ASKED_MAX]:
                    path = f"/slurmdb/v0.0.{version}/job/{number}"
                    said = await self._client.get(path, dict[str, Any])
                    found[number] += past_runs(said)
        except SlurmError:
            pass  # accounting is away: the end waits, then it is not known
        return dict(found)


def _read(said: _Jobs) -> list[Job]:
    found = []
    for one in said.get("jobs") or ():
        whole = {name: _decoded(value) for name, value in one.items()}
        job = read_job(whole)
        if job is not None:
            found.append(job)
    return found


def _decoded(value: Any) -> Any:
    """Return a member of a job; one that is no text in UTF-8 is unknown."""
    if not isinstance(value, msgspec.Raw):
        return value
    try:
        return msgspec.json.decode(value)
    except ValueError:
        return None
