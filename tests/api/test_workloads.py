"""Workloads and disruptions as the API lists them."""

from typing import Any

import pytest

from tests.api.serving import Client

LISTED = """
query Listed($clusters: [String!], $first: Int, $after: String,
  $since: DateTime = "2020-01-01T00:00:00Z", $at: DateTime,
  $namespaces: [String!], $kinds: [String!], $states: [WorkloadState!],
  $endedBy: [String!], $node: String, $rack: String, $text: String,
  $queues: [String], $priorities: [String], $users: [String],
  $orderBy: WorkloadOrder) {
  listed: LIST(clusters: $clusters, since: $since, at: $at, first: $first,
    after: $after, namespaces: $namespaces, kinds: $kinds, states: $states,
    endedBy: $endedBy, node: $node, rack: $rack, text: $text,
    queues: $queues, priorities: $priorities, users: $users,
    orderBy: $orderBy) {
    edges { cursor node { NODE } }
    pageInfo { hasNextPage endCursor }
    facets { facet words { word count } }
    totals { workloads gpus endings gpuHoursLost }
    coverage { complete }
  }
}
"""
WORKLOADS = LISTED.replace("LIST", "workloads").replace(
    "NODE",
    "kind namespace name uid cluster gangSize gpus state beganAt endedAt"
    " restarts endings lastEnding { endedBy at sentence verdict { id } }"
    " gpuHoursLost hoursWanted hoursInFull",
)
DISRUPTIONS = LISTED.replace("LIST", "disruptions").replace(
    "NODE",
    "workload { kind namespace name uid } cluster"
    " ending { id endedBy at sentence gpuHoursLost }",
)
ARGUMENTS = {
    "KIND": "kinds",
    "NAMESPACE": "namespaces",
    "STATE": "states",
    "ENDED_BY": "endedBy",
    "QUEUE": "queues",
    "PRIORITY": "priorities",
    "USER": "users",
}


async def listed(served: Client, query: str, **asked: Any) -> Any:
    return (await served.ask(query, **asked))["listed"]


@pytest.mark.parametrize("query", [WORKLOADS, DISRUPTIONS])
async def test_choosing_a_word_leaves_as_many_as_were_counted(
    served: Client, query: str
) -> None:
    asked: dict[str, Any] = {"clusters": ["*"], "first": 100}
    whole = await listed(served, query, **asked)

    facets = {one["facet"]: one["words"] for one in whole["facets"]}
    assert facets.keys() == ARGUMENTS.keys()
    assert len(whole["edges"]) > 1
    for facet, words in facets.items():
        assert words
        for one in words:
            word = one["word"].upper() if facet == "STATE" else one["word"]
            chosen: dict[str, Any] = {**asked, ARGUMENTS[facet]: [word]}
            left = await listed(served, query, **chosen)
            assert len(left["edges"]) == one["count"], (facet, word)


@pytest.mark.parametrize("query", [WORKLOADS, DISRUPTIONS])
async def test_pages_are_the_whole_list(served: Client, query: str) -> None:
    asked: dict[str, Any] = {"clusters": ["*"]}
    whole = await listed(served, query, first=100, **asked)
    found, after = [], None
    while True:
        page = await listed(served, query, first=1, after=after, **asked)
        found += [one["node"] for one in page["edges"]]
        assert page["totals"] == whole["totals"]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break

    assert found == [one["node"] for one in whole["edges"]]
    assert not whole["pageInfo"]["hasNextPage"]


async def test_disruptions_add_up_to_what_workloads_lost(
    served: Client,
) -> None:
    asked: dict[str, Any] = {"clusters": ["*"], "first": 100}
    rows = (await listed(served, WORKLOADS, **asked))["edges"]
    ended = await listed(served, DISRUPTIONS, **asked)

    lost: dict[str, float] = {}
    for one in ended["edges"]:
        ending, of = one["node"]["ending"], one["node"]["workload"]
        lost[of["uid"]] = lost.get(of["uid"], 0) + (
            ending["gpuHoursLost"] or 0
        )
    for one in rows:
        row = one["node"]
        expected = pytest.approx(lost.get(row["uid"], 0), abs=1e-3)
        assert row["gpuHoursLost"] == expected, row["name"]
        assert row["hoursInFull"] <= row["hoursWanted"]
    total = pytest.approx(sum(lost.values()), abs=1e-3)
    assert ended["totals"]["gpuHoursLost"] == total


async def test_an_unknown_word_is_refused(served: Client) -> None:
    codes = await served.refused(DISRUPTIONS, endedBy=["no-such-word"])
    assert codes == ["question.ended_by"]


async def test_words_select_workloads_by_their_names(served: Client) -> None:
    asked: dict[str, Any] = {"clusters": ["*"], "first": 100}
    whole = await listed(served, WORKLOADS, **asked)
    found = await listed(served, WORKLOADS, **asked, text="Job/TRAIN  llm")
    none = await listed(served, WORKLOADS, **asked, text="no-such llm")

    nodes = [edge["node"] for edge in whole["edges"]]
    wanted = [
        node
        for node in nodes
        if "job/train" in f"{node['kind']}/{node['namespace']}".lower()
        and "llm" in node["name"]
    ]
    assert 0 < len(wanted) < len(nodes)
    assert [edge["node"] for edge in found["edges"]] == wanted
    assert found["totals"]["workloads"] == len(wanted)
    assert not none["edges"]
