"""A node is back in service when its truth says so."""

from typing import Any

import pytest

from tests.corpus.make import TAPES
from tests.corpus.tape_lines import (
    Lines,
    is_bookmark,
    objects_of,
    read_lines,
)
from tests.corpus.truth import read_truth

NAMES = sorted(path.name.split(".")[0] for path in TAPES.glob("*.truth.json"))


def is_in_service(node: dict[str, Any]) -> bool:
    conditions = node["status"].get("conditions", ())
    ready = any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in conditions
    )
    spec = node["spec"]
    return ready and not spec.get("unschedulable") and not spec.get("taints")


def returns(tape: Lines, name: str) -> list[str]:
    """When a node came into service, or was there with another boot id."""
    found: list[str] = []
    before: tuple[bool, str] | None = None
    for frame in tape.frames:
        if frame.get("resource") != "v1/nodes" or is_bookmark(frame):
            continue
        gone = frame["frame"] == "watch" and frame["event"]["type"] == (
            "DELETED"
        )
        for node in objects_of(frame):
            if node["metadata"]["name"] != name:
                continue
            boot = node["status"]["nodeInfo"]["bootID"]
            now = (is_in_service(node) and not gone, boot)
            if now[0] and now != before:
                found.append(frame["at"])
            before = now
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_node_is_back_between_the_acts_that_say_so(name: str) -> None:
    truth = read_truth(TAPES / f"{name}.truth.json")
    tape = read_lines(TAPES / f"{name}.tape.jsonl.zst")
    acts = {act.label: act.at or "" for act in truth.acts}
    for verdict in truth.verdicts:
        if not verdict.back_in_service:
            continue
        begin, end = (acts[label] for label in verdict.back_between)
        last = [at for at in returns(tape, verdict.node) if at <= end][-1]
        assert begin <= last
