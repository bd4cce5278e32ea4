"""Queries that the schema allows, made by the hundred, find no defect."""

import asyncio
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case

from api.schema import SDL
from tests.api.serving import Client

EXAMPLES = 12

SCHEMA = schemathesis.graphql.from_file(SDL.read_text())

QUESTIONS = sorted(SCHEMA["Query"])


@pytest.mark.parametrize("question", QUESTIONS)
async def test_what_the_schema_allows_is_answered_or_refused_by_name(
    served: Client, question: str
) -> None:
    operation = SCHEMA["Query"][question]

    @seed(1)
    @given(case=operation.as_strategy())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Case[Any]) -> None:
        response = case.call(base_url=served.address + "graphql")
        assert response.status_code == 200, response.text
        for error in response.json().get("errors", ()):
            code = error["extensions"]["code"]
            assert code != "internal", (case.body, error)

    await asyncio.to_thread(ask)
