"""One query each for what a person asks."""

from tests.api.serving import Client

WHY = """
query Why($node: String!, $cluster: String!) {
  why(node: $node, cluster: $cluster) {
    verdicts { id sentence happened cause confidence
      decision { class actor { kind name } } evidence { entry role says } }
    coverage { complete says }
  }
}
"""
IMPACT = """
query Impact($node: String!, $cluster: String!) {
  impact(nodes: [$node], cluster: $cluster) {
    failures { verdict happened }
    workloads { workload { kind name } outcome gpus gpuHoursLost }
    totals { workloads gpuHoursLost }
    coverage { complete }
  }
}
"""


async def test_why_a_node_rebooted_is_one_query(served: Client) -> None:
    found = await served.ask(WHY, node="gpu-002", cluster="kernel-deadlock")

    (verdict,) = found["why"]["verdicts"]
    assert verdict["happened"] == "REBOOT"
    assert verdict["cause"] == "HUNG_KERNEL"
    assert found["why"]["coverage"]["complete"] is True


async def test_which_jobs_a_failure_hit_is_one_query(served: Client) -> None:
    found = await served.ask(IMPACT, node="gpu-002", cluster="crash")

    assert found["impact"]["workloads"]
    assert found["impact"]["coverage"]["complete"] is True
