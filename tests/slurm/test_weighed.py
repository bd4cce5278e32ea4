"""Slurm's word beside the cluster's own record: the record outranks it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from recorder.answers.impact import ask_impact
from recorder.answers.incidents import ask_incidents
from recorder.answers.job_questions import JobFilter, JobsQuestion
from recorder.answers.jobs import ask_jobs
from recorder.answers.node_questions import (
    ImpactQuestion,
    IncidentsQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.why_workload import WhyWorkload
from recorder.explain.knowledge import shipped
from recorder.facts.slurm import REQUEUED
from recorder.model.errors import NotFoundError
from recorder.model.observation import Observation
from recorder.model.window import Window
from recorder.sources.slurm.folding import Answer, State, fold
from recorder.sources.slurm.mapping import NodeMapping
from recorder.sources.slurm.shapes import Job, Node
from tests.slurm.playing import Logs, claimed, why_job
from tests.support.builders import (
    EVENTS,
    NODES,
    PODS,
    a_bookmark,
    a_frame,
    a_list,
    a_node,
    an_object,
    at,
)

NAMES = ("gpu-001", "gpu-002", "gpu-003")
T0 = int(at(0).timestamp())
NOW = at(2000)
RUN = Job(
    job=7,
    state="RUNNING",
    submit=T0 + 10,
    start=T0 + 11,
    nodes=NAMES,
    name="llm",
    user="ann",
    account="research",
    partition="train",
    qos="high",
    gpus=24,
)
LOST = 100
"""When gpu-002 is lost."""


def slurm(
    *polls: tuple[float, Sequence[Job], Sequence[Node]], **more: Any
) -> list[tuple[int, dict[str, Any]]]:
    """Return the claims of polls, each with its seconds."""
    state, found = State(cluster="lab"), []
    for seconds, jobs, nodes in polls:
        moment = T0 + int(seconds)
        answer = Answer(
            at=moment,
            cluster="lab",
            jobs=jobs,
            ids=frozenset(job.job for job in jobs),
            nodes=nodes,
            **more,
        )
        folded = fold(state, answer, NodeMapping(same_names=True).of)
        state = folded.state
        found += [(moment, event) for event in folded.events]
    return found


def failing(blamed: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the claims of a run that Slurm ends because of a node."""
    failed = Job(
        job=7,
        state="NODE_FAIL",
        submit=T0 + 10,
        start=T0 + 11,
        end=T0 + 400,
        nodes=NAMES,
        failed_node=blamed,
        name="llm",
        user="ann",
        reason="NodeDown",
        gpus=24,
    )
    return slurm((12, [RUN], []), (402, [failed], []))


def cluster(lost: str | None) -> list[tuple[float, Observation]]:
    """Return what the cluster shows: one node is lost, or none."""
    found: list[tuple[float, Observation]] = [
        (0, a_list(NODES, 1, *(a_node(name, 1) for name in NAMES))),
        (0, a_list(PODS, 1)),
        (0, a_list(EVENTS, 1)),
    ]
    if lost is not None:
        unknown = a_node(lost, 50, ready="Unknown")
        found += [
            (LOST + 40, a_frame(NODES, "MODIFIED", unknown, when=LOST + 40))
        ]
    found += [
        (1500, a_bookmark(one, 99, when=1500)) for one in (NODES, PODS, EVENTS)
    ]
    return found


def story(
    claims: Sequence[tuple[int, dict[str, Any]]],
    seen: Sequence[tuple[float, Observation]],
) -> list[list[Observation]]:
    both = [*seen]
    both += [
        (moment - T0, one)
        for (moment, _), one in zip(claims, claimed(claims), strict=True)
    ]
    both.sort(key=lambda pair: pair[0])
    return [[one for _, one in both]]


async def why(reading: Reading, job: int) -> WhyWorkload:
    return await why_job(reading, job, NOW)


def requeuing(blamed: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the claims of a run that is put back because of a node."""
    again = Job(job=7, state="PENDING", submit=T0 + 400, restarts=1)
    past = Job(
        job=7,
        state="NODE_FAIL",
        submit=T0 + 10,
        end=T0 + 400,
        failed_node=blamed,
    )
    return slurm((12, [RUN], []), (402, [again], []), past={7: [past]})


@pytest.mark.parametrize(
    ("blamed", "ends"),
    [
        ("gpu-001", failing),
        ("gpu-001", requeuing),
        ("gpu-002", requeuing),
        ("", failing),
    ],
)
async def test_the_node_whose_own_record_shows_the_loss_is_named(
    logs: Logs,
    blamed: str,
    ends: Callable[[str], list[tuple[int, dict[str, Any]]]],
) -> None:
    played = story(ends(blamed), cluster("gpu-002"))
    async with logs.recorded(*played) as reading:
        found = await why(reading, 7)
        impact = await ask_impact(
            reading,
            ImpactQuestion(nodes=("gpu-002",), window=Window(at(0), at(1000))),
            shipped(),
            now=NOW,
        )
    (ending,) = found.endings
    assert (ending.ended_by, ending.node) == ("node-failure", "gpu-002")
    assert [str(hit.workload) for hit in impact.workloads] == [
        "SlurmJob lab/7"
    ]
    said = "Slurm blames gpu-001" in ending.sentence
    assert said is (blamed == "gpu-001")


async def test_without_slurm_the_node_is_lost_and_no_gang_is_known(
    logs: Logs,
) -> None:
    async with logs.recorded(*story([], cluster("gpu-002"))) as reading:
        impact = await ask_impact(
            reading,
            ImpactQuestion(nodes=("gpu-002",), window=Window(at(0), at(1000))),
            shipped(),
            now=NOW,
        )
        incidents = await ask_incidents(
            reading,
            IncidentsQuestion(window=Window(at(0), at(1400))),
            shipped(),
            now=NOW,
        )
    assert not impact.workloads
    assert [one.nodes for one in incidents.incidents] == [["gpu-002"]]


async def test_without_the_cluster_slurm_alone_is_likely(
    logs: Logs,
) -> None:
    played = story(failing("gpu-001"), cluster(None))
    async with logs.recorded(*played) as reading:
        (ending,) = (await why(reading, 7)).endings
    assert (ending.ended_by, ending.confidence, ending.node) == (
        *("node-failure", "likely", "gpu-001"),
    )


INVERTED = [
    Node(
        name=name,
        states=frozenset({"DOWN"} if name != "gpu-002" else {"IDLE"}),
        reason="Node unexpectedly rebooted" if name != "gpu-002" else "",
        by="slurm",
        changed=T0 + LOST,
        boot=T0 + LOST,
    )
    for name in NAMES
]
"""The opposite of what happened: every node but the lost one rebooted."""


async def test_the_opposite_word_changes_no_verdict(
    logs: Logs,
) -> None:
    found = []
    for nodes in ([], INVERTED):
        claims = slurm((12, [RUN], []), (LOST + 41, [RUN], nodes))
        acts = [one["data"].get("act") for _, one in claims[1:]]
        assert acts == ["rebooted", "rebooted"][: len(nodes)]
        played = story(claims, cluster("gpu-002"))
        async with logs.recorded(*played) as reading:
            incidents = await ask_incidents(
                reading,
                IncidentsQuestion(window=Window(at(0), at(1400))),
                shipped(),
                now=NOW,
            )
        found.append(
            [
                (one.nodes, one.since, one.confidence, one.sentence)
                for one in incidents.incidents
            ]
        )
    assert found[0] == found[1]
    assert [one[0] for one in found[0]] == [["gpu-002"]]


def preempted(**more: Any) -> list[tuple[int, dict[str, Any]]]:
    """Return the claims of a run that is preempted, and put back."""
    again = Job(job=7, state="PENDING", submit=T0 + 200, restarts=1)
    state = more.pop("state", "PREEMPTED")
    past = Job(job=7, state=state, submit=T0 + 10, end=T0 + 200)
    return slurm((12, [RUN], []), (201, [again], []), past={7: [past]}, **more)


def a_pod_begins(
    when: float, labels: Mapping[str, str] | None = None
) -> list[tuple[float, Observation]]:
    pod = an_object(
        "server-0",
        30,
        uid="server-0",
        spec={"nodeName": "gpu-002"},
        status={"phase": "Running"},
    )
    pod["metadata"]["labels"] = dict(labels or {})
    return [(when, a_frame(PODS, "ADDED", pod, when=when))]


@pytest.mark.parametrize("when", [200.4, 500])
async def test_what_begins_as_a_run_is_preempted_likely_took_its_place(
    logs: Logs, when: float
) -> None:
    played = story(preempted(), [*cluster(None), *a_pod_begins(when)])
    async with logs.recorded(*played) as reading:
        (ending,) = (await why(reading, 7)).endings
    assert ending.ended_by == "preemption"
    if when == 500:
        assert ending.preemptor is None
        assert [lack.evidence for lack in ending.missing] == [
            "the log of slurmctld"
        ]
    else:
        assert ending.preemptor is not None
        assert ending.preemptor.name == "server-0"
        assert ending.confidence == "likely"


async def test_slurms_log_names_the_job_that_took_its_place(
    logs: Logs,
) -> None:
    taker = Job(
        job=9,
        state="RUNNING",
        submit=T0 + 199,
        start=T0 + 200,
        nodes=("gpu-001",),
    )
    claims = preempted(preemptors={7: "9"})
    claims += slurm((201, [taker], []))
    async with logs.recorded(*story(claims, cluster(None))) as reading:
        (ending,) = (await why(reading, 7)).endings
    assert ending.preemptor is not None
    assert (ending.preemptor.kind, ending.preemptor.name) == ("SlurmJob", "9")
    assert ending.confidence == "proven"


async def test_a_pod_that_is_a_job_of_slurm_took_its_place(
    logs: Logs,
) -> None:
    """As slurm-bridge labels Pods; made after its source, not by it."""
    label = {"scheduler.slinky.slurm.net/slurm-jobid": "9"}
    seen = [*cluster(None), *a_pod_begins(203, label)]
    played = story(preempted(preemptors={7: "9"}), seen)
    async with logs.recorded(*played) as reading:
        (ending,) = (await why(reading, 7)).endings
    assert ending.preemptor is not None
    assert (ending.preemptor.kind, ending.preemptor.name) == (
        *("Pod", "server-0"),
    )
    assert ending.confidence == "proven"


@pytest.mark.parametrize(
    ("log", "confidence"), [({7: "9"}, "proven"), ({}, "likely")]
)
async def test_the_pod_of_a_placeholder_job_took_its_place(
    logs: Logs, log: Mapping[int, str], confidence: str
) -> None:
    """As SUNK's Pod Scheduler makes a placeholder job of root for each Pod.

    Made after its documentation, not by it. A Pod of another name that begins
    beside it is not meant.
    """
    placeholder = Job(
        job=9,
        state="RUNNING",
        name="server-0",
        user="root",
        partition="infer",
        submit=T0 + 199,
        start=T0 + 200,
        nodes=("gpu-002",),
    )
    claims = preempted(preemptors=log)
    claims += slurm((201, [placeholder], []))
    other = an_object(
        "agent", 29, spec={"nodeName": "gpu-002"}, status={"phase": "Running"}
    )
    seen = [*cluster(None), *a_pod_begins(201.5)]
    seen.append((201, a_frame(PODS, "ADDED", other, when=201)))
    async with logs.recorded(*story(claims, seen)) as reading:
        (ending,) = (await why(reading, 7)).endings
    assert ending.preemptor is not None
    assert (ending.preemptor.kind, ending.preemptor.name) == (
        *("Pod", "server-0"),
    )
    assert ending.confidence == confidence


async def test_a_requeue_by_an_administrator_is_no_preemption(
    logs: Logs,
) -> None:
    claims = preempted(state=REQUEUED)
    played = story(claims, [*cluster(None), *a_pod_begins(200.4)])
    async with logs.recorded(*played) as reading:
        (ending,) = (await why(reading, 7)).endings
    assert (ending.ended_by, ending.preemptor) == ("eviction", None)
    assert "by a requeue" in ending.sentence
    assert ending.actor is None


async def test_without_slurms_records_nothing_names_who_took_the_place(
    logs: Logs,
) -> None:
    """Neither accounting nor the log: a requeue looks like a preemption."""
    again = Job(job=7, state="PENDING", submit=T0 + 200, restarts=1)
    claims = slurm((12, [RUN], []), (201, [again], []))
    played = story(claims, [*cluster(None), *a_pod_begins(500)])
    async with logs.recorded(*played) as reading:
        (ending,) = (await why(reading, 7)).endings
    assert ending.ended_by == "unrecorded"
    assert (ending.preemptor, ending.confidence) == (None, "unknown")
    assert "slurmdbd" in ending.missing[0].evidence


async def test_without_slurm_a_pod_that_begins_preempted_nothing(
    logs: Logs,
) -> None:
    played = story([], [*cluster(None), *a_pod_begins(200.4)])
    async with logs.recorded(*played) as reading:
        jobs = await ask_jobs(
            reading,
            JobsQuestion(wanted=JobFilter(), window=Window()),
            shipped(),
            now=NOW,
        )
        with pytest.raises(NotFoundError):
            await why(reading, 7)
    assert [(one.kind, one.endings) for one in jobs.workloads] == [("Pod", 0)]
