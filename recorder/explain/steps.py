"""The path of an answer in at most seven steps.

The records of one act are one step with several entries: the change of an
object, its audit record, the Event about it, and what Kubernetes wrote
because of it. Steps are in order of time, within a second in that of the log,
as is the evidence.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from msgspec.structs import replace

from recorder.explain.causes import GONE, STAYED, STAYING
from recorder.explain.signals.actor import Actor, is_same
from recorder.explain.signals.marks import is_order
from recorder.explain.signals.requests import request_of
from recorder.explain.signals.signal import LOSSES, Signal, Subject, Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.transition import Transition, latest
from recorder.explain.verdict import Decided, Evidence, Faulted, Step
from recorder.facts.slurm import part_of
from recorder.model.outcomes import Confidence, Decision, Happened, Role
from recorder.model.reference import EntryName

STEPS_MAX = 7

LAST_SIGN = "last sign of life"

ACTS = (Topic.CORDON, Topic.EVICTION, Topic.DELETION, Topic.SHUTDOWN)
"""Acts that are shown, the most important first; others if there is room. What
an author says it did to reboot a node precedes them."""

_NEW = frozenset(
    {Topic.BOOT, Topic.REBOOTED, Topic.KUBELET, Topic.SET_UP, Topic.IDENTITY}
)
"""Topics of an effect: the old state ended and the new one began."""

_EVICTIONS = {
    Topic.EVICTION: "evicted",
    Topic.TAINT_EVICTION: "the taint manager evicted",
}

_CORDONED = "node.kubernetes.io/unschedulable"
"""The taint that Kubernetes adds if a node is cordoned."""


@dataclass(slots=True)
class _Draft:
    """A step that is being put together."""

    role: Role
    signals: list[Signal]
    actor: Actor | None = None
    at: datetime | None = None
    """For a loss, the last proof of the old state."""


def steps_of(
    transition: Transition,
    decided: Decided | None,
    faulted: Faulted | None,
    evidence: Sequence[Evidence],
    alive: datetime | None,
    heard: Signal | None,
) -> list[Step]:
    """Return the path: fault, decision, acts, effect, recovery.

    ``alive`` is the last proof of the old state; ``heard`` is the signal that
    proved it, if the path may have a step for it.
    """
    shown = [e.sign for e in evidence]
    drafts = [
        *_first(transition, faulted, decided, shown),
        *_effect(transition, faulted, decided, shown, (alive, heard)),
        *_recovery(transition, shown),
        *_impact(shown),
    ]
    placed = {s.position for draft in drafts for s in draft.signals}
    left = [
        s
        for s in shown
        if s.role is Role.ACT
        and s.position not in placed
        and s.topic is not Topic.REQUEST
        and (transition.happened in STAYING or transition.precedes(s))
    ]
    drafts += islice(_acts(transition, left), STEPS_MAX - len(drafts))
    for signal in left:
        if signal.is_derived:
            _join(signal, drafts)
    for draft in drafts:
        # With the audit records of the requests that made it.
        made = [request_of(signal, shown) for signal in draft.signals]
        draft.signals += filter(None, made)
    drafts.sort(key=_order)
    steps: list[Step] = []
    for draft in drafts:
        step = _step(transition, draft)
        if steps and step.at < steps[-1].at:
            # A claim in whole seconds is an interval: it came late in it.
            step = replace(step, at=steps[-1].at)
        steps.append(step)
    return steps


def _first(
    transition: Transition,
    faulted: Faulted | None,
    decided: Decided | None,
    shown: list[Signal],
) -> Iterator[_Draft]:
    """Yield the fault, and the decision with its author's report of it."""
    own = {transition.effect.order, decided and decided.sign.order}
    if faulted is not None and faulted.sign.order not in own:
        yield _Draft(Role.FAULT, _same(faulted.sign, shown))
    if decided is None:
        return
    author = None if decided.is_by_unknown else decided.actor
    reports = [
        s
        for s in shown
        if s.topic is Topic.EVENT
        and not s.ruled
        and is_same(s.actor, author)
        and abs(s.at - decided.sign.at) <= LIMITS.asynchronous
    ]
    same = [*_same(decided.sign, shown), *reports]
    yield _Draft(Role.DECISION, _with(decided.sign, same), author)


def _same(first: Signal, shown: Iterable[Signal]) -> list[Signal]:
    """Return a signal and the other signals of the same act."""
    others = [
        s
        for s in shown
        if s.subject == first.subject
        and s.over == first.over
        and s.role is first.role
    ]
    return _with(first, others)


def _acts(transition: Transition, left: list[Signal]) -> Iterator[_Draft]:
    by_subject: dict[Subject, list[Signal]] = {}
    for signal in left:
        if not signal.is_derived:
            by_subject.setdefault(signal.subject, []).append(signal)
    rebooted = transition.happened is Happened.REBOOT
    order = sorted(
        by_subject.values(),
        key=lambda own: (
            not (rebooted and is_order(own[0])),
            ACTS.index(own[0].topic) if own[0].topic in ACTS else len(ACTS),
            own[0].position,
        ),
    )
    placed: set[int] = set()
    for own in order:
        # The changes of one write are one act; the clearest one names it.
        if any(s.position not in placed for s in own):
            yield _Draft(Role.ACT, own, transition.author(own[0]))
        placed.update(s.position for s in own)


def _join(taint: Signal, drafts: Iterable[_Draft]) -> None:
    """Add a taint of Kubernetes to the step that caused it."""
    cordons = taint.subject.name.startswith(_CORDONED)
    causes = (Topic.CORDON,) if cordons else LOSSES
    for draft in drafts:
        if draft.role not in {Role.FAULT, Role.RECOVERY} and any(
            s.topic in causes for s in draft.signals
        ):
            draft.signals.append(taint)
            return


def _effect(
    transition: Transition,
    faulted: Faulted | None,
    decided: Decided | None,
    shown: list[Signal],
    last: tuple[datetime | None, Signal | None],
) -> Iterator[_Draft]:
    """Yield how the old state ended, before the new one, and the new one."""
    effect, (alive, heard) = transition.effect, last
    own = decided is not None and effect.order == decided.sign.order
    if own and transition.happened not in GONE:
        return
    begun = [s for s in shown if not s.over]
    gone = [s for s in begun if s.topic in LOSSES and transition.precedes(s)]
    if effect.topic in LOSSES:
        yield _Draft(Role.EFFECT, _with(effect, gone))
        return
    unready = [s for s in gone if s.topic is Topic.READY]
    known = faulted is not None and faulted.sign in unready
    # The Lease of a Node that is removed ends with it.
    lost = unready if transition.happened is Happened.REMOVED else gone
    if lost and not known and heard is not None:
        signals = _with(heard, gone)
        yield _Draft(Role.EFFECT, signals, at=alive)
    elif unready and not known:
        yield _Draft(Role.EFFECT, unready)
    new = [
        s
        for s in begun
        if s.topic in _NEW and (alive is None or latest(s) >= alive)
    ]
    if not own:
        yield _Draft(Role.EFFECT, _with(effect, new))
    elif after := [s for s in new if s.position > effect.position]:
        after.sort(key=lambda s: s.topic is not Topic.IDENTITY)
        yield _Draft(Role.EFFECT, after)
    anew = [s for s in begun if s.topic is Topic.VERSION]
    # Of what surely had another purpose, the acts show more.
    if anew and (
        decided is None
        or decided.decision is Decision.OS_UPGRADE
        or decided.confidence is Confidence.POSSIBLE
    ):
        yield _Draft(Role.EFFECT, anew)


def _recovery(transition: Transition, shown: list[Signal]) -> Iterator[_Draft]:
    """Yield how the node came back: its last Ready, and its last uncordon."""
    if transition.happened in STAYED:
        return
    for topic in (Topic.READY, Topic.CORDON):
        after = [
            s
            for s in shown
            if s.role is Role.RECOVERY
            and s.topic is topic
            and s.position >= transition.effect.position
        ]
        for last in after[-1:]:
            ready = topic is Topic.READY
            author = None if ready else transition.author(last)
            yield _Draft(Role.RECOVERY, [last], author)


def _impact(shown: Iterable[Signal]) -> Iterator[_Draft]:
    gone: set[object] = set()
    driven = []
    for signal in shown:
        # The first record ended the Pod, not those written afterwards.
        pod = signal.stored.fact.object
        if signal.topic is Topic.TAINT_EVICTION and pod not in gone:
            driven.append(signal)
        elif signal.topic is Topic.EVICTION:
            gone.add(pod)
    if driven:
        yield _Draft(Role.IMPACT, driven)


def _with(first: Signal, others: Iterable[Signal]) -> list[Signal]:
    place = first.order
    return [first, *(s for s in others if s.order != place)]


def _order(draft: _Draft) -> tuple[datetime, tuple[int, int]]:
    first = min(draft.signals, key=lambda s: s.order)
    at = draft.at or latest(first)
    return at.replace(microsecond=0), first.order


def _step(transition: Transition, draft: _Draft) -> Step:
    first, *others = draft.signals
    entries: dict[EntryName, None] = dict.fromkeys(
        s.entry for s in [first, *sorted(others, key=lambda s: s.order)]
    )
    at, says = draft.at, first.says
    if at is not None:
        says = LAST_SIGN
    elif first is transition.effect:
        at = first.at
    else:
        at = min(s.at for s in draft.signals if s.topic is first.topic)
    if first.topic in _EVICTIONS:
        says = _evicted(draft.signals)
    elif first.topic is Topic.VERSION:
        changed = (s.says for s in draft.signals if s.topic is first.topic)
        says = ", ".join(dict.fromkeys(changed))
    return Step(
        role=draft.role,
        at=at,
        says=says,
        actor=draft.actor,
        entries=tuple(entries),
    )


def _evicted(evictions: Sequence[Signal]) -> str:
    topic = evictions[0].topic
    pods = {
        f"{part_of(pod).lower()}/{pod.namespace}/{pod.name}"
        for s in evictions
        if s.topic is topic and (pod := s.stored.fact.object) is not None
    }
    did = _EVICTIONS[topic]
    if len(pods) == 1:
        return f"{did} {pods.pop()}"
    part = part_of(evictions[0].stored.fact.object)
    return f"{did} {len(pods)} {part}s"
