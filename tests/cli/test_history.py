"""Histories of the demo's log are whole: they fold to what `show` gives."""

from typing import Any

import orjson
import pytest
import yaml

from tests.classify.applying import applied
from tests.cli.conftest import Answer, Recorder

OBJECTS = (
    "node/gpu-001",
    "node/gpu-002",
    "node/gpu-007",
    "pod/train/llm-pretrain-worker-0-0-qwv96",
    "pod/serve/chat-6d898dbbf7-pmqwb",
    "jobset/train/llm-pretrain",
    "lease/kube-node-lease/gpu-002",
    "namespace/train",
)


def parsed(answer: Answer) -> Any:
    return orjson.loads(answer.out)


def shown(demo: Recorder, name: str, version: Any) -> Any:
    """The object as it was in a version, of what entries hold."""
    entries = demo("log", "--object", name, *RAW).lines
    (raw,) = [e["raw"] for e in entries if e["entry"] == version["entry"]]
    assert isinstance(raw, dict)
    return raw


RAW = ("--limit", "all", "-o", "ndjson", "--raw")


@pytest.mark.parametrize("name", OBJECTS)
def test_the_versions_fold_to_the_last_document(
    demo: Recorder, name: str
) -> None:
    answer = parsed(demo("history", name, "--all-fields", "-o", "json"))
    first, *others = answer["versions"]
    # Items of a list come without them.
    kind = {
        "apiVersion": answer["object"]["api_version"],
        "kind": answer["object"]["kind"],
    }
    document = {**kind, **shown(demo, name, first)}

    for version in others:
        document = applied(document, version["changed"])

    assert first["changed"] == []
    assert document == {
        **kind,
        **shown(demo, name, answer["versions"][-1]),
    }


@pytest.mark.parametrize("name", OBJECTS)
def test_a_difference_is_that_of_its_ends(demo: Recorder, name: str) -> None:
    versions = parsed(demo("history", name, "-o", "json"))["versions"]
    first, last = versions[0]["entry"], versions[-1]["entry"]

    found = parsed(
        demo(
            *("diff", name, "--from", first, "--to", last),
            *("--all-fields", "-o", "json"),
        )
    )

    if versions[-1]["operation"] == "deleted":
        assert (found["outcome"], found["changed"]) == ("deleted", [])
        return
    old = {
        "apiVersion": found["object"]["api_version"],
        "kind": found["object"]["kind"],
        **shown(demo, name, versions[0]),
    }
    assert applied(old, found["changed"]) == {
        **{k: old[k] for k in ("apiVersion", "kind")},
        **shown(demo, name, versions[-1]),
    }


def test_a_part_of_a_history_is_that_part_of_the_whole(
    demo: Recorder,
) -> None:
    """What a version is compared with may lie outside of what is shown."""
    whole = parsed(demo("history", "node/gpu-002", "-o", "json"))["versions"]
    for count in range(1, len(whole) + 1):
        part = demo("history", "node/gpu-002", "--limit", f"{count}", *JSON)
        cut = "only the newest" in part.err

        assert parsed(part)["versions"] == whole[-count:]
        assert parsed(part)["more"] == cut == (count < len(whole))
    for place, version in enumerate(whole):
        since = ("--since", version["observed_at"])
        part = demo("history", "node/gpu-002", *since, "-o", "json")

        assert parsed(part)["versions"] == whole[place:]


JSON = ("-o", "json")


def test_each_form_says_the_same(demo: Recorder) -> None:
    name = "pod/train/llm-pretrain-worker-0-0-qwv96"
    whole = parsed(demo("history", name, "-o", "json"))

    lines = demo("history", name, "-o", "ndjson")

    assert lines.lines == whole["versions"]
    assert yaml.safe_load(demo("history", name, "-o", "yaml").out) == whole


def test_a_boot_id_that_moved_is_shown_with_who_wrote_it(
    demo: Recorder,
) -> None:
    versions = parsed(demo("history", "node/gpu-002", *JSON))["versions"]

    (version,) = [
        version
        for version in versions
        if "status.nodeInfo.bootID" in [c["path"] for c in version["changed"]]
    ]

    assert version["actor"] == [
        {
            "name": "kubelet",
            "operation": "Update",
            "subresource": "status",
            "at": "2026-11-25T00:07:26.000000Z",
        }
    ]
    assert {
        "path": "status.conditions[type=Ready].status",
        "change": "replaced",
        "old": "Unknown",
        "new": "True",
    } in version["changed"]
