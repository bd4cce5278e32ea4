"""What says that an object is over: data, by conditions and by phases.

Kinds of Kubernetes, Kubeflow and JobSet have a condition; others have a phase,
each in a field of its own. A kind that is not known is read by the same words.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from recorder.facts.classify.times import moment
from recorder.model.facts import (
    Appeared,
    ConditionChanged,
    Detail,
    FieldChanged,
)
from recorder.model.state import Condition

FAILS: Final = frozenset({"Failed", "FailureTarget"})
"""Conditions of what failed; its Pods may end after that."""

CRITERIA_MET: Final = "SuccessCriteriaMet"
"""Condition of a Job that will be Complete when its last Pod has ended."""

COMPLETES: Final = frozenset(
    {"Complete", "Completed", "Succeeded", CRITERIA_MET}
)
"""Conditions of what ended well."""

PHASES: Final[Mapping[tuple[str, str | None], str]] = {
    ("phase", None): "most kinds, as a Workflow",
    ("job_status", None): "RayJob",
    ("application_state", "state"): "SparkApplication",
    ("state", "phase"): "Job of Volcano",
    ("sync_status", None): "SriovNetworkNodeState",
    ("current_state", None): "BottlerocketShadow",
}
"""Where the status of a kind has its phase: a field, or a member of one, which
may state beside it since when."""

ENDS: Final[Mapping[str, bool]] = {
    "failed": False,
    "failure": False,
    "error": False,
    "errored": False,
    "crashed": False,
    "killed": False,
    "canceled": False,
    "cancelled": False,
    "aborted": False,
    "terminated": False,
    "stopped": False,
    "submission_failed": False,
    "succeeded": True,
    "success": True,
    "completed": True,
    "finished": True,
    "done": True,
}
"""Phases of what is over, in lower case, and whether it ended well."""


def ends_phase(phase: object) -> bool | None:
    """Return whether a phase is that of a good end; None if of no end."""
    return ENDS.get(str(phase).lower())


def ending_conditions(detail: Detail) -> Mapping[str, Condition]:
    """Return the conditions by which a fact shows an object over, by type."""
    match detail:
        case ConditionChanged(type=name, new=Condition() as new):
            shown: Mapping[str, Condition] = {name: new}
        case Appeared(state=state):
            shown = state.conditions
        case _:
            return {}
    return {
        name: condition
        for name, condition in shown.items()
        if name in COMPLETES | FAILS and condition.status == "True"
    }


def says_over(kind: str, detail: Detail) -> bool | None:
    """Return whether a fact says that an object ended well; None if not.

    Of a Pod, its own facts say it.
    """
    decided = ending_conditions(detail)
    if decided:
        return decided.keys().isdisjoint(FAILS)
    match detail:
        case FieldChanged(field="phase", new=str(phase)):
            return None if kind == "Pod" else ends_phase(phase)
        case Appeared(state=state) if kind != "Pod":
            return ends_phase(state.fields.get("phase"))
        case _:
            return None


def ended_before(detail: Detail) -> datetime | None:
    """Return when an object had ended that a list showed over, as it states.

    By the clocks of its controller and of its node. None if it states no
    time: it ended at the latest when it was listed.
    """
    if not isinstance(detail, Appeared) or detail.created:
        return None
    state = detail.state
    decided = [
        at
        for condition in ending_conditions(detail).values()
        if (at := moment(condition.since)) is not None
    ]
    stopped = [
        at
        for end in state.ends.values()
        if (at := moment(end.finished_at)) is not None
    ]
    return (
        moment(state.fields.get("completion_time"))
        or min(decided, default=None)
        or max(stopped, default=None)
    )
