"""Claims of other systems as evidence: what decides, and what only says so."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from recorder.explain.knowledge import (
    Knowledge,
    KnowledgeError,
    load,
    shipped,
    shipped_files,
)
from recorder.explain.knowledge.claiming import wrong_schema
from recorder.explain.signals import signals_of
from recorder.explain.verdict import Verdict
from recorder.facts import derive, says, written
from recorder.model.entry import Draft, Operation
from recorder.model.fact import FactKind, StoredFact
from recorder.model.outcomes import Decision, Fault
from recorder.model.reference import EntryName, ObjectIdentity
from tests.explain.tale import Tale
from tests.explain.test_traps import actor, decision, fault
from tests.support.builders import at
from tests.support.sampling import sampled


def claims(
    tale: Tale,
    seconds: float,
    kind: str,
    data: Any,
    *,
    occurred: float | None = None,
    node: str = "n1",
) -> Tale:
    """Let another system claim something of a node."""
    key = f"key-{len(tale.facts)}"
    subject = f"node/{node}"
    thing = ObjectIdentity("cloudevents.io", "CloudEvent", "", subject, key)
    detail = {"type": kind, "source": "bmc", "subject": subject, "data": data}
    return tale.add(
        seconds, FactKind.CLAIMED, detail, node=node, about=thing,
        occurred=occurred,
    )  # fmt: skip


def abrupt() -> Tale:
    """Return a reboot that nothing in the cluster explains."""
    return Tale("n1", "n2").lost(60).boots(200).ready(210)


def power(verdict: Verdict) -> Any:
    return next(r for r in verdict.rivals if r.cause == "power-loss")


AC_LOST: list[Any] = [
    {"event": "ac-lost"},
    {"MessageId": "OpenBMC.0.1.DCPowerOnAfterACLost"},
]
WATCHDOG: list[Any] = [
    {"event": "watchdog"},
    {
        "RestartCause": "xyz.openbmc_project.State.Host.RestartCause"
        ".WatchdogTimer"
    },
]


@pytest.mark.parametrize("data", AC_LOST)
def test_a_machines_record_of_lost_power_decides(data: Any) -> None:
    verdict = claims(abrupt(), 300, "machine.power", data, occurred=40)
    found = verdict.verdict()
    assert (found.cause, found.mode) == ("power-loss", "abrupt")
    assert found.confidence == "proven"
    assert "bmc" not in {one.evidence for one in found.missing}
    assert {e.source for e in found.evidence} >= {"cloudevents"}


@pytest.mark.parametrize("data", WATCHDOG)
def test_a_watchdog_reset_is_a_kernel_that_no_longer_answered(
    data: Any,
) -> None:
    tale = claims(abrupt(), 90, "machine.power", data, occurred=80)
    found = tale.verdict()
    assert (found.cause, found.mode) == ("hung-kernel", "abrupt")
    assert power(found).excluded
    # A kernel that panics and stays there is reset by it too.
    assert found.confidence == "likely"


def test_a_reset_by_a_person_is_a_decision_of_that_person() -> None:
    data = {"event": "reset", "by": "ada"}
    tale = claims(Tale("n1", "n2"), 50, "machine.power", data, occurred=50)
    found = tale.lost(60).boots(200).ready(210).verdict()
    assert found.mode == "planned"
    assert decision(found) is Decision.ADMIN_REQUEST
    assert actor(found) == ("user", "ada")


def test_a_reset_without_a_login_is_by_an_actor_that_is_not_known() -> None:
    cause = "xyz.openbmc_project.State.Host.RestartCause"
    data = {"RestartCause": f"{cause}.ChassisCommandPowerReset"}
    tale = claims(abrupt(), 250, "machine.power", data, occurred=55)
    found = tale.verdict()
    assert decision(found) is Decision.ADMIN_REQUEST
    assert actor(found) is None
    assert found.confidence == "likely"


def test_without_the_source_the_cause_is_not_recorded() -> None:
    found = abrupt().verdict()
    assert (found.cause, found.confidence) == ("unrecorded", "unknown")
    assert not power(found).excluded
    assert "bmc" in {one.evidence for one in found.missing}


def test_power_that_was_lost_an_hour_before_explains_nothing() -> None:
    tale = claims(Tale("n1", "n2"), 10, "machine.power", {"event": "ac-lost"})
    found = tale.lost(3700).boots(3800).ready(3810).verdicts()[-1]
    assert found.happened == "reboot"
    assert found.confidence != "proven"


def test_a_machine_that_stays_in_the_same_boot_did_not_lose_power() -> None:
    tale = claims(Tale("n1", "n2"), 50, "machine.power", {"event": "ac-lost"})
    found = tale.lost(60).ready(80).verdict()
    assert found.happened == "unreachable"
    assert found.confidence != "proven"


def test_a_monitors_word_alone_is_not_proven() -> None:
    tale = claims(
        Tale("n1", "n2"),
        30,
        "machine.health",
        {"componentClass": "GPU", "isFatal": True, "isHealthy": False},
    )
    found = tale.lost(60).boots(200).ready(210).verdict()
    assert fault(found) is Fault.GPU
    assert found.confidence == "likely"


def test_a_link_that_is_down_degrades_its_node_until_it_is_up() -> None:
    tale = claims(
        Tale("n1", "n2"), 30, "link.state", {"state": "down", "port": "p1"}
    )
    claims(tale, 90, "link.state", {"state": "up", "port": "p1"})
    found = tale.verdict()
    assert found.happened == "degraded"
    assert fault(found) is Fault.LINK
    assert found.confidence == "likely"


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("note", {"text": "PDU B3 tripped"}),
        ("machine.boot", {"stage": "kernel"}),
        ("alert", {"status": "firing", "labels": {"alertname": "Hot"}}),
        ("site.unknown", {"event": "ac-lost"}),
        ("link.state", {"state": "sideways"}),
        ("link.state", "down"),
        ("machine.power", None),
        ("machine.power", {"event": 7}),
    ],
)
def test_what_has_no_meaning_is_no_evidence(kind: str, data: Any) -> None:
    tale = claims(Tale("n1", "n2"), 50, kind, data)
    found = tale.lost(60).boots(200).ready(210).verdict()
    assert found.cause == "unrecorded"


SITE = """\
types:
  - type: alert
    holds: true
    each: [labels.alertname]
    time: {member: startsAt}
    claims:
      - when: {status: [firing], labels.alertname: [CoolantPressureLow]}
        role: fault
        fault: thermal-fault
"""


def with_rules(path: Path, text: str) -> Knowledge:
    file = path / "types.yaml"
    file.write_text(text)
    return load([file])


def test_a_sites_file_of_types_alone_changes_a_verdict(tmp_path: Path) -> None:
    data = {"status": "firing", "labels": {"alertname": "CoolantPressureLow"}}
    tale = claims(Tale("n1", "n2"), 50, "alert", data)
    tale.lost(60).boots(200).ready(210)
    assert tale.verdict(knowledge=shipped()).cause == "unrecorded"
    found = tale.verdict(knowledge=with_rules(tmp_path, SITE))
    assert (found.cause, found.confidence) == ("thermal-fault", "likely")


def test_a_type_says_which_member_is_the_time_and_its_zone(
    tmp_path: Path,
) -> None:
    text = SITE.replace("{member: startsAt}", "{member: at, zone: Asia/Tokyo}")
    data = {
        "status": "firing",
        "labels": {"alertname": "CoolantPressureLow"},
        "at": "2026-11-21 12:00:50",
    }
    tale = claims(Tale("n1", "n2"), 58, "alert", data)
    tale.lost(60).boots(200).ready(210)
    found = tale.verdict(knowledge=with_rules(tmp_path, text))
    assert found.fault is not None
    assert found.fault.at == at(50)


def asks_for_a_certificate(tale: Tale, seconds: float) -> Tale:
    kind = "CertificateSigningRequest"
    thing = ObjectIdentity("certificates.k8s.io", kind, "", "csr-1", "uid-c")
    return tale.add(seconds, FactKind.APPEARED, {"created": True}, about=thing)


def test_a_node_that_is_not_back_has_the_last_stage_that_it_reached() -> None:
    tale = Tale("n1", "n2").lost(60)
    claims(tale, 120, "machine.boot", {"stage": "image"})
    claims(tale, 150, "machine.boot", {"stage": "kernel"})
    found = tale.verdict()
    assert found.last_stage
    assert (found.last_stage.stage, found.last_stage.at) == ("kernel", at(150))
    assert "last stage: kernel" in found.sentence
    later = asks_for_a_certificate(tale, 180).verdict()
    assert later.last_stage
    assert later.last_stage.stage == "certificate-requested"


def test_a_stage_of_a_site_that_holds_is_a_stage(tmp_path: Path) -> None:
    text = "types:\n  - {type: site.start, holds: true, stage: step}\n"
    tale = claims(
        Tale("n1", "n2").lost(60), 90, "site.start", {"step": "disk"}
    )
    found = tale.verdict(knowledge=with_rules(tmp_path, text))
    assert found.last_stage
    assert found.last_stage.stage == "disk"


def test_a_node_that_is_back_has_no_last_stage() -> None:
    tale = Tale("n1", "n2").lost(60)
    claims(tale, 120, "machine.boot", {"stage": "kernel"})
    asks_for_a_certificate(tale, 180)
    found = tale.boots(200).ready(210).verdict()
    assert not found.last_stage
    assert found.cause == "unrecorded"


def test_a_stage_from_before_the_loss_is_not_what_was_reached() -> None:
    tale = claims(Tale("n1", "n2"), 50, "machine.boot", {"stage": "ready"})
    assert not tale.lost(60).verdict().last_stage


def test_what_has_an_unknown_type_is_shown_as_unknown() -> None:
    tale = claims(Tale("n1", "n2"), 50, "cooling.alarm", {"loop": "B"})
    found = tale.lost(60).boots(200).ready(210).verdict()
    (said,) = (r for r in found.rivals if r.cause == "other-fault")
    assert said.because == (
        "cooling.alarm about node/n1 from bmc: loop=B (1/3): reported,"
        " meaning not known"
    )


@pytest.mark.parametrize("number", sampled("claims", range(40), 10))
def test_any_data_of_any_type_has_signals_or_none(number: int) -> None:
    """And what a fact keeps of it is bounded, and the same each time."""
    chance = random.Random(number)
    for _ in range(100):
        event = {
            "type": chance.choice([*TYPES, "no.such"]),
            "source": "s",
            "subject": chance.choice(["node/n1", "pdu/b3", "n1", "node/", ""]),
            "data": anything(chance, 5),
        }
        raw = json.dumps(event).encode()
        draft = Draft(
            source="cloudevents",
            resource="cloudevents.io/v1/cloudevents",
            operation=Operation.CLOUDEVENT,
            identity=None,
            observed_at=at(60),
            raw=raw,
        )
        (fact,) = derive(draft, None).facts
        assert derive(draft, None).facts == [fact]
        assert len(written(fact).detail) <= 2 * len(raw) + 100
        stored = StoredFact(
            entry=EntryName(1, 1), index=0, observed_at=at(60), fact=fact
        )
        assert says(fact)
        for sign in signals_of(stored, shipped(), node="n1"):
            assert sign.stored.at <= at(60)
            assert sign.fault or sign.decision or sign.role == "recovery"


MEMBERS = (
    "event", "MessageId", "RestartCause", "state", "stage", "isFatal",
    "componentClass", "result", "status", "labels", "node", "by", "time",
)  # fmt: skip
WORDS: tuple[Any, ...] = (
    "ac-lost", "watchdog", "down", "up", "kernel", "GPU", "failed", "firing",
    "", "x" * 5000, "\x00", True, None, 7, 2**70, -1.5,
)  # fmt: skip
TYPES = sorted(
    kind.type for file in shipped_files().values() for kind in file.types
)


def anything(chance: random.Random, depth: int) -> Any:
    match chance.randrange(4) if depth else 3:
        case 0:
            size = chance.choice([0, 1, 3, 400])
            return [anything(chance, 0) for _ in range(size)]
        case 1 | 2:
            names = chance.sample(MEMBERS, chance.randrange(len(MEMBERS)))
            return {name: anything(chance, depth - 1) for name in names}
        case _:
            return chance.choice(WORDS)


def test_the_schemas_of_the_shipped_types_are_schemas() -> None:
    for name, file in shipped_files().items():
        for kind in file.types:
            assert wrong_schema(kind.data) is None, name


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (SITE.replace("holds: true", "data: {type: car}"), 3, "JSON Schema"),
        (SITE.replace("startsAt", "a, zone: Mars/Base"), 5, "Mars/Base"),
        (SITE.replace("holds: true", "about: [moon]"), 3, "moon"),
        (SITE.replace("fault: thermal-fault", "vague: true"), 7, "class"),
    ],
)
def test_a_file_with_a_type_of_no_use_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, why: str
) -> None:
    with pytest.raises(KnowledgeError, match=f"line {line}: .*{why}"):
        with_rules(tmp_path, text)
