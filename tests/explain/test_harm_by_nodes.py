"""Harm by nodes: a silent machine runs nothing.

It hits the Pods that end with it, and none that ended for another reason.
"""

from itertools import pairwise

import pytest

from recorder.explain.ending_sentences import ending_sentence
from recorder.model.fact import FactKind
from recorder.model.outcomes import (
    Confidence,
    EndedBy,
    Happened,
    HitBy,
    Outcome,
)
from recorder.model.reference import ObjectIdentity
from tests.explain.history import a_pod
from tests.explain.tale import Tale, ended, harmed
from tests.support.builders import at


def test_a_job_on_a_silent_machine_is_down_before_its_pods_are_evicted() -> (
    None
):
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    tale.silent(60, renewed=50).lost(60)
    (hit,) = harmed(tale)
    assert hit.outcome is Outcome.DOWN
    assert hit.hit_at == at(60)
    assert hit.running_again_at is None


def test_a_silent_machine_of_which_no_life_is_recorded_runs_nothing() -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").lost(60)
    (hit,) = harmed(tale)
    assert (hit.outcome, hit.hit_at) == (Outcome.DOWN, at(60))


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


def test_a_pod_that_runs_since_the_boot_is_not_lost_with_that_before() -> None:
    """A gap hides the boot; its kubelet states when it started."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    tale.kubelet_starts(100, occurred=60).boots(100)
    tale.deletes(100, "llm-0", force=True).pod_runs(100, "llm-1", "n1")
    (hit,) = harmed(tale)
    assert (hit.hit_at, hit.running_again_at) == (at(61), at(100))
    assert hit.pods_hit == ["llm-0"]


def test_a_pod_that_outlives_its_kubelet_dies_with_its_machine() -> None:
    """The end of the Pod is seen minutes after both."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").kubelet_starts(10).ready(12)
    tale.crashes(60)
    tale.pod_ends(250, "llm-0", "n1", 255)
    (hit,) = harmed(tale)
    happened = {one.id: one.happened for one in tale.verdicts("n1")}
    assert sorted(happened.values()) == ["kubelet-restart", "reboot"]
    assert happened[hit.charges[0].verdict or ""] == "reboot"


@pytest.mark.parametrize(
    ("fields", "happened"),
    [
        (["machine_id", "system_uuid"], Happened.REPLACED),
        (["machine_id"], Happened.REBOOT),
    ],
    ids=["another machine", "a new system"],
)
def test_another_machine_under_the_name_of_a_node_reboots_none(
    fields: list[str], happened: Happened
) -> None:
    """Two machines report in turn, and the Pods of the first still run.

    A system that is installed anew keeps the UUID of its machine.
    """
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    turns = [(2, "boot-1", "a"), (60, "boot-2", "b"), (64, "boot-1", "a")]
    for (_, old, was), (seconds, new, now) in pairwise([turns[0], *turns]):
        if new != old:
            tale.boots(seconds, old=old, new=new)
        for field in fields if now != was else ("machine_id", "system_uuid"):
            turned = {"field": field, "old": was, "new": now}
            tale.add(seconds, FactKind.MACHINE_CHANGED, turned, node="n1")
    for seconds in (66, 170, 270):
        said = "Node n1 has been rebooted, boot id: boot-1"
        tale.event(seconds, "kubelet", "Rebooted", said)

    first = tale.verdicts("n1")[0]
    assert first.happened is happened
    if happened is Happened.REPLACED:
        assert tale.verdicts("n1") == [first]
        assert "was replaced by another machine" in first.sentence
        assert harmed(tale)[0].outcome is Outcome.SURVIVED


@pytest.mark.parametrize("waits", [False, True])
def test_the_pod_that_reboots_its_node_is_not_lost_by_that(
    *, waits: bool
) -> None:
    tale, pod = Tale("n1").pod_runs(1, "llm-0", "n1"), a_pod("shell")
    command, field = "chroot /host systemctl reboot", "host_command"
    state = {} if waits else {"node": "n1", "fields": {field: command}}
    made = {"created": True, "state": state}
    node = None if waits else "n1"
    tale.add(5, FactKind.APPEARED, made, about=pod, node=node)
    if waits:
        acts = {"field": field, "old": None, "new": command}
        tale.add(5.5, FactKind.BOUND, {"old": None, "node": "n1"}, about=pod)
        tale.add(5.5, FactKind.FIELD_CHANGED, acts, about=pod)
    tale.add(6, FactKind.STARTED, {}, about=pod)
    (hit,) = harmed(tale.crashes(20))
    assert hit.pods_hit == ["llm-0"]


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
    fault = "GpuUnhealthy", "True", "XID79"
    tale.condition(60, *fault)
    if mended is not None:
        tale.condition(mended, fault[0], "False", "ok", was="True")
    tale.pod_ends(failed, "llm-0", "n1", 1)
    assert bool(harmed(tale, until=10000)) is hit


def test_what_fails_by_itself_under_pressure_is_not_hit_by_it() -> None:
    """For pressure a kubelet evicts, and says so on the Pod."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    tale.condition(60, "DiskPressure", "True", "KubeletHasDiskPressure")
    tale.pod_ends(100, "llm-0", "n1", 1)
    assert harmed(tale) == []
    (ending,) = ended(tale)
    assert ending.ended_by is EndedBy.CONTAINER_EXIT


@pytest.mark.parametrize(
    ("code", "fault", "renewed", "hit", "sure"),
    [
        (1, False, 55, False, Confidence.PROVEN),
        (1, False, 45, False, Confidence.LIKELY),
        (1, True, 45, True, Confidence.PROVEN),
        (137, False, 45, True, Confidence.PROVEN),
    ],
)
def test_what_a_living_kubelet_reports_ended_before_its_node(
    code: int, renewed: float, sure: Confidence, *, fault: bool, hit: bool
) -> None:
    """A machine that goes down may stop its containers first."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    if fault:
        tale.condition(40, "GpuUnhealthy", "True", "XID79")
    tale.pod_ends(48, "llm-0", "n1", code)
    tale.pod_runs(52, "llm-1", "n2", created=True)
    tale.silent(100, renewed=renewed).lost(100).boots(250).kubelet_starts(250)
    assert [one.pods_hit for one in harmed(tale)] == [["llm-0"]] * hit
    (ending,) = ended(tale)
    own, node = EndedBy.CONTAINER_EXIT, EndedBy.NODE_FAILURE
    assert ending.ended_by is (node if hit else own)
    assert ending.confidence is sure


def test_what_the_taint_of_a_node_that_is_not_ready_evicts_is_hit_by_it() -> (
    None
):
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    down = "KubeletNotReady", "container runtime is down"
    tale.condition(60, "Ready", "False", *down, was="True")
    tale.pod(61, "DeletionByTaintManager", name="llm-0")
    tale.deletes(61, "llm-0", takes=30)
    tale.condition(100, "Ready", "True", "KubeletReady", was="False")
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.hit_at) == (HitBy.NODE_FAILURE, at(61))


@pytest.mark.parametrize("hidden", [False, True])
def test_a_pod_whose_end_nothing_showed_is_only_likely_hit(
    *, hidden: bool
) -> None:
    """It may have ended before its node, in the same gap."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").gap(50, 400).boots(400)
    if hidden:
        gone = {"inferred": True, "state": {}}
        tale.add(400, FactKind.VANISHED, gone, about=a_pod("llm-0"))
    else:
        tale.pod_ends(400, "llm-0", "n1", 255)
    tale.pod_runs(400, "llm-1", "n2")
    (ending,) = ended(tale)
    assert ending.ended_by is EndedBy.NODE_FAILURE
    sure = Confidence.LIKELY if hidden else Confidence.PROVEN
    assert ending.confidence is sure


@pytest.mark.parametrize("of", ["Job", "ReplicaSet"])
@pytest.mark.parametrize("deleted", [False, True])
def test_a_restart_that_a_kubelet_caused_is_harm_also_if_the_pod_is_deleted(
    of: str, *, deleted: bool
) -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1", of).kubelet_starts(100)
    tale.restarts(101)
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
    refused["message"] = "no healthy devices present"
    tale.add(101, FactKind.ENDED, refused, about=a_pod("llm-0"))
    tale.pod_runs(110, "llm-1", "n1", created=True).deletes(700, "llm-0")
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.hit_at) == (HitBy.NODE_FAILURE, at(100))
    (ending,) = ended(tale)
    assert ending.confidence is Confidence.LIKELY
    assert (
        "refused by its kubelet: UnexpectedAdmissionError"
        ' ("no healthy devices present")'
    ) in ending_sentence(hit.workload, ending)


def test_a_job_whose_container_fails_too_often_has_one_end() -> None:
    """Its Pod restarts by itself, until the Job is at its limit."""
    tale = Tale("n1")
    job = ObjectIdentity("batch", "Job", "train", "llm", "uid-llm")
    tale.add(0.5, FactKind.APPEARED, {"state": {}}, node=None, about=job)
    tale.pod_runs(1, "llm-0", "n1", created=True)
    tale.restarts(20, code=1)
    tale.restarts(60, code=1, count=2)
    failed = {"status": "True", "reason": "BackoffLimitExceeded"}
    detail = {"type": "Failed", "old": None, "new": failed}
    tale.add(60.3, FactKind.CONDITION_CHANGED, detail, node=None, about=job)
    tale.deletes(60.4, "llm-0")
    (ending,) = ended(tale)
    assert ending.ended_by is EndedBy.CONTAINER_EXIT
    assert (ending.outcome, ending.count) == (Outcome.FAILED, 2)
    assert ending.confidence is Confidence.PROVEN


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


def test_a_pod_that_fails_after_its_gang_ran_again_has_an_end_of_its_own() -> (
    None
):
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").pod_runs(1, "llm-1", "n2")
    tale.kubelet_starts(100).restarts(101)
    tale.pod_ends(140, "llm-1", "n2", 1)
    found = [(one.ended_by, one.pods, one.at) for one in ended(tale)]
    assert found == [
        (EndedBy.NODE_FAILURE, ["llm-0"], at(100)),
        (EndedBy.CONTAINER_EXIT, ["llm-1"], at(140)),
    ]


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
        tale.restarts(60, code=1).crashes(100)
        tale.restarts(305, code=255, count=2)
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
        tale.restarts(300, code=1)
    (hit,) = harmed(tale)
    assert hit.outcome is Outcome.SURVIVED
    found = [(one.ended_by, one.at) for one in ended(tale)]
    assert found == [(EndedBy.CONTAINER_EXIT, at(300))]
