"""Properties of every verdict, for any facts in any order."""

from collections.abc import Callable

from hypothesis import example, given, settings
from hypothesis import strategies as st

from recorder.explain.thresholds import STRENGTHS
from recorder.explain.verdict import Verdict
from recorder.model.facts import BootChanged
from recorder.model.reference import EntryName
from tests.explain.tale import Tale
from tests.explain.test_traps import CORDON

Step = Callable[[Tale, float], object]

REBOOTED = "Node n1 has been rebooted, boot id: boot-"
STEPS: tuple[Step, ...] = (
    lambda t, s: t.lost(s),
    lambda t, s: t.ready(s),
    lambda t, s: t.ready(s, was="False"),
    lambda t, s: t.condition(s, "Ready", "False", was="True"),
    lambda t, s: t.boots(s, old="boot-1", new="boot-2"),
    lambda t, s: t.boots(s, old="boot-2", new="boot-3"),
    lambda t, s: t.kubelet_starts(s),
    lambda t, s: t.kubelet_starts(s, occurred=s - 100),
    lambda t, s: t.event(s, "kubelet", "Rebooted", f"{REBOOTED}2"),
    lambda t, s: t.event(s, "kubelet", "Rebooted", f"{REBOOTED}9"),
    lambda t, s: t.event(s, "kubelet", "Shutdown"),
    lambda t, s: t.event(s, "kubelet", "SystemOOM", occurred=s - 1),
    lambda t, s: t.event(s, "abrt-adaptor", "VMcore"),
    lambda t, s: t.event(s, "kernel-monitor", "TaskHung"),
    lambda t, s: t.event(s, "karpenter", "DisruptionTerminating"),
    lambda t, s: t.silent(s, renewed=s - 40),
    lambda t, s: t.condition(s, "KernelDeadlock", "True"),
    lambda t, s: t.condition(s, "KernelDeadlock", "False", was="True"),
    lambda t, s: t.condition(s, "KernelDeadlock", None, was="True"),
    lambda t, s: t.condition(s, "PendingPhaseState", "True", actor="curl"),
    lambda t, s: t.asks(s, "alice", "patch", CORDON),
    lambda t, s: t.cordons(s, "kubectl"),
    lambda t, s: t.cordons(s, "kured"),
    lambda t, s: t.uncordons(s),
    lambda t, s: t.taints(s, "karpenter.sh/disrupted"),
    lambda t, s: t.taints(s, "karpenter.sh/disrupted", off=True),
    lambda t, s: t.pod(s, "EvictionByEvictionAPI"),
    lambda t, s: t.pod(s, "DeletionByTaintManager"),
    lambda t, s: t.container_ends(s, "OOMKilled"),
    lambda t, s: t.locks(s),
    lambda t, s: t.locks(s, off=True),
    lambda t, s: t.made(s, "janitor.dgxc.nvidia.com", "RebootNode"),
    lambda t, s: t.gpus(s, 8, 7),
    lambda t, s: t.gpus(s, 7, 8),
    lambda t, s: t.vanishes(s),
    lambda t, s: t.vanishes(s, inferred=True),
    lambda t, s: t.appears(s, created=True),
    lambda t, s: t.appears(s, uid="uid-2", boot="boot-5"),
    lambda t, s: t.gap(s - 30, s),
)
WAITS = st.sampled_from([0, 0.1, 1, 5, 19, 21, 60, 125, 700, 4000, 100_000])
stories = st.lists(
    st.tuples(WAITS, st.integers(0, len(STEPS) - 1)), max_size=25
)


def tale_of(story: list[tuple[float, int]]) -> Tale:
    tale, seconds = Tale("n1", "n2"), 10.0
    for wait, step in story:
        seconds += wait
        STEPS[step](tale, seconds)
    return tale


def keeps(verdict: Verdict) -> None:
    effect = verdict.effect.stored
    fault, decided = verdict.fault, verdict.decision
    assert verdict.confidence in STRENGTHS
    assert verdict.sentence.startswith("n1 ")
    assert verdict.sentence.endswith(".")
    assert effect.entry in {e.sign.stored.entry for e in verdict.evidence} or (
        len(verdict.evidence) >= 60
    )
    if verdict.back_in_service_at is not None:
        assert verdict.back_in_service_at >= effect.observed_at
    if fault is None and decided is None:
        assert verdict.cause == "unrecorded"
        assert verdict.confidence == "unknown" or verdict.happened == "joined"
    if decided is not None and decided.confidence == "possible":
        said = decided.sign.vague and verdict.happened == "removed"
        shut = "Shutdown" in str(verdict.evidence)
        assert verdict.mode != "planned" or said or shut
    for part in (fault, decided):
        if part is not None:
            weaker = STRENGTHS.index(part.confidence)
            assert STRENGTHS.index(verdict.confidence) <= weaker
    if verdict.contradictions:
        assert verdict.confidence in {"possible", "unknown"}
    if verdict.confidence == "proven":
        assert all(
            r.excluded or r.cause == "other-fault" for r in verdict.rivals
        )
    assert verdict.cause not in {rival.cause for rival in verdict.rivals}
    keeps_to_its_path(verdict)


def keeps_to_its_path(verdict: Verdict) -> None:
    """Check the properties of the steps of any verdict."""
    steps = verdict.steps
    assert 1 <= len(steps) <= 7
    assert [step.at for step in steps] == sorted(step.at for step in steps)
    named = [entry for step in steps for entry in step.entries]
    assert {*named} <= {e.sign.stored.entry for e in verdict.evidence}
    deciding = {verdict.effect.stored.entry} | {
        part.sign.stored.entry
        for part in (verdict.fault, verdict.decision)
        if part is not None
    }
    if len(verdict.evidence) < 60:
        assert deciding <= {*named}
    for step in steps:
        assert step.says
        assert len(step.entries) == len({*step.entries}) > 0


@settings(max_examples=400, deadline=None)
@given(stories)
def test_a_verdict_is_consistent_for_any_story(
    story: list[tuple[float, int]],
) -> None:
    tale = tale_of(story)
    verdicts = tale.verdicts()
    for verdict in verdicts:
        keeps(verdict)
    ids = [verdict.id for verdict in verdicts]
    assert len(ids) == len(set(ids))
    assert repr(tale_of(story).verdicts()) == repr(verdicts)


@settings(max_examples=200, deadline=None)
@example([(0, 4), (0, 36), (0.1, 1), (0, 34)])
@given(stories)
def test_every_new_boot_id_is_a_reboot_or_a_new_node(
    story: list[tuple[float, int]],
) -> None:
    tale = tale_of(story)
    firsts: dict[str, EntryName] = {}
    for stored in tale.facts:
        detail = stored.fact.detail
        if isinstance(detail, BootChanged) and detail.new is not None:
            firsts.setdefault(detail.new, stored.entry)
    boots = {*firsts.values()}
    for verdict in tale.verdicts():
        seen = {e.sign.stored.entry for e in verdict.evidence}
        if seen & boots and len(verdict.evidence) < 60:
            assert verdict.happened in {
                "reboot",
                "removed",
                "rejoined",
                "replaced",
            }
            boots -= seen
    assert not boots
