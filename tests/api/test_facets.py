"""Facets of incidents: what they count is what choosing them leaves."""

from typing import Any

import pytest

from tests.api.serving import Client

FACETS = """
query Facets($clusters: [String!], $first: Int, $happened: [Happened!],
  $causes: [Cause!], $confidence: [Confidence!], $racks: [String],
  $namespaces: [String], $controllers: [String]) {
  incidents(clusters: $clusters, since: "2020-01-01T00:00:00Z", first: $first,
    happened: $happened, causes: $causes, confidence: $confidence,
    racks: $racks, namespaces: $namespaces, controllers: $controllers) {
    count nodes { id } facets { facet words { word count } }
  }
}
"""
ARGUMENTS = {
    "CAUSE": "causes",
    "HAPPENED": "happened",
    "CONFIDENCE": "confidence",
    "RACK": "racks",
    "NAMESPACE": "namespaces",
    "CONTROLLER": "controllers",
}
ENUMS = {"causes", "happened", "confidence"}
ONE_WORD = {"CAUSE", "HAPPENED", "CONFIDENCE", "CONTROLLER"}


@pytest.mark.parametrize("first", [1, 100])
async def test_choosing_a_word_leaves_as_many_as_were_counted(
    served: Client, first: int
) -> None:
    asked: dict[str, Any] = {"clusters": ["*"], "first": first}
    whole = (await served.ask(FACETS, **asked))["incidents"]

    facets = {one["facet"]: one["words"] for one in whole["facets"]}
    assert facets.keys() == ARGUMENTS.keys()
    assert whole["count"] > 1
    for facet, words in facets.items():
        counts = [one["count"] for one in words]
        assert counts == sorted(counts, reverse=True)
        if facet in ONE_WORD:
            assert sum(counts) == whole["count"]
        for one in words:
            argument, word = ARGUMENTS[facet], one["word"]
            if argument in ENUMS:
                word = word.upper().replace("-", "_")
            chosen: dict[str, Any] = {**asked, argument: [word]}
            left = await served.ask(FACETS, **chosen)
            assert left["incidents"]["count"] == one["count"], (facet, word)
    assert len(facets["CONTROLLER"]) > 1
    assert len(facets["NAMESPACE"]) > 1
