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


KILLED = """
query Killed($name: String!, $cluster: String!) {
  whyWorkload(name: $name, cluster: $cluster) {
    state sentence workload { kind name }
    endings {
      endedBy outcome node pods sentence evidence { entry says }
      verdict { id happened cause }
    }
    coverage { complete }
  }
}
"""


async def test_what_ended_a_job_is_one_query(served: Client) -> None:
    found = await served.ask(
        KILLED, name="job/train/llm-pretrain", cluster="crash"
    )

    answer = found["whyWorkload"]
    (ending,) = answer["endings"]
    assert (answer["state"], answer["coverage"]["complete"]) == (
        "RUNNING",
        True,
    )
    assert (ending["endedBy"], ending["outcome"]) == (
        "NODE_FAILURE",
        "RESTARTED",
    )
    assert ending["verdict"]["happened"] == "REBOOT"
    assert ending["evidence"]


STATS = """
query Stats($clusters: [String!]) {
  stats(by: [CAUSE, NODE, DAY], clusters: $clusters) {
    cluster vouched totals { incidents reboots gpuHoursLost }
    counts { by groups { key incidents verdicts reboots gpuHoursLost } }
    coverage { complete }
  }
}
"""


async def test_what_happened_in_several_clusters_is_one_query(
    served: Client,
) -> None:
    found = await served.ask(STATS, clusters=["crash", "two-reboots"])

    crash, twice = found["stats"]
    assert (crash["cluster"], twice["cluster"]) == ("crash", "two-reboots")
    assert twice["totals"]["reboots"] == 2
    for counted in twice["counts"]:
        lost = sum(group["gpuHoursLost"] for group in counted["groups"])
        assert round(lost, 4) == twice["totals"]["gpuHoursLost"]
        assert sum(g["reboots"] for g in counted["groups"]) == 2


async def test_every_log_can_be_counted(served: Client) -> None:
    found = await served.ask(STATS, clusters=["*"])

    assert len(found["stats"]) == 7


async def test_nodes_as_they_were_are_one_query(served: Client) -> None:
    found = await served.ask(
        """query($at: DateTime, $cluster: String!) {
          nodes(at: $at, cluster: $cluster) {
            at nodes { name status ready taints bootId kubeletVersion }
            coverage { complete }
          }
          labelValues(cluster: $cluster) { key values { value nodes } }
        }""",
        at="2026-11-21T14:03:35Z",
        cluster="crash",
    )

    status = {one["name"]: one["status"] for one in found["nodes"]["nodes"]}
    assert status == {
        "gpu-001": "Ready",
        "gpu-002": "Unknown",
        "gpu-003": "Ready",
    }
    racks = {one["key"]: one["values"] for one in found["labelValues"]}
    assert {one["value"] for one in racks["example.com/rack"]} == {
        "rack-1",
        "rack-2",
        "rack-3",
    }
