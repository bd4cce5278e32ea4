"""One sentence for each verdict, as a person would say it."""

from datetime import datetime, timedelta
from textwrap import shorten

from recorder.explain.happened import Happened
from recorder.explain.signals.signal import Signal
from recorder.explain.verdict import Faulted, Verdict
from recorder.facts import says
from recorder.knowledge import Decision, Fault
from recorder.model.fact import FactKind

__all__ = ["lasted", "sentence"]

VERBS = {
    Happened.REPLACED: "was replaced by another machine",
    Happened.REJOINED: "was deleted and joined again",
    Happened.REMOVED: "was removed",
    Happened.REBOOT: "rebooted",
    Happened.UNREACHABLE: "was unreachable",
    Happened.KUBELET_RESTART: "had its kubelet restarted",
    Happened.DRAINED: "was drained",
    Happened.CORDONED: "was cordoned",
    Happened.DEGRADED: "was degraded",
    Happened.JOINED: "joined",
}
WORDS = {
    Decision.ADMIN_REQUEST: "asked for it",
    Decision.AUTO_REMEDIATION: "took it out of service",
    Decision.OS_UPGRADE: "upgraded its system",
    Decision.DRIVER_UPGRADE: "upgraded its GPU driver",
    Decision.HOST_MAINTENANCE: "announced maintenance of its host",
    Decision.SCALE_DOWN: "scaled the cluster down",
    Decision.PREEMPTION: "took the machine back",
    Decision.MANUAL_DRAIN: "cordoned it",
    Decision.NODE_DELETION: "deleted the Node",
}
DONE = {
    Happened.REBOOT: "rebooted it",
    Happened.DRAINED: "drained it",
    Happened.CORDONED: "cordoned it",
    Happened.REPLACED: "replaced it",
}
"""What a remediation did, where that is what happened."""

BECAUSE = {
    "proven": " because",
    "likely": ", most likely because",
    "possible": ", perhaps because",
    "unknown": ", perhaps because",
}
CONCLUDED = {
    Fault.PARTITION: "its network was cut, or it hung and went on",
    Fault.CONTROL_PLANE: "the control plane was out: all nodes were lost"
    " at once",
    Fault.POWER_LOSS: "power was lost: its neighbours went with it",
    Fault.KUBELET: "its kubelet stopped or was restarted",
}

SAID_MAX = 60
"""Characters of what somebody said, in a sentence; the evidence has more."""


def sentence(verdict: Verdict) -> str:
    """Say what happened, when, for how long and why."""
    at = verdict.effect.stored.at
    text = f"{verdict.node} {VERBS[verdict.happened]} at {_clock(at)}"
    text += _down(verdict)
    return f"{text}{_why(verdict)}."


def _down(verdict: Verdict) -> str:
    if verdict.happened in {Happened.DEGRADED, Happened.JOINED}:
        return ""
    back = verdict.back_in_service_at
    if back is None:
        return " (not back in service)"
    lost = min(verdict.lost_at, verdict.effect.stored.at)
    gone = max(timedelta(0), back - lost)
    return f" (down {lasted(gone)})" if gone >= timedelta(seconds=1) else ""


def _why(verdict: Verdict) -> str:
    fault, decided = verdict.fault, verdict.decision
    of, broke = "", ""
    if fault is not None:
        concluded = CONCLUDED.get(fault.fault)
        of, broke = (
            ("", concluded)
            if concluded and not _is_said(verdict)
            else _broke(verdict, fault)
        )
    if decided is not None:
        who = _who(verdict)
        because = BECAUSE[decided.confidence]
        text = f"{because} {who} {_did(verdict, decided.decision)}"
        return f"{text} after {broke}" if broke else text
    if verdict.happened == Happened.JOINED:
        return ""
    if broke and broke == CONCLUDED[Fault.KUBELET]:
        return "; what stopped it is not on record"
    if broke:
        return f"{BECAUSE[verdict.confidence]} {of}{broke}"
    if verdict.mode == "planned":
        return " after an orderly shutdown; who asked for it is not on record"
    return f"{_by(verdict)}; why is not on record"


def _broke(verdict: Verdict, fault: Faulted) -> tuple[str, str]:
    """Say what broke, and when, if that is not when it happened."""
    of, words = _in_short(fault.sign)
    when, at = fault.sign.stored.at, verdict.effect.stored.at
    if _clock(when) == _clock(at) and when.date() == at.date():
        return of, words
    return of, f"{words} at {_clock(when, at)}"


def _in_short(sign: Signal) -> tuple[str, str]:
    """Say what a sign shows without what it says at length.

    Returns ``of`` too, where the words are a name and no clause.
    """
    fact = sign.stored.fact
    detail = fact.detail
    match fact.kind:
        case FactKind.CONDITION_CHANGED if detail["new"] is not None:
            new = detail["new"]
            is_true = new["status"] == "True"
            name = "" if is_true else f"={new['status']}"
            return "of ", _named(f"{detail['type']}{name}", new.get("reason"))
        case FactKind.EVENT if detail.get("reason"):
            return "of ", _named(detail["reason"], detail.get("message"))
        case FactKind.RESOURCE_CHANGED:
            old, new = detail["old"] or "none", detail["new"] or "none"
            resource = f"{detail['list']} {detail['resource']}"
            return "", f"{resource} went from {old} to {new}"
        case FactKind.CONTAINER_ENDED if fact.object is not None:
            thing = fact.object
            of_pod = f" of pod/{thing.namespace}/{thing.name} ended"
            return "", says(fact).replace(" ended", of_pod, 1)
        case _:
            return "of ", shorten(sign.says, SAID_MAX, placeholder="...")


def _named(name: str, more: str | None) -> str:
    said = shorten(more or "", SAID_MAX, placeholder="...")
    return f"{name} ({said})" if said else name


def _by(verdict: Verdict) -> str:
    """Name who cordoned, where that is all that is known."""
    if verdict.happened not in {Happened.CORDONED, Happened.DRAINED}:
        return ""
    actor = verdict.effect.actor
    return f" by {actor.name}" if actor is not None and actor.name else ""


def _is_said(verdict: Verdict) -> bool:
    """Return whether somebody recorded the fault itself."""
    assert verdict.fault is not None, "asked only then"
    return verdict.fault.sign is not verdict.effect


def _did(verdict: Verdict, decision: Decision) -> str:
    if decision is Decision.AUTO_REMEDIATION:
        return DONE.get(verdict.happened, WORDS[decision])
    return WORDS[decision]


def _who(verdict: Verdict) -> str:
    assert verdict.decision is not None, "asked only then"
    actor = verdict.decision.actor
    if actor is None or actor.name is None:
        tool = actor.tool if actor is not None else None
        who = "a program" if actor and actor.is_program else "somebody"
        return f"{who} with {tool}" if tool else who
    return actor.name


def _clock(at: datetime, near: datetime | None = None) -> str:
    """Write a time, with its day where that is not the day of the effect."""
    other = near is not None and near.date() != at.date()
    return at.strftime("%Y-%m-%d %H:%M:%S" if other else "%H:%M:%S")


def lasted(duration: timedelta) -> str:
    """Write a duration, as ``6 min 12 s``."""
    seconds = round(duration.total_seconds())
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    parts = []
    if hours:
        parts.append(f"{hours} h")
    if minutes:
        parts.append(f"{minutes} min")
    if seconds and not hours:
        parts.append(f"{seconds} s")
    return " ".join(parts) or "0 s"
