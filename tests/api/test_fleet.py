"""Twenty clusters in databases of their own behind one API.

One database is dead and one accepts connections and never answers.
"""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import aiohttp
import pytest

from api.resolvers.answers.fleet import CLUSTERS_MAX
from recorder.wiring import places, routing
from recorder.wiring.serving import serving
from tests.api.serving import (
    Client,
    served_by,
    serving_beside,
    settings_for,
)
from tests.cluster.waiting import until
from tests.conftest import TEMPLATE
from tests.support.fleet import (
    CLUSTERS,
    DEAD,
    write_registry,
)
from tests.support.postgres import Database, DatabaseServer, fresh_database
from tests.support.wire import State, Wire
from tests.support.written_log import LIVE, WrittenLog

SINCE = "2020-01-01T00:00:00Z"
AWAY = {"dead", "hung"}

INCIDENTS = """query($clusters: [String!], $cluster: String, $first: Int,
  $last: Int, $after: String, $before: String) {
  incidents(clusters: $clusters, cluster: $cluster, steps: 10,
    since: "2020-01-01T00:00:00Z",
    first: $first, last: $last, after: $after, before: $before) {
    count
    edges { cursor cluster node { id from nodes } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    histogram { steps { count } }
    coverage { complete says away { cluster why } gaps { cluster reason } }
  }
}"""

ENTRIES = """query($clusters: [String!], $cluster: String, $first: Int,
  $last: Int, $after: String, $before: String) {
  entries(clusters: $clusters, cluster: $cluster, operations: [MODIFIED],
    first: $first, last: $last, after: $after, before: $before) {
    edges { cursor cluster node { name observedAt } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    coverage { complete away { cluster } }
  }
}"""


@pytest.fixture(scope="module")
def address(
    fleet_databases: dict[str, Database],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(places, "PLACE_SECONDS", 2.0)
        hung = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        port = hung.getsockname()[1]
        urls = {
            name: one.dsn("reader") for name, one in fleet_databases.items()
        }
        urls["dead"] = DEAD
        urls["hung"] = f"postgresql://reader@127.0.0.1:{port}/recorder"
        file = tmp_path_factory.mktemp("registry") / "clusters.toml"
        settings = replace(
            settings_for(None), clusters_file=write_registry(file, urls)
        )
        yield stack.enter_context(serving_beside(settings))


@pytest.fixture
async def fleet(address: str) -> AsyncIterator[Client]:
    async with aiohttp.ClientSession() as session:
        yield Client(address, session)


async def test_all_that_answer_are_listed_and_the_others_are_named(
    fleet: Client,
) -> None:
    found = await fleet.ask(
        "{ status { clusters { name log { id } } away { cluster why } } }"
    )

    status = found["status"]
    assert [one["name"] for one in status["clusters"]] == CLUSTERS
    assert [one["log"]["id"] for one in status["clusters"]] == [
        f"{name}:1" for name in CLUSTERS
    ]
    assert status["away"] == [
        {"cluster": name, "why": "its database does not respond"}
        for name in ("dead", "hung")
    ]


async def test_all_that_are_away_are_named(tmp_path: Path) -> None:
    file = write_registry(tmp_path / "clusters.toml", {"a": DEAD, "b": DEAD})
    settings = replace(settings_for(None), clusters_file=file)
    async with (
        serving(settings, asyncio.Event()) as address,
        aiohttp.ClientSession() as http,
    ):
        fleet = Client(address, http)
        query = "{ status { now clusters { name } away { cluster why } } }"
        status = (await fleet.ask(query))["status"]
        assert await fleet.refused("{ clusters { name } }") == [
            "log.unavailable"
        ]

    assert status["clusters"] == []
    why = "its database does not respond"
    assert status["away"] == [
        {"cluster": name, "why": why} for name in ("a", "b")
    ]


async def test_more_than_are_asked_at_once_are_all_named_and_asked_in_parts(
    embedded_server: DatabaseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CLUSTERS_MAX == 50, "as the page pages them (words/recording.js)"
    monkeypatch.setattr("api.resolvers.answers.fleet.CLUSTERS_MAX", 5)
    names = [f"site-{number}" for number in range(7)]
    query = "query($clusters: [String!]) { stats(clusters: $clusters) {"
    query += " cluster coverage { complete away { cluster } } } }"
    async with fresh_database(embedded_server, TEMPLATE) as database:
        for name in names:
            spec = replace(LIVE, cluster_name=name, cluster_uid=name)
            log = WrittenLog(database.dsn("writer"), spec)
            await log.lease()
            await log.end()
        async with served_by(database.dsn("reader")) as client:
            status = await client.ask("{ status { clusters { name } } }")
            refused = await client.post(
                {"query": query, "variables": {"clusters": ["*"]}}
            )
            parts = [
                (await client.ask(query, clusters=part))["stats"]
                for part in (names[:5], names[5:])
            ]

    assert [one["name"] for one in status["status"]["clusters"]] == names
    assert refused.codes == ["question.clusters"]
    assert "7 clusters are more than one request may ask" in str(refused)
    assert [one["cluster"] for part in parts for one in part] == names


@pytest.fixture(scope="module")
def known() -> list[tuple[str, str, str]]:
    """What was found once."""
    return []


async def union(
    fleet: Client, every: list[tuple[str, str, str]]
) -> list[tuple[str, str, str]]:
    """Return the incidents of every living cluster, asked one by one."""
    if every:
        return every
    for name in CLUSTERS:
        found = await fleet.ask(INCIDENTS, cluster=name, first=500)
        every += [
            (edge["node"]["from"], name, edge["node"]["id"])
            for edge in found["incidents"]["edges"]
        ]
    every.sort()
    return every


@pytest.mark.parametrize(("size", "forward"), [(11, True), (500, False)])
async def test_incidents_of_all_are_one_list_behind_one_cursor(
    fleet: Client,
    known: list[tuple[str, str, str]],
    size: int,
    *,
    forward: bool,
) -> None:
    expected = await union(fleet, known)
    assert len(expected) > len(CLUSTERS)

    found = await paged(fleet, INCIDENTS, "incidents", size, forward=forward)

    listed = [
        (edge["node"]["from"], edge["cluster"], edge["node"]["id"])
        for edge in found
    ]
    assert [one[0] for one in listed] == [one[0] for one in expected]
    assert sorted(listed) == expected
    for _, cluster, name in listed:
        assert name.startswith(f"{cluster}:1/")
    before: dict[str, Any] = {"before": found[13]["cursor"], "last": 4}
    back = await fleet.ask(INCIDENTS, clusters=["*"], **before)
    assert [one["node"] for one in back["incidents"]["edges"]] == [
        one["node"] for one in found[9:13]
    ]


async def paged(
    fleet: Client, query: str, field: str, size: int, *, forward: bool
) -> list[dict[str, Any]]:
    """Turn all pages, and return the edges in their order."""
    found: list[dict[str, Any]] = []
    cursor = None
    while True:
        turned: dict[str, Any] = (
            {"first": size, "after": cursor}
            if forward
            else {"last": size, "before": cursor}
        )
        answer = (await fleet.ask(query, clusters=["*"], **turned))[field]
        assert {one["cluster"] for one in answer["coverage"]["away"]} == AWAY
        assert answer["coverage"]["complete"] is False
        edges, info = answer["edges"], answer["pageInfo"]
        found = [*found, *edges] if forward else [*edges, *found]
        if not info["hasNextPage" if forward else "hasPreviousPage"]:
            return found
        assert len(edges) == size
        cursor = info["endCursor" if forward else "startCursor"]


@pytest.mark.parametrize("forward", [True, False])
async def test_entries_of_all_come_once_and_each_log_in_its_order(
    fleet: Client, *, forward: bool
) -> None:
    found = await paged(fleet, ENTRIES, "entries", 500, forward=forward)

    listed: dict[str, list[int]] = {}
    for edge in found:
        log, _, position = edge["node"]["name"].rpartition("/")
        assert log == f"{edge['cluster']}:1"
        listed.setdefault(edge["cluster"], []).append(int(position))
    assert sorted(listed) == CLUSTERS
    for name, positions in listed.items():
        assert positions == sorted(set(positions)), name
    one: list[dict[str, Any]] = []
    cursor = None
    while cursor is not None or not one:
        answer = await fleet.ask(
            ENTRIES, cluster=CLUSTERS[0], first=500, after=cursor
        )
        one += answer["entries"]["edges"]
        info = answer["entries"]["pageInfo"]
        cursor = info["endCursor"] if info["hasNextPage"] else None
    assert listed[CLUSTERS[0]] == [
        int(edge["node"]["name"].rpartition("/")[2]) for edge in one
    ]


async def test_the_holes_are_named_and_the_rest_is_counted(
    fleet: Client,
) -> None:
    began = time.monotonic()
    found = await fleet.ask(INCIDENTS, clusters=["*"], last=5)
    took = time.monotonic() - began

    answer = found["incidents"]
    assert took < 15
    steps = answer["histogram"]["steps"]
    assert sum(step["count"] for step in steps) == answer["count"]
    reasons = [
        (gap["cluster"], gap["reason"])
        for gap in answer["coverage"]["gaps"]
        if gap["cluster"] in AWAY
    ]
    assert reasons == [
        (name, f'cluster "{name}" is away: its database does not respond')
        for name in ("dead", "hung")
    ]
    assert "hush" not in str(found)
    assert "127.0.0.1" not in str(found)


async def test_stats_count_nothing_of_who_is_away_and_vouch_for_nothing(
    fleet: Client,
) -> None:
    found = await fleet.ask(
        f"""{{ stats(clusters: ["*"], since: "{SINCE}") {{
          cluster vouched totals {{ incidents }}
          coverage {{ complete away {{ cluster }} }} }} }}"""
    )

    stats = {one["cluster"]: one for one in found["stats"]}
    assert set(stats) == {*CLUSTERS, *AWAY}
    for name in AWAY:
        assert stats[name]["vouched"] == 0.0
        assert stats[name]["totals"] == {"incidents": 0}
        assert stats[name]["coverage"]["away"] == [{"cluster": name}]
    assert all(stats[name]["totals"]["incidents"] for name in CLUSTERS)


async def test_any_question_about_one_cluster_goes_to_its_database(
    fleet: Client,
) -> None:
    name = CLUSTERS[4]
    listed = await fleet.ask(INCIDENTS, cluster=name, last=1)
    [edge] = listed["incidents"]["edges"]
    incident, [node, *_] = edge["node"]["id"], edge["node"]["nodes"]
    found = await fleet.ask(
        """query($id: ID!, $subject: String!, $cluster: String!,
          $node: String!) {
          incident(id: $id) { cluster log incident { id } }
          entry(name: $id) { entry { name } facts { entry } }
          why(node: $node, cluster: $cluster) {
            verdicts { id evidence { entry } } }
          postmortem(subject: $subject) { markdown }
        }""",
        id=incident,
        subject=incident,
        cluster=f"uid-of-{name}",
        node=node,
    )

    assert found["incident"]["cluster"] == name
    assert found["incident"]["log"] == f"{name}:1"
    assert found["incident"]["incident"]["id"] == incident
    assert found["entry"]["entry"]["name"] == incident
    names = [
        sign["entry"]
        for verdict in found["why"]["verdicts"]
        for sign in verdict["evidence"]
    ]
    assert names
    assert all(one.startswith(f"{name}:1/") for one in names)
    assert incident in found["postmortem"]["markdown"]

    lines = await fleet.request(
        "GET", f"export.ndjson?log={name}:1&node={node}&limit=3"
    )
    assert f'"entry":"{name}:1/' in lines.body.decode()
    assert f'"id":"{name}:1"' in lines.body.decode()


async def test_who_is_away_is_said_where_one_cluster_is_asked(
    fleet: Client,
) -> None:
    query = "query($c: String) { nodeNames(cluster: $c) }"
    assert await fleet.refused(query, c="dead") == ["log.unavailable"]
    # Of those that were never seen one may be of this name.
    assert await fleet.refused(query, c="other") == ["log.unavailable"]
    assert await fleet.refused(query) == ["question.log"]
    entry = 'query { entry(name: "1/5") { entry { name } } }'
    assert await fleet.refused(entry) == ["not_found"]
    foreign = 'query { entry(name: "prod-01:2/5") { entry { name } } }'
    assert await fleet.refused(foreign) == ["not_found"]


async def test_a_cursor_of_a_fleet_is_refused_by_one_log_and_others(
    fleet: Client,
) -> None:
    found = await fleet.ask(INCIDENTS, clusters=["*"], last=1)
    cursor = found["incidents"]["pageInfo"]["startCursor"]
    single = await fleet.ask(INCIDENTS, cluster=CLUSTERS[0], last=1)
    other = single["incidents"]["pageInfo"]["startCursor"]

    refused = fleet.refused
    assert await refused(INCIDENTS, cluster=CLUSTERS[0], before=cursor)
    assert await refused(INCIDENTS, cluster=CLUSTERS[1], before=other)
    assert await refused(INCIDENTS, clusters=["*"], before=other)
    assert await refused(ENTRIES, clusters=["*"], before=cursor)


async def test_one_that_was_away_continues_where_it_was_left(
    fleet_databases: dict[str, Database],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "PLACE_SECONDS", 3.0)
    monkeypatch.setattr(places, "EVERY", timedelta(seconds=0.1))
    monkeypatch.setattr(routing, "PLACE_SECONDS", 3.0)
    first, second = CLUSTERS[0], CLUSTERS[1]
    wire, url = wire_to(fleet_databases[second].dsn("reader"), tmp_path)
    urls = {first: fleet_databases[first].dsn("reader"), second: url}
    file = write_registry(tmp_path / "clusters.toml", urls)
    settings = replace(settings_for(None), clusters_file=file)
    async with (
        wire.listening(tmp_path / ".s.PGSQL.5432"),
        serving(settings, asyncio.Event()) as address,
        aiohttp.ClientSession() as session,
    ):
        client = Client(address, session)

        async def away() -> list[str]:
            found = await client.ask("{ status { away { cluster } } }")
            return [one["cluster"] for one in found["status"]["away"]]

        for forward, lost in ((True, State.HUNG), (False, State.CUT)):
            turned = "after" if forward else "before"
            listed: list[str] = []
            cursor, more = None, True
            for state in (State.WHOLE, lost, State.WHOLE):
                wire.become(state)
                expected = [] if state is State.WHOLE else [second]

                async def settled(wanted: list[str] = expected) -> bool:
                    return await away() == wanted

                await until(settled, f"{second} is {state}", seconds=30)
                for _ in range(100 if listed and not expected else 2):
                    page: dict[str, Any] = {
                        turned: cursor,
                        "first" if forward else "last": 60,
                    }
                    found = await client.ask(ENTRIES, clusters=["*"], **page)
                    answer = found["entries"]
                    hole = [o["cluster"] for o in answer["coverage"]["away"]]
                    assert hole == expected
                    edges, info = answer["edges"], answer["pageInfo"]
                    listed += [edge["node"]["name"] for edge in edges]
                    cursor = info["endCursor" if forward else "startCursor"]
                    more = info[
                        "hasNextPage" if forward else "hasPreviousPage"
                    ]
                    if not more:
                        break
            assert not more
            assert len(listed) == len(set(listed))
            every = await paged_of(client, first) + await paged_of(
                client, second
            )
            assert sorted(listed) == sorted(every)


async def paged_of(client: Client, cluster: str) -> list[str]:
    """Return the names of all entries that a cluster has."""
    names: list[str] = []
    cursor, more = None, True
    while more:
        answer = await client.ask(
            ENTRIES, cluster=cluster, first=500, after=cursor
        )
        names += [one["node"]["name"] for one in answer["entries"]["edges"]]
        info = answer["entries"]["pageInfo"]
        cursor, more = info["endCursor"], info["hasNextPage"]
    return names


def wire_to(dsn: str, folder: Path) -> tuple[Wire, str]:
    """Return a wire to a database, and the address that leads through it."""
    parts = urlsplit(dsn)
    query = {key: found[0] for key, found in parse_qs(parts.query).items()}
    target = Path(query["host"]) / f".s.PGSQL.{query['port']}"
    query |= {"host": str(folder), "port": "5432"}
    return Wire(target), urlunsplit(parts._replace(query=urlencode(query)))


async def test_a_registry_is_read_again_when_it_changes(
    fleet_databases: dict[str, Database],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "EVERY", timedelta(seconds=0.1))
    first, second = CLUSTERS[0], CLUSTERS[1]
    urls = {one: fleet_databases[one].dsn("reader") for one in CLUSTERS[:2]}
    only = {first: urls[first]}
    file = write_registry(tmp_path / "clusters.toml", only)
    settings = replace(settings_for(None), clusters_file=file)
    async with (
        serving(settings, asyncio.Event()) as address,
        aiohttp.ClientSession() as session,
    ):
        client = Client(address, session)

        async def until(*expected: str) -> None:
            async with asyncio.timeout(30):
                while True:
                    found = await client.ask("{ clusters { name } }")
                    if [one["name"] for one in found["clusters"]] == [
                        *expected
                    ]:
                        return
                    await asyncio.sleep(0.05)

        asked = f'{{ nodeNames(cluster: "{second}") }}'
        await until(first)
        write_registry(file, urls)
        await until(first, second)
        assert (await client.ask(asked))["nodeNames"]

        # What cannot be used changes nothing; what is gone is not there.
        file.write_text("nonsense")
        await asyncio.sleep(0.2)
        await until(first, second)
        write_registry(file, only)
        await until(first)
        assert (await client.post({"query": asked})).codes == ["not_found"]
