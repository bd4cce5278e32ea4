"""A verdict in one sentence, and its signs in the order of a timeline."""

from recorder.answers.why import verdict_lines
from recorder.explain.doubt import most_relevant
from recorder.explain.signals.signal import SHUT_DOWN, Signal
from recorder.explain.verdict import Evidence, Verdict
from recorder.model.document import plain
from recorder.model.fact import FactKind
from recorder.model.outcomes import Happened, Mode, Role
from tests.explain.tale import Tale
from tests.support.builders import at

STUCK = "watchdog: BUG: soft lockup - CPU#63 stuck for 25s! [kswapd0:428]"


def test_a_condition_is_named_with_its_reason_alone() -> None:
    tale = Tale("n1", "n2").condition(
        10, "KernelDeadlock", "True", "CPUSoftLockup", STUCK, was="False"
    )

    degraded = tale.verdict()
    crashed = tale.crashes(60).verdict()

    assert degraded.sentence == (
        "n1 was degraded at 03:00:10, probably because of"
        " KernelDeadlock (CPUSoftLockup)."
    )
    assert crashed.sentence.endswith(
        ", probably because of KernelDeadlock (CPUSoftLockup) at 03:00:10."
    )
    assert crashed.fault is not None
    assert STUCK in crashed.fault.sign.says


def test_a_recorded_failure_of_a_kubelet_is_said_in_its_own_words() -> None:
    name = "FrequentKubeletRestart"
    verdict = Tale().condition(10, name, "True", name, was="False").verdict()
    assert verdict.sentence == (
        f"n1 was degraded at 03:00:10, probably because of {name} ({name})."
    )


def test_a_degraded_node_is_in_service_until_and_after_its_fault_ends() -> (
    None
):
    name = "KernelDeadlock"
    tale = Tale("n1").condition(10, name, "True", name, was="False")
    lasting = tale.verdict()
    tale.condition(40, name, "False", "Fine", was="True")
    tale.condition(60, name, "True", name, was="False")
    over, again = tale.verdicts()

    assert not any(v.is_out for v in (lasting, over, again))
    assert (lasting.over_at, again.over_at) == (None, None)
    assert over.over_at == at(40)
    assert "degraded at 03:00:10 for 30 s, probably" in over.sentence
    assert "degraded at 03:01:00, probably" in again.sentence


def test_a_node_that_was_not_ready_was_degraded_until_it_was() -> None:
    tale = Tale("n1", "n2").condition(20, "Ready", "False", "Sick", was="True")

    over = tale.condition(50, "Ready", "True", "Well", was="False").verdict()

    assert over.sentence.startswith("n1 was degraded at 03:00:20 for 30 s")


def test_a_node_that_joined_was_not_degraded_until_it_went() -> None:
    tale = Tale("n1").appears(10, "n2", created=True).vanishes(20, "n2")

    joined, *_ = tale.verdicts("n2")

    assert (joined.happened, joined.duration) == (Happened.JOINED, None)
    assert joined.over_at == at(10)
    assert joined.sentence == "n2 joined at 03:00:10."


def test_a_sentence_is_no_surer_than_what_a_gap_left_of_the_verdict() -> None:
    tale = Tale("n1", "n2").condition(10, "KernelDeadlock", "True", "Stuck")
    tale.cordons(12, "node-lifecycle-controller").crashes(60)
    tale.uncordons(300, "node-lifecycle-controller")
    whole = tale.verdict()
    holed = tale.gap(20, 30).verdict()

    assert "n1 was rebooted by node-lifecycle-controller" in whole.sentence
    assert holed.confidence == "likely"
    assert "n1 was probably rebooted by" in holed.sentence
    assert "probably because of KernelDeadlock" in holed.sentence


def test_a_deletion_is_dated_and_not_what_came_of_it_later() -> None:
    tale = Tale().vanishes(10).appears(40, uid="uid-2")
    same = tale.verdict().sentence
    tale = Tale().vanishes(10).appears(40, uid="uid-2", machine="another")
    other = tale.verdict().sentence
    unseen = Tale().appears(40, uid="uid-2").verdict().sentence

    assert "was deleted at 03:00:10 and joined again (" in same
    assert "deleted at 03:00:10 and replaced by another machine (" in other
    assert "was deleted and joined again at 03:00:40" in unseen


def test_a_silent_kubelet_is_restarted_after_its_loss() -> None:
    lost = Tale("n1", "n2").lost(60).kubelet_starts(900).ready(901)
    calm = Tale("n1", "n2").kubelet_starts(900)

    assert "kubelet restarted after 03:01:00 (" in lost.verdict().sentence
    assert "had its kubelet restarted at 03:15:00" in calm.verdict().sentence


def test_a_machine_that_is_up_again_may_not_be_back_in_service() -> None:
    tale = Tale("n1").event(5, "kubelet", "NodeReady").cordons(10, "kubectl")

    kept = tale.crashes(60).verdict().sentence
    back = tale.uncordons(300, "kubectl").verdict().sentence

    assert "at most, not back in service)" in kept
    assert "at most)" in back


def test_a_status_is_said_where_it_is_not_true() -> None:
    tale = Tale("n1").condition(
        10, "ContainerRuntimeReady", "False", "Down", was="True"
    )

    sentence = tale.verdict().sentence

    assert "because of ContainerRuntimeReady=False (Down)." in sentence


def test_a_container_is_named_with_its_pod() -> None:
    verdict = Tale("n1").container_ends(10, "OOMKilled").verdict()

    assert "container main of pod/train/pod-1 ended" in verdict.sentence
    assert verdict.evidence[0].sign.says.startswith("pod/train/pod-1: ")


def test_what_an_event_says_at_length_is_cut_short() -> None:
    long = "System encountered a fatal error in the kernel " * 20
    tale = Tale("n1", "n2").crashes(10)

    verdict = tale.event(600, "abrt-adaptor", "VMcore", long).verdict()

    assert "because of VMcore (System encountered" in verdict.sentence
    assert len(verdict.sentence) < 200


def test_within_a_second_signs_are_in_the_order_of_the_log() -> None:
    tale = Tale("n1").cordons(10.4, "kubectl")
    key = "node.kubernetes.io/unschedulable"
    taint = {"key": key, "value": None, "effect": "NoSchedule"}
    tale.add(10.9, FactKind.TAINTED, taint, occurred=10)

    evidence = tale.verdict().evidence

    positions = [one.sign.position for one in evidence]
    assert positions == sorted(positions)


def chosen(verdict: Verdict, most: int) -> list[Signal]:
    evidence = verdict.evidence
    deciding = {verdict.effect.order}
    return [
        evidence[place].sign
        for place in most_relevant(evidence, deciding, most)
    ]


def test_what_a_verdict_rests_on_is_never_left_out() -> None:
    tale = Tale("n1", "n2").crashes(60)
    verdict = tale.verdict()
    assert any(one.sign is verdict.effect for one in verdict.evidence)

    for most in range(1, len(verdict.evidence) + 1):
        signs = chosen(verdict, most)

        assert len(signs) == most
        assert any(sign is verdict.effect for sign in signs)
        assert signs == sorted(signs, key=lambda sign: sign.position)


def test_acts_are_left_out_before_effects() -> None:
    verdict = Tale("n1", "n2").crashes(60).verdict()
    effect = verdict.effect
    acts = [Evidence.of(Role.ACT, effect._replace(vague=True))] * 30
    storm = [*acts, Evidence.of(Role.EFFECT, effect), *acts]

    places = most_relevant(storm, (), 5)

    assert 30 in places
    assert [*places] == [0, 1, 30, 59, 60]


def test_what_a_storm_leaves_out_is_counted_and_where_to_read_it_is_said() -> (
    None
):
    calm = Tale("n1", "n2").crashes(1000).verdict()
    tale = Tale("n1", "n2")
    for second in range(400):
        tale.event(500 + second, "kernel-monitor", "TaskHung", "task blocked")
    verdict = tale.crashes(1000).verdict()

    named, signs = len(verdict.evidence), 400 + len(calm.evidence)

    assert plain(calm)["evidence_left_out"] == 0
    assert named < signs
    left_out = signs - named
    assert plain(verdict)["evidence_left_out"] == left_out
    said = " ".join("\n".join(verdict_lines(verdict, verbose=True)).split())
    assert f"{left_out} more records: recorder log --facts" in said
    assert "--node n1 --since" in said


def test_a_boot_that_only_the_list_after_a_gap_shows_lies_between() -> None:
    tale = Tale().condition(5, "x", "True", actor="kubelet").gap(10, 60)
    verdict = tale.boots(60).verdict()
    assert " rebooted between 03:00:05 and 03:01:00 " in verdict.sentence
    live = Tale().gap(10, 20).boots(60).verdict()
    assert " rebooted at 03:01:00" in live.sentence


def test_a_deletion_of_a_node_that_was_silent_for_long_says_so() -> None:
    for after, said in ((1200, True), (100, False)):
        verdict = Tale().lost(60).vanishes(60 + after).verdict()
        assert verdict.happened is Happened.REMOVED
        silent = "; contact with it was lost at 03:01:00." in verdict.sentence
        assert silent is said


def test_a_machine_that_its_cloud_reports_as_stopped_is_said_to_be() -> None:
    tale = Tale("n1", "n2").lost(60)
    tale.taints(90, SHUT_DOWN.name, actor="cloud-node-lifecycle-controller")
    verdict = tale.boots(900).kubelet_starts(900).verdict()
    assert verdict.mode is Mode.UNKNOWN
    assert verdict.sentence.endswith(
        "; its cloud reported it as stopped; who requested it is not recorded."
    )
