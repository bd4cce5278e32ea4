"""Harm by deletion: a Pod that is asked to go, and is replaced, is hit.

Who asked first decides, whatever happens to its node after that.
"""

import pytest
from msgspec.structs import replace

from recorder.answers.loading.authors import drained_by
from recorder.explain.ending_sentences import ending_sentence
from recorder.explain.pod_end import PodEnd, ends_of
from recorder.facts.projections import Placements
from recorder.model.fact import FactKind
from recorder.model.outcomes import EndedBy, HitBy, Outcome
from recorder.model.reference import ObjectIdentity
from tests.explain.history import a_pod
from tests.explain.tale import Tale, ended, harmed
from tests.support.builders import at


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
    failed = {"phase": "Failed", "reason": reason}
    tale.add(60, FactKind.ENDED, failed, about=pod)
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
    (ending,) = ended(tale)
    assert "refused" not in ending_sentence(hit.workload, ending)


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


@pytest.mark.parametrize(
    ("actor", "by"), [("mia", HitBy.DRAIN), ("noor", HitBy.DELETION)]
)
def test_who_holds_the_cordon_empties_the_node_by_deleting(
    actor: str, by: HitBy
) -> None:
    """The replacement finds no place, and the node goes down later."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").cordons(50, "mia")
    tale.deletes(60, "llm-0", actor=actor)
    owner = {"kind": "Job", "name": "llm", "uid": "uid-llm"}
    state = {
        "labels": {"controller-revision-hash": "1"},
        "owners": [{**owner, "controller": True}],
        "fields": {"phase": "Pending"},
    }
    made = {"created": True, "state": state}
    waiting = a_pod("llm-1")
    tale.add(63, FactKind.APPEARED, made, node=None, about=waiting)
    tale.crashes(100)
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.hit_at, hit.outcome) == (by, at(60), Outcome.DOWN)


@pytest.mark.parametrize(
    ("announced", "by"), [(20, HitBy.DRAIN), (62, HitBy.DELETION)]
)
def test_a_pod_deleted_after_maintenance_was_announced_is_drained(
    announced: float, by: HitBy
) -> None:
    """Nothing cordons the node; its machine goes down after that."""
    tale = Tale("n1").pod_runs(1, "llm-0", "n1")
    window = "MaintenanceInProgress", "True", "Window"
    if announced < 60:
        tale.condition(announced, *window)
    tale.deletes(60, "llm-0")
    if announced > 60:
        tale.condition(announced, *window)
    tale.pod_runs(65, "llm-1", "n2", created=True)
    tale.silent(150, renewed=100).lost(150).boots(250).kubelet_starts(250)
    (hit,) = harmed(tale)
    assert (hit.hit_by, hit.hit_at) == (by, at(60))


@pytest.mark.parametrize("kept", [True, False])
def test_who_removes_a_node_that_another_drained_did_not_drain_it(
    *, kept: bool
) -> None:
    tale = Tale("n1").pod_runs(1, "llm-0", "n1").cordons(50, "kubectl")
    tale.asks(50, "alice", "patch", '{"spec":{"unschedulable":true}}')
    tale.pod(60, "EvictionByEvictionAPI", name="llm-0").deletes(60, "llm-0")
    tale.pod_runs(71, "llm-1", "n2", created=True)
    if kept:
        tale.crashes(120)
    else:
        key = "ToBeDeletedByClusterAutoscaler"
        tale.taints(700, key, actor="cluster-autoscaler")
        tale.silent(760, renewed=710).lost(760).vanishes(800)
    (ending,) = ended(tale)
    assert ending.ended_by is EndedBy.DRAIN
    drainer = drained_by(ending)
    assert (drainer and drainer.name) == ("alice" if kept else None)
