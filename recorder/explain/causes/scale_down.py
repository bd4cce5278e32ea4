"""An autoscaler took the node away because it was not needed."""

from dataclasses import replace

from recorder.explain.causes.asked import on_record
from recorder.explain.causes.case import Case
from recorder.explain.causes.cause import DecisionCause, Found
from recorder.knowledge import Decision

__all__ = ["CAUSE"]

_recorded = on_record(Decision.SCALE_DOWN)


def _find(case: Case) -> Found | None:
    found = _recorded(case)
    said = any(
        sign.decision is Decision.SCALE_DOWN
        and sign.subject.startswith("event ")
        for sign in case.decisions
    )
    if found is None or (case.faults and not said):
        # A broken node that only has the taint is repaired, not spared.
        return None
    if case.is_back and case.chain.state.ready == "True":
        # What is not needed any more does not come back.
        return replace(found, confidence="possible")
    return found


CAUSE = DecisionCause(
    decision=Decision.SCALE_DOWN,
    signature=(
        "a taint or an Event of an autoscaler, then evictions, then the Node"
        " goes"
    ),
    lookalikes=(
        "node-deletion: nobody announced it",
        "auto-remediation: a fault held, and no Event told of a scale-down",
    ),
    find=_find,
)
