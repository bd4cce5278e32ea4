"""How a workload was last seen, with what disrupted it."""

from recorder.explain.ending_sentences import (
    NODES_SHOWN,
    ending_sentence,
    named,
)
from recorder.explain.endings import Life, endings_of, facts_by_object
from recorder.explain.hit import Scope
from recorder.explain.impact import hits
from recorder.explain.workload_state import state_after, state_of
from recorder.facts.projections import Placements, Workloads
from recorder.model.fact import FactKind
from recorder.model.outcomes import EndedBy, WorkloadState
from recorder.model.reference import ObjectIdentity
from tests.explain.history import History, a_pod
from tests.support.builders import at

JOB = ObjectIdentity("batch", "Job", "train", "llm", "uid-llm")
OWNED = {"kind": "Job", "name": "llm", "uid": "uid-llm", "controller": True}


def running(*pods: str) -> History:
    history = History("n1", "n2")
    history.add(1, FactKind.APPEARED, {"state": {}}, node=None, about=JOB)
    for place, name in enumerate(pods, 1):
        node = f"n{place}"
        state = {"node": node, "owners": [OWNED]}
        made = {"created": True, "state": state}
        history.add(2, FactKind.APPEARED, made, node=node, about=a_pod(name))
        history.add(3, FactKind.STARTED, {}, node=node, about=a_pod(name))
    return history


def state(history: History) -> tuple[WorkloadState, list[EndedBy]]:
    workloads, pods = Workloads(history.facts), [*Placements(history.facts)]
    workload = workloads.of(pods[0])
    assert workload is not None
    by_uid = {
        uid: [
            stored
            for stored in history.facts
            if stored.fact.object is not None and stored.fact.object.uid == uid
        ]
        for uid in ("uid-llm", *(pod.key for pod in pods))
    }
    life = Life(workload, pods, by_uid, workloads)
    scope = Scope(nodes=frozenset(["n1", "n2"]), until=at(100))
    found = hits([], pods, workloads, scope=scope)
    endings = endings_of(life, found, [])
    seen, _ = state_of(pods, workload, workloads, history.facts, is_pod=False)
    by = [one.ended_by for one in endings]
    return state_after(seen, endings, pods), by


def test_a_workload_of_which_some_pods_run_is_degraded() -> None:
    history = running("llm-0", "llm-1")
    gone = {"phase": "Failed", "reason": "Evicted"}
    history.add(10, FactKind.ENDED, gone, about=a_pod("llm-0"))

    assert state(history) == (WorkloadState.DEGRADED, [EndedBy.EVICTION])


def test_a_workload_of_which_no_pod_runs_is_down() -> None:
    history = running("llm-0")
    gone = {"phase": "Failed", "reason": "Evicted"}
    history.add(10, FactKind.ENDED, gone, about=a_pod("llm-0"))

    assert state(history) == (WorkloadState.DOWN, [EndedBy.EVICTION])


def test_a_queue_says_why_it_suspends_work() -> None:
    history = running("llm-0")
    queued = ObjectIdentity("kueue", "Workload", "train", "job-llm", "uid-w")
    made = {"created": True, "state": {"owners": [OWNED]}}
    history.add(4, FactKind.APPEARED, made, node=None, about=queued)
    why = {"status": "True", "reason": "NodeFailures", "message": "no n1"}
    for seconds, kind, about, new in (
        (10, "Evicted", queued, why),
        (11, "Suspended", JOB, {"status": "True", "reason": "JobSuspended"}),
    ):
        detail = {"type": kind, "old": None, "new": new}
        history.add(
            seconds,
            FactKind.CONDITION_CHANGED,
            detail,
            node=None,
            about=about,
        )
    workloads, pods = Workloads(history.facts), [*Placements(history.facts)]
    workload = workloads.of(pods[0])
    assert workload is not None
    life = Life(workload, pods, facts_by_object(history.facts), workloads)
    (ending,) = endings_of(life, [], [])
    assert (ending.ended_by, ending.at) == (EndedBy.SUSPENSION, at(11))
    assert ending_sentence(workload, ending).endswith(
        ' by its queue: NodeFailures ("no n1").'
    )


def test_a_workload_that_was_suspended_is_suspended() -> None:
    history = running("llm-0")
    suspended = {"status": "True", "reason": "JobSuspended"}
    history.add(
        10,
        FactKind.CONDITION_CHANGED,
        {"type": "Suspended", "old": None, "new": suspended},
        node=None,
        about=JOB,
    )
    history.add(10.1, FactKind.DELETION_REQUESTED, {}, about=a_pod("llm-0"))
    history.add(11, FactKind.VANISHED, {"state": {}}, about=a_pod("llm-0"))

    assert state(history) == (WorkloadState.SUSPENDED, [EndedBy.SUSPENSION])


def test_ten_nodes_of_a_large_gang_are_named_and_the_rest_counted() -> None:
    nodes = [f"gpu-{number:03}" for number in range(440)]

    assert named(nodes).endswith(" gpu-009 and 430 more nodes")
    assert named(nodes).count("gpu-") == NODES_SHOWN
    assert named(nodes[:2]) == "gpu-000 and gpu-001"


def test_a_container_that_ended_and_restarted_at_once_runs() -> None:
    history = running("llm-0")
    ended = {
        "container": "main",
        "exit_code": 1,
        "reason": "Error",
        "restarts": 1,
    }
    history.add(10, FactKind.CONTAINER_ENDED, ended, about=a_pod("llm-0"))

    assert state(history) == (WorkloadState.RUNNING, [EndedBy.CONTAINER_EXIT])


def test_a_list_shows_a_replacement_a_moment_before_the_loss() -> None:
    history = running("llm-0")
    fields = {"phase": "Running"}
    listed = {"state": {"node": "n2", "owners": [OWNED], "fields": fields}}
    gone = {"phase": "Failed", "reason": "Evicted"}
    history.add(9, FactKind.APPEARED, listed, node="n2", about=a_pod("llm-1"))
    history.add(10, FactKind.ENDED, gone, about=a_pod("llm-0"))

    assert state(history) == (WorkloadState.RUNNING, [EndedBy.EVICTION])


def test_a_gang_runs_of_which_a_list_shows_a_replacement_and_no_end() -> None:
    """What ended its Pod is hidden by a gap before the list."""
    history = running("llm-0")
    fields = {"phase": "Running"}
    listed = {"state": {"node": "n2", "owners": [OWNED], "fields": fields}}
    history.add(50, FactKind.APPEARED, listed, node="n2", about=a_pod("llm-1"))
    gone = {"inferred": True, "state": {}}
    history.add(50, FactKind.VANISHED, gone, about=a_pod("llm-0"))

    assert state(history) == (WorkloadState.RUNNING, [EndedBy.UNRECORDED])
