"""Workloads found by a name alone, by another kind, or by a kind's group."""

import re
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import Any

import pytest

from recorder.answers.naming import ObjectNameError, Reference
from recorder.answers.node_questions import (
    WhyWorkloadQuestion,
    WorkloadQuestion,
)
from recorder.answers.ports import Reading
from recorder.answers.why_workload import WhyWorkload, ask_why_workload
from recorder.answers.workload import WorkloadHistory, ask_workload
from recorder.answers.workload_named import find_workload, workload_of
from recorder.explain.knowledge import shipped
from recorder.facts.projections import Placements
from recorder.model.errors import NotFoundError
from recorder.model.observation import Observation
from recorder.model.reference import Resource
from recorder.model.window import Window
from tests.corpus.logs import reading_of
from tests.support.builders import (
    NODES,
    PODS,
    a_frame,
    a_list,
    a_node,
    an_object,
    at,
)
from tests.support.filled import filled_database
from tests.support.fixed_log import write_log
from tests.support.postgres import Database, DatabaseServer

NOW = at(600)
JOBS = Resource("batch", "v1", "jobs")
VOLCANO_JOBS = Resource("batch.volcano.sh", "v1alpha1", "jobs")
JOBSETS = Resource("jobset.x-k8s.io", "v1alpha2", "jobsets")
GROUPS = Resource("leaderworkerset.x-k8s.io", "v1", "leaderworkersets")
SETS = Resource("apps", "v1", "statefulsets")
SERVICES = Resource("", "v1", "services")
RAY_JOBS = Resource("ray.io", "v1", "rayjobs")
RAY_CLUSTERS = Resource("ray.io", "v1", "rayclusters")


VERSIONS = {
    "JobSet": JOBSETS.api_version,
    "LeaderWorkerSet": GROUPS.api_version,
    "RayCluster": RAY_CLUSTERS.api_version,
    "RayJob": RAY_JOBS.api_version,
    "StatefulSet": SETS.api_version,
}
"""Left out of references to others, as some controllers do."""


def work(
    kind: str, name: str, *, namespace: str = "train", owner: str = ""
) -> dict[str, Any]:
    """Return an object, whose UID is its kind and its place."""
    made = an_object(name, 2, uid=f"{kind}/{namespace}/{name}")
    made["kind"] = kind
    made["metadata"]["namespace"] = namespace
    if owner:
        above, _, _ = owner.partition("/")
        made["metadata"]["ownerReferences"] = [
            {
                "kind": above,
                "apiVersion": VERSIONS.get(above, ""),
                "name": owner.rpartition("/")[2],
                "uid": owner,
                "controller": True,
            }
        ]
    return made


def pod_of(owner: str) -> dict[str, Any]:
    """Return a running Pod that an object owns."""
    _, namespace, name = owner.split("/")
    made = work("Pod", f"{name}-0", namespace=namespace, owner=owner)
    made["metadata"]["uid"] = f"pod of {owner}"
    made["spec"] = {"nodeName": "n"}
    made["status"] = {"phase": "Running"}
    return made


def unnamed(one: dict[str, Any]) -> dict[str, Any]:
    """Return an object as a list has it, without its kind."""
    return {key: value for key, value in one.items() if key != "kind"}


def added(resource: Resource, *documents: dict[str, Any]) -> list[Observation]:
    version = {"apiVersion": resource.api_version}
    return [
        a_frame(resource, "ADDED", {**one, **version}, when=10)
        for one in documents
    ]


def of_set(name: str, of: str) -> dict[str, Any]:
    """Return a Pod of a PodClique, of what only its label names."""
    made = pod_of(f"PodClique/serve/{name}")
    made["metadata"]["labels"] = {"app.kubernetes.io/part-of": of}
    return made


STORY: list[list[Observation]] = [
    [
        a_list(NODES, 1, a_node("n", 1)),
        a_list(PODS, 1),
        a_list(RAY_JOBS, 1, unnamed(work("RayJob", "tune"))),
        a_list(
            RAY_CLUSTERS,
            1,
            unnamed(work("RayCluster", "tune-rc", owner="RayJob/train/tune")),
        ),
        *added(JOBS, work("Job", "llm"), work("Job", "same")),
        *added(VOLCANO_JOBS, work("Job", "lammps", namespace="hpc")),
        *added(JOBSETS, work("JobSet", "same", namespace="eval")),
        *added(JOBS, work("Job", "step", owner="JobSet/train/steps")),
        *added(JOBSETS, work("JobSet", "steps")),
        *added(GROUPS, work("LeaderWorkerSet", "serve")),
        *added(
            SETS,
            work("StatefulSet", "serve", owner="LeaderWorkerSet/train/serve"),
        ),
        *added(SERVICES, work("Service", "llm"), work("Service", "serve")),
        *added(
            PODS,
            pod_of("Job/train/llm"),
            pod_of("Job/train/same"),
            pod_of("Job/hpc/lammps"),
            pod_of("JobSet/eval/same"),
            pod_of("StatefulSet/train/serve"),
            pod_of("RayCluster/train/tune-rc"),
            pod_of("Job/train/step"),
            of_set("chat-0-prefill", "chat"),
            of_set("chat-0-decode", "chat"),
            of_set("chatter-0-prefill", "chatter"),
        ),
    ]
]


@pytest.fixture(scope="module")
def log(embedded_server: DatabaseServer) -> Iterator[Database]:
    with filled_database(
        embedded_server, lambda dsn: write_log(dsn, STORY, with_facts=True)
    ) as database:
        yield database


@pytest.fixture
async def reading(log: Database) -> AsyncIterator[Reading]:
    async with reading_of(log.dsn("reader"), 1) as found:
        yield found


async def why(
    reading: Reading, name: str, at: datetime | None = None
) -> WhyWorkload:
    question = WhyWorkloadQuestion(
        object=Reference.bare(name), window=Window(), at=at
    )
    return await ask_why_workload(reading, question, shipped(), now=NOW)


@pytest.mark.parametrize("asked", [False, True])
async def test_a_state_is_not_taken_for_that_at_a_time(
    reading: Reading, *, asked: bool
) -> None:
    found = await why(reading, "llm", NOW if asked else None)
    assert "is running" in found.sentence
    assert ("as of the end of the record" in found.sentence) is asked


async def history(reading: Reading, name: str) -> WorkloadHistory:
    question = WorkloadQuestion(object=Reference.parse(name), window=Window())
    return await ask_workload(reading, question, shipped(), now=NOW)


@pytest.mark.parametrize(
    ("name", "workload", "note"),
    [
        ("llm", "Job train/llm", None),
        ("lammps", "Job hpc/lammps", None),
        ("job/hpc/lammps", "Job hpc/lammps", None),
        ("job.batch.volcano.sh/hpc/lammps", "Job hpc/lammps", None),
        ("jobset/same", "JobSet eval/same", None),
        ("job/same", "Job train/same", None),
        # The StatefulSet of that name is a part of it, the Service is not.
        ("serve", "LeaderWorkerSet train/serve", None),
        ("llm-0", "Job train/llm", None),
        # Filed under their plurals, and named by their kinds as owners.
        ("tune", "RayJob train/tune", None),
        ("rayjob/tune", "RayJob train/tune", None),
        # It has no object, and its parts are of a kind that is not recorded.
        ("podcliqueset/serve/chat", "PodCliqueSet serve/chat", None),
        ("chat", "PodCliqueSet serve/chat", None),
        (
            "job/chat",
            "PodCliqueSet serve/chat",
            'there is no "job/chat": this is podcliqueset/serve/chat',
        ),
        (
            "jobset/llm",
            "Job train/llm",
            'there is no "jobset/llm": this is job/train/llm',
        ),
        (
            "job.batch/lammps",
            "Job hpc/lammps",
            (
                'there is no "job.batch/lammps":'
                " this is job.batch.volcano.sh/hpc/lammps"
            ),
        ),
    ],
)
async def test_a_name_finds_its_workload(
    reading: Reading, name: str, workload: str, note: str | None
) -> None:
    found = await why(reading, name)

    assert str(found.workload) == workload
    assert found.note == note


async def test_what_only_labels_name_has_the_pods_of_all_its_parts(
    reading: Reading,
) -> None:
    asked = Reference.parse("podcliqueset/serve/chat")
    named = await find_workload(reading, asked, until=None)
    facts, _ = await workload_of(reading, asked, named.found, until=None)

    assert {pod.pod.name for pod in Placements(facts)} == {
        "chat-0-prefill-0",
        "chat-0-decode-0",
    }


async def test_the_history_has_the_pods_of_what_a_list_shows_without_its_kind(
    reading: Reading,
) -> None:
    found = await history(reading, "rayjob/train/tune")

    assert [pod.pod for pod in found.placements] == ["tune-rc-0"]


async def test_the_history_of_a_part_is_not_that_of_a_workload_without_pods(
    reading: Reading,
) -> None:
    with pytest.raises(NotFoundError, match="name what owns them"):
        await history(reading, "job/train/step")


async def test_several_workloads_of_a_name_are_listed_with_their_commands(
    reading: Reading,
) -> None:
    with pytest.raises(ObjectNameError) as refused:
        await why(reading, "same")

    assert str(refused.value) == (
        '"same" names several workloads: job/train/same, jobset/eval/same'
    )
    assert refused.value.advice == (
        "ask about one: `recorder why job/train/same` or"
        " `recorder why jobset/eval/same`"
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lamps", 'has no node or workload "lamps"; did you mean "lammps"?'),
        ("job/train/lammps", 'has no "job/train/lammps"; did you mean'),
        ("podcliqueset/serve/cha", 'has no kind "podcliqueset"'),
    ],
)
async def test_a_name_that_nothing_has_is_an_error(
    reading: Reading, name: str, said: str
) -> None:
    with pytest.raises(NotFoundError, match=re.escape(said)):
        await why(reading, name)
