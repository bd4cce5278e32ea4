"""Every place where a question begins answers in the words of the CLI."""

from itertools import pairwise
from typing import Any

from tests.api.serving import Client

NODE_PAGE = """
query Page($name: String!, $cluster: String!) {
  node(name: $name, cluster: $cluster) {
    name cluster log
    why { verdicts { id happened cause sentence evidence { entry role } }
      coverage { complete } }
    impact { workloads { workload { kind name } outcome } totals { workloads }
      coverage { complete } }
    timeline {
      window { since until }
      before { present } after { inService service }
      service { from to state entry }
      conditions { type from to status isFault entry }
      boots { bootId from to entry }
      taints { key effect from to actor entry }
      cordons { from to actor entry }
      placements { pod node workload { kind name } gpus boundAt endedAt }
      facts { entry index kind at says type detail }
      moreFacts
      gaps { reason }
      coverage { complete }
    }
    postmortem { summary markdown html position }
  }
}
"""


async def test_one_query_gives_a_whole_incident_page(served: Client) -> None:
    found = await served.ask(
        NODE_PAGE, name="gpu-002", cluster="kernel-deadlock"
    )

    node = found["node"]
    (verdict,) = node["why"]["verdicts"]
    assert verdict["cause"] == "HUNG_KERNEL"
    timeline = node["timeline"]
    assert timeline["after"]["service"] == "IN_SERVICE"
    states = [span["state"] for span in timeline["service"]]
    assert states == ["IN_SERVICE", "DEGRADED", "CORDONED", "IN_SERVICE"]
    boots = [span["bootId"] for span in timeline["boots"]]
    assert len(boots) == 2
    assert any(
        span["type"] == "KernelDeadlock" and span["isFault"]
        for span in timeline["conditions"]
    )
    assert timeline["facts"]
    for fact in timeline["facts"]:
        assert fact["type"] == fact["detail"].get("type")
    assert timeline["moreFacts"] == 0
    assert verdict["sentence"].split(" at ")[0] in node["postmortem"]["html"]


async def test_spans_of_a_lane_follow_one_another(served: Client) -> None:
    found = await served.ask(
        NODE_PAGE, name="gpu-002", cluster="kernel-deadlock"
    )

    timeline = found["node"]["timeline"]
    lanes: dict[str, list[dict[str, Any]]] = {"": timeline["service"]}
    for span in timeline["conditions"]:
        lanes.setdefault(span["type"], []).append(span)
    assert len(lanes) > 3
    for spans in lanes.values():
        for one, other in pairwise(spans):
            assert one["to"] is not None
            assert one["to"] <= other["from"]
        assert spans[-1]["to"] is None


async def test_the_jobs_of_a_node_lie_on_its_timeline(served: Client) -> None:
    found = await served.ask(NODE_PAGE, name="gpu-002", cluster="crash")

    placements = found["node"]["timeline"]["placements"]
    hit = found["node"]["impact"]["workloads"][0]["workload"]
    assert {"kind": hit["kind"], "name": hit["name"]} in [
        one["workload"] for one in placements
    ]
    assert all(one["node"] == "gpu-002" for one in placements)


async def test_incidents_are_found_by_window_and_by_id(served: Client) -> None:
    found = await served.ask(
        """{ incidents(cluster: "rack-loss-jobset") {
          count nodes { id nodes group cause verdicts { id node } }
          places { node key value }
          histogram { stepSeconds steps { from to count } }
          pageInfo { hasNextPage hasPreviousPage }
          nearest { before { at } } coverage { complete } } }"""
    )

    incidents = found["incidents"]
    assert incidents["count"] == len(incidents["nodes"])
    assert incidents["nearest"] is None
    steps = incidents["histogram"]["steps"]
    assert sum(step["count"] for step in steps) == incidents["count"]
    (rack,) = [one for one in incidents["nodes"] if one["group"] == "RACK"]
    racks = [
        one["value"]
        for one in incidents["places"]
        if one["node"] in rack["nodes"] and one["key"].endswith("/rack")
    ]
    assert len(racks) == len(rack["nodes"])
    assert len(set(racks)) == 1
    for verdict in rack["verdicts"]:
        one = await served.ask(
            """query One($id: ID!) { incident(id: $id) {
              incident { id nodes } node { name } coverage { complete } } }""",
            id=verdict["id"],
        )
        assert one["incident"]["incident"]["id"] == rack["id"]
        assert one["incident"]["incident"]["nodes"] == rack["nodes"]


async def test_an_empty_window_says_what_lies_next_to_it(
    served: Client,
) -> None:
    all_of_it = await served.ask(
        """{ incidents(cluster: "crash") {
          nodes { from to } } }"""
    )
    last = all_of_it["incidents"]["nodes"][-1]
    found = await served.ask(
        """query Empty($since: DateTime, $until: DateTime) {
          incidents(cluster: "crash", since: $since, until: $until) {
            count nearest { before { node says } after { at } } } }""",
        since="2026-06-01T00:00:00Z",
        until=last["from"],
    )
    assert found["incidents"]["count"] == 0
    assert found["incidents"]["nearest"]["after"]["at"] >= last["from"]


async def test_an_entry_is_opened_with_what_changed(served: Client) -> None:
    facts = await served.ask(
        """{ facts(cluster: "kernel-deadlock", node: "gpu-002",
          kinds: [BOOT_CHANGED]) { nodes { entry } } }"""
    )
    name = facts["facts"]["nodes"][0]["entry"]

    found = await served.ask(
        """query Open($name: ID!) { entry(name: $name) {
          entry { name operation object { kind name } recordedAt position }
          raw document facts { kind detail } previous { name }
          changed { path change old new } writers { name at }
          coverage { complete } } }""",
        name=name,
    )

    entry = found["entry"]
    assert entry["entry"]["name"] == name
    assert entry["document"]["status"]["nodeInfo"]["bootID"] in entry["raw"]
    assert entry["previous"] is not None
    (change,) = [c for c in entry["changed"] if c["path"].endswith("bootID")]
    assert change["change"] == "REPLACED"
    assert change["new"] == entry["document"]["status"]["nodeInfo"]["bootID"]
    assert "BOOT_CHANGED" in [fact["kind"] for fact in entry["facts"]]


async def test_an_object_has_versions_a_past_and_differences(
    served: Client,
) -> None:
    found = await served.ask(
        """{ object(name: "node/gpu-002", cluster: "kernel-deadlock") {
          kind name uids
          versions(first: 3) { nodes { entry { name observedAt } begins
            changed { path } writers { name } }
            pageInfo { hasNextPage endCursor } coverage { complete } }
          at { document entry { name } coverage { complete } }
          facts(first: 2) { nodes { kind object { kind name } } }
          entries(last: 2) { nodes { object { name } } } } }"""
    )

    node = found["object"]
    first, second, _ = node["versions"]["nodes"]
    assert first["begins"] is True
    assert second["changed"]
    assert node["at"]["document"]["kind"] == "Node"
    diff = await served.ask(
        """query Diff($from: String!, $to: String) {
          object(name: "no/gpu-002", cluster: "kernel-deadlock") {
            diff(from: $from, to: $to) { outcome from { name } to { name }
              changed { path } coverage { complete } } } }""",
        **{"from": first["entry"]["name"], "to": second["entry"]["name"]},
    )
    assert diff["object"]["diff"]["outcome"] == "changed"
    assert [c["path"] for c in diff["object"]["diff"]["changed"]] == [
        c["path"] for c in second["changed"]
    ]


async def test_a_workload_is_shown_over_nodes_and_time(served: Client) -> None:
    hit = await served.ask(
        """{ impact(cluster: "rack-loss-jobset", rack: null,
          nodes: ["gpu-002"]) { workloads { workload { kind namespace name }
            gangSize hitAt } } }"""
    )
    (one,) = hit["impact"]["workloads"]
    name = "{kind}/{namespace}/{name}".format(**one["workload"])

    found = await served.ask(
        """query Job($name: String!) {
          workload(name: $name, cluster: "rack-loss-jobset") {
            workload { kind name } isGang gpus nodes ranInFullAt failedAt
            placements { pod node boundAt runningAt endedAt }
            hits { outcome hitAt } coverage { complete } } }""",
        name=name,
    )

    story = found["workload"]
    assert story["isGang"] is True
    assert len(story["placements"]) >= one["gangSize"]
    assert one["hitAt"] in [each["hitAt"] for each in story["hits"]]
    assert story["ranInFullAt"] < one["hitAt"]


async def test_a_search_finds_nodes_objects_and_entries(
    served: Client,
) -> None:
    query = """query Search($text: String!) {
      search(text: $text, cluster: "crash", first: 20) {
        hits { kind title node entry object { kind namespace name } }
        more coverage { complete } } }"""

    node = await served.ask(query, text="gpu-00")
    kind = await served.ask(query, text="job/")
    entry = await served.ask(query, text="3/5")
    nothing = await served.ask(query, text="%")

    titles = [hit["title"] for hit in node["search"]["hits"]]
    assert {"gpu-001", "gpu-002"} <= set(titles)
    assert {h["object"]["kind"] for h in kind["search"]["hits"]} == {"Job"}
    assert entry["search"]["hits"][0]["entry"] == "3/5"
    assert nothing["search"]["hits"] == []


async def test_status_gaps_and_rows_for_dashboards_answer(
    served: Client,
) -> None:
    found = await served.ask(
        """{ status { now clusters { name uid log { id kind size }
            sources { resource state lagSeconds } openGaps { reason }
            audit { state records lastRecordAt leftOut says }
            coverage { complete } } database { version bytes } }
          clusters { name }
          gaps(cluster: "prod") { gaps { id reason proved healed } more
            coverage { complete } }
          nodeNames(cluster: "crash", prefix: "gpu-")
          nodeConditionSeries(cluster: "crash", nodes: ["gpu-002"],
            conditions: ["Ready"]) { points { time node condition state }
            coverage { complete } }
          incidentAnnotations(cluster: "crash") {
            annotations { time timeEnd title text tags id }
            coverage { complete } } }"""
    )

    audits = {one["name"]: one["audit"] for one in found["status"]["clusters"]}
    assert audits["drain-audited"]["state"] == "RECORDED"
    assert audits["drain-audited"]["records"] > 0
    assert audits["prod"] == {
        "state": "ABSENT",
        "records": 0,
        "lastRecordAt": None,
        "leftOut": [],
        "says": [],
    }
    names = [one["name"] for one in found["clusters"]]
    assert names[-2:] == ["prod", "twin"]
    assert found["gaps"]["gaps"]
    assert found["nodeNames"] == sorted(found["nodeNames"])
    states = [p["state"] for p in found["nodeConditionSeries"]["points"]]
    assert states[0] == "True"
    assert "Unknown" in states
    assert found["incidentAnnotations"]["annotations"]


async def test_the_report_of_an_incident_is_the_one_of_the_command(
    served: Client,
) -> None:
    found = await served.ask(
        """{ why(node: "gpu-002", cluster: "kernel-deadlock") {
          verdicts { id } } }"""
    )
    name = found["why"]["verdicts"][0]["id"]

    answer = await served.ask(
        """query Report($subject: String!) { postmortem(subject: $subject) {
          node summary markdown html verdicts { id } coverage { complete }
          position } }""",
        subject=name,
    )

    report = answer["postmortem"]
    assert report["node"] == "gpu-002"
    assert report["markdown"].startswith("# Postmortem: gpu-002")
    assert f"--as-of {report['position']}`" in report["markdown"]
    assert name in [verdict["id"] for verdict in report["verdicts"]]
