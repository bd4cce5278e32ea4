"""What slurmrestd answers, of any version from 22.05 on, read alike.

Numbers are plain or ``{"set", "infinite", "number"}``; states are a text or a
list, in any case; an exit code is a wait status or an object. Members that are
missing or of another form are unknown, never an error. Nothing else of a job
is read: scripts, comments, environments and command lines never leave here.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from recorder.sources.slurm.hostlists import hosts_of

FINAL: Final = frozenset(
    {
        *("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL"),
        *("PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY"),
    }
)
"""States in which a job has ended."""

JOB_HELD: Final = "JobHeld"
"""How the reasons of jobs begin that wait because they are held."""

BASES: Final = ("PENDING", "RUNNING", "SUSPENDED", *sorted(FINAL))
"""A job has one of these states; others are flags beside it."""

NO_VALUES: Final = frozenset({4294967294, 4294967295, 65534, 65535})
"""Numbers by which Slurm says that there is none."""

PART: Final = re.compile(r"[0-9]+")
"""What the id of a part of a job begins with: its own number."""

TEXT_MAX: Final = 256
"""Characters kept of a text."""

EPOCH_MIN: Final = 1_000_000_000
"""Earlier times are none: zero, and plans in minutes."""


class Job(msgspec.Struct, kw_only=True):
    """A job, or a past run of one."""

    job: int
    states: frozenset[str] = frozenset()
    state: str = ""
    """Its base state; empty if the answer has only flags."""

    name: str = ""
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    reason: str = ""
    cluster: str = ""
    submit: int = 0
    start: int | None = None
    end: int | None = None
    nodes: tuple[str, ...] = ()
    restarts: int = 0
    exit_code: int | None = None
    signal: int | None = None
    failed_node: str = ""
    killed_by: str = ""
    """Who asked for its end, as accounting knows it."""

    array: int = 0
    task: int | None = None
    het: int = 0
    size: int = 0
    """The nodes that it wants."""

    gpus: int = 0
    """Of all its nodes."""

    @property
    def held(self) -> bool:
        """Whether a person keeps it from starting."""
        return self.state == "PENDING" and self.reason.startswith(JOB_HELD)

    @property
    def top(self) -> int:
        """The job that it is a part of: its array, its het job, or itself."""
        return self.array or self.het or self.job


class Node(msgspec.Struct, kw_only=True):
    """A node of Slurm."""

    name: str
    states: frozenset[str] = frozenset()
    reason: str = ""
    by: str = ""
    changed: int = 0
    boot: int = 0
    started: int = 0
    cluster: str = ""
    kubernetes: str = ""
    """The Node of Kubernetes that it names itself: by Soperator's
    ``instance_id``, or Slinky's comment."""


def _number(value: Any) -> int | None:
    if isinstance(value, Mapping):
        if not value.get("set") or value.get("infinite"):
            return None
        value = value.get("number")
    if isinstance(value, str) and value.isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return None if int(value) in NO_VALUES else int(value)


def _time(value: Any) -> int:
    found = _number(value) or 0
    return found if found >= EPOCH_MIN else 0


def _text(value: Any) -> str:
    return value[:TEXT_MAX] if isinstance(value, str) else ""


def _states(*values: Any) -> frozenset[str]:
    found: set[str] = set()
    for value in values:
        if isinstance(value, str):
            found.update(value.upper().replace("+", " ").split())
        elif isinstance(value, list):
            found.update(one.upper() for one in value if isinstance(one, str))
    return frozenset(found)


def _base(states: Iterable[str]) -> str:
    return next((base for base in BASES if base in states), "")


def _end(states: frozenset[str]) -> str:
    """Return how a past run ended; one that was put back is pending too."""
    base = _base(states)
    is_put_back = "REQUEUED" in states and base not in FINAL
    return "REQUEUED" if is_put_back else base


def _exit(value: Any) -> tuple[int | None, int | None]:
    """Return the exit code and the signal that a job ended with."""
    if isinstance(value, str):  # "3:0", as jobcomp and sacct write it
        code, _, signal = value.partition(":")
        return _number(code), _number(signal) or None
    if isinstance(value, Mapping):
        raised = value.get("signal")
        number = None
        if isinstance(raised, Mapping):
            number = _number(raised.get("id", raised.get("signal_id")))
        return _number(value.get("return_code")), number or None
    status = _number(value)
    if status is None:
        return None, None
    return status >> 8, status & 127 or None


def _gpus(tres: Any) -> int:
    """Return the GPUs in ``cpu=8,gres/gpu=4,gres/gpu:h100=4``."""
    plain = typed = 0
    for part in tres.split(",") if isinstance(tres, str) else ():
        name, _, count = str(part).partition("=")
        if count.isdecimal() and name == "gres/gpu":
            plain = int(count)
        elif count.isdecimal() and name.startswith("gres/gpu:"):
            typed += int(count)
    return plain or typed


def _counted(tres: Any) -> str:
    """Return the resources of accounting as the controller writes them."""
    return ",".join(
        f"gres/{one.get('name')}={_number(one.get('count'))}"
        for one in (tres if isinstance(tres, list) else ())
        if isinstance(one, Mapping) and one.get("type") == "gres"
    )


def read_job(said: Mapping[str, Any]) -> Job | None:
    """Return a job of ``/jobs`` or ``/job/ID``; None if it has no id."""
    number = _number(said.get("job_id"))
    if number is None:
        return None
    states = _states(said.get("job_state"))
    code, signal = _exit(said.get("exit_code"))
    return Job(
        job=number,
        states=states,
        state=_base(states),
        name=_text(said.get("name")),
        user=_text(said.get("user_name")),
        account=_text(said.get("account")),
        partition=_text(said.get("partition")),
        qos=_text(said.get("qos")),
        reason=_text(said.get("state_reason")),
        cluster=_text(said.get("cluster")),
        submit=_time(said.get("submit_time")),
        start=_time(said.get("start_time")) or None,
        end=_time(said.get("end_time")) or None,
        nodes=hosts_of(said.get("nodes")),
        restarts=_number(said.get("restart_cnt")) or 0,
        exit_code=code,
        signal=signal,
        failed_node=_text(said.get("failed_node")),
        array=_number(said.get("array_job_id")) or 0,
        task=_number(said.get("array_task_id")),
        het=_number(said.get("het_job_id")) or 0,
        size=_number(said.get("node_count")) or 0,
        gpus=_gpus(said.get("tres_alloc_str"))
        or _gpus(said.get("tres_req_str")),
    )


def job_states(said: Mapping[str, Any]) -> dict[int, frozenset[str]]:
    """Return the states of ``/jobs/state/``, by job."""
    jobs = said.get("jobs")
    found: dict[int, frozenset[str]] = {}
    # Tens of thousands of jobs are in few states.
    read: dict[str, frozenset[str]] = {}
    for one in jobs if isinstance(jobs, list) else ():
        if isinstance(one, Mapping):
            # A task of an array is 12_3, a part of a het job 12+1.
            whole = PART.match(str(one.get("job_id")))
            if whole is not None:
                said_of_it = one.get("state", one.get("job_state"))
                key = str(said_of_it)
                if key not in read:
                    read[key] = _states(said_of_it)
                found[int(whole[0])] = read[key]
    return found


def read_node(said: Mapping[str, Any]) -> Node | None:
    """Return a node of ``/nodes``; None if it has no name."""
    name = said.get("name")
    if not isinstance(name, str) or not name:
        return None
    return Node(
        name=name[:TEXT_MAX],
        states=_states(said.get("state"), said.get("state_flags")),
        reason=_text(said.get("reason")),
        by=_text(said.get("reason_set_by_user")),
        changed=_time(said.get("reason_changed_at")),
        boot=_time(said.get("boot_time")),
        started=_time(said.get("slurmd_start_time")),
        cluster=_text(said.get("cluster_name")),
        kubernetes=_text(said.get("instance_id")) or _slinky(said),
    )


def _slinky(said: Mapping[str, Any]) -> str:
    """Return the Node in the comment that Slinky's operator writes."""
    try:
        comment = msgspec.json.decode(said.get("comment") or "null")
    except (ValueError, TypeError, RecursionError):
        return ""
    return _text(comment.get("node")) if isinstance(comment, dict) else ""


def past_runs(said: Mapping[str, Any]) -> list[Job]:
    """Return the runs in an answer of accounting."""
    jobs = said.get("jobs")
    found = []
    for one in jobs if isinstance(jobs, list) else ():
        if isinstance(one, Mapping):
            run = _past(one)
            if run is not None:
                found.append(run)
    return found


def _part(said: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = said.get(name)
    return found if isinstance(found, Mapping) else {}


def _past(said: Mapping[str, Any]) -> Job | None:
    time, state = _part(said, "time"), _part(said, "state")
    array, tres = _part(said, "array"), _part(said, "tres")
    return _ended_run(
        {
            **said,
            "job_state": state.get("current"),
            "state_reason": state.get("reason"),
            "user_name": said.get("user"),
            "submit_time": time.get("submission"),
            "start_time": time.get("start"),
            "end_time": time.get("end"),
            "array_job_id": array.get("job_id"),
            "array_task_id": array.get("task_id"),
            "het_job_id": _part(said, "het").get("job_id"),
            "node_count": said.get("allocation_nodes"),
            "tres_alloc_str": _counted(tres.get("allocated")),
        }
    )


def _ended_run(said: Mapping[str, Any]) -> Job | None:
    job = read_job(said)
    if job is not None:
        job.state = _end(job.states)
        job.killed_by = _text(said.get("kill_request_user"))
    return job


PUSHED: Final = {
    "jobid": "job_id",
    "job_name": "name",
    "username": "user_name",
    "state": "job_state",
    "total_nodes": "node_count",
    "tres_alloc": "tres_alloc_str",
    "@submit": "submit_time",
    "@start": "start_time",
    "@end": "end_time",
}
"""The members of a document of jobcomp, as slurmrestd calls them."""


def read_pushed(
    said: Mapping[str, Any], at: Callable[[Any], int]
) -> Job | None:
    """Return the run in a document of jobcomp; None if it has no id.

    Args:
        said: the document.
        at: returns the seconds of one of its times, zero for none.
    """
    return _ended_run(
        {
            PUSHED.get(name, name): at(value) if name[:1] == "@" else value
            for name, value in said.items()
        }
    )


def cluster_of(said: Mapping[str, Any]) -> str:
    """Return the name of the cluster that an answer is of; empty if unknown.

    The answer's own ``meta`` says it since 23.11, its jobs and nodes before.
    """
    meta = said.get("meta")
    for name in ("slurm", "Slurm"):
        part = meta.get(name) if isinstance(meta, Mapping) else None
        if isinstance(part, Mapping) and _text(part.get("cluster")):
            return _text(part.get("cluster"))
    for list_name, member in (("jobs", "cluster"), ("nodes", "cluster_name")):
        items = said.get(list_name)
        for one in items[:1] if isinstance(items, list) else ():
            if isinstance(one, Mapping) and _text(one.get(member)):
                return _text(one.get(member))
    return ""
