"""Pages neither lose nor repeat anything, forwards or backwards."""

import base64
from typing import Any

import pytest

from api.resolvers.answers import entries, paging
from tests.api.serving import Client
from tests.support.fact_rows import derive_anew
from tests.support.postgres import Database
from tests.support.written_log import WrittenLog, changes

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


LIVE = """query Page($first: Int, $after: String, $last: Int,
  $before: String) { page: facts(cluster: "prod", first: $first,
    after: $after, last: $last, before: $before) {
    edges { cursor node { entry index } }
    pageInfo { hasNextPage startCursor endCursor } } }"""
LIVE_ENTRIES = """query Page($first: Int, $after: String) {
  page: entries(cluster: "prod", first: $first, after: $after) {
    nodes { entry: name } pageInfo { endCursor } } }"""
EXPIRED = ["question.cursor_expired"]


async def test_cursors_of_facts_expire_when_these_are_derived_anew(
    growing: Client, written_log: WrittenLog, database: Database
) -> None:
    await written_log.append(*changes("n1", 2, 9))
    whole = await page(growing, LIVE, first=500)
    of_facts = (await page(growing, LIVE, first=4))["pageInfo"]["endCursor"]
    entries = await page(growing, LIVE_ENTRIES, first=500)
    first = await page(growing, LIVE_ENTRIES, first=4)
    of_entries = first["pageInfo"]["endCursor"]
    await derive_anew(database, written_log.log)

    forwards = await growing.refused(LIVE, first=4, after=of_facts)
    backwards = await growing.refused(LIVE, last=4, before=of_facts)
    anew = await page(growing, LIVE, first=500)
    rest = await page(growing, LIVE_ENTRIES, first=500, after=of_entries)

    assert (forwards, backwards) == (EXPIRED, EXPIRED)
    assert [one["node"] for one in anew["edges"]] == [
        one["node"] for one in whole["edges"]
    ]
    assert first["nodes"] + rest["nodes"] == entries["nodes"]


async def test_facts_derived_anew_within_a_page_expire_its_cursors(
    growing: Client,
    written_log: WrittenLog,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page is of the facts that were current when it was asked for."""
    await written_log.append(*changes("n1", 2, 9))
    whole = await page(growing, LIVE, first=500)
    read_part = paging.read_part

    async def changed_over(*given: Any) -> Any:
        await derive_anew(database, written_log.log)
        return await read_part(*given)

    with monkeypatch.context() as between:
        between.setattr(entries, "read_part", changed_over)
        found = await page(growing, LIVE, first=4)

    end = found["pageInfo"]["endCursor"]
    assert found["edges"] == whole["edges"][:4]
    assert await growing.refused(LIVE, first=4, after=end) == EXPIRED


@pytest.mark.parametrize("name", ["v1:1:2:0", "f1:1:2:0:0", "f1:1:2:0:99"])
async def test_a_cursor_of_unknown_facts_has_expired(
    growing: Client, name: str
) -> None:
    after = base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")

    assert await growing.refused(LIVE, first=4, after=after) == EXPIRED


@pytest.mark.parametrize(
    "name", ["f1:1:2:0", "v1:1:2:0:1", "f1:1:2:0:1:1", "f2:1:2:0:1", "f1:::::"]
)
async def test_what_has_not_the_form_of_a_cursor_is_none(
    growing: Client, name: str
) -> None:
    after = base64.urlsafe_b64encode(name.encode()).decode().rstrip("=")

    codes = await growing.refused(LIVE, first=4, after=after)

    assert codes == ["question.cursor"]


async def test_a_cursor_beyond_all_time_is_none(served: Client) -> None:
    name = b"m1:5:999999999999999999:1"
    after = base64.urlsafe_b64encode(name).decode().rstrip("=")

    codes = await served.refused(INCIDENTS, first=4, after=after)

    assert codes == ["question.cursor"]
