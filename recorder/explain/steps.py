"""The path of an answer in at most seven steps, as people are shown it.

Records of one act, the change of an object, the audit record of it and the
Event about it, are one step with several entries. Steps stand in the order of
the log.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from recorder.explain.happened import STAYED
from recorder.explain.signals import Actor, Signal, Topic
from recorder.explain.tracks.transition import Transition
from recorder.explain.verdict import Decided, Evidence, Faulted, Step
from recorder.model.outcomes import Role
from recorder.model.reference import EntryName

__all__ = ["STEPS_MAX", "steps_of"]

STEPS_MAX = 7

ACTS = (Topic.CORDON, Topic.EVICTION, Topic.DELETION, Topic.SHUTDOWN)
"""Acts that are shown, the most telling first; others if there is room."""

_GONE = frozenset({Topic.READY, Topic.SILENCE})
_NEW = frozenset(
    {Topic.BOOT, Topic.REBOOTED, Topic.KUBELET, Topic.SET_UP, Topic.IDENTITY}
)
"""Topics of an effect: the old state ended, the new one began."""


@dataclass(slots=True)
class _Draft:
    """A step that is being put together."""

    role: Role
    signals: list[Signal]
    actor: Actor | None = None


def steps_of(
    transition: Transition,
    decided: Decided | None,
    faulted: Faulted | None,
    evidence: Sequence[Evidence],
) -> list[Step]:
    """Return the path: fault, decision, acts, effect, recovery."""
    shown = [e.sign for e in evidence]
    drafts = [
        *_first(faulted, decided, shown),
        *_effect(transition, shown),
        *_recovery(transition, shown),
    ]
    used = {id(s) for draft in drafts for s in draft.signals}
    left = [s for s in shown if s.role is Role.ACT and id(s) not in used]
    acts = list(_acts(transition, left))
    drafts += acts[: STEPS_MAX - len(drafts)]
    drafts.sort(key=lambda d: min(_place(s) for s in d.signals))
    return [_step(draft) for draft in drafts]


def _first(
    faulted: Faulted | None, decided: Decided | None, shown: list[Signal]
) -> Iterator[_Draft]:
    if faulted is not None and (
        decided is None or faulted.sign is not decided.sign
    ):
        same = [s for s in shown if _is_one(s, faulted.sign)]
        yield _Draft(Role.FAULT, same or [faulted.sign])
    if decided is not None:
        same = [s for s in shown if _is_one(s, decided.sign)]
        yield _Draft(Role.DECISION, same or [decided.sign], decided.actor)


def _is_one(signal: Signal, of: Signal) -> bool:
    """Whether two signals are of one act: one says it, another records it."""
    return signal is of or (
        signal.subject == of.subject
        and signal.over == of.over
        and signal.role is of.role
    )


def _acts(transition: Transition, left: list[Signal]) -> Iterator[_Draft]:
    by_topic: dict[object, list[Signal]] = {}
    for signal in left:
        if signal.topic is Topic.REQUEST or not transition.precedes(signal):
            continue
        key: object = signal.topic
        if signal.topic not in ACTS:
            key = signal.subject
        by_topic.setdefault(key, []).append(signal)
    order = sorted(
        by_topic.values(),
        key=lambda own: (
            ACTS.index(own[0].topic) if own[0].topic in ACTS else len(ACTS),
            own[0].position,
        ),
    )
    for own in order:
        yield _Draft(Role.ACT, own, transition.author(own[0]))


def _effect(transition: Transition, shown: list[Signal]) -> Iterator[_Draft]:
    effect = transition.effect
    if effect.role is Role.FAULT:
        return
    told = [s for s in shown if not s.over]
    gone = [s for s in told if s.topic in _GONE and transition.precedes(s)]
    new = [s for s in told if s.topic in _NEW]
    if gone and effect.topic not in _GONE:
        yield _Draft(Role.EFFECT, gone)
        yield _Draft(Role.EFFECT, _with(effect, new))
    else:
        yield _Draft(Role.EFFECT, _with(effect, gone))


def _recovery(transition: Transition, shown: list[Signal]) -> Iterator[_Draft]:
    if transition.happened in STAYED:
        return
    after = [
        s
        for s in shown
        if s.role is Role.RECOVERY
        and s.topic is not Topic.WORD
        and s.position >= transition.effect.position
    ]
    ready = [s for s in after if s.topic is Topic.READY]
    back = [s for s in after if s.topic is Topic.CORDON]
    if ready:
        yield _Draft(Role.RECOVERY, ready[-1:])
    if back:
        yield _Draft(Role.RECOVERY, back[-1:], back[-1].actor)


def _with(first: Signal, others: Iterable[Signal]) -> list[Signal]:
    return [first, *(s for s in others if s is not first)]


def _place(signal: Signal) -> tuple[int, int]:
    return signal.position, signal.stored.index


def _step(draft: _Draft) -> Step:
    entries: dict[EntryName, None] = dict.fromkeys(
        s.stored.entry for s in sorted(draft.signals, key=_place)
    )
    first = draft.signals[0]
    says = first.says
    if first.topic is Topic.EVICTION and len(draft.signals) > 1:
        says = f"evicted {len(draft.signals)} Pods"
    return Step(
        role=draft.role,
        at=_earliest(draft.signals),
        says=says,
        actor=draft.actor,
        entries=tuple(entries),
    )


def _earliest(signals: Iterable[Signal]) -> datetime:
    return min(s.stored.at for s in signals)
