"""The API speaks GraphQL over HTTP as the official audit has it."""

import asyncio

from tests.api.auditing import audit
from tests.api.serving import Client

CHECKS = 61


async def test_every_check_of_the_official_audit_passes(
    served: Client,
) -> None:
    checks = await asyncio.to_thread(audit, served.address + "graphql")

    wrong = [check for check in checks if check.status != "ok"]
    assert not wrong, "\n".join(map(str, wrong))
    assert len(checks) == CHECKS
