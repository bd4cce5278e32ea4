"""What is news: each verdict once, whatever its incident is called."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from recorder.notification.loading import read_rules
from recorder.notification.message import Message, Reported, Stage, Subject
from recorder.notification.rules import Rule
from recorder.notification.telling import (
    Found,
    NodeLabels,
    Settling,
    is_wanted,
    news_of,
)
from recorder.notification.wording import rows
from tests.notification.building import (
    AT,
    a_gap,
    a_rule,
    an_ending,
    an_incident,
    sent_before,
)

LATER = AT + timedelta(hours=1)


def messages_of(  # noqa: PLR0913
    subjects: Sequence[Subject],
    before: Sequence[Reported] = (),
    *,
    rule: Rule | None = None,
    begun: datetime = AT - timedelta(days=1),
    position: int = 100,
    settling: Settling | None = None,
    now: datetime = LATER,
) -> Sequence[Message]:
    found = Found(
        subjects=subjects,
        labels={},
        position=position,
        since=AT - timedelta(days=1),
        until=LATER,
    )
    return news_of(
        rule or a_rule(),
        found,
        before,
        begun=begun,
        settling=settling or Settling(),
        now=now,
    )


def wanted(
    when: str, subject: Subject, labels: NodeLabels | None = None
) -> bool:
    condition = a_rule(when).when
    return is_wanted(condition, subject, labels or {}, until=LATER)


def test_an_incident_is_sent_once() -> None:
    [message] = messages_of([an_incident()])

    assert (message.name, message.number) == ("1/40", 1)
    assert message.stage is Stage.OPENED
    assert messages_of([an_incident()], [sent_before(an_incident())]) == []


def test_a_changed_verdict_is_sent_with_what_it_was() -> None:
    before = an_incident(confidence="unknown", cause="unrecorded")

    [message] = messages_of([an_incident()], [sent_before(before)])

    assert message.number == 2
    assert message.stage is Stage.CHANGED
    assert message.was == before


def test_an_incident_that_is_over_is_resolved() -> None:
    over = an_incident(over_at=AT + timedelta(minutes=5))

    [message] = messages_of([over], [sent_before(an_incident())])

    assert message.stage is Stage.RESOLVED


def test_hours_lost_and_clocks_are_no_news() -> None:
    grown = an_incident(
        gpu_hours_lost=9.9, sentence="said otherwise", at=AT + timedelta(1e-5)
    )

    assert messages_of([grown], [sent_before(an_incident())]) == []


def test_a_stronger_effect_renames_an_incident_and_is_a_change() -> None:
    cordoned = an_incident("1/31", happened="cordoned", at=AT)

    [message] = messages_of([an_incident("1/40")], [sent_before(cordoned)])

    assert (message.name, message.number) == ("1/31", 2)
    assert message.was is not None
    assert message.was.happened == "cordoned"


def test_incidents_that_turn_out_to_be_one_are_sent_as_one() -> None:
    nodes = [an_incident("1/40"), an_incident("1/41", nodes=["gpu-003"])]
    rack = an_incident(
        "1/40",
        ids=["1/40", "1/41"],
        nodes=["gpu-002", "gpu-003"],
        node_count=2,
    )

    changed, withdrawn = messages_of(
        [rack], [sent_before(one) for one in nodes]
    )

    assert (changed.name, changed.stage) == ("1/40", Stage.CHANGED)
    assert (withdrawn.name, withdrawn.stage) == ("1/41", Stage.WITHDRAWN)
    assert withdrawn.now.withdrawn == "it is a part of incident 1/40"


def test_a_part_that_gets_its_name_back_goes_on_under_it() -> None:
    """The first name stays with its incident, found in any order."""
    was_both = an_incident("1/41", ids=["1/40", "1/41"])
    parts = [an_incident("1/41"), an_incident("1/40", confidence="proven")]

    messages = messages_of(parts, [sent_before(was_both, name="1/40")])

    assert {(m.name, m.number) for m in messages} == {("1/41", 1), ("1/40", 2)}


def test_what_is_no_longer_found_is_withdrawn_once() -> None:
    [message] = messages_of([], [sent_before(an_incident())])

    assert message.stage is Stage.WITHDRAWN
    assert messages_of([], [sent_before(message.now, number=2)]) == []


def test_hours_are_written_as_in_every_answer() -> None:
    """Also those of a large fleet, which were shortened to six digits."""
    (message,) = messages_of([an_incident("1/5", gpu_hours_lost=1234567.891)])

    affected = dict(rows(message))["affected"]
    assert affected.endswith("lost: at least 1234567.89 GPU-hours")


def test_what_lies_before_the_window_is_not_withdrawn() -> None:
    old = an_incident(began_at=AT - timedelta(days=3))

    assert messages_of([], [sent_before(old)]) == []


def test_of_what_lasts_a_part_alone_is_no_news() -> None:
    """The window begins a day before, and it began three days before."""
    old = an_incident(began_at=AT - timedelta(days=3))
    part = an_incident(began_at=AT, cause="unrecorded")

    assert messages_of([part], [sent_before(old)]) == []


def test_state_ahead_of_a_restored_log_sends_nothing() -> None:
    ahead = sent_before(an_incident(confidence="proven"), position=200)

    assert messages_of([an_incident()], [ahead], position=100) == []
    assert messages_of([], [ahead], position=100) == []


def test_what_was_over_before_the_first_start_is_not_sent() -> None:
    over = an_incident(over_at=AT + timedelta(minutes=5))

    assert messages_of([over], begun=AT + timedelta(minutes=6)) == []
    assert len(messages_of([over], begun=AT + timedelta(minutes=5))) == 1
    assert len(messages_of([an_incident()], begun=LATER)) == 1


def test_a_verdict_is_sent_when_it_has_settled() -> None:
    rule, settling = a_rule(more="  settle: 2m\n"), Settling()

    def after(minutes: float, one: Subject) -> int:
        now = LATER + timedelta(minutes=minutes)
        return len(messages_of([one], rule=rule, settling=settling, now=now))

    assert after(0, an_incident()) == 0
    assert after(1.5, an_incident(confidence="proven")) == 0
    assert after(3, an_incident(confidence="proven")) == 0
    assert after(3.5, an_incident(confidence="proven")) == 1


def test_who_looks_once_sends_what_has_settled_by_its_own_times() -> None:
    rule, settling = a_rule(more="  settle: 2m\n"), Settling(by_incident=True)
    lasting = an_incident(began_at=AT, over_at=None)
    over = an_incident(began_at=AT, over_at=AT + timedelta(minutes=5))

    def after(minutes: float, one: Subject) -> int:
        now = AT + timedelta(minutes=minutes)
        return len(messages_of([one], rule=rule, settling=settling, now=now))

    assert after(1, lasting) == 0
    assert after(2, lasting) == 1
    assert after(6, over) == 0
    assert after(7, over) == 1
    settles_at = [AT + timedelta(minutes=minutes) for minutes in (2, 7)]
    assert settling.settles_at == settles_at


def test_by_default_an_interim_verdict_is_not_sent() -> None:
    text = (
        "rules:\n- name: a\n  post: {shape: slack, url: 'http://127.0.0.1/'}"
    )
    rule, settling = read_rules(text, name="notify.yaml").rules[0], Settling()
    path = (
        (0, "unreachable"),
        (20, "kubelet-restart"),
        (45, "reboot"),
        (104, "reboot"),
        (105, "reboot"),
    )

    sent = []
    for second, happened in path:
        now = LATER + timedelta(seconds=second)
        news = messages_of(
            [an_incident(happened=happened)],
            rule=rule,
            settling=settling,
            now=now,
        )
        sent.append([message.now.happened for message in news])

    assert sent == [[], [], [], [], ["reboot"]]


def test_what_is_followed_is_sent_also_when_the_rule_no_longer_fits() -> None:
    rule = a_rule("{confidence: [unknown]}")
    before = an_incident(confidence="unknown")

    [message] = messages_of([an_incident()], [sent_before(before)], rule=rule)

    assert message.stage is Stage.CHANGED


def test_all_that_a_rule_gives_must_hold() -> None:
    labels = {"gpu-002": {"pool": "a100", "topology.example/rack": "r12"}}

    assert wanted("{happened: [reboot], cause: [hung-kernel]}", an_incident())
    assert not wanted("{happened: [drained]}", an_incident())
    assert not wanted("{cause: [gpu-fault]}", an_incident())
    assert wanted("{node: ['gpu-*'], namespace: [tr*]}", an_incident())
    assert not wanted("{namespace: [kube-system]}", an_incident())
    assert wanted("{labels: {pool: a100}, rack: r12}", an_incident(), labels)
    assert not wanted("{labels: {pool: h100}}", an_incident(), labels)
    assert not wanted("{rack: r12}", an_incident())


def test_labels_must_hold_of_one_node_together() -> None:
    two = an_incident(nodes=["a", "b"], node_count=2)
    labels = {"a": {"pool": "x"}, "b": {"tier": "y"}}

    assert not wanted("{labels: {pool: x, tier: y}}", two, labels)
    assert not wanted("{node: [b], labels: {pool: x}}", two, labels)


def test_a_gap_is_sent_once_it_is_long_enough_and_again_when_it_closes() -> (
    None
):
    rule = a_rule("{gap: 5m}")
    short = a_gap(over_at=AT + timedelta(minutes=5))
    closed = a_gap(over_at=AT + timedelta(minutes=90))

    assert not wanted("{gap: 5m}", short)
    assert not wanted("{gap: 5m}", an_incident())
    assert not wanted("{}", a_gap())
    assert not wanted("{gap: 5m, resource: [v1/nodes]}", a_gap())
    [opened] = messages_of([a_gap()], rule=rule)
    assert opened.stage is Stage.OPENED
    [message] = messages_of([closed], [sent_before(a_gap())], rule=rule)
    assert message.stage is Stage.RESOLVED


OF_WORK = a_rule("{workload: ['*']}")


def test_what_ended_a_workload_is_sent_once_and_when_its_verdict_changes() -> (
    None
):
    known = an_ending()
    [first] = messages_of([known], rule=OF_WORK)
    before = [sent_before(known)]
    changed = an_ending(cause="gpu-fault")
    again = an_ending(over_at=LATER)

    assert first.stage is Stage.OPENED
    assert messages_of([an_ending()], before, rule=OF_WORK) == []
    [second] = messages_of([changed], before, rule=OF_WORK)
    assert (second.stage, second.number) == (Stage.CHANGED, 2)
    [over] = messages_of([again], before, rule=OF_WORK)
    assert over.stage is Stage.RESOLVED


def test_what_ended_one_workload_does_not_continue_another() -> None:
    """They lost Pods on the same node at the same time."""
    other = an_ending("1/41", workload="job/train/eval")
    before = [sent_before(an_ending())]

    news = messages_of([other], before, rule=OF_WORK)

    assert [one.stage for one in news] == [Stage.OPENED, Stage.WITHDRAWN]
    assert news[0].name == "1/41"


def test_a_rule_is_about_workloads_or_about_incidents() -> None:
    # Both may have the same id.
    both = [an_incident(), an_ending()]

    [of_work] = messages_of(both, rule=OF_WORK)
    [of_incidents] = messages_of(both)

    assert of_work.now == an_ending()
    assert of_incidents.now == an_incident()


def test_a_workload_is_chosen_by_name_namespace_owner_and_ending() -> None:
    ending = an_ending()

    assert wanted("{workload: [llm]}", ending)
    assert wanted("{workload: ['jobset/train/*']}", ending)
    assert not wanted("{workload: [eval]}", ending)
    assert wanted("{owner: ['alice@*'], namespace: [train]}", ending)
    assert not wanted("{owner: [bob]}", ending)
    assert not wanted("{owner: ['*']}", an_ending(owner=""))
    assert not wanted("{workload: [llm], namespace: [serve]}", ending)
    assert wanted("{ended_by: [node-failure]}", ending)
    assert not wanted("{ended_by: [preemption]}", ending)
    done = an_ending(happened="completion", nodes=[])
    assert not wanted("{workload: [llm]}", done)
    assert wanted("{ended_by: [completion]}", done)
