"""What Prometheus reads of the served API."""

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from recorder.keeping.tokens import TokenFile
from tests.api.serving import Client, served_by
from tests.support.postgres import Database

WHY = '{ why(node: "gpu-002", cluster: "crash") { node } }'


async def samples(client: Client) -> dict[tuple[str, str, str], float]:
    reply = await client.request("GET", "metrics")
    assert reply.status == 200
    assert reply.headers["Content-Type"].startswith("text/plain")
    return {
        (
            sample.name,
            sample.labels.get("question", ""),
            sample.labels.get("status", sample.labels.get("le", "")),
        ): sample.value
        for family in text_string_to_metric_families(reply.body.decode())
        for sample in family.samples
    }


async def test_requests_are_counted_by_question_and_status(
    asked_database: Database,
) -> None:
    async with served_by(asked_database.dsn("reader")) as client:
        await client.ask(WHY)
        await client.ask(WHY)
        await client.refused("{ nothing }")
        await client.request("GET", "export.ndjson?cluster=nowhere")
        found = await samples(client)

    requests = "recorder_api_requests_total"
    assert found[requests, "why", "200"] == 2
    assert found[requests, "graphql", "400"] == 1
    assert found[requests, "export", "404"] == 1
    assert found["recorder_api_request_seconds_count", "why", ""] == 2
    assert found["recorder_api_request_seconds_bucket", "why", "+Inf"] == 2
    assert found["recorder_api_request_seconds_sum", "why", ""] > 0
    assert found["process_resident_memory_bytes", "", ""] > 0


async def test_subscribers_are_counted_while_they_listen(
    asked_database: Database,
) -> None:
    query = 'subscription { facts(cluster: "crash") { cursor } }'
    async with served_by(asked_database.dsn("reader")) as client:
        async with client.session.post(
            client.address + "graphql",
            json={"query": query},
            headers={"Accept": "text/event-stream"},
        ) as response:
            await response.content.readuntil(b"next")
            during = await samples(client)
        after = await samples(client)
        while after["recorder_api_subscribers", "", ""]:
            after = await samples(client)

    assert during["recorder_api_subscribers", "", ""] == 1


async def test_they_are_not_read_without_a_token(
    asked_database: Database, tmp_path: Path
) -> None:
    token = TokenFile(tmp_path / "tokens").add("prometheus")
    async with served_by(
        asked_database.dsn("reader"), tokens=tmp_path / "tokens"
    ) as client:
        refused = await client.request("GET", "metrics")
        bearer = {"Authorization": f"Bearer {token}"}
        answer = await client.request("GET", "metrics", headers=bearer)

    assert (refused.status, refused.codes) == (401, ["access.denied"])
    assert answer.status == 200
    assert b"gpu-002" not in answer.body
