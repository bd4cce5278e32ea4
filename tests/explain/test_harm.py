"""Harm: what first ended a Pod decides, and a silent machine runs nothing."""

import pytest
from msgspec.structs import replace

from recorder.explain.ending import Ending
from recorder.explain.endings import Life, endings_of, facts_by_object
from recorder.explain.hit import Hit, Scope
from recorder.explain.impact import by_workload, hits
from recorder.explain.pod_end import PodEnd, ends_of
from recorder.facts.projections import Placements, Workloads
from recorder.model.fact import FactKind
from recorder.model.outcomes import Confidence, EndedBy, HitBy, Outcome
from recorder.model.reference import ObjectIdentity
from tests.explain.history import a_pod
from tests.explain.tale import Tale
from tests.support.builders import at


def harmed(
    tale: Tale, until: float = 1000, since: float | None = None
) -> list[Hit]:
    found = hits(
        tale.verdicts("n1"),
        Placements(tale.facts),
        Workloads(tale.facts),
        scope=Scope(
            nodes=frozenset(["n1"]),
            since=None if since is None else at(since),
            until=at(until),
        ),
    )
    return by_workload(found)


def test_a_job_on_a_silent_machine_is_down_before_its_pods_are_evicted() -> (
    None
):
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    tale.silent(60, renewed=50).lost(60)
    (hit,) = harmed(tale)
    assert hit.outcome is Outcome.DOWN
    assert hit.hit_at == at(60)
    assert hit.running_again_at is None


def test_a_job_whose_node_is_heard_of_again_kept_running() -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    tale.silent(60, renewed=50).lost(60).ready(120)
    (hit,) = harmed(tale)
    assert hit.outcome is Outcome.SURVIVED


def test_a_pod_that_failed_by_itself_before_the_crash_is_not_hit() -> None:
    """The kubelet reported the end with its last sign of life."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    ended = {"container": "main", "exit_code": 1, "reason": "Error"}
    pod = a_pod("llm-0")
    tale.add(5, FactKind.CONTAINER_ENDED, ended, about=pod, actor="kubelet")
    tale.crashes(10)
    tale.add(215, FactKind.ENDED, {"phase": "Failed"}, about=pod)
    assert harmed(tale) == []


def test_a_pod_that_died_with_its_machine_is_hit_though_it_says_failed() -> (
    None
):
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").crashes(10)
    tale.pod_ends(215, "llm-0", "n1", 255)
    (hit,) = harmed(tale)
    assert hit.pods_hit == ["llm-0"]


def test_a_pod_deleted_before_the_crash_is_not_hit_by_what_is_written() -> (
    None
):
    """The taint manager writes its reason on a Pod that was leaving."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    pod = a_pod("llm-0")
    tale.add(5, FactKind.DELETION_REQUESTED, {}, about=pod, actor="kubectl")
    tale.crashes(10)
    tale.pod(70, "DeletionByTaintManager", name="llm-0")
    tale.pod_ends(215, "llm-0", "n1", 255)
    assert harmed(tale) == []


def test_a_pod_that_a_kubelet_evicts_before_it_reports_pressure_is_hit() -> (
    None
):
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    pod = a_pod("llm-0")
    evicted = {"status": "True", "reason": "TerminationByKubelet"}
    tale.add(
        59.5,
        FactKind.CONDITION_CHANGED,
        {"type": "DisruptionTarget", "old": None, "new": evicted},
        about=pod,
    )
    tale.add(
        59.6,
        FactKind.ENDED,
        {"phase": "Failed", "reason": "Evicted"},
        about=pod,
    )
    tale.condition(60, "DiskPressure", "True", "KubeletHasDiskPressure")
    (hit,) = harmed(tale)
    assert hit.pods_hit == ["llm-0"]
    assert hit.charges[0].verdict is not None


def test_a_pod_that_a_kubelet_refuses_hours_after_a_fault_is_hit() -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    tale.condition(60, "DiskPressure", "True", "KubeletHasDiskPressure")
    refused = {"phase": "Failed", "reason": "UnexpectedAdmissionError"}
    tale.add(9000, FactKind.ENDED, refused, about=a_pod("llm-0"))
    (hit,) = harmed(tale, until=10000)
    assert hit.pods_hit == ["llm-0"]


def test_a_pod_evicted_for_the_taint_of_a_device_is_hit() -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    tainted = {"status": "True", "reason": "DeletionByDeviceTaintManager"}
    tale.add(
        60,
        FactKind.CONDITION_CHANGED,
        {"type": "DisruptionTarget", "old": None, "new": tainted},
        about=a_pod("llm-0"),
    )
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.hit_at) == (HitBy.EVICTION, at(60))


@pytest.mark.parametrize(
    ("since", "pods", "hit_by"),
    [
        (None, ["llm-0", "llm-1"], HitBy.EVICTION),
        (65, ["llm-0", "llm-1"], HitBy.EVICTION),
        (150, ["llm-1"], HitBy.NODE_FAILURE),
    ],
)
def test_a_hit_that_ended_before_the_window_is_no_part_of_the_next(
    since: float | None, pods: list[str], hit_by: HitBy
) -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    tale.pod(60, "EvictionByEvictionAPI", name="llm-0")
    tale.pod_ends(62, "llm-0", "n1", 143)
    tale.pod_runs(70, "llm-1", "n1").crashes(200)
    (hit,) = harmed(tale, since=since)
    assert (hit.pods_hit, hit.hit_by) == (pods, hit_by)


@pytest.mark.parametrize(
    ("reason", "hit_by", "outcome"),
    [
        ("Preempting", HitBy.PREEMPTION, Outcome.PREEMPTED),
        ("Evicted", HitBy.EVICTION, Outcome.DOWN),
    ],
)
def test_a_pod_that_its_kubelet_ends_is_hit(
    reason: str, hit_by: HitBy, outcome: Outcome
) -> None:
    """The kubelet writes the end and its reason in one version.

    It ends a Pod for a critical one, or because of the Pod's own limit: the
    node has no pressure.
    """
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    pod, seen = a_pod("llm-0"), len(tale.facts)
    ended = {"phase": "Failed", "reason": reason}
    tale.add(60, FactKind.ENDED, ended, about=pod)
    kubelet = {"status": "True", "reason": "TerminationByKubelet"}
    tale.add(
        60,
        FactKind.CONDITION_CHANGED,
        {"type": "DisruptionTarget", "old": None, "new": kubelet},
        about=pod,
    )
    tale.facts[-1] = replace(
        tale.facts[-1], entry=tale.facts[seen].entry, index=1
    )
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.hit_at) == (hit_by, at(60))
    assert hit.outcome is outcome


def test_a_pod_that_outlives_its_kubelet_dies_with_its_machine() -> None:
    """The end of the Pod is seen minutes after both."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").kubelet_starts(10).ready(12)
    tale.crashes(60)
    tale.pod_ends(250, "llm-0", "n1", 255)
    (hit,) = harmed(tale)
    happened = {one.id: one.happened for one in tale.verdicts("n1")}
    assert sorted(happened.values()) == ["kubelet-restart", "reboot"]
    assert happened[hit.charges[0].verdict or ""] == "reboot"


def test_a_pod_that_its_kubelet_refuses_is_hit() -> None:
    tale = Tale("n1")
    pod = a_pod("llm-0")
    bound = {"created": True, "state": {"node": "n1"}}
    tale.add(1, FactKind.APPEARED, bound, about=pod)
    refused = {"phase": "Failed", "reason": "UnexpectedAdmissionError"}
    tale.add(2, FactKind.ENDED, refused, about=pod)
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.hit_at) == (HitBy.EVICTION, at(2))


def test_a_pod_that_completed_work_leaves_behind_is_not_hit() -> None:
    """Its controller deletes it before its machine dies."""
    tale = Tale("n1")
    job = ObjectIdentity("batch", "Job", "train", "llm", "uid-llm")
    owner = {"kind": "Job", "name": "llm", "uid": "uid-llm"}
    tale.add(0.5, FactKind.APPEARED, {"state": {}}, node=None, about=job)
    state = {"node": "n1", "owners": [{**owner, "controller": True}]}
    made, pod = {"created": True, "state": state}, a_pod("llm-0")
    tale.add(1, FactKind.APPEARED, made, about=pod)
    tale.add(1, FactKind.STARTED, {}, about=pod)
    done = {"type": "Complete", "old": None, "new": {"status": "True"}}
    tale.add(59, FactKind.CONDITION_CHANGED, done, node=None, about=job)
    tale.add(59.5, FactKind.DELETION_REQUESTED, {}, about=pod)
    tale.crashes(59.9)
    tale.pod_ends(215, "llm-0", "n1", 255)
    assert harmed(tale) == []


@pytest.mark.parametrize(
    ("kind", "size"), [("SomeJob", 2), ("Job", 2), ("ReplicaSet", 1)]
)
def test_all_pods_of_a_workload_are_its_size_unless_it_serves(
    kind: str, size: int
) -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", of=kind)
    tale.pod_runs(1, "llm-1", "n2", of=kind).crashes(10)
    tale.pod_ends(215, "llm-0", "n1", 255)
    (hit,) = harmed(tale)
    assert (hit.pods_hit, hit.gang_size) == (["llm-0"], size)
    assert hit.gpus == 8 * size
    # Its own owner would be on the object, which is not recorded here.
    assert hit.says.endswith("not recorded") is (kind == "SomeJob")


@pytest.mark.parametrize(
    ("reporter", "reason", "hit_by"),
    [
        ("some-scheduler", "Preempted", HitBy.PREEMPTION),
        ("some-agent", "EvictedForRebalancing", HitBy.EVICTION),
        ("some-agent", "Announced", None),
        ("node-controller", "TaintManagerEviction", None),
    ],
)
@pytest.mark.parametrize("announced", [58, 61])
def test_an_event_says_for_whom_a_pod_was_deleted(
    announced: float, reporter: str, reason: str, hit_by: HitBy | None
) -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    pod = a_pod("llm-0")
    acts = [
        (announced, FactKind.EVENT, {"reason": reason}, reporter),
        (60, FactKind.DELETION_REQUESTED, {}, None),
    ]
    for when, kind, detail, actor in sorted(acts, key=lambda act: act[0]):
        tale.add(when, kind, detail, about=pod, actor=actor)
    tale.pod_ends(62, "llm-0", "n1", 143)

    found = harmed(tale)

    assert [hit.hit_by for hit in found] == ([hit_by] if hit_by else [])


def test_an_event_about_a_pod_that_stays_displaces_nothing() -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    pod = a_pod("llm-0")
    event = {"reason": "Preempted"}
    tale.add(20, FactKind.EVENT, event, about=pod, actor="some-scheduler")
    tale.add(60, FactKind.DELETION_REQUESTED, {}, about=pod)
    tale.pod_ends(62, "llm-0", "n1", 143)

    assert harmed(tale) == []
    assert [end.by for end in ends_of_pod(tale)] == [EndedBy.DELETION]


KINDS = ("Job", "ReplicaSet", "StatefulSet", "ReplicationController")


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("cordoned", [False, True])
@pytest.mark.parametrize("of", KINDS)
def test_a_deleted_pod_that_its_controller_replaces_is_harm(
    of: str, *, force: bool, cordoned: bool
) -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", of)
    if cordoned:
        tale.cordons(50, "someone")
    tale.deletes(60, "llm-0", force=force)
    tale.pod_runs(70, "llm-1", "n1", of, created=True)
    (hit,) = harmed(tale)
    by = HitBy.DRAIN if cordoned and not force else HitBy.DELETION
    assert (hit.hit_by, hit.hit_at, hit.pods_hit) == (by, at(60), ["llm-0"])
    assert (hit.charges[0].verdict is None) is (by is HitBy.DELETION)


@pytest.mark.parametrize("of", KINDS)
def test_a_deleted_pod_that_nothing_replaces_is_no_harm(of: str) -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", of).deletes(60, "llm-0")
    assert harmed(tale) == []


@pytest.mark.parametrize("of", ["ReplicaSet", "ReplicationController"])
def test_a_pod_made_while_one_that_is_not_wanted_ends_is_no_harm(
    of: str,
) -> None:
    """It is scaled down, serves to its end for minutes, and is scaled up."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", of)
    tale.deletes(60, "llm-0", takes=600)
    tale.pod_runs(400, "llm-1", "n1", of, created=True)
    assert harmed(tale) == []


def test_a_pod_that_an_update_replaces_is_no_harm() -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", "StatefulSet")
    tale.deletes(60, "llm-0")
    tale.pod_runs(70, "llm-1", "n1", "StatefulSet", created=True, revision="2")
    assert harmed(tale) == []


def test_a_job_that_is_suspended_and_resumed_is_no_harm() -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").pod_runs(1, "llm-1", "n1")
    tale.deletes(60, "llm-0").deletes(60, "llm-1")
    tale.pod_runs(70, "llm-2", "n1", created=True)
    assert harmed(tale) == []


@pytest.mark.parametrize("failed", [False, True])
def test_a_gang_that_its_owner_deletes_and_creates_again_is_harm(
    *, failed: bool
) -> None:
    """Unless one of its Pods had failed before: then that is why."""
    wrapper = {"kind": "AppWrapper", "name": "llm", "uid": "uid-w"}
    of = [{**wrapper, "controller": True}]
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").pod_runs(1, "llm-1", "n1")
    tale.pod_runs(1, "llm-2", "n2")
    for uid in ("uid-llm", "uid-again"):
        job = ObjectIdentity("batch", "Job", "train", "llm", uid)
        tale.add(2, FactKind.APPEARED, {"state": {"owners": of}}, about=job)
    if failed:
        tale.pod_ends(50, "llm-2", "n2", 1)
    tale.deletes(60, "llm-0").deletes(60.1, "llm-1")
    tale.pod_runs(70, "llm-3", "n1", created=True, uid="uid-again")
    tale.pod_runs(70, "llm-4", "n1", created=True, uid="uid-again")
    found = [(hit.hit_by, hit.kind, hit.pods_hit) for hit in harmed(tale)]
    gang = HitBy.DELETION, "AppWrapper", ["llm-0", "llm-1"]
    assert found == ([] if failed else [gang])


def ends_of_pod(tale: Tale) -> list[PodEnd]:
    own = [s for s in tale.facts if s.fact.object == a_pod("llm-0")]
    (pod,) = Placements(own)
    return list(ends_of(pod, own))


def ended(tale: Tale, until: float = 1000) -> list[Ending]:
    """Return what ended the only workload of a tale."""
    pods, workloads = [*Placements(tale.facts)], Workloads(tale.facts)
    (workload,) = {one for pod in pods if (one := workloads.of(pod))}
    verdicts = tale.verdicts("n1")
    scope = Scope(nodes=frozenset(["n1", "n2"]), until=at(until))
    found = hits(verdicts, pods, workloads, scope=scope)
    life = Life(workload, pods, facts_by_object(tale.facts), workloads)
    return list(endings_of(life, found, verdicts))


def restarts(
    tale: Tale, seconds: float, code: int = 137, count: int = 1
) -> Tale:
    """Let the container of a Pod fail and start again."""
    detail = {"container": "main", "exit_code": code, "reason": "Error"}
    return tale.add(
        seconds,
        FactKind.CONTAINER_ENDED,
        {**detail, "restarts": count},
        about=a_pod("llm-0"),
    )


@pytest.mark.parametrize(
    ("mended", "failed", "hit"),
    [
        (None, 61, True),
        (100, 110, True),
        (100, 350, False),
        (None, 9e3, False),
    ],
)
def test_a_fault_of_a_node_that_stays_hits_what_fails_while_it_holds(
    mended: float | None, failed: float, *, hit: bool
) -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    fault = "DiskPressure", "True", "KubeletHasDiskPressure"
    tale.condition(60, *fault)
    if mended is not None:
        tale.condition(mended, fault[0], "False", "ok", was="True")
    tale.pod_ends(failed, "llm-0", "n1", 1)
    assert bool(harmed(tale, until=10000)) is hit


@pytest.mark.parametrize("of", ["Job", "ReplicaSet"])
@pytest.mark.parametrize("deleted", [False, True])
def test_a_restart_that_a_kubelet_caused_is_harm_also_if_the_pod_is_deleted(
    of: str, *, deleted: bool
) -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", of).kubelet_starts(100)
    restarts(tale, 101)
    if deleted:
        tale.deletes(20000, "llm-0")
    (hit,) = harmed(tale, until=40000)
    assert (hit.hit_by, hit.hit_at) == (HitBy.NODE_FAILURE, at(100))
    assert (hit.pods_hit, hit.outcome) == (["llm-0"], Outcome.RESTARTED)


def test_a_gang_is_ended_by_the_kubelet_that_failed_one_of_its_pods() -> None:
    """Its owner deletes all of them after that."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").pod_runs(1, "llm-1", "n2")
    tale.kubelet_starts(100).pod_ends(101, "llm-0", "n1", 137)
    tale.deletes(103, "llm-0").deletes(103, "llm-1")
    for name, node in (("llm-2", "n1"), ("llm-3", "n2")):
        tale.pod_runs(120, name, node, created=True)
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.pods_hit) == (HitBy.NODE_FAILURE, ["llm-0"])
    (ending,) = ended(tale)
    assert ending.ended_by is EndedBy.NODE_FAILURE
    assert (ending.pods, ending.stopped) == (["llm-0"], ["llm-1"])


def test_a_pod_that_a_started_kubelet_refuses_is_hit_by_the_node() -> None:
    """Its owner replaces it, and deletes it minutes later."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").kubelet_starts(100)
    refused = {"phase": "Failed", "reason": "UnexpectedAdmissionError"}
    tale.add(101, FactKind.ENDED, refused, about=a_pod("llm-0"))
    tale.pod_runs(110, "llm-1", "n1", created=True).deletes(700, "llm-0")
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.hit_at) == (HitBy.NODE_FAILURE, at(100))


def test_a_pod_that_a_rollout_had_replaced_is_not_hit_by_a_crash() -> None:
    """The rollout goes on after the crash, with further new Pods."""
    tale = Tale("n1")
    deployment = {"kind": "Deployment", "name": "llm", "uid": "uid-d"}
    of = [{**deployment, "controller": True}]
    for uid in ("uid-old", "uid-new"):
        one = ObjectIdentity("apps", "ReplicaSet", "train", uid, uid)
        tale.add(0.5, FactKind.APPEARED, {"state": {"owners": of}}, about=one)
    tale.pod_runs(1, "llm-0", "n1", "ReplicaSet", uid="uid-old")
    tale.pod_runs(1, "llm-1", "n2", "ReplicaSet", uid="uid-old")
    tale.pod_runs(20, "llm-2", "n3", "ReplicaSet", uid="uid-new", created=True)
    tale.add(30, FactKind.DELETION_REQUESTED, {}, about=a_pod("llm-0"))
    tale.crashes(100)
    tale.pod_runs(
        120, "llm-3", "n3", "ReplicaSet", uid="uid-new", created=True
    ).deletes(121, "llm-1")
    tale.add(310, FactKind.VANISHED, {"state": {}}, about=a_pod("llm-0"))
    assert harmed(tale) == []


@pytest.mark.parametrize("scaled", [False, True])
def test_a_deleted_pod_replaced_before_a_crash_is_not_hit_by_it(
    *, scaled: bool
) -> None:
    """Nor does a Pod that is added hours later replace it."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", "ReplicaSet")
    tale.pod_runs(1, "llm-1", "n3", "ReplicaSet")
    tale.add(60, FactKind.DELETION_REQUESTED, {}, about=a_pod("llm-0"))
    tale.pod_runs(62, "llm-2", "n2", "ReplicaSet", created=True).crashes(100)
    tale.add(310, FactKind.VANISHED, {"state": {}}, about=a_pod("llm-0"))
    if scaled:
        tale.pod_runs(20000, "llm-3", "n2", "ReplicaSet", created=True)
    (hit,) = harmed(tale, until=40000)
    assert (hit.hit_by, hit.hit_at) == (HitBy.DELETION, at(60))
    assert hit.running_again_at == at(62)


def test_a_job_whose_container_fails_too_often_has_one_end() -> None:
    """Its Pod restarts by itself, until the Job is at its limit."""
    tale = Tale("n1")
    job = ObjectIdentity("batch", "Job", "train", "llm", "uid-llm")
    tale.add(0.5, FactKind.APPEARED, {"state": {}}, node=None, about=job)
    tale.pod_runs(1, "llm-0", "n1", created=True)
    restarts(tale, 20, code=1)
    restarts(tale, 60, code=1, count=2)
    failed = {"status": "True", "reason": "BackoffLimitExceeded"}
    detail = {"type": "Failed", "old": None, "new": failed}
    tale.add(60.3, FactKind.CONDITION_CHANGED, detail, node=None, about=job)
    tale.deletes(60.4, "llm-0")
    (ending,) = ended(tale)
    assert ending.ended_by is EndedBy.CONTAINER_EXIT
    assert (ending.outcome, ending.count) == (Outcome.FAILED, 2)
    assert ending.confidence is Confidence.PROVEN


@pytest.mark.parametrize("of", ["Job", "RayCluster"])
def test_all_pods_of_a_gang_on_a_drained_node_are_ended_by_the_drain(
    of: str,
) -> None:
    """They are deleted one after another, and created again."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", of)
    tale.pod_runs(1, "llm-1", "n1", of).cordons(50, "someone")
    tale.deletes(60, "llm-0").deletes(60.1, "llm-1")
    for name in ("llm-2", "llm-3"):
        tale.pod_runs(63, name, "n3", of, created=True)
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.hit_at) == (HitBy.DRAIN, at(60))
    assert hit.charges[0].verdict is not None
    (ending,) = ended(tale)
    assert ending.ended_by is EndedBy.DRAIN
    assert [*ending.pods, *ending.stopped] == ["llm-0", "llm-1"]


@pytest.mark.parametrize("pause", [2, 90])
def test_a_drained_pod_is_hit_however_late_its_owner_replaces_it(
    pause: float,
) -> None:
    of = "AppWrapper"
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", of)
    tale.pod_runs(1, "llm-1", "n2", of).cordons(50, "someone")
    tale.deletes(60, "llm-0")
    tale.pod_runs(62 + pause, "llm-2", "n3", of, created=True)
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.pods_hit) == (HitBy.DRAIN, ["llm-0"])
    assert hit.running_again_at == at(62 + pause)


@pytest.mark.parametrize("actor", [None, "kubelet"])
def test_a_pod_that_starts_after_the_last_sign_of_its_node_is_down(
    actor: str | None,
) -> None:
    """Its node is not heard of again."""
    tale = Tale("n1")
    owner = {"kind": "Job", "name": "llm", "uid": "uid-llm"}
    state = {"node": "n1", "owners": [{**owner, "controller": True}]}
    bound, pod = {"created": True, "state": state}, a_pod("llm-0")
    tale.add(40, FactKind.APPEARED, bound, about=pod)
    tale.add(55, FactKind.STARTED, {}, about=pod, actor=actor)
    tale.silent(90, renewed=50).lost(90)
    (hit,) = harmed(tale)
    assert (hit.outcome, hit.hit_at) == (Outcome.DOWN, at(90))


@pytest.mark.parametrize("namespace", ["train", "ops"])
def test_a_pod_with_gpus_is_hit_by_a_drain_also_one_of_its_namespace(
    namespace: str,
) -> None:
    """Only Pods without GPUs carry out what empties a node."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    tale.cordons(61, f"system:serviceaccount:{namespace}:doctor")
    tale.pod(63, "EvictionByEvictionAPI", name="llm-0").deletes(63, "llm-0")
    tale.pod_runs(71, "llm-1", "n2", created=True).crashes(121)
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.pods_hit) == (HitBy.DRAIN, ["llm-0"])


def test_a_pod_that_fails_after_its_gang_ran_again_has_an_end_of_its_own() -> (
    None
):
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").pod_runs(1, "llm-1", "n2")
    restarts(tale.kubelet_starts(100), 101)
    tale.pod_ends(140, "llm-1", "n2", 1)
    found = [(one.ended_by, one.pods, one.at) for one in ended(tale)]
    assert found == [
        (EndedBy.NODE_FAILURE, ["llm-0"], at(100)),
        (EndedBy.CONTAINER_EXIT, ["llm-1"], at(140)),
    ]


@pytest.mark.parametrize("cordoned", [False, True])
@pytest.mark.parametrize("of", ["Job", "ReplicaSet"])
def test_a_pod_that_is_not_wanted_is_not_hit_by_a_loss_seen_later(
    of: str, *, cordoned: bool
) -> None:
    """It is scaled down after the last renewal, or after a cordon."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", of)
    tale.pod_runs(1, "llm-1", "n2", of)
    if cordoned:
        tale.cordons(45, "someone")
    tale.deletes(60, "llm-0").crashes(100 if cordoned else 55)
    assert harmed(tale) == []


@pytest.mark.parametrize("revision", ["1", "2"])
def test_a_rollout_on_a_cordoned_node_is_not_hit_by_its_crash(
    revision: str,
) -> None:
    of = "StatefulSet"
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", of).cordons(50, "someone")
    tale.deletes(60, "llm-0")
    tale.pod_runs(64, "llm-1", "n2", of, created=True, revision=revision)
    tale.crashes(100)
    found = [hit.hit_at for hit in harmed(tale)]
    assert found == ([at(60)] if revision == "1" else [])


@pytest.mark.parametrize("lasting", [False, True])
def test_a_container_that_fails_on_a_cordoned_node_ends_by_itself(
    *, lasting: bool
) -> None:
    """The node crashes after that."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", "ReplicaSet")
    tale.cordons(50, "someone")
    if lasting:
        tale.pod_ends(60, "llm-0", "n1", 1).crashes(100)
    else:
        restarts(tale, 60, code=1).crashes(100)
        restarts(tale, 305, code=255, count=2)
    found = [(one.ended_by, one.at) for one in ended(tale)]
    crash = (EndedBy.NODE_FAILURE, at(150))
    assert found[0] == (EndedBy.CONTAINER_EXIT, at(60))
    assert found[1:] == ([] if lasting else [crash])


def test_a_deletion_because_a_job_failed_is_no_hit_on_a_node_lost_later() -> (
    None
):
    """Its last renewal is older than the failure."""
    tale = Tale("n1")
    job = ObjectIdentity("batch", "Job", "train", "llm", "uid-llm")
    tale.add(0.5, FactKind.APPEARED, {"state": {}}, node=None, about=job)
    tale.pod_runs(1, "llm-0", "n2").pod_runs(1, "llm-1", "n1")
    tale.pod_ends(50, "llm-0", "n2", 1)
    failed = {"status": "True", "reason": "BackoffLimitExceeded"}
    detail = {"type": "Failed", "old": None, "new": failed}
    tale.add(51, FactKind.CONDITION_CHANGED, detail, node=None, about=job)
    tale.add(51.1, FactKind.DELETION_REQUESTED, {}, about=a_pod("llm-1"))
    tale.crashes(45)
    tale.pod_ends(262, "llm-1", "n1", 255)
    assert harmed(tale) == []
    (ending,) = ended(tale)
    assert (ending.ended_by, ending.outcome, ending.stopped) == (
        EndedBy.CONTAINER_EXIT,
        Outcome.FAILED,
        ["llm-1"],
    )


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("lasting", [False, True])
def test_a_container_that_fails_minutes_after_its_node_returned_is_its_own(
    *, lasting: bool, silent: bool
) -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", "ReplicaSet")
    if silent:
        tale.silent(60, renewed=50).lost(60).ready(100)
    else:
        tale.kubelet_starts(100)
    if lasting:
        tale.pod_ends(300, "llm-0", "n1", 1)
    else:
        restarts(tale, 300, code=1)
    (hit,) = harmed(tale)
    assert hit.outcome is Outcome.SURVIVED
    found = [(one.ended_by, one.at) for one in ended(tale)]
    assert found == [(EndedBy.CONTAINER_EXIT, at(300))]


@pytest.mark.parametrize(
    ("reason", "when", "hit_by"),
    [
        ("EvictionByEvictionAPI", 60, HitBy.DRAIN),
        ("EvictionByEvictionAPI", 105, HitBy.EVICTION),
        ("PreemptionByScheduler", 60, HitBy.PREEMPTION),
        (None, 60, None),
    ],
)
@pytest.mark.parametrize("drained", [False, True])
def test_a_drain_hits_the_pods_that_it_asked_to_go(
    reason: str | None, when: float, hit_by: HitBy | None, *, drained: bool
) -> None:
    """Neither one that fails, nor one that leaves for another reason."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").cordons(50, "someone")
    if drained:
        tale.pod(52, "EvictionByEvictionAPI", name="other")
    if when > 90:
        tale.uncordons(90, "someone")
    if reason:
        tale.pod(when, reason, name="llm-0").deletes(when, "llm-0")
    else:
        tale.pod_ends(when, "llm-0", "n1", 1)
    if when <= 90:
        tale.uncordons(90, "someone")
    tale.pod_runs(when + 50, "llm-1", "n2", created=True)
    found = [one for one in harmed(tale) if one.name == "llm"]
    assert [one.hit_by for one in found] == ([hit_by] if hit_by else [])
