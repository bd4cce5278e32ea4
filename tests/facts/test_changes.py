"""The facts derived from two versions of an object."""

import orjson
import pytest

from recorder.facts import (
    HOST_COMMAND,
    derive,
    is_evidence,
    says,
    state_of,
)
from recorder.model.entry import Operation
from recorder.model.fact import FactKind
from tests.facts.versions import (
    JOBS,
    NODES,
    PODS,
    an_entry,
    between,
    node,
    pod,
    the,
)
from tests.support.builders import at
from tests.support.details import stored_detail

READY = {"type": "Ready", "status": "True", "reason": "KubeletReady"}


def condition(status: str, **more: str) -> dict[str, object]:
    return node(status={"conditions": [{**READY, "status": status, **more}]})


def info(**fields: str) -> dict[str, object]:
    return node(status={"nodeInfo": fields})


def test_a_condition_changes_when_its_word_does() -> None:
    since = "2026-11-21T03:00:05Z"
    (fact,) = between(
        NODES,
        condition("True"),
        condition("Unknown", lastTransitionTime=since, message="silent"),
    )
    assert fact.kind is FactKind.CONDITION_CHANGED
    assert fact.occurred_at == at(5)
    assert fact.node == "gpu-001"
    assert stored_detail(fact)["type"] == "Ready"
    assert stored_detail(fact)["old"]["status"] == "True"
    assert stored_detail(fact)["new"] == {
        "status": "Unknown",
        "reason": "KubeletReady",
        "message": "silent",
        "since": since,
    }
    assert says(fact) == "Ready=Unknown KubeletReady: silent (was True)"


def test_a_heartbeat_is_no_change() -> None:
    later = condition("True", lastHeartbeatTime="2026-11-21T03:00:05Z")
    assert between(NODES, condition("True"), later) == []


def test_a_removed_condition_has_no_new_value() -> None:
    kind, detail = the(between(NODES, condition("True"), node(status={})))
    assert kind is FactKind.CONDITION_CHANGED
    assert detail["new"] is None


def test_another_boot_id_is_another_boot() -> None:
    facts = between(NODES, info(bootID="one"), info(bootID="two"))
    assert the(facts) == (FactKind.BOOT_CHANGED, {"old": "one", "new": "two"})
    assert between(NODES, info(), info(bootID="one")) == []


@pytest.mark.parametrize(
    ("member", "field"),
    [("machineID", "machine_id"), ("systemUUID", "system_uuid")],
)
def test_another_machine(member: str, field: str) -> None:
    facts = between(NODES, info(**{member: "a"}), info(**{member: "b"}))
    assert the(facts) == (
        FactKind.MACHINE_CHANGED,
        {"field": field, "old": "a", "new": "b"},
    )


def test_another_kernel_is_a_changed_field() -> None:
    facts = between(NODES, info(kernelVersion="6"), info(kernelVersion="7"))
    assert the(facts) == (
        FactKind.FIELD_CHANGED,
        {"field": "kernel_version", "old": "6", "new": "7"},
    )


def test_a_cordon_and_its_end() -> None:
    off, on = node(spec={}), node(spec={"unschedulable": True})
    assert the(between(NODES, off, on)) == (FactKind.CORDONED, {})
    assert the(between(NODES, on, off)) == (FactKind.UNCORDONED, {})


def test_a_taint_comes_with_its_time_and_goes() -> None:
    taint = {"key": "sick", "effect": "NoExecute", "value": "very"}
    timed = taint | {"timeAdded": "2026-11-21T03:00:09Z"}
    off, on = node(spec={}), node(spec={"taints": [timed]})
    (came,) = between(NODES, off, on)
    assert came.kind is FactKind.TAINTED
    assert came.occurred_at == at(9)
    assert the(between(NODES, on, off)) == (FactKind.UNTAINTED, taint)


def test_one_gpu_less() -> None:
    def gpus(count: str) -> dict[str, object]:
        amounts = {"capacity": {"nvidia.com/gpu": "8"}}
        return node(
            status=amounts | {"allocatable": {"nvidia.com/gpu": count}}
        )

    kind, detail = the(between(NODES, gpus("8"), gpus("7")))
    assert kind is FactKind.RESOURCE_CHANGED
    assert detail == {
        "list": "allocatable",
        "resource": "nvidia.com/gpu",
        "old": "8",
        "new": "7",
        "capacity": "8",
    }


@pytest.mark.parametrize("member", ["labels", "annotations"])
def test_texts_come_change_and_go(member: str) -> None:
    def version(**texts: str) -> dict[str, object]:
        return node(metadata={member: texts})

    kind = FactKind(member.removesuffix("s") + "-changed")
    for old, new in ((None, "1"), ("1", "2"), ("2", None)):
        facts = between(
            NODES,
            version(**({"a": old} if old else {})),
            version(**({"a": new} if new else {})),
        )
        assert the(facts) == (kind, {"key": "a", "old": old, "new": new})


def test_a_pod_from_its_binding_to_its_end() -> None:
    waiting = pod(status={"phase": "Pending"})
    bound = pod(spec={"nodeName": "gpu-001"}, status={"phase": "Pending"})
    facts = between(PODS, waiting, bound)
    assert the(facts) == (FactKind.BOUND, {"old": None, "node": "gpu-001"})
    runs = {"phase": "Running", "startTime": "2026-11-21T03:00:02Z"}
    running = pod(spec={"nodeName": "gpu-001"}, status=runs)
    started = between(PODS, bound, running)
    assert [f.kind for f in started if f.kind is not FactKind.FIELD_CHANGED]
    (start,) = [f for f in started if f.kind is FactKind.STARTED]
    assert start.occurred_at == at(2)
    ended = pod(
        spec={"nodeName": "gpu-001"},
        status=runs
        | {
            "phase": "Failed",
            "reason": "Terminated",
            "containerStatuses": [
                {
                    "name": "main",
                    "state": {
                        "terminated": {
                            "exitCode": 137,
                            "reason": "OOMKilled",
                            "finishedAt": "2026-11-21T03:00:50Z",
                        }
                    },
                }
            ],
        },
    )
    found = {f.kind: f for f in between(PODS, running, ended)}
    assert stored_detail(found[FactKind.ENDED])["reason"] == "Terminated"
    end = found[FactKind.CONTAINER_ENDED]
    assert end.occurred_at == at(50)
    assert stored_detail(end)["reason"] == "OOMKilled"
    assert says(end) == "container main ended with 137 OOMKilled"
    going = pod(
        metadata={"deletionTimestamp": "2026-11-21T03:01:00Z"},
        spec={"nodeName": "gpu-001"},
        status={"phase": "Pending"},
    )
    kind, _ = the(between(PODS, bound, going))
    assert kind is FactKind.DELETION_REQUESTED


def test_an_end_is_a_fact_once_and_the_next_run_is_another() -> None:
    ended = {"exitCode": 1, "finishedAt": "2026-11-21T03:00:50Z"}

    def status(**more: object) -> dict[str, object]:
        return pod(status={"containerStatuses": [{"name": "main", **more}]})

    first = status(state={"terminated": ended})
    again = status(
        state={"running": {}}, lastState={"terminated": ended}, restartCount=1
    )
    (run,) = between(PODS, first, again)
    assert run.kind is FactKind.STARTED
    assert says(run) == "container main restarted"
    assert between(PODS, again, again) == []


def test_the_newest_end_of_a_container_is_a_fact() -> None:
    ends = [
        {"exitCode": code, "finishedAt": f"2026-11-21T03:0{code}:00Z"}
        for code in (1, 2)
    ]

    def status(**more: object) -> dict[str, object]:
        container = {"name": "main", "restartCount": 1, **more}
        return pod(status={"containerStatuses": [container]})

    runs = status(state={"running": {}}, lastState={"terminated": ends[0]})
    over = status(
        state={"terminated": ends[1]}, lastState={"terminated": ends[0]}
    )
    kind, detail = the(between(PODS, runs, over))
    assert kind is FactKind.CONTAINER_ENDED
    assert detail["exit_code"] == 2


@pytest.mark.parametrize(
    ("spec", "metadata", "said"),
    [
        ({"hostPID": True}, {}, "nsenter -t 1 reboot"),
        ({}, {}, None),
        ({"hostPID": True}, {"ownerReferences": [{"kind": "Job"}]}, None),
    ],
)
def test_what_a_pod_may_do_to_its_node_is_a_fact(
    spec: dict[str, object], metadata: dict[str, object], said: str | None
) -> None:
    document = {
        "metadata": {"name": "shell", "namespace": "ops", "uid": "u"}
        | metadata,
        "spec": {
            "nodeName": "gpu-001",
            "containers": [
                {"command": ["nsenter", "-t", "1"], "args": ["reboot"]}
            ],
        }
        | spec,
    }
    (fact,) = derive(an_entry(PODS, document), None).facts
    state = stored_detail(fact)["state"]
    assert state.get("fields", {}).get("host_command") == said


def a_shell(node: str | None, **metadata: object) -> dict[str, object]:
    """Return a Pod that a program made, and that reboots its node."""
    named = {"name": "shell", "namespace": "ops", "uid": "u"}
    runs = [{"command": ["nsenter", "reboot"]}]
    return {
        "metadata": named | metadata,
        "spec": {"nodeName": node, "hostPID": True, "containers": runs},
    }


def test_a_pod_acts_on_a_node_from_when_it_is_bound() -> None:
    """By who wrote what it runs, not by who bound it."""
    by = [
        {"manager": manager, "fieldsV1": {field: {}}}
        for manager, field in (
            ("node-shell", "f:containers"),
            ("kube-scheduler", "f:conditions"),
        )
    ]
    waiting = a_shell(None, managedFields=by[:1])
    (made,), state = derive(an_entry(PODS, waiting), None)
    assert (made.node, is_evidence(made)) == (None, False)
    placed = an_entry(PODS, a_shell("gpu-001", managedFields=by))
    bound, acts = derive(placed, state).facts
    assert (bound.kind, bound.node) == (FactKind.BOUND, "gpu-001")
    assert not is_evidence(bound)
    assert stored_detail(acts) | {"by": None} == {
        "field": HOST_COMMAND,
        "old": None,
        "new": "nsenter reboot",
        "by": None,
    }
    assert (acts.node, acts.actor) == ("gpu-001", "node-shell")
    assert is_evidence(acts)


@pytest.mark.parametrize(
    ("phase", "operation", "unrun"),
    [
        ("Pending", Operation.DELETED, True),
        ("Pending", Operation.ABSENT, False),
        ("Running", Operation.DELETED, False),
    ],
)
def test_a_pod_that_goes_before_it_ran_did_nothing_to_its_node(
    phase: str, operation: Operation, *, unrun: bool
) -> None:
    shell = a_shell("gpu-001") | {"status": {"phase": phase}}
    _, state = derive(an_entry(PODS, shell), None)
    facts = derive(an_entry(PODS, shell, operation), state).facts
    assert [(one.kind, is_evidence(one)) for one in facts] == [
        (FactKind.VANISHED, False),
        (FactKind.FIELD_CHANGED, True),
    ][: 1 + unrun]


def test_a_pod_that_its_owner_leaves_does_nothing_new() -> None:
    owned = a_shell("gpu-001", ownerReferences=[{"kind": "DaemonSet"}])
    assert between(PODS, owned, a_shell("gpu-001")) == []


def test_a_workload_counts_and_ends() -> None:
    def job(**status: object) -> dict[str, object]:
        return pod(status=status)

    failed = {"type": "Failed", "status": "True", "reason": "x"}
    facts = between(JOBS, job(active=2), job(failed=1, conditions=[failed]))
    named = {
        stored_detail(f).get("field", stored_detail(f).get("type"))
        for f in facts
    }
    assert named == {"active", "failed", "Failed"}


def test_an_object_that_names_a_node_is_about_it() -> None:
    resource = "janitor.dgxc.nvidia.com/v1alpha1/rebootnodes"
    for document in (
        pod(spec={"nodeName": "gpu-007"}),
        pod(status={"nodeRef": {"name": "gpu-007"}}),
        pod(metadata={"annotations": {
            "remediation.medik8s.io/node-name": "gpu-007"}}),
    ):  # fmt: skip
        entry = an_entry(resource, document, Operation.ADDED)
        (fact,) = derive(entry, None).facts
        assert (fact.kind, fact.node) == (FactKind.APPEARED, "gpu-007")


def called(name: str, **more: object) -> dict[str, object]:
    """Return the metadata of an object of that name."""
    return pod(metadata={"name": name, **more})


OWNED = [{"kind": "Node", "apiVersion": "v1", "name": "n1", "uid": "u"}]


@pytest.mark.parametrize(
    ("resource", "document", "about"),
    [
        ("sriovnetwork.openshift.io/v1/sriovnetworknodestates", {}, "n1"),
        ("metal3.io/v1alpha1/baremetalhosts", {}, "n1"),
        ("example.net/v1/nodeinfos", {}, "n1"),
        ("karpenter.sh/v1/nodepools", {}, None),
        ("longhorn.io/v1beta2/nodes", {}, None),
        ("example.net/v1/widgets", {}, None),
        ("brupop.bottlerocket.aws/v2/bottlerocketshadows",
         {"ownerReferences": OWNED}, "n1"),
    ],
)  # fmt: skip
def test_an_object_of_the_name_of_a_node_is_about_it(
    resource: str, document: dict[str, object], about: str | None
) -> None:
    made = called("n1" if not document else "brs-n1", **document)
    entry = an_entry(resource, made, Operation.ADDED)
    (fact,) = derive(entry, None).facts
    assert fact.node == about


@pytest.mark.parametrize(
    ("kind", "about"),
    [("SriovNetworkNodeState", "n1"), ("NodePool", None), ("Widget", None)],
)
def test_an_event_about_such_an_object_is_about_the_node(
    kind: str, about: str | None
) -> None:
    thing = {"apiVersion": "example.net/v1", "kind": kind, "name": "n1"}
    event = {"reason": "Syncing", "involvedObject": thing}
    (fact,) = derive(an_entry("v1/events", event), None).facts
    assert fact.node == about


@pytest.mark.parametrize(
    ("operation", "created"),
    [(Operation.ADDED, True), (Operation.LISTED, False)],
)
def test_what_a_list_shows_was_not_made_then(
    operation: Operation, *, created: bool
) -> None:
    document = node(metadata={"creationTimestamp": "2026-11-21T03:00:01Z"})
    (fact,) = derive(an_entry(NODES, document, operation), None).facts
    assert fact.kind is FactKind.APPEARED
    assert stored_detail(fact)["created"] is created
    assert fact.occurred_at == (at(1) if created else None)


def test_a_deleted_object_has_its_last_state() -> None:
    entry = an_entry(NODES, info(bootID="one"), Operation.DELETED)
    derived = derive(entry, None)
    (fact,) = derived.facts
    assert fact.kind is FactKind.VANISHED
    assert not stored_detail(fact)["inferred"]
    assert stored_detail(fact)["state"]["fields"] == {"boot_id": "one"}
    assert derived.state is None


@pytest.mark.parametrize(
    "status", [7, [], "ready", {"conditions": {"Ready": True}}]
)
def test_a_node_of_the_wrong_shape_is_unreadable(
    status: object,
) -> None:
    (fact,) = derive(an_entry(NODES, node(status=status)), None).facts
    assert fact.kind is FactKind.UNREADABLE
    assert says(fact).startswith("not readable")


@pytest.mark.parametrize(
    "status", [7, [], "ready", {"conditions": {"Ready": True}, "active": []}]
)
def test_another_kind_may_have_any_shape(status: object) -> None:
    derived = derive(an_entry(JOBS, pod(status=status)), None)
    assert [f.kind for f in derived.facts] == [FactKind.APPEARED]
    assert derived.state is not None
    assert derived.state.fields == {}


def test_one_bad_condition_hides_no_good_one() -> None:
    good = {"type": "Failed", "status": "True"}
    document = pod(status={"conditions": [7, good, {"type": 1}]})
    state = state_of(orjson.dumps(document), JOBS)
    assert state is not None
    assert list(state.conditions) == ["Failed"]
