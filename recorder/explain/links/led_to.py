"""Led to: which intervention a transition came of, and what was decided.

The class of a decision is a table of exclusive rows: what its own words say,
then what it answers, then what its steps show.
"""

from collections.abc import Callable, Iterator

from recorder.explain.happened import GONE, STAYING
from recorder.explain.links.because import is_recent
from recorder.explain.links.marked import MARKED
from recorder.explain.links.stated import STATED, Deed, Led
from recorder.explain.signals import Signal, Topic
from recorder.explain.strength import rank
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.interventions import TAKING, Intervention
from recorder.explain.tracks.transition import Transition
from recorder.model.outcomes import Confidence, Decision, Happened

__all__ = ["Led", "led_to"]


def led_to(transition: Transition, one: Intervention) -> Led | None:
    """Return what an intervention decided and how it led to a transition."""
    stated = [
        s for s in transition.decisions if any(s is o for o in one.steps)
    ]
    deed = Deed(transition, one, stated)
    found = [led for row in ROWS if (led := row(deed)) is not None]
    return max(found, key=_worth, default=None)


def _worth(led: Led) -> tuple[int, int, int, str]:
    """Order by what it says, how sure, who was first; never by its row."""
    return led.weight, rank(led.strength), -led.step.position, led.decision


def _responded(deed: Deed) -> Led | None:
    """A controller took out of service what was broken."""
    t = deed.transition
    held = deed.one.of(Topic.CORDON) or [
        taint for taint in deed.one.of(Topic.TAINT) if taint is t.effect
    ]
    if not (held and deed.one.is_by_program and deed.faulted(held[0])):
        return None
    sure = is_recent(t, held[0]) or t.was_acted_upon or t.happened in STAYING
    if t.happened == Happened.REBOOT and t.episode.of(Topic.VERSION):
        sure = False  # what came back is another system: an upgrade, perhaps
    return Led(
        Decision.AUTO_REMEDIATION,
        held[0],
        deed.one.author,
        Confidence.PROVEN if sure else Confidence.POSSIBLE,
        2,
    )


def _changed(deed: Deed) -> Led | None:
    """Taken out of service, it came back as another system."""
    cordons, t = deed.one.of(Topic.CORDON), deed.transition
    if not cordons:
        return None
    cordon, author = cordons[0], deed.one.author
    anew = t.happened == Happened.REBOOT and not t.faults
    if anew and t.episode.of(Topic.VERSION):
        return Led(Decision.OS_UPGRADE, cordon, author, Confidence.LIKELY, 2)
    if cordon.decision is Decision.OS_UPGRADE and is_recent(t, cordon):
        return Led(Decision.OS_UPGRADE, cordon, author, Confidence.POSSIBLE, 1)
    return None


def _repaired(deed: Deed) -> Led | None:
    """What is taken away while it is broken is repaired by that."""
    t, broken = deed.transition, deed.transition.first_fault
    for step in deed.stated:
        if step.decision not in TAKING:
            continue
        actor = step.actor or t.author(step)
        if broken and step.stored.at - broken.stored.at >= LIMITS.patient:
            return Led(
                Decision.AUTO_REMEDIATION, step, actor, Confidence.LIKELY, 2
            )
        if step.vague and _was_unheard(t, step):
            return Led(
                Decision.AUTO_REMEDIATION, step, actor, Confidence.POSSIBLE, 2
            )
    return None


def _was_unheard(t: Transition, taken: Signal) -> bool:
    """Whether a node had been lost for long when somebody took it."""
    told = [
        s
        for s in t.episode.signals
        if s.topic is Topic.READY and s.position < taken.position
    ]
    return (
        bool(told)
        and not told[-1].over
        and taken.stored.at - told[-1].stored.at >= LIMITS.unheard
    )


def _drained(deed: Deed) -> Led | None:
    """A person emptied it, by a cordon or by a taint."""
    t, one = deed.transition, deed.one
    if one.is_by_program or t.happened in GONE:
        return None  # whoever deleted it decided
    hidden = one.author is not None and one.author.library
    for cordon in one.of(Topic.CORDON):
        if t.was_lost and cordon.stored.at > t.lost_at + LIMITS.together:
            return None  # it was lost before that, and by nothing of this
        if t.happened in STAYING:
            strength = Confidence.POSSIBLE if hidden else Confidence.PROVEN
            return Led(Decision.MANUAL_DRAIN, cordon, one.author, strength, 1)
        long_ago = t.lost_at - cordon.stored.at > LIMITS.set_aside
        waits = t.happened == Happened.REBOOT and not long_ago
        if not (waits or is_recent(t, cordon)):
            return None
        # Who takes a machine down empties it first, and not days before.
        near = is_recent(t, cordon) and _is_emptied_by_hand(deed)
        strength = (
            Confidence.LIKELY if near and not hidden else Confidence.POSSIBLE
        )
        return Led(
            Decision.MANUAL_DRAIN,
            cordon,
            one.author,
            strength,
            1 if near else 0,
        )
    return _tainted(deed)


def _is_emptied_by_hand(deed: Deed) -> bool:
    """Whether its author evicted Pods, or somebody else in person."""
    t = deed.transition
    authors = [t.author(s) for s in t.episode.of(Topic.EVICTION)]
    return bool(deed.one.of(Topic.EVICTION)) or any(
        author is not None and not author.is_program for author in authors
    )


def _tainted(deed: Deed) -> Led | None:
    """A taint by hand drives Pods away as well, and bars the node."""
    t, one = deed.transition, deed.one
    if t.happened not in {Happened.REBOOT, Happened.DRAINED}:
        return None
    for taint in one.of(Topic.TAINT):
        if taint is t.effect:
            return Led(
                Decision.MANUAL_DRAIN, taint, one.author, Confidence.PROVEN, 1
            )
        if one.author is not None and is_recent(t, taint):
            driven = t.first(Topic.TAINT_EVICTION)
            near = driven is not None and driven.stored.at < t.lost_at
            strength = Confidence.LIKELY if near else Confidence.POSSIBLE
            return Led(Decision.MANUAL_DRAIN, taint, one.author, strength, 1)
    return None


def _deleted(deed: Deed) -> Led | None:
    """Somebody deleted the Node."""
    t = deed.transition
    if t.happened not in GONE:
        return None
    for step in _deletions(deed.one):
        inferred = step.is_inferred
        named = deed.one.author is None or t.author(step) is not None
        strength = (
            Confidence.PROVEN if named and not inferred else Confidence.LIKELY
        )
        hints = [s for s in deed.one.steps if s.decision is not None]
        if not hints and _was_broken(deed) and deed.one.is_by_program:
            strength = Confidence.POSSIBLE  # it may repair what was broken
        if hints and all(s.vague for s in hints):
            # It was meant to go, and nothing says what for; unless a person
            # is on record who asked for it.
            by_hand = deed.one.author is not None and deed.one.is_by_hand
            strength = strength if by_hand else Confidence.POSSIBLE
        return Led(Decision.NODE_DELETION, step, deed.one.author, strength, 1)
    return None


def _was_broken(deed: Deed) -> bool:
    """Whether the node was in trouble when the order was given."""
    t = deed.transition
    return bool(
        t.faults
        or t.episode.baseline.ready in {"False", "Unknown"}
        or (t.was_lost and t.lost_at < deed.one.first.stored.at)
    )


def _deletions(one: Intervention) -> Iterator[Signal]:
    yield from one.of(Topic.DELETION)
    yield from one.of(Topic.IDENTITY)
    yield from (s for s in one.steps if s.decision is Decision.NODE_DELETION)


ROWS: tuple[Callable[[Deed], Led | None], ...] = (
    *STATED,
    _responded,
    _changed,
    _repaired,
    *MARKED,
    _drained,
    _deleted,
)
"""What its words say comes before what its steps show; each row is asked of
one intervention, so that none stands before another author's."""
