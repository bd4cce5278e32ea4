"""Pages neither lose nor repeat anything, forwards or backwards."""

from typing import Any

import pytest

from tests.api.serving import Client

FACTS = """query Page($first: Int, $after: String, $last: Int, $before: String)
{ page: facts(cluster: "kernel-deadlock", first: $first, after: $after,
    last: $last, before: $before) {
    edges { cursor node { entry index } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
ENTRIES = """query Page($first: Int, $after: String, $last: Int,
  $before: String) { page: entries(cluster: "kernel-deadlock", first: $first,
    after: $after, last: $last, before: $before) {
    edges { cursor node { entry: name } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
VERSIONS = """query Page($first: Int, $after: String, $last: Int,
  $before: String) { object(name: "node/gpu-002", cluster: "kernel-deadlock") {
    page: versions(first: $first, after: $after, last: $last,
      before: $before) {
    edges { cursor node { entry { name } changed { path } begins } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }"""
INCIDENTS = """query Page($first: Int, $after: String, $last: Int,
  $before: String) { page: incidents(cluster: "two-reboots",
    first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""


async def page(client: Client, query: str, **given: Any) -> Any:
    found = await client.ask(query, **given)
    return (found.get("object") or found)["page"]


@pytest.mark.parametrize(
    ("query", "size"),
    [(FACTS, 7), (FACTS, 100), (ENTRIES, 13), (VERSIONS, 2), (INCIDENTS, 1)],
)
async def test_pages_in_either_direction_are_the_whole(
    served: Client, query: str, size: int
) -> None:
    whole = await page(served, query, first=500)
    nodes = [edge["node"] for edge in whole["edges"]]
    assert len(nodes) > size or size == 100
    assert whole["pageInfo"]["hasNextPage"] is False

    forwards: list[Any] = []
    cursor, more = None, True
    while more:
        found = await page(served, query, first=size, after=cursor)
        forwards += [edge["node"] for edge in found["edges"]]
        cursor = found["pageInfo"]["endCursor"]
        more = found["pageInfo"]["hasNextPage"]
    backwards: list[Any] = []
    cursor, more = None, True
    while more:
        found = await page(served, query, last=size, before=cursor)
        backwards = [edge["node"] for edge in found["edges"]] + backwards
        cursor = found["pageInfo"]["startCursor"]
        more = found["pageInfo"]["hasPreviousPage"]

    assert forwards == nodes
    assert backwards == nodes


async def test_without_a_size_the_newest_come(served: Client) -> None:
    whole = await page(served, ENTRIES, first=500)
    newest = await page(served, ENTRIES)

    assert newest["edges"] == whole["edges"][-100:]
    assert newest["pageInfo"]["hasPreviousPage"] is True


async def test_an_empty_page_keeps_the_place(served: Client) -> None:
    whole = await page(served, FACTS, first=500)
    end = whole["pageInfo"]["endCursor"]

    nothing = await page(served, FACTS, first=5, after=end)

    assert nothing["edges"] == []
    assert nothing["pageInfo"]["endCursor"] == end


async def test_filters_narrow_a_page(served: Client) -> None:
    found = await served.ask(
        """{ facts(cluster: "crash", kinds: [EVENT], reason: "NodeNotReady",
          first: 5) { nodes { kind detail } }
        entries(cluster: "crash", operations: [LISTED], first: 5) {
          nodes { operation } }
        actor: facts(cluster: "crash", actor: "kubelet", first: 5) {
          nodes { actor } } }"""
    )

    kinds = {one["kind"] for one in found["facts"]["nodes"]}
    operations = {one["operation"] for one in found["entries"]["nodes"]}
    actors = {one["actor"] for one in found["actor"]["nodes"]}
    assert (kinds, operations, actors) == ({"EVENT"}, {"LISTED"}, {"kubelet"})
