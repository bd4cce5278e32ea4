"""What a sender writes decides what the recorder answers.

Each request passes its converter, the schema of its type, and the deriver of
facts, as at the door; the verdict is that of a node with these facts.
"""

from pathlib import Path
from typing import Any

import orjson
import pytest

from recorder.explain.knowledge import load, shipped
from recorder.explain.verdict import Verdict
from recorder.facts import derive
from recorder.facts.classify.claims import claim_draft
from recorder.model.fact import StoredFact
from recorder.model.observation import CLOUDEVENTS
from recorder.model.outcomes import Fault
from recorder.model.reference import EntryName
from recorder.sources.claims.converters import CONVERTERS
from recorder.sources.claims.envelope import claims_of
from tests.claims.test_converters import ALERTS, HEALTH, REDFISH, UFM
from tests.explain.tale import Tale
from tests.explain.test_traps import fault
from tests.support.builders import at

NODE = "gpu-1"


def posted(tale: Tale, seconds: float, name: str, body: object) -> Tale:
    """Let a sender post a request, which the types accept."""
    events, _ = CONVERTERS[name](orjson.dumps(body), None)
    made = [{"source": name, **event} for event in events]
    for claim in claims_of(made, now=at(seconds)):
        document = claim.document
        kind = orjson.loads(document)["type"]
        assert shipped().types.get(kind) is not None
        assert shipped().misfit(kind, document) is None
        draft = claim_draft(
            document,
            key=claim.key,
            source=CLOUDEVENTS,
            observed_at=at(seconds),
        )
        (fact,) = derive(draft, None).facts
        entry = EntryName(1, len(tale.facts) + 1)
        tale.facts.append(
            StoredFact(
                entry=entry, index=0, observed_at=at(seconds), fact=fact
            )
        )
    return tale


def reboot(name: str, body: object, *, at_second: float = 30) -> Verdict:
    """Return the verdict on an abrupt reboot after a request."""
    tale = posted(Tale(NODE, "n2"), at_second, name, body)
    tale.lost(60, NODE).boots(200, NODE).ready(210, NODE)
    return tale.verdict(NODE)


def redfish(**record: Any) -> dict[str, Any]:
    return {**REDFISH, "Events": [record]}


@pytest.mark.parametrize(
    ("record", "cause", "confidence"),
    [
        (REDFISH["Events"][0], "power-loss", "proven"),
        (REDFISH["Events"][1], "hung-kernel", "likely"),
        (REDFISH["Events"][2], "unrecorded", "unknown"),
    ],
)
def test_a_service_processor_decides_why_a_machine_rebooted(
    record: dict[str, Any], cause: str, confidence: str
) -> None:
    stamped = {**record, "EventTimestamp": at(50).isoformat()}
    found = reboot("redfish", redfish(**stamped), at_second=58)
    assert (found.cause, found.confidence) == (cause, confidence)


def test_a_link_that_ufm_saw_go_down_is_a_fault_until_it_is_up() -> None:
    node = "fsgb001"
    down = UFM[0]
    up = {
        **down,
        "id": 97214,
        "event_type": "328",
        "description": down["description"].replace("went down", "is up"),
    }
    tale = posted(Tale(node, "n2"), 30, "ufm", [down])
    posted(tale, 90, "ufm", [up])
    posted(tale, 200, "ufm", [{**down, "id": 97215}])
    verdicts = tale.verdicts(node)
    assert len(verdicts) == 2  # the second began after the first was over
    for found in verdicts:
        assert (found.happened, fault(found)) == ("degraded", Fault.LINK)
        assert found.confidence == "likely"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Fault.GPU),
        ({"componentClass": "NIC"}, Fault.LINK),
        ({"componentClass": "Memory"}, Fault.MEMORY),
        # The monitor is cut off: the machine need not have failed.
        ({"checkName": "GpuDcgmConnectivityFailure"}, None),
        ({"isFatal": False}, None),
    ],
)
def test_a_fatal_health_event_is_a_fault_of_its_component(
    changes: dict[str, Any], expected: Fault | None
) -> None:
    said = {**HEALTH, **changes, "generatedTimestamp": at(30).isoformat()}
    found = reboot("nvsentinel", said)
    assert fault(found) is expected
    assert found.confidence != "proven"


ALERT = """\
types:
  - type: alert
    holds: true
    each: [labels.alertname]
    claims:
      - when: {status: [firing], labels.alertname: [NodeFilesystem]}
        role: fault
        fault: disk-fault
"""


def test_an_alert_is_the_word_of_a_monitor(tmp_path: Path) -> None:
    fired = {**ALERTS["alerts"][0], "startsAt": at(30).isoformat()}
    body = {**ALERTS, "alerts": [fired]}
    assert reboot("alertmanager", body).cause == "unrecorded"

    file = tmp_path / "alerts.yaml"
    file.write_text(ALERT)
    tale = posted(Tale(NODE, "n2"), 30, "alertmanager", body)
    tale.lost(60, NODE).boots(200, NODE).ready(210, NODE)
    found = tale.verdict(NODE, knowledge=load([file]))
    assert (found.cause, found.confidence) == ("disk-fault", "likely")
