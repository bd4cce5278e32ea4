"""Lists of the API completed by columns, and by graphql-core alone.

Both executors answer the same query in turns, in this process, and what
counts is its processor time: reading and judging included, PostgreSQL not.
Their ratio is what `api/http/columns.py` gives: of lists of plain objects, for
which it is made, at least 1.3, or it is not worth its lines. Incidents have
fields that are resolved one by one, and are judged.
"""

import asyncio
import time
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from graphql.execution import Executor as Stock

from api.access import LOCAL
from api.http.columns import ColumnExecutor
from api.http.executing import Executor, Query, document_of
from api.http.graphql_http import json_bytes
from api.ports import Logs
from api.resolvers.context import RequestContext
from api.resolvers.remembering import JudgedOnce
from bench.measuring import Number
from bench.two_logs import two_logs
from recorder.explain.knowledge import shipped
from recorder.model.settings import Settings
from recorder.wiring.reading import open_logs

__all__ = ["bench"]

DOCUMENTS = 2_000
TURNS = 15

QUERIES = {
    "500 entries": """{ entries(log: 1, first: 500) { nodes {
      name position source resource operation
      object { kind namespace name uid } resourceVersion node
      reason occurredAt observedAt recordedAt } } }""",
    "500 facts": """{ facts(log: 1, first: 500) { nodes {
      entry index kind node at actor observedAt object { kind name } } } }""",
    "incidents with verdicts": """{ incidents(log: 2) { nodes {
      id happened cause confidence group sentence nodes from to
      totals { workloads gpuHoursLost }
      verdicts { id node happened cause sentence
        evidence { entry role at says } rivals { cause because } }
      workloads { workload { kind namespace name } outcome says } } } }""",
}


def bench(runs: int) -> list[Number]:
    return asyncio.run(_measured(runs))


async def _measured(runs: int) -> list[Number]:
    async with (
        two_logs(DOCUMENTS) as (folder, _),
        open_logs(Settings(data_dir=folder)) as logs,
    ):
        return [
            await _compared(logs, name, query, runs)
            for name, query in QUERIES.items()
        ]


async def _compared(logs: Logs, name: str, query: str, runs: int) -> Number:
    executor, judged = Executor(), JudgedOnce()
    prepared = executor.prepare(Query(text=query))

    async def cost(by: type[Stock[Any]]) -> float:
        context = RequestContext(
            logs=logs,
            knowledge=shipped(),
            now=datetime.now(UTC),
            principal=LOCAL,
            judged=judged,
        )
        with patch("api.http.executing.ColumnExecutor", by):
            began = time.process_time()
            result = await executor.execute(prepared, context)
            body = json_bytes(document_of(result))
            spent = time.process_time() - began
        assert b'"errors"' not in body, body[:500]
        return spent

    await cost(ColumnExecutor)
    ratios = []
    for _ in range(runs):
        turns = [
            (await cost(Stock), await cost(ColumnExecutor))
            for _ in range(TURNS)
        ]
        stock, columns = (min(side) for side in zip(*turns, strict=True))
        ratios.append(stock / columns)
    return Number(
        name=f"{name}: by graphql-core alone / by columns",
        unit="",
        values=ratios,
        target=">= 1.3" if name.startswith("500") else "",
    )
