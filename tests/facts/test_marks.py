"""The marks by which queries choose facts."""

import pytest

from recorder.facts import Bearing, Mark
from recorder.facts.marks import Marks, marks_of
from recorder.model.fact import Fact, FactKind
from recorder.model.reference import ObjectIdentity
from tests.support.details import detail_of

POD = ObjectIdentity("", "Pod", "train", "llm-0", "u-1")
NODE = ObjectIdentity("", "Node", "", "gpu-001", "u-2")
WORKLOAD = ObjectIdentity("kueue.x-k8s.io", "Workload", "train", "llm", "u-3")
RACK = "example.com/rack"


def marks(
    kind: FactKind,
    thing: ObjectIdentity,
    node: str | None = "gpu-001",
    **detail: object,
) -> Marks:
    details = detail_of(kind, detail)
    return marks_of(Fact(kind=kind, node=node, object=thing, detail=details))


def turned(
    type_: str, old: str | None, new: str | None, reason: str | None = None
) -> dict[str, object]:
    return {
        "type": type_,
        "old": None if old is None else {"status": old},
        "new": None if new is None else {"status": new, "reason": reason},
    }


@pytest.mark.parametrize(
    ("thing", "node", "condition", "bearing", "mark"),
    [
        (NODE, "n", turned("Ready", "True", "False"), "sign", None),
        (NODE, "n", turned("Ready", "True", "Unknown"), "sign", "contact"),
        (NODE, "n", turned("Ready", "Unknown", "True"), "sign", "contact"),
        (NODE, "n", turned("Ready", "Unknown", None), "sign", "contact"),
        (NODE, "n", turned("Other", "Unknown", "True"), "sign", None),
        (POD, "n", turned("Ready", "True", "Unknown"), "daily", None),
        (
            POD,
            "n",
            turned("DisruptionTarget", None, "True", "EvictionByEvictionAPI"),
            "disruption",
            "outcome",
        ),
        (
            POD,
            "n",
            turned("DisruptionTarget", None, "True", "PreemptionByScheduler"),
            "disruption",
            "preempted",
        ),
        (
            WORKLOAD,
            None,
            turned("Evicted", "False", "True", "Preempted"),
            "evidence",
            "evicted",
        ),
        (
            WORKLOAD,
            None,
            turned("Evicted", "False", "True", "PodsReadyTimeout"),
            "evidence",
            "outcome",
        ),
        (
            WORKLOAD,
            None,
            turned("Failed", None, "True"),
            "evidence",
            "outcome",
        ),
    ],
)
def test_a_condition_is_marked_by_what_it_means_for_who_asks(
    thing: ObjectIdentity,
    node: str | None,
    condition: dict[str, object],
    bearing: str,
    mark: str | None,
) -> None:
    found = marks(FactKind.CONDITION_CHANGED, thing, node, **condition)

    assert found == Marks(
        Bearing(bearing), None if mark is None else Mark(mark)
    )


def test_a_node_that_appeared_is_found_by_its_labels() -> None:
    ready = {"Ready": {"status": "Unknown"}}
    state = {"labels": {"pool": "a", RACK: "r7"}, "conditions": ready}

    found = marks(FactKind.APPEARED, NODE, created=True, state=state)

    assert found.mark is Mark.CREATED
    assert (found.place, found.value) == ({RACK: "r7"}, "Unknown")
    assert found.labels == ["pool=a", f"{RACK}=r7", "=r7"]
    bare = marks(FactKind.APPEARED, NODE, created=False, state={})
    assert bare == Marks(Bearing.SIGN, place={})


def test_what_a_first_list_showed_is_found_by_its_annotations() -> None:
    state = {"annotations": {"lock": "n", "other": ""}}

    listed = marks(FactKind.APPEARED, WORKLOAD, None, state=state)
    made = marks(FactKind.APPEARED, WORKLOAD, None, created=True, state=state)
    placed = marks(FactKind.APPEARED, POD, state=state)

    assert listed.keys == ["lock", "other"]
    assert made.keys is placed.keys is None


@pytest.mark.parametrize("kind", [FactKind.APPEARED, FactKind.VANISHED])
def test_an_object_is_found_by_the_owners_whose_fate_it_shares(
    kind: FactKind,
) -> None:
    owners = [
        {"kind": "Job", "uid": "j"},
        {"kind": "DaemonSet", "uid": "d"},
        {"kind": "Node", "uid": "n"},
        {"kind": "Job"},
        {"uid": "w"},
    ]

    assert marks(kind, POD, state={"owners": owners}).owners == ["j", "w"]
    assert marks(kind, POD, state={}).owners is None


def test_labels_reasons_and_keys_are_marks_where_they_are_searched() -> None:
    label = {"key": "pool", "old": "a", "new": "b\0"}
    key = {"key": "lock", "old": None, "new": "n"}
    gone = {"key": "pool", "old": "a", "new": None}

    assert marks(FactKind.LABEL_CHANGED, NODE, **label).value == "b\ufffd"
    assert marks(FactKind.LABEL_CHANGED, NODE, **gone).value is None
    assert marks(FactKind.LABEL_CHANGED, POD, **label).value is None
    assert marks(FactKind.LABEL_CHANGED, WORKLOAD, None, **label).value is None
    empty = marks(FactKind.LABEL_CHANGED, NODE, **{**label, "new": ""})
    assert empty.value == ""
    found = marks(FactKind.ANNOTATION_CHANGED, WORKLOAD, None, **key)
    assert found.topic == "lock"
    assert marks(FactKind.ANNOTATION_CHANGED, NODE, **key).topic is None
    assert marks(FactKind.EVENT, POD, reason="Pulled").topic == "Pulled"
    assert marks(FactKind.EVENT, POD).topic is None


@pytest.mark.parametrize(
    ("actor", "thing", "reason", "mark"),
    [
        ("some-scheduler", POD, "Preempted", Mark.PREEMPTED),
        ("some-agent", POD, "PodEvicted", Mark.PREEMPTED),
        ("some-agent", POD, "Scheduled", None),
        ("default-scheduler", POD, "Preempted", None),
        ("kubelet", POD, "Evicted", None),
        ("some-scheduler", WORKLOAD, "Preempted", None),
    ],
)
def test_an_event_that_displaces_a_pod_is_marked(
    actor: str, thing: ObjectIdentity, reason: str, mark: Mark | None
) -> None:
    event = detail_of(FactKind.EVENT, {"reason": reason})
    fact = Fact(
        kind=FactKind.EVENT, node=None, object=thing, actor=actor, detail=event
    )

    assert marks_of(fact).mark is mark


def test_keys_of_the_ports_of_a_node_begin_alike() -> None:
    def key(node: str, subject: str, source: str = "ufm") -> str | None:
        claim = {
            "type": "link.state",
            "source": source,
            "subject": subject,
            "data": {"state": "down"},
        }
        found = marks(FactKind.CLAIMED, NODE, node, **claim)
        assert found.bearing is Bearing.PORT
        return found.value

    first = key("n1", "port/a")
    assert first is not None
    assert first == key("n1", "port/a")
    others = [key("n1", "port/b"), key("n1", "port/a", "sonic")]
    assert [str(one)[:16] for one in others] == [first[:16]] * 2
    assert len({first, *others, key("n2", "port/a")}) == 4


def test_a_claim_of_a_port_of_no_node_or_without_state_has_no_key() -> None:
    claim = {"type": "link.state", "source": "ufm", "subject": "port/a"}
    down = {"state": "down"}
    of_none = marks(FactKind.CLAIMED, NODE, None, **claim, data=down)
    of_node = marks(FactKind.CLAIMED, NODE, "n1", **claim, data={})
    assert (of_none.bearing, of_none.value) == (Bearing.EVIDENCE, None)
    assert (of_node.bearing, of_node.value) == (Bearing.SIGN, None)
