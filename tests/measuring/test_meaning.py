"""A value supports a fault that another reports, or speaks against it."""

from collections.abc import Iterable
from hashlib import sha256

import msgspec
import pytest

from recorder.explain.verdict import Verdict
from recorder.facts import derive
from recorder.facts.classify.claims import claim_draft
from recorder.facts.metrics import Kept, series_of
from recorder.measuring.asking import Asked, event_of
from recorder.model.fact import StoredFact
from recorder.model.observation import CLOUDEVENTS
from recorder.model.outcomes import Fault
from recorder.model.reference import EntryName
from tests.explain.tale import Tale
from tests.explain.test_traps import fault
from tests.support.builders import START, at

LOST, BACK = 600, 900
XID = "DCGM_FI_DEV_XID_ERRORS"
HEAT = "DCGM_FI_DEV_GPU_TEMP"


def kept(
    tale: Tale, name: str, *gpus: Iterable[float], peer_of: str | None = None
) -> Tale:
    """Add what a store had of each GPU of n1, from the beginning on."""
    asked = Asked("1/1", "n1", at(), at(BACK + 600), peer_of=peer_of)
    series = [
        series_of(
            name,
            {"gpu": str(gpu)},
            [
                (START.timestamp() + 15 * number, value)
                for number, value in enumerate(values)
            ],
        )
        for gpu, values in enumerate(gpus)
    ]
    found = Kept(
        incident="1/1",
        node="n1",
        begin=asked.begin,
        end=asked.end,
        peer_of=peer_of,
    )
    draft = claim_draft(
        msgspec.json.encode(event_of(asked, found, series)),
        key=sha256(b"1").hexdigest(),
        source=CLOUDEVENTS,
        observed_at=at(2000),
    )
    (fact,) = derive(draft, None).facts
    entry = EntryName(1, len(tale.facts) + 1)
    tale.facts.append(
        StoredFact(entry=entry, index=0, observed_at=at(2000), fact=fact)
    )
    return tale


def reboot(condition: str | None, seconds: float = 500) -> Tale:
    """Return a reboot, with a bad condition before it."""
    tale = Tale("n1", "n2")
    if condition:
        tale.condition(seconds, condition, "True", was="False", node="n1")
    tale.lost(LOST, "n1").boots(BACK, "n1").ready(BACK + 10, "n1")
    return tale


def said(verdict: Verdict) -> str:
    return " ".join(step.says for step in verdict.steps)


def flat(value: float) -> list[float]:
    return [value] * 40


def test_an_xid_that_changes_supports_a_fault_of_the_gpu() -> None:
    """Also if it is 0 again after the reboot."""
    turned = [0.0] * 32 + [79.0] * 6 + [0.0] * 20
    found = kept(reboot("XIDErrors"), XID, flat(0), turned).verdict("n1")
    assert fault(found) is Fault.GPU
    assert "Xid of GPU 1 changed from 0 to 79 at 03:08" in said(found)


@pytest.mark.parametrize("values", [flat(0), flat(79)])
def test_an_xid_that_stays_as_it_was_says_nothing(
    values: list[float],
) -> None:
    alone = reboot("XIDErrors").verdict("n1")
    found = kept(reboot("XIDErrors"), XID, values).verdict("n1")
    assert msgspec.structs.asdict(found) == msgspec.structs.asdict(alone)


def test_heat_without_a_fault_is_none() -> None:
    alone = reboot(None).verdict("n1")
    hot = [60.0] * 30 + [97.0] * 10
    found = kept(reboot(None), HEAT, hot, flat(60)).verdict("n1")
    assert msgspec.structs.asdict(found) == msgspec.structs.asdict(alone)
    assert fault(found) is None


def test_heat_says_nothing_of_a_fault_of_another_class() -> None:
    hot = [60.0] * 30 + [97.0] * 10
    found = kept(reboot("XIDErrors"), HEAT, hot, flat(60)).verdict("n1")
    assert fault(found) is Fault.GPU
    assert "97" not in said(found)
    assert not found.contradictions


def test_heat_after_the_loss_supports_nothing() -> None:
    later = [60.0] * 62 + [97.0] * 10
    found = kept(reboot("AMDGPUThrottle"), HEAT, later).verdict("n1")
    assert fault(found) is Fault.THERMAL
    assert "97" not in said(found)


def test_what_was_kept_of_a_peer_is_no_evidence_about_it() -> None:
    hot = [60.0] * 30 + [97.0] * 10
    alone = reboot("AMDGPUThrottle").verdict("n1")
    found = kept(reboot("AMDGPUThrottle"), HEAT, hot, peer_of="n2").verdict(
        "n1"
    )
    assert said(found) == said(alone)


def test_warm_is_neither_hot_nor_cool() -> None:
    alone = reboot("AMDGPUThrottle").verdict("n1")
    found = kept(reboot("AMDGPUThrottle"), HEAT, flat(80)).verdict("n1")
    assert found.confidence == alone.confidence
    assert not found.contradictions
    cool = kept(reboot("AMDGPUThrottle"), HEAT, flat(60)).verdict("n1")
    assert cool.contradictions
    assert cool.confidence == "possible"
