"""Who changed each field last: by audit, by managedFields, or unknown."""

from typing import Any

import orjson
import pytest
import yaml

from tests.cli.conftest import Recorder

NODE = "node/gpu-002"
POD = "pod/serve/chat-f8b4b68cb-nnrxq"
LOG = ("--log", "4")
"""Of a node that alice drains, with audit."""


def who(recorder: Recorder, *words: str) -> dict[str, Any]:
    answer = recorder("who", *words, "-o", "json")
    assert answer.status in {0, 4}, answer.err
    found: dict[str, Any] = orjson.loads(answer.out)
    return found


def by_path(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {field["path"]: field for field in found["fields"]}


@pytest.mark.usefixtures("incidents")
@pytest.mark.parametrize(
    ("field", "paths"),
    [
        ("spec.unschedulable", ["spec.unschedulable"]),
        ("unschedulable", ["spec.unschedulable"]),
        (".spec.unschedulable", ["spec.unschedulable"]),
    ],
)
def test_one_field_is_chosen_by_its_path_or_name(
    recorder: Recorder, field: str, paths: list[str]
) -> None:
    found = who(recorder, NODE, *LOG, "--field", field)

    assert [one["path"] for one in found["fields"]] == paths
    unknown = recorder("who", NODE, *LOG, "--field", "spec.unschedulabel")
    assert unknown.status == 5
    assert 'did you mean "spec.unschedulable' in unknown.err


@pytest.mark.usefixtures("incidents")
def test_audit_names_the_person_who_cordoned(
    recorder: Recorder,
) -> None:
    fields = by_path(who(recorder, NODE, *LOG))
    author = fields["spec.unschedulable"]["author"]

    assert fields["spec.unschedulable"]["value"] is True
    assert author["known_by"] == "audit"
    assert author["name"] == "alice@example.com"
    assert author["client"] == "kubectl"
    assert author["address"] == "127.0.0.1"
    raw = recorder("log", author["entry"], *LOG, "--raw", "-o", "json")
    assert '"unschedulable":true' in raw.out.replace(" ", "")
    assert fields["spec.taints"]["author"]["name"] == (
        "system:serviceaccount:kube-system:node-controller"
    )


@pytest.mark.usefixtures("incidents")
def test_what_audit_does_not_show_managed_fields_do(
    recorder: Recorder,
) -> None:
    fields = by_path(who(recorder, NODE, *LOG))

    known = {name: f["author"]["known_by"] for name, f in fields.items()}
    assert known["spec.providerID"] == "managed-fields"
    assert fields["spec.providerID"]["author"]["name"] == "kubelet"
    assert fields["spec.providerID"]["author"]["entry"] is None
    assert known["status.nodeInfo"] == "unknown"


@pytest.mark.usefixtures("incidents")
def test_an_eviction_and_a_deletion_have_an_author(
    recorder: Recorder,
) -> None:
    found = who(recorder, POD, *LOG)
    author = by_path(found)["metadata.deletionTimestamp"]["author"]

    assert author["name"] == "alice@example.com"
    assert author["client"] == "kubectl drain"
    assert author["verb"] == "create/eviction"
    assert found["operation"] == "deleted"
    assert found["deleted"]["name"] == "system:node:gpu-002"
    assert found["deleted"]["known_by"] == "audit"


@pytest.mark.usefixtures("incidents")
def test_a_time_before_the_cordon_knows_nothing_of_it(
    recorder: Recorder,
) -> None:
    found = who(recorder, NODE, *LOG, "--at", "2026-11-21T14:01:25Z")

    assert "spec.unschedulable" not in by_path(found)
    never = recorder("who", NODE, *LOG, "--at", "2026-11-20T00:00:00Z")
    assert never.status == 5
    assert "created later" in never.err


@pytest.mark.usefixtures("incidents")
def test_without_audit_no_author_is_named_by_it(recorder: Recorder) -> None:
    found = who(recorder, NODE, "--log", "3")

    known = {field["author"]["known_by"] for field in found["fields"]}
    assert known == {"managed-fields", "unknown"}
    boot = by_path(found)["status.nodeInfo.bootID"]
    assert (boot["author"]["name"], boot["change"]) == ("kubelet", "replaced")


def test_each_field_has_the_value_that_show_shows(demo: Recorder) -> None:
    shown = orjson.loads(demo("show", NODE, "-o", "json").out)
    fields = by_path(who(demo, NODE))

    assert fields["metadata.labels"]["value"] == shown["metadata"]["labels"]
    assert (
        fields["status.conditions"]["value"] == (shown["status"]["conditions"])
    )
    assert (
        fields["status.nodeInfo.bootID"]["value"]
        == (shown["status"]["nodeInfo"]["bootID"])
    )


@pytest.mark.usefixtures("incidents")
def test_the_table_names_the_author_and_the_record(
    recorder: Recorder,
) -> None:
    answer = recorder("who", POD, *LOG)

    line = next(
        line
        for line in answer.out.splitlines()
        if line.startswith("metadata.deletionTimestamp")
    )
    assert "alice@example.com (kubectl drain, from 127.0.0.1)" in line
    assert " audit " in line
    assert "deleted by system:node:gpu-002 (kubelet" in answer.err


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_each_form_says_the_same(demo: Recorder, form: str) -> None:
    answer = demo("who", NODE, "-o", form)

    assert yaml.safe_load(answer.out) == who(demo, NODE)
