"""What `recorder doctor` said, check by check."""

from typing import Any

from tests.support.postgres import connected

__all__ = ["FAST", "OF_LOG", "checks", "execute", "failed", "tried", "value"]

OF_LOG = "redaction key of the log"


FAST = "database durability"
"""What is wrong with every database of a test: it runs without fsync."""


def checks(answer: Any) -> dict[str, Any]:
    return {check["name"]: check for check in answer.json["checks"]}


def failed(answer: Any) -> list[str]:
    return [name for name, check in checks(answer).items() if not check["ok"]]


def tried(answer: Any) -> list[str]:
    """Name what failed, without what was not tried because of it."""
    return [
        name
        for name, check in checks(answer).items()
        if not check["ok"] and not check["says"].startswith("skipped")
    ]


async def execute(dsn: str, *statements: str) -> None:
    async with connected(dsn) as connection:
        for statement in statements:
            await connection.execute(statement)


async def value(dsn: str, query: str) -> Any:
    async with connected(dsn) as connection:
        return await connection.fetchval(query)
