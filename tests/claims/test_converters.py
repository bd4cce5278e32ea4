"""Requests of senders as they write them, and the claims they become.

The payloads follow the documentation of each: Alertmanager's webhook of
version 4, DMTF's Event schema with OpenBMC's messages, UFM's REST API 6.24,
its event log, and NVSentinel's protobuf.
"""

import inspect
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from recorder.explain.knowledge import shipped, shipped_files
from recorder.model.entry import Operation
from recorder.sources.claims import CLAIMS_PATH, converters
from recorder.sources.claims.converters import CONVERTERS, zone_of
from recorder.sources.claims.envelope import EnvelopeError, claims_of
from recorder.sources.claims.mappings import MappingError, read_mappings
from tests.claims.test_door import Doorway

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
ALERTS: dict[str, Any] = {
    "version": "4",
    "groupKey": '{}:{alertname="NodeFilesystem"}',
    "truncatedAlerts": 0,
    "status": "firing",
    "receiver": "recorder",
    "groupLabels": {"alertname": "NodeFilesystem"},
    "commonLabels": {"alertname": "NodeFilesystem"},
    "commonAnnotations": {},
    "externalURL": "http://alertmanager:9093",
    "alerts": [
        {
            "status": "firing",
            "labels": {"alertname": "NodeFilesystem", "node": "gpu-1"},
            "annotations": {"summary": "the disk is full"},
            "startsAt": "2026-11-25T11:00:00.5Z",
            "endsAt": "0001-01-01T00:00:00Z",
            "generatorURL": "http://prometheus/graph",
            "fingerprint": "1a30ba71cca2921f",
        },
        {
            "status": "resolved",
            "labels": {"alertname": "PduTripped"},
            "annotations": {},
            "startsAt": "2026-11-25T10:00:00Z",
            "endsAt": "2026-11-25T10:30:00Z",
            "generatorURL": "",
            "fingerprint": "2b",
        },
    ],
}
REDFISH: dict[str, Any] = {
    "@odata.type": "#Event.v1_7_0.Event",
    "Id": "1",
    "Name": "Event Array",
    "Context": "gpu-1",
    "Events": [
        {
            "EventType": "Alert",
            "EventId": "17",
            "MemberId": "0",
            "EventTimestamp": "2026-11-25T11:00:00+00:00",
            "Severity": "OK",
            "Message": "Host system DC power is on after AC was lost",
            "MessageId": "OpenBMC.0.1.DCPowerOnAfterACLost",
            "MessageArgs": [],
            "OriginOfCondition": {"@odata.id": "/redfish/v1/Systems/1"},
        },
        {
            "EventTimestamp": "1970-01-01T00:03:00Z",
            "MessageId": "Platform.1.0.Restarted",
            "MessageArgs": [
                "xyz.openbmc_project.State.Host.RestartCause.WatchdogTimer"
            ],
            "OriginOfCondition": "/redfish/v1/Systems/1",
        },
        {"MessageId": "OpenBMC.0.1.InventoryAdded", "MessageArgs": ["fan"]},
    ],
}
WENT_DOWN = (
    "Link went down: f4521403008817f0 (Switch: mellanox-SX6036) : 12 -"
    " e41d2d0300a4f482 (Computer: fsgb001 HCA-1) : 1"
)
UFM: list[dict[str, Any]] = [
    {
        "id": 97213,
        "name": "Link is Down",
        "type": "Link",
        "event_type": "329",
        "severity": "Warning",
        "timestamp": "2026-11-25 08:03:05",
        "counter": "N/A",
        "category": "Fabric Topology",
        "object_name": "f4521403008817f0_12",
        "object_path": "default(2)",
        "write_to_syslog": False,
        "description": WENT_DOWN,
    },
    {
        "category": "Fabric Topology",
        "severity": "Critical",
        "timestamp": "2026-11-25 08:03:06.018",
        "counter": None,
        "object_name": "leaf-7",
        "object_path": "Grid",
        "name": "Switch is Down",
        "write_to_syslog": False,
        "type": "907",
        "id": 228,
        "description": "Switch leaf-7 is Down",
    },
    {
        "id": 3,
        "name": "MCast Group Deleted",
        "event_type": "67",
        "timestamp": "2026-11-25 08:03:07",
        "object_name": "default",
    },
]
HEALTH: dict[str, Any] = {
    "version": 1,
    "agent": "gpu-health-monitor",
    "componentClass": "GPU",
    "checkName": "GpuMemWatch",
    "isFatal": True,
    "message": "uncorrectable error",
    "recommendedAction": "RESTART_VM",
    "errorCode": ["DCGM_FR_UNCORRECTABLE"],
    "entitiesImpacted": [{"entityType": "GPU", "entityValue": "3"}],
    "generatedTimestamp": "2026-11-25T11:00:00Z",
    "nodeName": "gpu-1",
    "processingStrategy": "STORE_ONLY",
}


def converted(
    name: str, body: object, zone: str | None = None
) -> list[dict[str, Any]]:
    """Return the events of a request, which the door accepts."""
    events, _ = CONVERTERS[name](orjson.dumps(body), zone_of(zone))
    claims_of([{"source": name, **event} for event in events], now=NOW)
    return list(events)


def briefly(events: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    return [
        (event["type"], event.get("subject"), event.get("time"))
        for event in events
    ]


def test_an_alert_is_a_claim_for_each_status() -> None:
    firing, resolved = converted("alertmanager", ALERTS)

    assert briefly([firing, resolved]) == [
        ("alert", "node/gpu-1", "2026-11-25T11:00:00.500000Z"),
        ("alert", "alert/PduTripped", "2026-11-25T10:30:00.000000Z"),
    ]
    assert firing["id"] == "1a30ba71cca2921f/2026-11-25T11:00:00.5Z/firing"
    assert firing["data"]["annotations"] == {"summary": "the disk is full"}


def test_a_service_processor_is_about_the_machine_in_its_context() -> None:
    power, restarted, other = converted("redfish", REDFISH)

    assert briefly([power, restarted, other]) == [
        ("machine.power", "node/gpu-1", "2026-11-25T11:00:00.000000Z"),
        ("machine.power", "node/gpu-1", None),
        ("machine.event", "node/gpu-1", None),
    ]
    assert power["data"]["OriginOfCondition"] == "/redfish/v1/Systems/1"
    assert restarted["data"]["RestartCause"].endswith(".WatchdogTimer")


def test_an_event_of_redfish_is_known_by_its_content() -> None:
    again = {**REDFISH["Events"][0], "EventId": "18", "MemberId": "1"}
    other = {**again, "EventTimestamp": "2026-11-25T11:00:01+00:00"}
    first, repeated, different = converted(
        "redfish", {**REDFISH, "Events": [REDFISH["Events"][0], again, other]}
    )
    (elsewhere,) = converted(
        "redfish", {**REDFISH, "Context": "gpu-2", "Events": [again]}
    )

    assert first["id"] == repeated["id"]
    assert len({first["id"], different["id"], elsewhere["id"]}) == 3


def test_a_link_of_ufm_names_its_port_its_peer_and_their_machine() -> None:
    link, switch, other = converted("ufm", UFM, "Europe/Berlin")

    assert briefly([link, switch, other]) == [
        (
            "link.state",
            "port/mellanox-SX6036:12",
            "2026-11-25T07:03:05.000000Z",
        ),
        ("link.state", "switch/leaf-7", "2026-11-25T07:03:06.018000Z"),
        ("fabric.event", "default", "2026-11-25T07:03:07.000000Z"),
    ]
    data = link["data"]
    assert (data["state"], data["node"]) == ("down", "fsgb001")
    assert data["peer"] == "fsgb001:HCA-1:1"
    assert switch["data"]["state"] == "down"


def test_without_its_zone_a_time_of_ufm_is_not_known() -> None:
    (link,) = converted("ufm", UFM[0])
    (west,) = converted("ufm", UFM[0], "-02:00")

    assert "time" not in link
    assert link["data"]["timestamp"] == "2026-11-25 08:03:05"
    assert west["time"] == "2026-11-25T10:03:05.000000Z"


@pytest.mark.parametrize(
    "body", [HEALTH, [HEALTH], {"version": 1, "events": [HEALTH]}]
)
def test_a_health_event_is_about_its_node(body: object) -> None:
    (event,) = converted("nvsentinel", body)

    assert briefly([event]) == [
        ("machine.health", "node/gpu-1", "2026-11-25T11:00:00.000000Z")
    ]
    assert event["data"]["isFatal"] is True
    assert event["data"]["isHealthy"] is False


@pytest.mark.parametrize(
    ("name", "body", "named"),
    [
        ("alertmanager", {**ALERTS, "version": "3"}, '"version" is not 4'),
        ("alertmanager", {"version": "4", "alerts": [{}]}, "$.alerts[0]"),
        ("redfish", {"Events": []}, "`Context`"),
        ("redfish", {**REDFISH, "Context": ""}, '"Context" is empty'),
        ("ufm", [{"id": 1}], "`name`"),
        ("nvsentinel", {"checkName": "a"}, "`nodeName`"),
        ("nvsentinel", 7, "object"),
    ],
)
def test_what_a_sender_does_not_write_is_refused_by_name(
    name: str, body: object, named: str
) -> None:
    with pytest.raises(EnvelopeError) as refusal:
        converted(name, body)
    assert named in str(refusal.value)


PAGE = Path(__file__).parents[2] / "docs/sources.md"
MAPPING = PAGE.read_text().partition("```text\n[tor]")[2].partition("```")[0]
MAPPING = f'[tor]{MAPPING}speed = "{{speed}}"\n'
"""The mapping in the documentation, and a number."""

ALARM = {
    "switch": {"name": "tor-3"},
    "port": 7,
    "oper": "down",
    "speed": 400,
    "at": "2026-11-25 11:00:00",
    "note": "not taken",
}


def test_a_bare_object_becomes_what_its_mapping_says(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(MAPPING)
    tor = read_mappings([str(tmp_path / "site.toml")])["tor"]
    body = {"alarms": [ALARM, {**ALARM, "speed": 200}]}

    first, again = tor(orjson.dumps(body), None).events

    assert briefly([first]) == [
        ("link.state", "port/tor-3:7", "2026-11-25T11:00:00.000000Z")
    ]
    assert first["data"] == {
        "state": "down",
        "port": "tor-3:7",
        "speed": 400,
    }
    assert first["id"] == again["id"]
    with pytest.raises(EnvelopeError, match='"oper" is missing'):
        tor(orjson.dumps(body).replace(b"oper", b"open"), None)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[redfish]\ntype='a'\nsubject='b'", "another name"),
        ("[tor]\ntype='a'", "subject"),
        ("[tor]\ntype='a'\nsubject='b'\nzones='UTC'", "zones"),
        ("[tor]\ntype='a'\nsubject='b'\nzone='Mars'", "Mars"),
        ("[tor", "site.toml"),
    ],
)
def test_a_mapping_that_cannot_be_used_is_named(
    tmp_path: Path, text: str, named: str
) -> None:
    (tmp_path / "site.toml").write_text(text)
    with pytest.raises(MappingError, match=named):
        read_mappings([str(tmp_path / "site.toml")])


async def test_each_sender_has_its_path_and_its_rights(tmp_path: Path) -> None:
    one = Doorway(tmp_path)
    token = one.tokens.add("am", claims=("alertmanager/*", "alert"))
    truncated = {**ALERTS, "truncatedAlerts": 3}
    async with (
        one.listening(),
        one.recording(),
        aiohttp.ClientSession(
            one.address, headers={"Authorization": f"Bearer {token}"}
        ) as session,
    ):
        statuses = []
        for path, body in (
            ("alertmanager", ALERTS),
            ("alertmanager?source=eu", ALERTS),
            ("alertmanager?source=eu", truncated),
            ("alertmanager?source=eu", truncated),
            ("redfish?source=eu", REDFISH),
            ("grafana", ALERTS),
        ):
            answer = await session.post(f"{CLAIMS_PATH}/{path}", json=body)
            statuses.append(answer.status)

    assert statuses == [403, 202, 202, 202, 403, 404]
    assert {orjson.loads(claim.raw)["source"] for claim in one.claims()} == {
        "alertmanager/eu"
    }
    assert len(one.claims()) == 2
    (gap,) = one.log.drafts(Operation.GAP_CLOSED)
    assert "Alertmanager left out 3 alerts" in orjson.loads(gap.raw)["reason"]
    assert ("cloudevents", "alertmanager") not in one.log.streams


def types() -> set[str]:
    files = shipped_files().values()
    return {one.type for file in files for one in file.types}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("alertmanager", ALERTS),
        ("redfish", REDFISH),
        ("ufm", UFM),
        ("ufm", [{**UFM[0], "event_type": "110", "object_name": "leaf-7"}]),
        ("nvsentinel", HEALTH),
    ],
)
def test_what_a_converter_makes_is_of_a_shipped_type_and_fits_it(
    name: str, body: object
) -> None:
    known = types()
    for event in converted(name, body):
        assert event["type"] in known
        assert shipped().misfit(event["type"], orjson.dumps(event)) is None


def test_a_converter_names_no_type_without_a_file() -> None:
    known = types()
    code = Path(inspect.getfile(converters)).read_text()
    named = set(re.findall(r'"((?:alert|fabric|link|machine)[.a-z]*)"', code))
    assert {"alert", "fabric.event", "link.state", "machine.power"} <= named
    assert {one for one in named - CONVERTERS.keys() if "." in one} <= known
