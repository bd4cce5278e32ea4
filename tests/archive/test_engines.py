"""Questions about a fleet, asked of three engines: the rows are the same.

The configuration is that of `docs/archive.md`, the queries are those of
`deploy/queries`, word for word.
"""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

from recorder.archive.iceberg import LOCAL, open_tables
from tests.archive.test_iceberg import (
    NEW,
    OLD,
    SPACE,
    add_releases,
    listed,
    run,
)
from tests.conftest import TEMPLATE
from tests.corpus.logs import play, tape_of
from tests.docs.blocks import ROOT, blocks
from tests.support.days import noon, set_clock
from tests.support.postgres import DatabaseServer, fresh_database
from tests.support.spark import JARS, spark

pytestmark = pytest.mark.timeout(300)

FLEET = {
    "kernel-upgrade": 45,
    "kueue-preemption": 45,
    "drain-audited": 9,
    "crash-job-fails": 8,
    "gpu-lost": 8,
}
"""Tapes, each a cluster, and how many days ago they are recorded."""

QUERIES = ROOT / "deploy/queries"
TABLES = ("entries", "facts", "objects", "nodes", "words")
QUESTIONS = ("reboots", "gpu-hours", "evictions", "reasons")

Rows = list[list[Any]]


def shown(name: str) -> str:
    return (QUERIES / f"{name}.sql").read_text()


@pytest.fixture(scope="module")
def fleet(
    embedded_server: DatabaseServer, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The archive of a fleet, listed in Iceberg tables."""
    place = tmp_path_factory.mktemp("archive")

    async def record() -> None:
        async with fresh_database(embedded_server, TEMPLATE) as database:
            for name, ago in FLEET.items():
                shift = noon(ago) - datetime.now(UTC)
                await set_clock(database, shift)
                await play(database.dsn("writer"), tape_of(name), name=name)
            await set_clock(database, timedelta(0))
            done = listed(await run(database, place))
            assert (done.failure, done.days) == (None, len(FLEET))

    asyncio.run(record())
    return place


@pytest.fixture(scope="module")
def by_files(fleet: Path) -> Mapping[str, Rows]:
    """What DuckDB answers from the files, by their paths."""
    with duckdb.connect() as connection:
        connection.execute(shown("duckdb").replace("PLACE", str(fleet)))
        return {name: asked(connection, name) for name in QUESTIONS}


@pytest.fixture(scope="module")
def by_catalog(fleet: Path) -> Mapping[str, Rows]:
    """What DuckDB answers from what pyiceberg finds by the catalog."""
    macros = [
        line
        for line in shown("duckdb").splitlines()
        if not line.startswith("create view")
    ]
    with (
        duckdb.connect() as connection,
        open_tables(LOCAL, SPACE, str(fleet)) as tables,
    ):
        connection.execute("\n".join(macros))
        for name in TABLES:
            table = tables._load(name)
            assert table is not None
            connection.register(name, table.scan().to_arrow())
        return {name: asked(connection, name) for name in QUESTIONS}


def asked(connection: duckdb.DuckDBPyConnection, name: str) -> Rows:
    rows = connection.execute(shown(name)).fetchall()
    return [[plain(value) for value in row] for row in rows]


def plain(value: object) -> object:
    """Return a value as the program that asks Spark writes it."""
    return value if isinstance(value, int | float | None) else str(value)


class Answered(NamedTuple):
    rows: Mapping[str, Rows]
    schema: Rows
    files: Rows
    releases: Rows


@pytest.fixture(scope="module")
def by_spark(
    fleet: Path, tmp_path_factory: pytest.TempPathFactory
) -> Answered:
    """What Spark answers, with the configuration of the page."""
    files = tmp_path_factory.mktemp("releases")
    add_releases(fleet, (OLD, NEW, OLD), files=files, namespace="releases")
    texts = [block.text for block in blocks(ROOT / "docs/archive.md")]
    (text,) = (text for text in texts if text.startswith("spark.jars"))
    configuration = dict(
        line.replace("PLACE", str(fleet)).split() for line in text.splitlines()
    )
    assert configuration.pop("spark.jars.packages").split(",") == list(JARS)
    found = spark().ask(
        configuration,
        {
            "use": f"use recorder.{SPACE}",
            **{name: shown(name) for name in QUESTIONS},
            "releases": "select index, cause from recorder.releases.facts"
            " order by at",
            "schema": "describe facts",
            "files": f"select file_path from recorder.{SPACE}.facts.files",
        },
    )
    return Answered(found, found["schema"], found["files"], found["releases"])


@pytest.mark.parametrize("question", QUESTIONS)
def test_engines_answer_the_same(
    question: str,
    by_files: Mapping[str, Rows],
    by_catalog: Mapping[str, Rows],
    by_spark: Answered,
) -> None:
    rows = by_files[question]
    assert rows, "the fleet has something of everything"
    for others in (by_catalog[question], by_spark.rows[question]):
        assert len(others) == len(rows)
        for other, row in zip(others, rows, strict=True):
            assert other == pytest.approx(row, abs=1e-9)


def test_spark_reads_the_files_of_the_manifests(
    fleet: Path, by_spark: Answered
) -> None:
    paths = {path.removeprefix("file://") for (path,) in by_spark.files}
    assert paths == set(map(str, fleet.glob("*/*/facts-*.parquet")))
    partitions = [name for name, *_ in by_spark.schema[-2:]]
    assert partitions == ["day", "log_uid"]


def test_spark_reads_facts_of_different_releases(by_spark: Answered) -> None:
    assert by_spark.releases == [[7, None], [7, "reboot"], [7, None]]


def test_the_answers_are_those_of_the_tapes(
    by_files: Mapping[str, Rows],
) -> None:
    reboots = {
        (cluster, node): (count, prepared)
        for _, cluster, node, count, prepared in by_files["reboots"]
    }
    assert {cluster for cluster, _ in reboots} >= {
        "kernel-upgrade",
        "crash-job-fails",
    }
    for (cluster, _), (count, prepared) in reboots.items():
        assert prepared == (count if cluster == "kernel-upgrade" else 0)
    assert len({row[0] for row in by_files["reboots"]}) == 2, "months"

    hours = {(row[0], row[1]): row[3] for row in by_files["gpu-hours"]}
    assert {cluster for cluster, _ in hours} == set(FLEET)
    assert {namespace for _, namespace in hours} == {"train"}
    assert all(0 < spent < 1 for spent in hours.values())

    evictions = [row[:3] for row in by_files["evictions"]]
    assert ["drain-audited", "requested", "alice@example.com"] in evictions
