"""Interventions: who acted on a node, and in which steps.

Acts of one author in one episode are one intervention. The owner of a literal
in an act is asked by it: a person who creates a NodeMaintenance asks its
operator, and one whose annotation a program quotes asks that program.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from recorder.explain.causes import DECISIONS
from recorder.explain.signals.actor import Actor, is_same
from recorder.explain.signals.marks import is_order
from recorder.explain.signals.signal import Signal, Topic
from recorder.explain.thresholds import LIMITS
from recorder.explain.tracks.transition import (
    DONE,
    QUOTE_MIN,
    Transition,
    follows,
)
from recorder.model.fact import FactKind
from recorder.model.facts import ConditionChanged, MetadataChanged

_NO_ACT = frozenset({Topic.REQUEST, Topic.SHUTDOWN, Topic.VERSION, Topic.WORD})
"""Topics that are no acts on purpose, and those of audit records."""


@dataclass(slots=True)
class Intervention:
    """The acts of one author."""

    author: Actor | None
    steps: list[Signal] = field(default_factory=list)
    marks: list[Signal] = field(default_factory=list)
    """What its author wrote and has no rule."""

    asked: list[Actor] = field(default_factory=list)
    """The owners of the literals it used, whose programs act on them."""

    serves: bool = False
    """Whether it works on an object by which a person asked."""

    presumed: bool = False
    """Whether only the time shows that what it asked acted for it."""

    @property
    def first(self) -> Signal:
        """The first step."""
        return self.steps[0]

    def of(self, topic: Topic) -> list[Signal]:
        """Return the steps of a topic."""
        return [s for s in self.steps if s.topic is topic]

    @property
    def is_by_program(self) -> bool:
        """Whether a program is its author."""
        return self.author is not None and self.author.is_program

    @property
    def is_by_hand(self) -> bool:
        """Whether a person, or a tool in a person's hands, is its author."""
        author = self.author
        return author is not None and not (author.is_program or author.library)


def interventions_of(transition: Transition) -> list[Intervention]:
    """Return who acted before the effect, in the order of their first acts.

    A mark is an act if it says that the node is drained or rebooted.
    """
    called_off = transition.called_off
    marks = [
        m
        for m in transition.episode.marks
        if transition.is_before(m) and m.subject not in called_off
    ]
    orders = [
        m
        for m in marks
        if (is_order(m) or _is_taken_up(m, transition))
        and (author := transition.author(m)) is not None
        and (m.topic is not Topic.CONDITION or transition.acts(author))
    ]
    steps = sorted([*_steps(transition), *orders], key=lambda s: s.order)
    found = _grouped(transition, steps)
    for mark in marks:
        author = transition.author(mark)
        own = [one for one in found if _is_by(one, author)]
        if own:
            own[-1].marks.append(mark)
        elif mark.topic is Topic.OBJECT:
            # An object that names the node when it is created is an order.
            found.append(Intervention(author, [mark], marks=[mark]))
    found = _not_given_back(transition, found)
    for one in found:
        if one.is_by_hand:
            one.asked += _obeying(one, found, transition)
            if not one.asked:
                one.asked = [*_removing_after(one, found)]
                one.presumed = bool(one.asked)
    return found


def _not_given_back(
    transition: Transition, found: list[Intervention]
) -> list[Intervention]:
    """Return the interventions without those that were over before the last.

    Their node was uncordoned, and another cordoned it anew.
    """
    given_back = max(
        (
            s.position
            for s in transition.episode.signals
            if s.topic is Topic.CORDON and s.over and transition.is_before(s)
        ),
        default=0,
    )
    if not any(
        s.position > given_back > 0
        for one in found
        for s in one.of(Topic.CORDON)
    ):
        return found
    return [
        one
        for one in found
        if any(s.position > given_back for s in (*one.steps, *one.marks))
    ]


def _is_taken_up(mark: Signal, transition: Transition) -> bool:
    """Whether a program took up what another wrote.

    By a key, what a person wrote; of a program, the plan of a reboot, for
    which it emptied the node at once.
    """
    author = transition.author(mark)
    if author is None or mark.topic is not Topic.METADATA:
        return False
    if author.is_program:
        planned = is_order(mark, later=True, stops=True)
        if not planned or transition.taken_back(mark):
            return False
    return any(
        mark.position < act.position
        and (
            act.topic is Topic.CORDON and follows(act, mark, LIMITS.moment)
            if author.is_program
            else _takes_up(act, mark)
        )
        and transition.is_before(act)
        and (other := transition.author(act)) is not None
        and other.is_program
        for act in transition.episode.written
    )


def _takes_up(act: Signal, mark: Signal) -> bool:
    """Whether an act has the key of a mark, or an order has one of its own.

    One that continues the key, or, if the mark plans a reboot, one of the
    same domain. The domains of Kubernetes are of many programs.
    """
    key, own = act.subject.name, mark.subject.name
    planned = is_order(mark, later=True)
    if key == own:
        return planned
    domain = own.rpartition("/")[0]
    shared = domain and not domain.endswith(("kubernetes.io", "k8s.io"))
    return is_order(act) and (
        (len(own) >= QUOTE_MIN and key.startswith((f"{own}.", f"{own}-")))
        or bool(planned and shared and key.startswith(f"{domain}/"))
    )


def _is_by(one: Intervention, author: Actor | None) -> bool:
    """Whether an author, or someone with such a tool, made an intervention."""
    if author is None or one.author is None:
        return False
    return is_same(one.author, author) or (
        not author.name
        and not one.author.name
        and author.library == one.author.library
    )


def _obeying(
    one: Intervention, found: Iterable[Intervention], transition: Transition
) -> Iterator[Actor]:
    """Yield the authors who carried out what a person ordered."""
    orders = [
        s
        for s in one.steps
        if is_order(s, later=not s.ruled)
        or (s.topic is Topic.METADATA and not s.ruled)
    ]
    asked = {s.subject for s in one.steps if s.topic is Topic.OBJECT}
    serving = [
        transition.author(mark)
        for mark in transition.episode.marks
        if mark.subject in asked
    ]
    for other in found:
        if other is one or other.author is None:
            continue
        served = other.is_by_program and any(
            is_same(other.author, author) for author in serving
        )
        other.serves |= served
        if served or any(
            _is_quoted(order, other, transition)
            or _is_emptied_for(order, other, transition)
            for order in orders
        ):
            yield other.author


def _removing_after(
    one: Intervention, found: Iterable[Intervention]
) -> Iterator[Actor]:
    """Yield who, for no reason of its own, removed a Node at once.

    Right after the deletion of an object that the Node is tied to.
    """
    kind, asked = FactKind.DELETION_REQUESTED, one.of(Topic.OBJECT)
    deleted = [order for order in asked if order.kind is kind]
    for other in found:
        if (
            other.author is not None
            and other.author.is_program
            and (other.of(Topic.DELETION) or other.of(Topic.IDENTITY))
            and not any(step.decision for step in other.steps)
            and any(follows(other.first, s, LIMITS.moment) for s in deleted)
        ):
            yield other.author


def _is_emptied_for(
    order: Signal, other: Intervention, transition: Transition
) -> bool:
    """Whether a node was emptied after an order that was then removed.

    An order that is removed without any act is withdrawn.
    """
    gone = transition.taken_back(order)
    emptied = [*other.of(Topic.CORDON), *other.of(Topic.EVICTION)]
    return any(order.position < step.position < gone for step in emptied)


def _literals(order: Signal) -> Iterator[str]:
    """Yield the literals of an order to quote: its name, a ticket."""
    yield order.subject.name
    detail = order.detail
    if isinstance(detail, MetadataChanged):
        words = (detail.new or "").split()
        yield from (w for w in words if any(c.isdigit() for c in w))
    elif isinstance(detail, ConditionChanged) and detail.new is not None:
        yield from filter(None, (detail.new.reason, detail.new.message))


def _is_quoted(
    order: Signal, other: Intervention, transition: Transition
) -> bool:
    """Whether another quotes a literal of an order while that holds."""
    literals = [x for x in _literals(order) if len(x) >= QUOTE_MIN]
    gone = transition.taken_back(order)
    return any(
        order.position < mark.position <= (gone or mark.position)
        and mark.subject != order.subject
        and (
            any(literal in mark.says for literal in literals)
            or _takes_up(mark, order)
        )
        for mark in (*other.marks, *other.of(Topic.TAINT))
    )


def _grouped(
    transition: Transition, steps: Iterable[Signal]
) -> list[Intervention]:
    found: list[Intervention] = []
    for step in steps:
        author = transition.author(step)
        one = _fitting(found, author, step)
        if one is None:
            one = Intervention(author)
            found.append(one)
        one.steps.append(step)
        owner = step.actor
        if owner is not None and owner.known and not is_same(owner, author):
            one.asked.append(owner)
    return found


def _steps(transition: Transition) -> Iterator[Signal]:
    """Yield the acts before a transition that are still in force.

    Without the taints that Kubernetes derives from conditions, and with the
    removal of the Node, which is an act although it ends something.
    """
    for signal in transition.episode.signals:
        if not transition.is_before(signal):
            continue
        if signal.topic is Topic.IDENTITY:
            if signal.over:
                yield signal
        elif (
            signal.over
            or signal.topic in _NO_ACT
            or signal.subject in transition.called_off
        ):
            continue
        elif signal.role in DONE and not signal.is_derived:
            yield signal


def _fitting(
    found: Sequence[Intervention], author: Actor | None, step: Signal
) -> Intervention | None:
    fitting = [one for one in found if _is_by(one, author)]
    if author is None and step.topic in {Topic.EVICTION, Topic.TAINT}:
        # Without a record, the author of a drain is the one who had cordoned
        # the node, or had just said so, or else who had tainted it.
        fitting = [
            one
            for one in found
            if one.of(Topic.CORDON) or any(map(is_order, one.steps))
        ] or [one for one in found if one.of(Topic.TAINT)]
    if author is None and step.topic in {Topic.IDENTITY, Topic.DELETION}:
        # Without a record, the author of a deletion is the one who requested
        # or announced it.
        fitting = [
            one
            for one in found
            if one.of(Topic.DELETION)
            or any(
                DECISIONS[s.decision].takes for s in one.steps if s.decision
            )
        ] or [
            one
            for one in found
            if one.is_by_program
            and not all(s.ruled and s.decision for s in one.steps)
            and (one.of(Topic.TAINT) or one.of(Topic.CORDON))
        ]
    return fitting[-1] if fitting else None
