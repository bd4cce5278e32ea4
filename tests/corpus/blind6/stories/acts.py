"""What stories of several modules do."""

from typing import Any

from tests.cluster.waiting import until
from tests.corpus.blind.stage import BlindStage

__all__ = ["the_budget"]


async def the_budget(stage: BlindStage, name: str) -> None:
    """Let no Pod of the Deployment serve/NAME be evicted."""
    budgets = "/apis/policy/v1/namespaces/serve/poddisruptionbudgets"
    await stage.api.create(
        budgets,
        {
            "metadata": {"name": name},
            "spec": {
                "minAvailable": 1,
                "selector": {"matchLabels": {"app": name}},
            },
        },
    )

    async def guards() -> bool:
        found = await stage.api.get(f"{budgets}/{name}")
        status: dict[str, Any] = found.get("status", {})
        return status.get("currentHealthy") == 1

    await until(guards, "the budget counts its Pod")
