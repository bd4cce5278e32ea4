"""Sentences for verdicts."""

from datetime import datetime, timedelta
from textwrap import shorten

from recorder.explain.causes import (
    DECISIONS,
    FAULTS,
    GONE,
    STAYED,
    STAYING,
    VERBS,
)
from recorder.explain.signals.actor import Actor
from recorder.explain.signals.signal import SHUT_DOWN, Signal, Topic
from recorder.explain.thresholds import LIMITS, rank
from recorder.explain.verdict import Decided, Duration, Faulted, Verdict
from recorder.facts import says
from recorder.facts.slurm import part_of
from recorder.model.facts import (
    ConditionChanged,
    ContainerEnded,
    Ended,
    EventOccurred,
    ResourceChanged,
)
from recorder.model.observation import NODES
from recorder.model.outcomes import (
    Confidence,
    Decision,
    DurationKind,
    Fault,
    Happened,
    Mode,
)

HOW_SURE = {
    Confidence.PROVEN: "",
    Confidence.LIKELY: "probably ",
    Confidence.POSSIBLE: "possibly ",
    Confidence.UNKNOWN: "possibly ",
}
STOPPED = FAULTS[Fault.KUBELET].concluded
UNKNOWN = "cause unknown: nothing recorded explains it"

ORDERLY = " after an orderly shutdown"
NOT_KNOWN_WHO = "; who requested it is not recorded"

SAID_MAX = 60
"""How many characters of a text a sentence quotes; evidence has more."""

HEAD = 24
"""How many of them are its first; the others are its last."""


def sentence(verdict: Verdict) -> str:
    """Return what happened, by whom, when, for how long and why."""
    decided, verb, by = verdict.decision, VERBS[verdict.happened], ""
    if decided is None:
        # Of a cordon, its author may be known alone.
        effect, reason = verdict.effect.actor, _reason(verdict)
        if verdict.happened in STAYING and effect and effect.name:
            by = f" by {effect.name}"
    else:
        reason = _decided(verdict, decided)
        if _is_subject(verdict, decided):
            name = _name(decided.carried_out_by or decided.actor)
            by = f" by {name}" if name else ""
            if verdict.happened is Happened.REBOOT:
                verb = "was rebooted"
            verb = _hedged(verb, _sure(verdict, decided.confidence))
    if verdict.effect.topic is Topic.BOOT:
        verb = verb.replace("deleted and ", "")  # its Node is kept
    first, also, rest = verb.partition(" and ")
    sign, then = verdict.effect, f"{also}{rest}"
    # A silent kubelet is started, and a deleted Node joins, later than that.
    silent = sign.topic is Topic.READY and sign.status == "Unknown"
    later = silent and verdict.happened is Happened.KUBELET_RESTART
    when = " after" if later else " at"
    when = _between(verdict) or f"{when} {_clock(sign.stored.at)}"
    said = f"{when}{then}" if sign.over else f"{then}{when}"
    said = f"{said}{_lasted(verdict)}{reason}{_silent_before(verdict)}"
    return f"{verdict.node} {first}{by}{said}."


def _between(verdict: Verdict) -> str:
    """Return between when it was, if only the list after a gap shows it."""
    stored = verdict.effect.stored
    if stored.fact.occurred_at is not None or not any(
        hole.until is not None
        and hole.resource in {None, NODES}
        and hole.begin < stored.at <= hole.until + LIMITS.astray
        for hole in verdict.hiding
    ):
        return ""
    first, last = verdict.between
    until = _clock(last, first)
    return f" between {_clock(first)} and {until}" if first else f" by {until}"


def _silent_before(verdict: Verdict) -> str:
    """Return since when a node was lost that was deleted much later."""
    at = verdict.effect.stored.at
    turns = [e.sign for e in verdict.evidence if e.sign.topic is Topic.READY]
    lost = [s for s in turns if s.stored.at < at - LIMITS.unheard][-1:]
    if (
        verdict.happened not in GONE
        or verdict.fault is not None
        or not any(s.status == "Unknown" for s in lost)
    ):
        return ""
    return f"; contact with it was lost at {_clock(lost[0].stored.at, at)}"


def _lasted(verdict: Verdict) -> str:
    duration, stage = verdict.duration, verdict.last_stage
    down = duration is not None and duration.kind is DurationKind.DOWN
    if verdict.happened in STAYED:
        long = duration if duration and duration.seconds >= 1 else None
        return f" for {lasts(long)}" if long else ""
    if verdict.back_in_service_at is None:
        was = f"down {lasts(duration)}, " if duration and down else ""
        reached = f", last stage: {stage.stage}" if stage else ""
        return f" ({was}not back in service{reached})"
    return f" ({duration.kind} {lasts(duration)})" if duration else ""


def _is_subject(verdict: Verdict, decided: Decided) -> bool:
    """Whether the decision took the node away, not one of its effects."""
    return not (
        DECISIONS[decided.decision].announced
        or _follows(verdict, decided)
        # An orderly shutdown shows that it was decided, not by whom.
        or decided.sign.topic is Topic.SHUTDOWN
    )


def _sure(verdict: Verdict, part: Confidence) -> str:
    """Return the adverb of a part, no surer than what a gap made of it all."""
    parts = [p.confidence for p in (verdict.fault, verdict.decision) if p]
    lowered = rank(verdict.confidence) < min(map(rank, parts))
    return HOW_SURE[verdict.confidence if lowered else part]


def _hedged(verb: str, sure: str) -> str:
    """Return a verb with its adverb of confidence: was *probably* rebooted."""
    first, was, rest = verb.partition("was ")
    return f"{first}{was}{sure}{rest}" if was else f"{sure}{verb}"


def _follows(verdict: Verdict, decided: Decided) -> bool:
    """Whether a drain preceded the loss of the machine."""
    drained = decided.decision is Decision.MANUAL_DRAIN
    return drained and verdict.happened not in STAYING


def _decided(verdict: Verdict, decided: Decided) -> str:
    """Return the purpose or the reason, and the author."""
    fault, who = verdict.fault, _name(decided.actor)
    text = _purpose(verdict, decided)
    if decided.carried_out_by and who and not _follows(verdict, decided):
        text += f", ordered by {who}"
    if fault is not None and (broke := _broke(verdict, fault)) != STOPPED:
        text += _because(broke, _sure(verdict, fault.confidence))
    return text if who else f"{text}{NOT_KNOWN_WHO}"


def _because(broke: str, sure: str) -> str:
    return f"{',' if sure else ''} {sure}because {broke}"


def _purpose(verdict: Verdict, decided: Decided) -> str:
    purpose, who = DECISIONS[decided.decision].purpose, _name(decided.actor)
    sure = _sure(verdict, decided.confidence)
    if _follows(verdict, decided):
        only = {step.topic for step in decided.steps} == {Topic.CORDON}
        did = "cordoned" if only else "drained"
        after = f"{who} {did} it" if who else f"it was {did}"
        return f", {sure}after {after}"
    if decided.sign.topic is Topic.SHUTDOWN:
        return f"{ORDERLY}{_versions(verdict)}, {sure}{purpose}"
    if DECISIONS[decided.decision].announced:
        asked = decided.carried_out_by is not None or not who
        by = "" if asked else f", announced by {who}"
        return f" {sure}{purpose}{by}"
    answers = decided.decision is Decision.AUTO_REMEDIATION
    return f" {purpose}" if purpose and not (answers and verdict.fault) else ""


def _reason(verdict: Verdict) -> str:
    """Return the reason, if there is no decision."""
    fault = verdict.fault
    if verdict.happened == Happened.JOINED:
        return ""
    if fault is not None:
        broke = _broke(verdict, fault)
        if broke == STOPPED:
            return "; what stopped it is unknown"
        return _because(broke, HOW_SURE[verdict.confidence])
    anew = _versions(verdict)
    stopped = any(e.sign.subject == SHUT_DOWN for e in verdict.evidence)
    if stopped or verdict.mode is Mode.PLANNED:
        how = "; its cloud reported it as stopped" if stopped else ORDERLY
        return f"{how}{anew}{NOT_KNOWN_WHO}"
    if anew:
        return f"{anew}: perhaps for an update; no request is recorded"
    return f"; {UNKNOWN}"


def _versions(verdict: Verdict) -> str:
    said = [e.says for e in verdict.evidence if e.sign.topic is Topic.VERSION]
    return f", with {' and '.join(said)}" if said else ""


def _broke(verdict: Verdict, fault: Faulted) -> str:
    """Return what broke, and when, if that differs from the effect."""
    concluded = FAULTS[fault.fault].concluded
    when, at = fault.sign.stored.at, verdict.effect.stored.at
    recorded = verdict.happened in STAYED or fault.sign is not verdict.effect
    if concluded and not recorded:
        return f"of {concluded}" if concluded.startswith("a ") else concluded
    if fault.sign.topic is Topic.READY and fault.fault is Fault.PARTITION:
        return f"contact with it was lost at {_clock(when, at)}"
    words = _in_short(fault.sign)
    if _clock(when) == _clock(at) and when.date() == at.date():
        return words
    return f"{words} at {_clock(when, at)}"


def _in_short(sign: Signal) -> str:
    """Return what a signal shows, in short: a clause, or ``of`` a name."""
    fact = sign.stored.fact
    match fact.detail:
        case ConditionChanged(type=name, new=new) if new is not None:
            is_not = "" if new.status == "True" else f"={new.status}"
            # A kubelet has one reason for all, and says more.
            more = _ends(new.message) if sign.topic is Topic.READY else None
            where = "" if sign.place is None else f"{sign.place}: "
            return _named(f"{where}{name}{is_not}", more or new.reason)
        case EventOccurred(reason=reason, message=message) if reason:
            return _named(reason, message)
        case ResourceChanged() as detail:
            was, now = detail.old or "none", detail.new or "none"
            return f"{detail.list} {detail.resource} went from {was} to {now}"
        case Ended(reason=reason, message=message) if reason:
            return _named(reason, _ends(message))
        case ContainerEnded() if fact.object is not None:
            thing = fact.object
            part = part_of(thing).lower()
            of_pod = f" of {part}/{thing.namespace}/{thing.name} ended"
            return says(fact).replace(" ended", of_pod, 1)
        case _:
            of = "" if sign.topic is Topic.CLIENT else "of "
            return of + shorten(sign.says, 2 * SAID_MAX, placeholder="...")


def _named(name: str, more: str | None) -> str:
    said = shorten(more or "", SAID_MAX, placeholder="...")
    return f"of {name} ({said})" if said else f"of {name}"


def _ends(message: str | None) -> str:
    """Shorten a long error: its end states the cause."""
    said = " ".join((message or "").split())
    if len(said) <= SAID_MAX:
        return said
    return f"{said[:HEAD].rstrip()}...{said[HEAD + 3 - SAID_MAX :].lstrip()}"


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
    minutes, seconds = divmod(round(duration.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (0 if hours else seconds, "s")]
    return " ".join(f"{n} {unit}" for n, unit in parts if n) or "0 s"
