"""Sentences for endings."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from textwrap import shorten
from typing import Final

import msgspec

from recorder.explain.ending import Ending, FailedContainer, Preemptor
from recorder.explain.pod_end import (
    BY_ITSELF,
    BY_KUBELET,
    in_order,
    is_refusal,
)
from recorder.explain.signals.actor import Actor
from recorder.explain.signals.around import is_listed
from recorder.explain.verdict import Verdict
from recorder.facts.over import ending_conditions
from recorder.facts.projections import EVICTED, Workload
from recorder.facts.slurm import BY_REQUEUE, NODE_LOST, SLURM_JOB
from recorder.model.facts import Appeared, ConditionChanged, Ended
from recorder.model.outcomes import ActorKind, EndedBy, Outcome, WorkloadState
from recorder.model.rules_files import shipped_rows

CAUSE: Final = " desc = "
"""What gRPC writes before the message of an error."""

ENDED: Final = "its end"
"""In place of a condition: the end of a Pod, with a reason."""

SAID_MAX: Final = 120
"""How many characters of a message a sentence quotes."""

NODES_SHOWN: Final = 10
"""Nodes named in a sentence; a gang may have hundreds."""


class _Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    hit: dict[EndedBy, str]
    itself: dict[EndedBy, str]
    of_pods: dict[EndedBy, str]
    became: dict[Outcome, str]
    state: dict[WorkloadState, str]


_WORDS: Final = shipped_rows("recorder.explain", "endings.yaml", _Words)

ITS_OWN: Final = BY_ITSELF | {EndedBy.UNRECORDED}

SIGNALS: Final[Mapping[int, str]] = {
    137: " (SIGKILL; nothing recorded says who sent it)",
    143: " (SIGTERM; nothing recorded says who sent it)",
}


def state_sentence(
    name: str,
    state: WorkloadState,
    since: datetime | None,
    part: str,
    *,
    listed: bool = False,
) -> str:
    """Return a sentence for the last known state of a workload or a Pod.

    Args:
        name: of the workload, or of the Pod with its workload.
        state: its last known state.
        since: when it came into the state.
        part: what the Pods of the workload are called.
        listed: whether a list showed it so then, so that it is since before.
    """
    word = "by" if listed else "at"
    at = f" {word} {since:%Y-%m-%d %H:%M:%S}" if since is not None else ""
    return f"{name} {_WORDS.state[state].format(part=part, at=at)}"


def ending_sentence(
    workload: Workload, ending: Ending, pod: str | None = None
) -> str:
    """Return a sentence: what ended a workload or its Pods, and the outcome.

    Of a Pod in question it says whether that was only stopped.
    """
    stopped = pod in ending.stopped and workload.kind != "Pod"
    part = workload.part.capitalize()
    head = f"{part} {pod} was stopped because " if stopped else ""
    return f"{head}{_sentence(workload, ending)}."


def _sentence(workload: Workload, ending: Ending) -> str:
    actor, verdict = ending.actor, ending.verdict
    # The verdict names who decided, and a kubelet is named with its node.
    if verdict or (actor and actor.kind is ActorKind.KUBELET):
        actor = None
    text = f"{_what(workload, ending)}{_by(actor)}{_for(ending.preemptor)}"
    became = _WORDS.became.get(ending.outcome) if ending.outcome else None
    alone = workload.kind == "Pod" and ending.outcome is Outcome.DOWN
    if became is not None and not alone:
        text += f"; {became.format(again=_clock(ending.running_again_at))}"
    if verdict is None:
        return text
    text += f": {verdict.sentence.removesuffix('.')}"
    for same in grouped(ending.every_verdict[1:]):
        names = named([one.node for one in same])
        text += f"; also {names} ({same[0].happened}: {same[0].cause})"
    # Slurm may hold another node responsible.
    facts = [record.stored.fact for record in ending.evidence]
    blamed = (
        fact.node
        for fact in facts
        if isinstance(fact.detail, Ended)
        and fact.detail.reason == NODE_LOST
        and fact.node not in {None, ending.node}
    )
    return text + "".join(f"; Slurm blames {node}" for node in [*blamed][:1])


def grouped(verdicts: Iterable[Verdict]) -> list[list[Verdict]]:
    """Return verdicts by what happened and why, the first first."""
    found: dict[tuple[str, str], list[Verdict]] = {}
    for verdict in verdicts:
        key = verdict.happened, verdict.cause
        found.setdefault(key, []).append(verdict)
    return [*found.values()]


def named(nodes: Sequence[str]) -> str:
    """Return the names of nodes, the rest counted."""
    if len(nodes) > NODES_SHOWN:
        more = len(nodes) - NODES_SHOWN
        return f"{', '.join(nodes[:NODES_SHOWN])} and {more} more nodes"
    *others, last = nodes
    return f"{', '.join(others)} and {last}" if others else last


def _what(workload: Workload, ending: Ending) -> str:
    at = _clock(ending.at)
    if not ending.pods:
        said = _condition(ending)
        when = "by" if _is_listed_over(ending) else "at"
        return f"{workload} {_WORDS.itself[ending.ended_by]} {when} {at}{said}"
    if ending.container is not None and ending.ended_by in ITS_OWN:
        return _failed(workload, ending, ending.container)
    pods, lost = _named(workload, ending)
    how, one = _WORDS.hit.get(ending.ended_by), len(ending.pods) == 1
    if how is None:
        how = _WORDS.of_pods[ending.ended_by]
        return f"{pods} {how.format(were='was' if one else 'were', at=at)}"
    reason, kind, message = _said(ending)
    said = "" if ending.verdict else _quoted(message)
    if kind == ENDED and is_refusal(reason):
        how, some = "on {node}", "" if one else "at least one "
        said = f", {some}refused by its kubelet: {reason}{_quoted(message)}"
    elif ending.ended_by is EndedBy.NODE_FAILURE and ending.verdict:
        how = "on {node}"  # the verdict says what happened
    elif ending.ended_by is EndedBy.EVICTION:
        how = _evicted(reason, kind)
    at = f"at {at}" if one else f"from {at} on"
    return f"{lost} {how.format(node=_where(ending))} {at}{said}"


def _is_listed_over(ending: Ending) -> bool:
    """Return whether it is only known that a list showed the end."""
    first = ending.evidence[0].stored
    return is_listed(first) and ending.at == first.observed_at


def _where(ending: Ending) -> str:
    """Return the nodes of the Pods that an ending ended."""
    lost = {one.node for one in ending.members if one.pod in ending.pods}
    nodes = [node for node in ending.nodes if node in lost]
    return named(nodes) if nodes else ending.node or "its node"


def _evicted(reason: str | None, kind: str) -> str:
    """Return who evicted a Pod: its kubelet or another."""
    if reason == BY_REQUEUE:
        return "by a requeue from {node}"
    if reason == BY_KUBELET or kind == ENDED:
        return "by an eviction by the kubelet of {node}"
    return _WORDS.hit[EndedBy.EVICTION]


def _named(workload: Workload, ending: Ending) -> tuple[str, str]:
    """Return the names of Pods with their workload, and that it lost them."""
    if workload.kind == "Pod":
        return str(workload), f"{workload} was lost"
    count = len(ending.pods)
    noun = workload.part
    pods = f"{count} {noun}s" if count > 1 else f"{noun} {ending.pods[0]}"
    size = ending.hit.gang_size if ending.hit is not None else 0
    part = f"{count} of {size} {noun}s"
    lost = part if workload.is_gang and size > count else pods
    return f"{pods} of {workload}", f"{workload} lost {lost}"


def _failed(
    workload: Workload, ending: Ending, container: FailedContainer
) -> str:
    where, part = f"container {container.name}", workload.part
    if workload.kind == SLURM_JOB:
        where = f"{container.name} script"
    if len(ending.pods) > 1:
        where += f" of {len(ending.pods)} {part}s"
    elif workload.kind != "Pod":
        where += f" of {part} {ending.pods[-1]}"
    on = f" on {ending.node}" if ending.node else ""
    times = f", {ending.count} times, last" if ending.count > 1 else ""
    at = f"{times} at {_clock(ending.at)}"
    if ending.ended_by is EndedBy.CONTAINER_OOM:
        how = "exceeded its memory limit and was killed"
    elif ending.ended_by is EndedBy.UNRECORDED:
        how = "ended; its kubelet does not know how"
    else:
        code = container.exit_code
        how = f"failed by itself with exit code {code}"
        how += SIGNALS.get(code or 0, "")
        reason = container.reason
        if reason and reason != "Error":
            how += f" {reason}"
    return f"{workload}: {where}{on} {how}{at}{_quoted(container.message)}"


def _condition(ending: Ending) -> str:
    """Quote the condition that the controller of a workload set."""
    reason, kind, message = _said(ending)
    queued = ending.ended_by is EndedBy.SUSPENSION and kind == EVICTED
    unknown = ending.ended_by is EndedBy.UNRECORDED
    if not (queued or (unknown and kind not in {"", ENDED})):
        return ""
    by = " by its queue" if queued else ""
    return f"{by}: {reason or kind}{_quoted(message)}"


def _said(ending: Ending) -> tuple[str | None, str, str | None]:
    """Return why a Pod or a workload ended: reason, condition, message.

    The condition of an end that its kubelet gave a reason for is `ENDED`; it
    is empty if no record says why.
    """
    records = (record.stored for record in ending.evidence)
    for stored in sorted(records, key=in_order):
        match stored.fact.detail:
            case Appeared() as seen if decided := ending_conditions(seen):
                kind, new = next(iter(decided.items()))
                return new.reason, kind, new.message
            case ConditionChanged(type=kind, new=new) if new is not None:
                return new.reason, kind, new.message
            case Ended(reason=str(reason), message=message):
                return reason, ENDED, message
    return None, "", None


def _quoted(said: str | None) -> str:
    if not said:
        return ""
    # A long chain of errors ends with the cause.
    cause = said.rpartition(CAUSE)[2] if len(said) > SAID_MAX else said
    short = shorten(cause, SAID_MAX, placeholder=" ...")
    return f' ("{short}")' if short else ""


def _by(actor: Actor | None, verb: str = "") -> str:
    return f"{verb} by {actor.name}" if actor and actor.name else ""


def _for(preemptor: Preemptor | None) -> str:
    """Return what took the place of a workload, and who created that."""
    if preemptor is None:
        return ""
    where = f"{preemptor.kind} {preemptor.namespace}/{preemptor.name}"
    return f", in favor of {where}{_by(preemptor.actor, ' created')}"


def _clock(at: datetime | None) -> str:
    return f"{at:%H:%M:%S}" if at else ""
