"""The dashboards of Grafana: every query, put to what it is meant for.

There is no Grafana to be had here, so its variables and macros are replaced
as Grafana documents them; the queries go to a real Prometheus that scrapes a
recorder and the API, to the views with the rights of a reader, and to the
API.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from recorder.doctor.health import HealthServer
from tests.api.serving import Client, served_by
from tests.cluster.ports import Ports
from tests.cluster.waiting import until
from tests.corpus.logs import play_in_turn, tape_of
from tests.docs.tables import busy
from tests.support.filled import filled_database
from tests.support.postgres import Database, DatabaseServer, connected
from tests.support.programs import found

FOLDER = Path(__file__).parents[2] / "deploy/grafana"
BOARDS = {
    path.stem: json.loads(path.read_text())
    for path in sorted(FOLDER.glob("*.json"))
}
FROM = datetime(2026, 11, 20, tzinfo=UTC)
"""Before the incident of the tape, and near enough for one answer."""

PANELS_MIN = 10


@pytest.fixture(scope="module")
def crashed(embedded_server: DatabaseServer) -> Iterator[Database]:
    async def fill(writer: str) -> None:
        await play_in_turn(writer, {"crash": tape_of("crash")})

    with filled_database(embedded_server, fill) as database:
        yield database


def targets(kind: str) -> list[tuple[str, dict[str, Any]]]:
    """Return each query for a kind of data source, with its panel."""
    queries = []
    for board in BOARDS.values():
        for panel in board["panels"]:
            queries += [(panel["title"], each) for each in panel["targets"]]
        for each in board["annotations"]["list"]:
            queries.append((each["name"], {**each["target"], **each}))
        for each in board["templating"]["list"]:
            if each["type"] == "query":
                queries.append(
                    (each["name"], {**each, "rawSql": each["query"]})
                )
    return [
        (title, target)
        for title, target in queries
        if kind in target["datasource"]["type"]
    ]


def filled_in(text: str) -> str:
    """Replace variables and macros, as Grafana does."""
    until_now = datetime.now(UTC)
    since, now = (moment.timestamp() * 1000 for moment in (FROM, until_now))
    text = re.sub(
        r"\$__timeFilter\((\w+)\)",
        rf"\1 between '{FROM.isoformat()}' and '{until_now.isoformat()}'",
        text,
    )
    for name, value in {
        "${__from}": f"{since:.0f}",
        "${__to}": f"{now:.0f}",
        "$__rate_interval": "1m",
        "$__range": "1m",
        "$cluster": "crash",
        "$node": "gpu-002",
    }.items():
        text = text.replace(name, value)
    assert "$" not in text, text
    return text


async def test_every_query_of_the_views_answers(crashed: Database) -> None:
    async with connected(crashed.dsn("reader")) as connection:
        for title, target in targets("postgresql"):
            rows = await connection.fetch(filled_in(target["rawSql"]))
            assert rows, title


async def test_every_query_of_the_api_answers(crashed: Database) -> None:
    async with served_by(crashed.dsn("reader")) as client:
        for title, target in targets("infinity"):
            options = target["url_options"]
            query = filled_in(options["body_graphql_query"])
            found_rows: Any = [{"data": await client.ask(query)}]
            for name in target["root_selector"].split("."):
                found_rows = [row[name] for row in found_rows]
                if found_rows and isinstance(found_rows[0], list):
                    found_rows = [one for row in found_rows for one in row]
            assert found_rows, title
            for column in target["columns"]:
                assert column["selector"] in found_rows[0], title


async def test_every_query_of_prometheus_answers(
    crashed: Database, tmp_path: Path
) -> None:
    ports = Ports()
    try:
        recorder = HealthServer(busy()).listen("127.0.0.1:0")
        async with recorder as health, served_by(
            crashed.dsn("reader")
        ) as client, prometheus(
            tmp_path, ports.take(), [health, address_of(client)]
        ) as url:  # fmt: skip
            await client.ask('{ nodeNames(cluster: "crash") }')
            await client.refused("{ nothing }")
            for title, target in targets("prometheus"):
                await until(
                    lambda expr=target["expr"]: has(url, filled_in(expr)),
                    f"{title}: {target['expr']}",
                    every=0.5,
                )
    finally:
        ports.give_back()


async def has(url: str, expr: str) -> bool:
    """Return whether a query has a result; a wrong one fails."""
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.get(
                f"{url}/api/v1/query", params={"query": expr}
            ) as reply,
        ):
            if reply.status == 503:
                return False  # it starts
            answer = await reply.json()
    except aiohttp.ClientConnectionError:
        return False
    else:
        assert answer["status"] == "success", answer
        return bool(answer["data"]["result"])


def address_of(client: Client) -> str:
    return client.address.removeprefix("http://").strip("/")


@asynccontextmanager
async def prometheus(
    folder: Path, port: int, scraped: list[str]
) -> AsyncIterator[str]:
    """Run a Prometheus that scrapes addresses four times a second."""
    found("promtool")
    job = {
        "job_name": "recorder",
        "scrape_interval": "250ms",
        "scrape_timeout": "250ms",
        "static_configs": [{"targets": scraped}],
    }
    config = folder / "prometheus.yaml"
    config.write_text(yaml.safe_dump({"scrape_configs": [job]}))
    process = await asyncio.create_subprocess_exec(
        "prometheus",
        f"--config.file={config}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=error",
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


def test_the_dashboards_name_no_server_of_ours() -> None:
    assert set(BOARDS) == {"fleet", "node", "recorder"}
    for name, board in BOARDS.items():
        assert board["uid"] == f"recorder-{name}"
        assert "id" not in board
        numbers = [panel["id"] for panel in board["panels"]]
        assert len(numbers) >= PANELS_MIN
        assert len(set(numbers)) == len(numbers)
        sources = {
            variable["name"]
            for variable in board["templating"]["list"]
            if variable["type"] == "datasource"
        }
        used = set(re.findall(r'"uid": "\$\{(\w+)\}"', json.dumps(board)))
        assert used == sources
