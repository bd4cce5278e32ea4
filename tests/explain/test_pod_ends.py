"""What ended a Pod: the first sign counts, not what was written after it."""

from typing import Any

from msgspec.structs import replace

from recorder.explain.pod_end import PodEnd, ends_of
from recorder.facts.projections import Placements
from recorder.model.fact import FactKind
from recorder.model.outcomes import EndedBy
from tests.explain.history import History, a_pod

POD = a_pod("llm-0")


def ends(*facts: tuple[float, FactKind, dict[str, Any]]) -> list[PodEnd]:
    history = History("n1")
    history.add(
        1,
        FactKind.APPEARED,
        {"created": True, "state": {"node": "n1"}},
        about=POD,
    )
    for seconds, kind, detail in facts:
        history.add(seconds, kind, detail, about=POD)
    own = [s for s in history.facts if s.fact.object == POD]
    (placement,) = Placements(own)
    return list(ends_of(placement, own))


def disrupted(reason: str) -> dict[str, Any]:
    return {
        "type": "DisruptionTarget",
        "old": None,
        "new": {"status": "True", "reason": reason},
    }


def exited(code: int, reason: str = "Error", restarts: int = 0) -> Any:
    return {
        "container": "main",
        "exit_code": code,
        "reason": reason,
        "restarts": restarts,
    }


FAILED = {"phase": "Failed"}
CONDITION, EXIT, OVER = (
    FactKind.CONDITION_CHANGED,
    FactKind.CONTAINER_ENDED,
    FactKind.ENDED,
)


def test_a_container_that_fails_ends_its_pod() -> None:
    (end,) = ends((9, EXIT, exited(3)), (10, OVER, FAILED))

    assert (end.by, end.lasting) == (EndedBy.CONTAINER_EXIT, True)
    assert end.container is not None
    assert end.container.exit_code == 3


def test_a_container_over_its_limit_is_not_one_that_fails() -> None:
    (end,) = ends((9, EXIT, exited(137, "OOMKilled")), (10, OVER, FAILED))

    assert end.by is EndedBy.CONTAINER_OOM


def test_137_alone_is_no_lack_of_memory() -> None:
    (end,) = ends((9, EXIT, exited(137)), (10, OVER, FAILED))

    assert end.by is EndedBy.CONTAINER_EXIT


def test_what_an_eviction_kills_did_not_fail_by_itself() -> None:
    (end,) = ends(
        (8, CONDITION, disrupted("EvictionByEvictionAPI")),
        (8, FactKind.DELETION_REQUESTED, {}),
        (9, EXIT, exited(143)),
        (10, OVER, FAILED),
    )

    assert end.by is EndedBy.EVICTION


def test_a_failure_before_an_eviction_ends_its_pod() -> None:
    (end,) = ends(
        (8, EXIT, exited(1)),
        (9, CONDITION, disrupted("EvictionByEvictionAPI")),
        (10, OVER, FAILED),
    )

    assert (end.by, end.lasting) == (EndedBy.CONTAINER_EXIT, True)


def test_each_failure_of_a_container_that_begins_again_is_one() -> None:
    found = ends(
        (8, EXIT, exited(1, restarts=1)),
        (20, EXIT, exited(1, restarts=2)),
        (40, EXIT, exited(1, restarts=3)),
    )

    assert [end.by for end in found] == [EndedBy.CONTAINER_EXIT] * 3
    assert not any(end.lasting for end in found)


def test_a_kubelet_that_does_not_know_explains_nothing() -> None:
    (end,) = ends((9, EXIT, exited(255, "Unknown")), (10, OVER, FAILED))

    assert end.by is EndedBy.UNRECORDED


def test_what_is_only_missing_from_a_list_explains_nothing() -> None:
    (end,) = ends((9, FactKind.VANISHED, {"inferred": True, "state": {}}))

    assert end.by is EndedBy.UNRECORDED


def test_a_pod_that_is_seen_to_go_was_deleted() -> None:
    (end,) = ends((9, FactKind.VANISHED, {"inferred": False, "state": {}}))

    assert end.by is EndedBy.DELETION


def test_a_kubelet_that_evicts_says_so_in_the_pod() -> None:
    evicted = {
        "phase": "Failed",
        "reason": "Evicted",
        "message": "The node was low on resource: memory.",
    }

    (end,) = ends((9, OVER, evicted), (20, FactKind.DELETION_REQUESTED, {}))

    assert end.by is EndedBy.EVICTION


def test_a_pod_that_is_done_is_not_deleted_again() -> None:
    (end,) = ends(
        (9, EXIT, exited(0, "Completed")),
        (9, OVER, {"phase": "Succeeded"}),
        (60, FactKind.DELETION_REQUESTED, {}),
        (61, FactKind.VANISHED, {"inferred": False, "state": {}}),
    )

    assert end.by is EndedBy.COMPLETION


def test_the_reason_in_the_version_that_ends_a_pod_is_its_reason() -> None:
    history = History("n1")
    history.add(
        1,
        FactKind.APPEARED,
        {"created": True, "state": {"node": "n1"}},
        about=POD,
    )
    history.add(9, OVER, FAILED, about=POD)
    ended = history.facts[-1]
    history.add(9, CONDITION, disrupted("DeletionByPodGC"), about=POD)
    same = replace(history.facts[-1], entry=ended.entry, index=1)
    own = [s for s in history.facts[:-1] if s.fact.object == POD]
    (placement,) = Placements([*own, same])

    (end,) = ends_of(placement, [*own, same])

    assert end.by is EndedBy.NODE_FAILURE


def test_a_deletion_decides_over_a_reason_given_long_after_it() -> None:
    (end,) = ends(
        (9, FactKind.DELETION_REQUESTED, {}),
        (22, CONDITION, disrupted("DeletionByTaintManager")),
        (30, OVER, FAILED),
    )

    assert end.by is EndedBy.DELETION


def test_a_deletion_and_its_reason_come_in_either_order() -> None:
    (end,) = ends(
        (9, FactKind.DELETION_REQUESTED, {}),
        (9.3, CONDITION, disrupted("DeletionByDeviceTaintManager")),
        (30, OVER, FAILED),
    )

    assert end.by is EndedBy.EVICTION


def test_a_kubelet_that_admits_a_critical_pod_preempts() -> None:
    (end,) = ends(
        (9, CONDITION, disrupted("TerminationByKubelet")),
        (9, OVER, {"phase": "Failed", "reason": "Preempting"}),
    )

    assert end.by is EndedBy.PREEMPTION
