"""Versions and differences name their authors: by audit, else by fields."""

from typing import Any

import orjson
import pytest

from tests.cli.conftest import Recorder

POD = "pod/serve/chat-f8b4b68cb-nnrxq"
LOG = ("--log", "4")
"""Of a node that alice drains, with audit."""

pytestmark = pytest.mark.usefixtures("incidents")


def versions(recorder: Recorder, name: str) -> list[dict[str, Any]]:
    found = orjson.loads(recorder("history", name, *LOG, "-o", "json").out)
    listed: list[dict[str, Any]] = found["versions"]
    return listed


def test_the_versions_of_an_eviction_are_by_who_evicted(
    recorder: Recorder,
) -> None:
    found = versions(recorder, POD)

    evicted = [
        v for v in found if v["author"].get("verb") == "create/eviction"
    ]
    assert [[c["path"] for c in v["changed"]] for v in evicted] == [
        ["status.conditions[type=DisruptionTarget]"],
        ["metadata.deletionGracePeriodSeconds", "metadata.deletionTimestamp"],
    ]
    assert {v["author"]["name"] for v in evicted} == {"alice@example.com"}
    assert all("author" not in c for v in evicted for c in v["changed"])


def test_a_deletion_is_by_who_let_it_go(recorder: Recorder) -> None:
    *_, last = versions(recorder, POD)

    assert last["operation"] == "deleted"
    assert last["author"]["name"] == "system:node:gpu-002"
    assert last["author"]["verb"] == "delete"


def test_a_difference_names_the_author_of_each_field(
    recorder: Recorder,
) -> None:
    answer = recorder(
        *("diff", "node/gpu-002", *LOG, "--from", "4/2", "-o", "json")
    )
    changed = {
        c["path"]: c["author"] for c in orjson.loads(answer.out)["changed"]
    }

    assert changed["spec.unschedulable"]["name"] == "alice@example.com"
    assert changed["spec.taints"]["name"].endswith(":node-controller")
    assert changed["status.images"]["name"] == "system:node:gpu-002"


def test_the_text_names_them_too(recorder: Recorder) -> None:
    out = recorder("history", "node/gpu-002", *LOG).out
    (cordoned,) = [
        block for block in out.split("\n\n") if "+ spec.unschedulable" in block
    ]

    assert (
        "by alice@example.com (kubectl, from 127.0.0.1), audit 4/" in cordoned
    )
    diff = recorder("diff", "node/gpu-002", *LOG, "--from", "4/2").out
    assert "+ spec.unschedulable: true  (by alice@example.com" in diff
