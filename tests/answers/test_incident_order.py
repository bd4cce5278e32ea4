"""A list of incidents is in the order of the time that it shows."""

from types import SimpleNamespace
from typing import cast

from recorder.answers.incidents import Incident
from recorder.explain.verdict import Verdict
from recorder.model.outcomes import Cause, Confidence, Happened
from recorder.model.reference import EntryName
from tests.support.builders import at


def an_incident(position: int, *, began: float, effect: float) -> Incident:
    stored = SimpleNamespace(at=at(effect), entry=EntryName(1, position))
    verdict = SimpleNamespace(
        id=str(stored.entry),
        node="gpu-002",
        happened=Happened.REBOOT,
        cause=Cause.UNRECORDED,
        confidence=Confidence.UNKNOWN,
        sentence="gpu-002 rebooted.",
        duration=None,
        over_at=None,
        began_at=at(began),
        effect=SimpleNamespace(stored=stored),
    )
    return Incident.of([cast("Verdict", verdict)], [])


def test_what_began_first_comes_first_though_it_took_effect_later() -> None:
    slow = an_incident(236, began=51, effect=90)
    fast = an_incident(136, began=53, effect=60)

    listed = sorted([fast, slow], key=lambda one: one.place)

    assert [one.since for one in listed] == [at(51), at(53)]
    assert listed == [slow, fast]


def test_what_began_at_once_is_in_the_order_of_the_log() -> None:
    later = an_incident(132, began=44, effect=44)
    earlier = an_incident(51, began=44, effect=50)

    listed = sorted([later, earlier], key=lambda one: one.place)

    assert listed == [earlier, later]
