"""Clients that know nothing of us: gql, a dashboard, a browser's form."""

from typing import Any

from gql import Client as GqlClient
from gql import GraphQLRequest
from gql.transport.aiohttp import AIOHTTPTransport

from tests.api.serving import Client

CASE = {
    "accept": "application/json, text/plain, */*",
    "content-type": "application/json",
    "user-agent": "Grafana/12.2.0",
}
"""Headers as the Infinity data source sends them."""


async def test_a_client_that_reads_the_schema_can_ask(served: Client) -> None:
    transport = AIOHTTPTransport(url=served.address + "graphql")
    async with GqlClient(
        transport=transport, fetch_schema_from_transport=True
    ) as session:
        found = await session.execute(
            GraphQLRequest(
                "query Q($c: String!) { nodeNames(cluster: $c) }",
                variable_values={"c": "crash"},
            )
        )

    assert "gpu-002" in found["nodeNames"]


async def test_a_panel_of_a_dashboard_is_answered(served: Client) -> None:
    """The body has the window in milliseconds, as text or as number."""
    windows: list[tuple[Any, Any]] = [
        ("1795190400000", "1795276800000"),
        (1795190400000, 1795276800000),
        ("now-6h", "now"),
    ]
    for since, until in windows:
        reply = await served.post(
            {
                "query": """query Panel($from: DateTime, $to: DateTime) {
                  nodeConditionSeries(cluster: "crash", nodes: ["gpu-002"],
                    since: $from, until: $to) {
                    points { time node condition state } }
                  incidentAnnotations(cluster: "crash", since: $from,
                    until: $to) { annotations { time timeEnd title tags } } }
                """,
                "variables": {"from": since, "to": until},
            },
            headers=CASE,
        )

        assert reply.status == 200
        assert "errors" not in reply.json, reply.json
        assert reply.headers["Content-Type"].startswith("application/json")
        rows = reply.json["data"]["nodeConditionSeries"]["points"]
        assert all(set(row) == {"time", "node", "condition", "state"}
                   for row in rows)  # fmt: skip


async def test_an_interpolated_query_of_a_dashboard_is_answered(
    served: Client,
) -> None:
    query = """{ incidentAnnotations(cluster: "crash", since: "1763683200000",
      until: 1795276800000) { annotations { time title } } }"""

    reply = await served.post({"query": query}, headers=CASE)

    assert reply.json["data"]["incidentAnnotations"]["annotations"]


async def test_a_query_may_be_got_and_a_subscription_may_not(
    served: Client,
) -> None:
    found = await served.request(
        "GET",
        "graphql",
        params={
            "query": "query Q($c: String) { nodeNames(cluster: $c) }",
            "variables": '{"c": "crash"}',
        },
    )
    refused = await served.request(
        "GET",
        "graphql",
        params={"query": "subscription { facts { cursor } }"},
        headers={"Accept": "text/event-stream"},
    )

    assert "gpu-002" in found.json["data"]["nodeNames"]
    assert refused.codes == ["graphql.invalid"]


async def test_what_is_served_says_what_browsers_must_not_do(
    served: Client,
) -> None:
    page = await served.request("GET", "node/gpu-002")
    answer = await served.post({"query": '{ nodeNames(cluster: "crash") }'})

    for reply in (page, answer):
        policy = reply.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"


async def test_the_page_is_kept_by_browsers_until_it_changes(
    served: Client,
) -> None:
    page = await served.request("GET", "")
    view = await served.request("GET", "node/gpu-002?cluster=crash")
    missing = await served.request("GET", "assets/none.js")
    outside = await served.request("GET", "assets/..%2f..%2fserving.py")
    again = await served.request(
        "GET", "", headers={"If-None-Match": page.headers["ETag"]}
    )

    assert page.status == 200
    assert page.headers["Content-Type"].startswith("text/html")
    assert view.body == page.body
    assert (missing.status, outside.status, again.status) == (404, 404, 304)
