"""Every tape of the corpus opens, plays, and has a truth."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from recorder.sources.tape import TapeReader
from tests.corpus.incident import everything
from tests.corpus.make import TAPES
from tests.corpus.playing import disorder, played
from tests.corpus.tape_lines import (
    Lines,
    is_bookmark,
    objects_of,
    read_lines,
)
from tests.corpus.truth import Truth, Workload, problems, read_truth

NAMES = sorted(path.name.split(".")[0] for path in TAPES.glob("*.truth.json"))

TAPE_BYTES_MAX = 300_000
CORPUS_BYTES_MAX = 6_000_000


def tape_of(name: str) -> Path:
    return TAPES / f"{name}.tape.jsonl.zst"


def truth_of(name: str) -> Truth:
    return read_truth(TAPES / f"{name}.truth.json")


def boot_ids(tape: Lines) -> dict[str, list[str]]:
    """Each node's boot ids, in the order in which they were seen."""
    seen: dict[str, list[str]] = {}
    for frame in tape.frames:
        if frame.get("resource") != "v1/nodes":
            continue
        for node in objects_of(frame):
            info = node.get("status", {}).get("nodeInfo", {})
            boots = seen.setdefault(node["metadata"].get("name", ""), [])
            if info.get("bootID") and info["bootID"] not in boots:
                boots.append(info["bootID"])
    return seen


def pods_and_nodes(tape: Lines) -> set[tuple[str, str, str | None]]:
    return {
        (
            pod["metadata"]["namespace"],
            pod["metadata"]["name"],
            pod["spec"].get("nodeName"),
        )
        for frame in tape.frames
        if frame.get("resource") == "v1/pods"
        for pod in objects_of(frame)
        if "namespace" in pod["metadata"]
    }


def test_every_incident_has_a_tape_and_every_tape_an_incident() -> None:
    tapes = {path.name.split(".")[0] for path in TAPES.glob("*.zst")}
    assert tapes == set(NAMES) == set(everything())


def test_there_are_many_and_they_are_small() -> None:
    sizes = [path.stat().st_size for path in TAPES.glob("*.zst")]
    assert len(sizes) >= 24
    assert max(sizes) <= TAPE_BYTES_MAX
    assert sum(sizes) <= CORPUS_BYTES_MAX


@pytest.mark.parametrize("name", NAMES)
def test_a_truth_keeps_the_rules_of_truths(name: str) -> None:
    truth = truth_of(name)
    incident = everything()[name]
    assert truth.incident == name
    assert truth.says == incident.says
    assert truth.verdicts or truth.workloads or truth.not_workloads
    assert all(act.at is not None for act in truth.acts)
    times = [act.at or "" for act in truth.acts]
    assert times == sorted(times)
    for question in truth.questions:
        assert question.since_at is not None
        assert question.until_at is not None
        assert question.since_at < question.until_at


@pytest.mark.parametrize("name", NAMES)
def test_a_tape_plays_without_refusals(name: str) -> None:
    with TapeReader(tape_of(name)) as reader:
        assert reader.header.cluster == name
        frames = sum(1 for _ in reader.frames())
    tape = read_lines(tape_of(name))
    assert frames == len(tape.frames)
    assert disorder(tape.frames) == []
    story = played(tape)
    assert story.of("refused") == []
    assert story.of("listed")


@pytest.mark.parametrize("name", NAMES)
def test_what_a_truth_names_is_on_the_tape(name: str) -> None:
    truth = truth_of(name)
    tape = read_lines(tape_of(name))
    boots = boot_ids(tape)
    pods = pods_and_nodes(tape)
    assert {node.name for node in truth.cluster.nodes} <= boots.keys()
    for verdict in truth.verdicts:
        named = [verdict.boot_id_before, verdict.boot_id_after]
        seen = [boot for boot in named if boot is not None]
        assert [b for b in boots[verdict.node] if b in seen] == list(
            dict.fromkeys(seen)
        )
    for workload in truth.workloads:
        for pod in workload.pods_hit:
            assert any(
                (workload.namespace, pod, node) in pods
                for node in workload.nodes
            )


@pytest.mark.parametrize("name", NAMES)
def test_audit_is_on_a_tape_where_the_truth_says_so(name: str) -> None:
    audited = any(f["frame"] == "audit" for f in read_lines(
        tape_of(name)
    ).frames)  # fmt: skip
    assert audited == truth_of(name).cluster.audit


def states(tape: Lines, node: str) -> set[tuple[bool, str, str]]:
    """Whether a node was cordoned, its Ready and its boot id, over time."""
    return {
        (
            bool(item["spec"].get("unschedulable")),
            condition["status"],
            item["status"]["nodeInfo"]["bootID"],
        )
        for frame in tape.frames
        if frame.get("resource") == "v1/nodes" and not is_bookmark(frame)
        for item in objects_of(frame)
        if item["metadata"]["name"] == node
        for condition in item["status"].get("conditions", ())
        if condition["type"] == "Ready"
    }


@pytest.mark.parametrize("name", NAMES)
def test_nothing_happens_to_a_node_without_a_verdict(name: str) -> None:
    """A machine that is too busy can lose a node that no injector touched."""
    truth, tape = truth_of(name), read_lines(tape_of(name))
    judged = {verdict.node for verdict in truth.verdicts}
    for node in truth.cluster.nodes:
        if node.name not in judged:
            ((cordoned, ready, _),) = states(tape, node.name)
            assert (cordoned, ready) == (False, "True")


RUNS_AGAIN = {"restarted", "rescheduled", "survived"}


def running_at_the_end(tape: Lines, workload: Workload) -> dict[str, str]:
    """A workload's Pods that ran when the recording ended, and where."""
    pods: dict[str, dict[str, Any]] = {}
    for frame in tape.frames:
        if frame.get("resource") != "v1/pods" or is_bookmark(frame):
            continue
        gone = frame["frame"] == "watch" and frame["event"]["type"] == (
            "DELETED"
        )
        for pod in objects_of(frame):
            pods[pod["metadata"]["name"]] = {} if gone else pod
    return {
        name: pod["spec"]["nodeName"]
        for name, pod in pods.items()
        if name.startswith(f"{workload.name}-")
        and pod
        and pod["metadata"]["namespace"] == workload.namespace
        and pod["status"]["phase"] == "Running"
        and "deletionTimestamp" not in pod["metadata"]
    }


@pytest.mark.parametrize("name", NAMES)
def test_an_outcome_is_what_became_of_the_pods(name: str) -> None:
    tape = read_lines(tape_of(name))
    for workload in truth_of(name).workloads:
        running = running_at_the_end(tape, workload)
        lost = set(workload.pods_hit) - running.keys()
        if workload.outcome in RUNS_AGAIN:
            assert len(running) >= workload.gang_size
        else:
            assert len(running) < workload.gang_size
        if workload.outcome == "survived":
            assert not lost
        if workload.outcome == "restarted":
            assert lost
            assert set(workload.nodes) <= set(running.values())
        if workload.outcome == "rescheduled":
            assert lost
            assert not set(workload.nodes) & set(running.values())


def broken(truth: Truth, **fields: Any) -> Truth:
    return msgspec.convert(msgspec.to_builtins(truth) | fields, type=Truth)


def test_a_truth_that_contradicts_itself_is_refused() -> None:
    truth = truth_of("crash")
    plain = msgspec.to_builtins(truth)
    (verdict,) = plain["verdicts"]
    assert problems(truth) == []
    assert problems(broken(truth, verdicts=[verdict | {"node": "gpu-9"}]))
    assert problems(broken(truth, verdicts=[verdict | {"cause": "gpu-fault"}]))
    assert problems(
        broken(
            truth,
            verdicts=[verdict | {"boot_id_after": verdict["boot_id_before"]}],
        )
    )
    assert problems(broken(truth, questions=[]))
