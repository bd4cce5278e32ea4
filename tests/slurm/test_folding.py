"""What polls of a real Slurm become: one claim for each thing that changed."""

import re
from collections import Counter
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from recorder.explain.knowledge import shipped
from recorder.facts.slurm import REQUEUED
from recorder.sources.slurm.folding import Answer, Folded, State, fold
from recorder.sources.slurm.hostlists import hosts_of
from recorder.sources.slurm.mapping import NodeMapping
from recorder.sources.slurm.shapes import (
    Job,
    Node,
    job_states,
    read_job,
    read_node,
)
from tests.slurm.polls import CLUSTER, answers, events, past

BOTH = pytest.mark.parametrize("name", ["a", "b"])
SAME = NodeMapping(same_names=True)


def runs(name: str, job: int, **more: Any) -> list[dict[str, Any]]:
    """Return the data of the claims about a job."""
    return [
        event["data"]
        for _, event in events(name, **more)
        if event["type"] == "slurm.run" and event["data"]["job"] == job
    ]


def acts(name: str, node: str) -> list[tuple[str, str]]:
    """Return what happened to a node, and by whom."""
    return [
        (event["data"]["act"], event["data"].get("by", ""))
        for _, event in events(name)
        if event["type"] == "slurm.node" and event["data"]["name"] == node
    ]


@BOTH
def test_a_requeue_ends_the_run_on_the_nodes_that_it_had(name: str) -> None:
    ended = next(run for run in runs(name, 1) if run.get("ended"))
    assert [one[0] for one in ended["members"]] == [
        "gpu-001",
        "gpu-002",
        "gpu-003",
    ]
    # The answer names neither nodes nor a failure: gpu-002 was down.
    assert (ended["state"], ended["failed_node"]) == ("NODE_FAIL", "gpu-002")
    after = runs(name, 1)[-1]
    assert (after["restarts"], after["submit"]) == (1, ended["ended"])
    assert not ended.get("over")


@BOTH
@pytest.mark.parametrize(
    ("job", "state", "code", "signal"),
    [
        (3, "COMPLETED", 0, None),
        (16, "CANCELLED", None, None),
        (17, "FAILED", 3, None),
        (18, "FAILED", None, 11),
        (19, "TIMEOUT", None, None),
    ],
)
def test_how_a_job_ended_is_read_alike_in_all_versions(
    name: str, job: int, state: str, code: int | None, signal: int | None
) -> None:
    last = runs(name, job)[-1]
    assert (last["state"], last["over"]) == (state, state)
    if code is not None:
        assert last["exit_code"] == code
    if signal is not None:
        assert last["signal"] == signal


@BOTH
def test_the_asker_of_a_reboot_is_kept_until_it_is_issued(name: str) -> None:
    found = [one for one in acts(name, "gpu-004") if "reboot" in one[0]]
    assert found == [("reboot-asked", "root"), ("reboot-issued", "root")]


@BOTH
def test_a_drain_has_its_author_and_a_resume_is_no_boot(name: str) -> None:
    assert acts(name, "gpu-003") == [("drain", "root"), ("resume", "")]


@BOTH
def test_a_restarted_slurmd_is_no_boot(name: str) -> None:
    assert "boot" not in dict(acts(name, "gpu-002")[:3])
    assert "boot" in dict(acts(name, "gpu-005"))


def test_a_node_that_a_person_sets_down_is_not_lost() -> None:
    assert ("down", "root") in acts("b", "gpu-002")


@BOTH
def test_an_array_and_a_het_job_are_each_one_job(name: str) -> None:
    for job, parts in ((10, {10, 13, 14, 15}), (11, {11, 12})):
        own = [
            event["data"]
            for _, event in events(name)
            if event["subject"] == f"slurmjob/{CLUSTER}/{job}"
        ]
        assert {one["job"] for one in own} == parts
        assert [one.get("first", False) for one in own].count(True) == 1
        assert [one["over"] for one in own if one.get("over")] == [
            "FAILED" if job == 10 else "COMPLETED"
        ]


def test_only_accounting_says_that_a_requeue_was_one() -> None:
    """A preemption looks the same in the answers of the controller."""
    for job in (6, 8):
        bare = next(run for run in runs("b", job) if run.get("ended"))
        assert (bare["state"], bare.get("reason", "")) == (REQUEUED, "")
    known = runs("a", 6, accounting=past())
    ended = next(run for run in known if run.get("ended"))
    assert (ended["state"], ended["reason"]) == (REQUEUED, REQUEUED)


@BOTH
def test_the_same_polls_give_the_same_claims_and_each_once(name: str) -> None:
    ids = [event["id"] for _, event in events(name)]
    assert ids == [event["id"] for _, event in events(name)]
    assert max(Counter(ids).values()) == 1


@BOTH
def test_a_state_that_was_committed_goes_on_as_if_never_stopped(
    name: str,
) -> None:
    state, found = State(cluster=CLUSTER), []
    for answer in answers(name):
        folded = fold(state, answer, SAME.of)
        raw = msgspec.json.encode(folded.state)
        state = msgspec.json.decode(raw, type=State)
        found += folded.events
    assert found == [event for _, event in events(name)]


@BOTH
def test_scripts_and_command_lines_are_never_claimed(name: str) -> None:
    text = repr(events(name))
    for secret in ("hello", "/tmp", "/dev/null", "standard_", "comment"):
        assert secret not in text


@BOTH
def test_claims_are_as_their_types_say(name: str) -> None:
    for _, event in events(name):
        document = msgspec.json.encode({"specversion": "1.0", **event})
        assert shipped().misfit(event["type"], document) is None


def test_lists_of_hosts() -> None:
    assert hosts_of("gpu-[001-003,007],login1") == (
        *("gpu-001", "gpu-002", "gpu-003", "gpu-007", "login1"),
    )
    assert hosts_of("r[1-2]n[08-09]") == ("r1n08", "r1n09", "r2n08", "r2n09")
    assert hosts_of("None assigned") == hosts_of(None) == ()
    assert len(hosts_of("n[1-99999999999]")) == 20_000


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (3 << 8, (3, None)),
        (15, (0, 15)),
        ({"status": "SIGNALED", "signal": {"signal_id": 11}}, (None, 11)),
        (
            {
                "status": ["ERROR"],
                "return_code": {"set": True, "infinite": False, "number": 3},
                "signal": {"id": {"set": False, "number": 0}},
            },
            (3, None),
        ),
        ({"return_code": 4294967294}, (None, None)),
        (["?"], (None, None)),
    ],
)
def test_exit_codes_of_all_versions(
    said: object, expected: tuple[int | None, int | None]
) -> None:
    job = read_job({"job_id": 7, "exit_code": said})
    assert job is not None
    assert (job.exit_code, job.signal) == expected


def test_states_of_jobs_alone() -> None:
    said = {"jobs": [{"job_id": "12", "state": ["NODE_FAIL", "COMPLETING"]}]}
    assert job_states(said) == {12: frozenset({"NODE_FAIL", "COMPLETING"})}
    parts = ["3_0", "2_[1-2]", "11+1", "4_1", 7, "", None, "x"]
    jobs = [{"job_id": one, "state": ["RUNNING"]} for one in parts]
    assert job_states({"jobs": jobs}).keys() == {2, 3, 4, 7, 11}


def polled(state: State, *jobs: Job, at: int, **more: Any) -> Folded:
    ids = frozenset(job.job for job in jobs)
    answer = Answer(at=at, cluster=CLUSTER, jobs=jobs, ids=ids, **more)
    return fold(state, answer, SAME.of)


def running(job: int, submit: int, *nodes: str, **more: Any) -> Job:
    return Job(
        job=job,
        state="RUNNING",
        submit=submit,
        start=submit,
        nodes=nodes,
        **more,
    )


T0 = 1_795_000_000


def test_a_placement_is_the_widest_set_of_its_run() -> None:
    state = polled(State(), running(1, T0, "a", "b", "c"), at=T0).state
    one = running(1, T0, "c")  # while it completes
    state = polled(state, one, at=T0 + 5).state
    one.state, one.end = "NODE_FAIL", T0 + 9
    (event,) = polled(state, one, at=T0 + 9).events
    assert [name for name, _ in event["data"]["members"]] == ["a", "b", "c"]


def test_an_array_whose_tasks_are_seen_when_they_ended_ends_once() -> None:
    """Short tasks: the first poll after the array began has all of their ends.

    The task with the id of the array is the last one.
    """
    waits = Job(job=1, array=1, state="PENDING", submit=T0)
    state = polled(State(), waits, at=T0).state
    ends = [
        Job(
            job=number,
            array=1,
            state=end,
            submit=T0,
            start=T0 + 1,
            end=T0 + 2,
            nodes=("a",),
        )
        for number, end in ((1, "FAILED"), (4, "COMPLETED"), (5, "COMPLETED"))
    ]
    found = polled(state, *ends, at=T0 + 3)
    over = [event["data"].get("over") for event in found.events]
    assert over == [None, None, "FAILED"]
    late = replace(ends[1], job=6)  # asked for with the next poll
    again = polled(found.state, *ends, late, at=T0 + 8)
    assert [one["data"]["over"] for one in again.events] == ["FAILED"]
    assert not polled(again.state, at=T0 + 9).state.worst


def test_an_id_that_is_used_again_begins_an_epoch() -> None:
    state = polled(State(), running(1, T0, "a"), at=T0).state
    found = polled(state, running(1, T0 + 900, "b"), at=T0 + 900)
    assert found.epoch_began
    old, new = (event["data"] for event in found.events)
    assert (old["state"], old.get("epoch", 0)) == ("UNKNOWN", 0)
    assert (new["epoch"], new["first"]) == (1, True)


def test_a_run_that_began_and_ended_between_polls_is_claimed_once() -> None:
    short = Job(
        job=4,
        state="FAILED",
        submit=T0,
        start=T0 + 1,
        end=T0 + 3,
        nodes=("a",),
        exit_code=1,
    )
    first = polled(State(), at=T0 + 60, recent=[short])
    (event,) = first.events
    assert [event["data"][k] for k in ("began", "over")] == [
        [["a", "a"]],
        "FAILED",
    ]
    assert not polled(first.state, at=T0 + 120, recent=[short]).events


def test_an_end_waits_for_accounting_a_few_polls_and_not_for_ever() -> None:
    state = polled(State(), running(1, T0, "a"), at=T0).state
    again = Job(job=1, state="PENDING", submit=T0 + 9, restarts=1)
    away: dict[int, list[Job]] = {1: []}
    for wait in range(2):
        found = polled(state, again, at=T0 + 10 + wait, past=away)
        assert (found.events, found.unsettled) == ([], [1])
        state = found.state
    found = polled(state, again, at=T0 + 12, past=away)
    assert [event["data"]["state"] for event in found.events] == [
        REQUEUED,
        "PENDING",
    ]
    state = polled(State(), running(1, T0, "a"), at=T0).state
    known = Job(job=1, state="PREEMPTED", submit=T0, end=T0 + 9)
    found = polled(state, again, at=T0 + 10, past={1: [known]})
    assert found.events[0]["data"]["state"] == "PREEMPTED"


def test_a_job_that_a_person_holds_is_held_until_it_is_released() -> None:
    waits = Job(job=1, state="PENDING", submit=T0, reason="Resources")
    held = replace(waits, reason="JobHeldUser")
    ends = replace(held, state="CANCELLED")
    state, said = State(), []
    for at, job in enumerate((waits, held, held, waits, held, ends)):
        by = {1: "uid 0"} if at == 1 else {}
        found = polled(state, job, at=T0 + at, holders=by)
        state = found.state
        said += [event["data"] for event in found.events]
    assert [(one["state"], one.get("hold")) for one in said] == [
        ("PENDING", None),
        ("PENDING", "held"),
        ("PENDING", "released"),
        ("PENDING", "held"),
        ("CANCELLED", None),
    ]
    assert [one.get("hold_by") for one in said[1:4]] == ["uid 0", None, None]


async def labels() -> dict[str, str]:
    return {"g1": "ip-3"}


@pytest.mark.parametrize(
    ("said", "mapping", "expected"),
    [
        ({"instance_id": "ip-1"}, NodeMapping(), "ip-1"),
        ({"comment": '{"node":"ip-2","podName":"x"}'}, NodeMapping(), "ip-2"),
        ({"comment": "by hand"}, NodeMapping(), None),
        ({}, NodeMapping(labelled=labels), "ip-3"),
        ({}, NodeMapping({"g1": "ip-4"}), "ip-4"),
        ({}, NodeMapping(same_names=True), "g1"),
        ({}, NodeMapping(), None),
    ],
)
async def test_a_node_is_found_by_all_named_ways(
    said: dict[str, Any], mapping: NodeMapping, expected: str | None
) -> None:
    node = read_node({"name": "g1", **said})
    assert isinstance(node, Node)
    mapping.learn([node])
    await mapping.refresh()
    assert mapping.of("g1") == expected


@pytest.mark.parametrize(
    "reason",
    [
        "slurm-operator: Node cordoned",
        "slurm-bridge: drained",
        "k8s: cordoned",
        "[hardware_problem] xid 79",
        "(slurm-operator: KernelDeadlock: hung)",
    ],
)
def test_reasons_of_bridges_are_echoes(reason: str) -> None:
    node = Node(
        name="a", states=frozenset({"IDLE", "DRAIN"}), reason=reason, by="root"
    )
    (event,) = polled(State(), at=T0, nodes=[node]).events
    assert event["data"]["echo"] is True
    assert re.match("node/a", event["subject"])
