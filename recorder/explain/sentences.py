"""Sentences for verdicts."""

from datetime import datetime, timedelta
from textwrap import shorten

from recorder.explain.causes import DECISIONS, FAULTS, STAYED, STAYING
from recorder.explain.signals import Actor, Signal, Topic
from recorder.explain.thresholds import rank
from recorder.explain.verdict import Decided, Duration, Faulted, Judged
from recorder.facts import says
from recorder.facts.slurm import part_of
from recorder.model.facts import (
    ConditionChanged,
    ContainerEnded,
    Ended,
    EventOccurred,
    ResourceChanged,
)
from recorder.model.outcomes import (
    Confidence,
    Decision,
    DurationKind,
    Fault,
    Happened,
    Mode,
)

__all__ = ["lasted", "lasts", "sentence"]

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

PASSIVE = {**VERBS, Happened.REBOOT: "was rebooted"}
"""The verbs if an author is known."""

HOW_SURE = {
    Confidence.PROVEN: "",
    Confidence.LIKELY: "probably ",
    Confidence.POSSIBLE: "possibly ",
    Confidence.UNKNOWN: "possibly ",
}
UNKNOWN = "cause unknown: nothing recorded explains it"

ORDERLY = " after an orderly shutdown"
NOT_KNOWN_WHO = "; who requested it is not recorded"

SAID_MAX = 60
"""How many characters of a text a sentence quotes; evidence has more."""

HEAD = 24
"""How many of them are its first; the others are its last."""


def sentence(verdict: Judged) -> str:
    """Return what happened, by whom, when, for how long and why."""
    decided = verdict.decision
    at = verdict.effect.stored.at
    by = decided is not None and _is_subject(verdict, decided)
    who = _by(verdict) if decided is None else _author(decided) if by else ""
    verb = (PASSIVE if who or by else VERBS)[verdict.happened]
    if by and decided is not None:
        verb = _hedged(verb, _sure(verdict, decided.confidence))
    first, also, rest = verb.partition(" and ")
    did = f"{first}{who}{also}{rest}" if also else f"{verb}{who}"
    text = f"{verdict.node} {did} at {_clock(at)}{_lasted(verdict)}"
    reason = _reason(verdict) if decided is None else _decided(verdict)
    unknown = decided is not None and _name(decided.actor) is None
    return f"{text}{reason}{NOT_KNOWN_WHO if unknown else ''}."


def _lasted(verdict: Judged) -> str:
    if verdict.happened in STAYED:
        return ""
    duration = verdict.duration
    down = duration is not None and duration.kind is DurationKind.DOWN
    if verdict.back_in_service_at is None and not down:
        stage = verdict.last_stage
        reached = f", last stage: {stage.stage}" if stage else ""
        return f" (not back in service{reached})"
    if duration is None:
        return ""
    return f" ({duration.kind} {lasts(duration)})"


def _is_subject(verdict: Judged, decided: Decided) -> bool:
    """Whether the decision took the node away, not one of its effects."""
    return not (
        DECISIONS[decided.decision].announced
        or _follows(verdict)
        # An orderly shutdown shows that it was decided, not by whom.
        or decided.sign.topic is Topic.SHUTDOWN
    )


def _author(decided: Decided) -> str:
    name = _name(decided.carried_out_by or decided.actor)
    return f" by {name}" if name else ""


def _sure(verdict: Judged, part: Confidence) -> str:
    """Return the adverb of a part, no surer than what a gap made of it all."""
    parts = [p.confidence for p in (verdict.fault, verdict.decision) if p]
    lowered = rank(verdict.confidence) < min(map(rank, parts))
    return HOW_SURE[verdict.confidence if lowered else part]


def _hedged(verb: str, sure: str) -> str:
    """Return a verb with its adverb of confidence: was *probably* rebooted."""
    first, was, rest = verb.partition("was ")
    return f"{first}{was}{sure}{rest}" if was else f"{sure}{verb}"


def _follows(verdict: Judged) -> bool:
    """Whether a drain preceded the loss of the machine."""
    decided = verdict.decision
    return (
        decided is not None
        and decided.decision is Decision.MANUAL_DRAIN
        and verdict.happened not in STAYING
    )


def _decided(verdict: Judged) -> str:
    """Return the purpose or the reason, and the author."""
    decided, fault = verdict.decision, verdict.fault
    assert decided is not None, "asked only then"
    text, who = _purpose(verdict, decided), _name(decided.actor)
    if decided.carried_out_by is not None and who and not _follows(verdict):
        text += f", ordered by {who}"
    if fault is None:
        return text
    of, broke = _of(verdict, fault)
    if broke == FAULTS[Fault.KUBELET].concluded:
        return text
    sure = _sure(verdict, fault.confidence)
    comma = "," if sure else ""
    return f"{text}{comma} {sure}because {of}{broke}"


def _purpose(verdict: Judged, decided: Decided) -> str:
    purpose, who = DECISIONS[decided.decision].purpose, _name(decided.actor)
    sure = _sure(verdict, decided.confidence)
    if _follows(verdict):
        drained = f"{who} drained it" if who else "it was drained"
        return f", {sure}after {drained}"
    if decided.sign.topic is Topic.SHUTDOWN:
        return f"{ORDERLY}{_versions(verdict)}, {sure}{purpose}"
    if DECISIONS[decided.decision].announced:
        asked = decided.carried_out_by is not None or not who
        by = "" if asked else f", announced by {who}"
        return f" {sure}{purpose}{by}"
    answers = decided.decision is Decision.AUTO_REMEDIATION
    return f" {purpose}" if purpose and not (answers and verdict.fault) else ""


def _reason(verdict: Judged) -> str:
    """Return the reason, if there is no decision."""
    fault = verdict.fault
    if verdict.happened == Happened.JOINED:
        return ""
    if fault is not None:
        of, broke = _of(verdict, fault)
        if broke == FAULTS[Fault.KUBELET].concluded:
            return "; what stopped it is unknown"
        sure = HOW_SURE[verdict.confidence]
        comma = "," if sure else ""
        return f"{comma} {sure}because {of}{broke}"
    anew = _versions(verdict)
    if verdict.mode is Mode.PLANNED:
        return f"{ORDERLY}{anew}{NOT_KNOWN_WHO}"
    if anew:
        return f"{anew}: perhaps for an update; no request is recorded"
    return f"; {UNKNOWN}"


def _versions(verdict: Judged) -> str:
    """Return the versions that changed while a machine was away."""
    said = [e.says for e in verdict.evidence if e.sign.topic is Topic.VERSION]
    return f", with {' and '.join(said)}" if said else ""


def _of(verdict: Judged, fault: Faulted) -> tuple[str, str]:
    concluded = FAULTS[fault.fault].concluded
    if concluded and not _is_said(verdict):
        return ("of " if concluded.startswith("a ") else ""), concluded
    if fault.sign.topic is Topic.READY and fault.fault is Fault.PARTITION:
        at = _clock(fault.sign.stored.at, verdict.effect.stored.at)
        return "", f"contact with it was lost at {at}"
    return _broke(verdict, fault)


def _broke(verdict: Judged, fault: Faulted) -> tuple[str, str]:
    """Return what broke, and when, if that differs from the effect."""
    of, words = _in_short(fault.sign)
    when, at = fault.sign.stored.at, verdict.effect.stored.at
    if _clock(when) == _clock(at) and when.date() == at.date():
        return of, words
    return of, f"{words} at {_clock(when, at)}"


def _in_short(sign: Signal) -> tuple[str, str]:
    """Return what a signal shows, in short.

    Also returns ``of`` if the words are a name and not a clause.
    """
    fact = sign.stored.fact
    match fact.detail:
        case ConditionChanged(type=name, new=new) if new is not None:
            is_not = "" if new.status == "True" else f"={new.status}"
            # A kubelet has one reason for all, and says more.
            more = _ends(new.message) if sign.topic is Topic.READY else None
            where = "" if sign.place is None else f"{sign.place}: "
            broke = f"{where}{name}{is_not}"
            return "of ", _named(broke, more or new.reason)
        case EventOccurred(reason=reason, message=message) if reason:
            return "of ", _named(reason, message)
        case ResourceChanged() as detail:
            was, now = detail.old or "none", detail.new or "none"
            resource = f"{detail.list} {detail.resource}"
            return "", f"{resource} went from {was} to {now}"
        case Ended(reason=reason, message=message) if reason:
            return "of ", _named(reason, _ends(message))
        case ContainerEnded() if fact.object is not None:
            thing = fact.object
            part = part_of(thing).lower()
            of_pod = f" of {part}/{thing.namespace}/{thing.name} ended"
            return "", says(fact).replace(" ended", of_pod, 1)
        case _:
            of = "" if sign.topic is Topic.CLIENT else "of "
            return of, shorten(sign.says, 2 * SAID_MAX, placeholder="...")


def _named(name: str, more: str | None) -> str:
    said = shorten(more or "", SAID_MAX, placeholder="...")
    return f"{name} ({said})" if said else name


def _ends(message: str | None) -> str:
    """Shorten a long error: its end states the cause."""
    said = " ".join((message or "").split())
    if len(said) <= SAID_MAX:
        return said
    return f"{said[:HEAD].rstrip()}...{said[HEAD + 3 - SAID_MAX :].lstrip()}"


def _by(verdict: Judged) -> str:
    """Return the author of a cordon, if only that is known."""
    if verdict.happened not in STAYING:
        return ""
    actor = verdict.effect.actor
    return f" by {actor.name}" if actor is not None and actor.name else ""


def _is_said(verdict: Judged) -> bool:
    """Whether the fault itself was recorded."""
    assert verdict.fault is not None, "asked only then"
    return verdict.fault.sign is not verdict.effect


def _name(actor: Actor) -> str | None:
    """Return an author, or the tool if only that is recorded."""
    if actor.name is not None:
        # Who asked through another account, by which it was carried out.
        through = f" through {actor.tool}" if actor.tool else ""
        return f"{actor.name}{through}"
    if actor.is_program:
        return "a program that did not give its name"
    named = actor.tool and actor.tool != "unknown"
    return f"someone using {actor.tool}" if named else None


def _clock(at: datetime, near: datetime | None = None) -> str:
    """Format a time, with its date if it differs from that of the effect."""
    other = near is not None and near.date() != at.date()
    return at.strftime("%Y-%m-%d %H:%M:%S" if other else "%H:%M:%S")


def lasts(duration: Duration) -> str:
    """Format a duration with its bound, such as ``11 s at most``."""
    bound = " at most" if duration.at_most else ""
    return f"{lasted(duration.length)}{bound}"


def lasted(duration: timedelta) -> str:
    """Format a duration, such as ``6 min 12 s``."""
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
