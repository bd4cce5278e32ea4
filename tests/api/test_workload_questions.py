"""Questions about workloads over GraphQL: as the command line answers them."""

from tests.api.serving import Client

ASKED = """
{
  objects(kind: "pods", log: "1", limit: 2) {
    at objects { kind namespace name status node gpus labels } more
    coverage { complete }
  }
  search(text: "llm", log: "1", first: 3) { hits { title } more }
  whyWorkload(name: "llm-pretrain", log: "1") { workload { kind name } note }
  stats(by: [WORKLOAD, CAUSE], log: "1", since: "2020-01-01T00:00:00Z") {
    counts { by }
    reliability {
      by totals { workloads interruptions nodeDays }
      groups { key interruptions shareInFull } coverage { complete }
    }
  }
}
"""


async def test_one_request_has_the_answers_of_each_question(
    served: Client,
) -> None:
    found = await served.ask(ASKED)

    listed = found["objects"]["objects"]
    assert [one["kind"] for one in listed] == ["Pod", "Pod"]
    assert found["objects"]["more"]
    assert found["search"]["hits"]
    why = found["whyWorkload"]
    assert why["workload"]["name"] == "llm-pretrain"
    assert why["note"] is None
    (stats,) = found["stats"]
    assert [one["by"] for one in stats["counts"]] == ["CAUSE"]
    (work,) = stats["reliability"]
    assert work["by"] == "WORKLOAD"
    total = work["totals"]
    assert total["workloads"] == len(work["groups"]) > 0
    times = [group["interruptions"] for group in work["groups"]]
    assert total["interruptions"] == sum(times)
