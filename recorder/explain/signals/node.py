"""Signals of a Node itself: facts in their possible roles.

The rules define what the literals of controllers mean; this code, what
Kubernetes itself does to a Node. A signal is evidence, not yet a cause.
"""

from collections.abc import Iterable, Iterator, Mapping

from recorder.explain.knowledge import Knowledge
from recorder.explain.knowledge.rules import ConditionRule
from recorder.explain.signals.actor import Actor, actor_of
from recorder.explain.signals.around import text_signals, unfolded
from recorder.explain.signals.signal import Signal, Subject, Topic
from recorder.facts.topology import cable_of
from recorder.model.fact import Fact, FactKind, StoredFact
from recorder.model.facts import (
    BootChanged,
    ConditionChanged,
    FieldChanged,
    LabelChanged,
    MetadataChanged,
    ResourceChanged,
    Tainted,
    Untainted,
)
from recorder.model.outcomes import Decision, Fault, Role
from recorder.model.reference import EntryName
from recorder.model.state import Condition

_OF_NODE = {
    FactKind.APPEARED: (Role.EFFECT, Topic.IDENTITY, False),
    FactKind.VANISHED: (Role.EFFECT, Topic.IDENTITY, True),
    FactKind.DELETION_REQUESTED: (Role.ACT, Topic.DELETION, False),
    FactKind.BOOT_CHANGED: (Role.EFFECT, Topic.BOOT, False),
    FactKind.CORDONED: (Role.ACT, Topic.CORDON, False),
    FactKind.UNCORDONED: (Role.RECOVERY, Topic.CORDON, True),
}
"""Role, subject, and whether it ends what began, of plain changes."""

VERSIONS = frozenset({"kernel_version", "os_image", "kubelet_version"})


def node_signals(stored: StoredFact, knowledge: Knowledge) -> Iterator[Signal]:
    """Yield the signals of a fact about a Node."""
    fact = stored.fact
    actor = actor_of(fact.actor, knowledge)
    if fact.kind in _OF_NODE and not _is_first_boot(fact):
        role, topic, over = _OF_NODE[fact.kind]
        decision = None
        if actor is not None and actor.known and topic is Topic.CORDON:
            # An actor with one reason for everything had that one.
            decision = knowledge.purpose(actor.name or "")
        yield Signal(
            role, Subject(topic), stored, None, None if over else decision,
            actor, over=over, vague=decision is not None,
        )  # fmt: skip
        return
    match fact.detail:
        case FieldChanged(field=field):
            yield from _field(stored, field)
        case ConditionChanged() as turned:
            yield from _condition(stored, turned, actor, knowledge)
        case ResourceChanged() as amount:
            yield from _gpus(stored, amount)
        case (Tainted() | Untainted()) as taint:
            yield _taint(stored, taint, actor, knowledge)
        case MetadataChanged() as text:
            yield from text_signals(stored, text, knowledge)


def _is_first_boot(fact: Fact) -> bool:
    """Whether a Node got its first boot ID: nothing rebooted.

    Programs that create Nodes before their machines, as Karpenter does, do
    not know it.
    """
    return isinstance(fact.detail, BootChanged) and not fact.detail.old


def _field(stored: StoredFact, field: str) -> Iterator[Signal]:
    if field in VERSIONS:
        yield Signal(Role.ACT, Subject(Topic.VERSION), stored)
    if field == "kubelet_version":
        # A kubelet changes its version only by a restart.
        yield Signal(Role.EFFECT, Subject(Topic.KUBELET), stored)


def _condition(
    stored: StoredFact,
    turned: ConditionChanged,
    actor: Actor | None,
    knowledge: Knowledge,
) -> Iterator[Signal]:
    name, old, new = turned.type, turned.old, turned.new
    rule = knowledge.conditions.first(name)
    own = _OF_KUBERNETES.get(name)
    if own is not None:
        yield from own(stored, turned, rule)
        return
    if rule is None:
        return
    subject = Subject(Topic.CONDITION, name)
    was = old is not None and old.status == rule.when
    if new is None or new.status != rule.when:
        if was:
            yield _end(stored, subject, actor)
        return
    if rule.decision is not None and not was:
        # An actor that a rule names is known; the writer is a guess.
        actor = Actor.named(rule.actor) or actor
        decision = _decision(rule, new)
        yield Signal(Role.DECISION, subject, stored, None, decision, actor)
        return
    fault = _fault(rule, new)
    if fault is not None:
        yield Signal(Role.FAULT, subject, stored, fault, None, actor)
    elif rule.role is not None and not was:
        yield Signal(rule.role, subject, stored, actor=actor)


def _decision(rule: ConditionRule, new: Condition) -> Decision | None:
    message = new.message or ""
    said = (one for text, one in rule.announced.items() if text in message)
    return next(said, rule.decisions.get(new.reason or "", rule.decision))


def _fault(
    rule: ConditionRule, new: Condition, apart: str = ";"
) -> Fault | None:
    parts = [one for one in (new.message or "").split(apart) if one.strip()]
    said = [
        next((text for text in rule.messages if text in part), None)
        for part in parts
    ]
    if any(said):
        # One message may have several: a fault precedes a mere symptom.
        named = [rule.messages[s] if s else rule.fault for s in said]
        broken = [fault for fault in named if fault is not None]
        return rule.fault if rule.fault in broken else next(iter(broken), None)
    return rule.reasons.get(new.reason or "", rule.fault)


def _ready(
    stored: StoredFact, turned: ConditionChanged, rule: ConditionRule | None
) -> Iterator[Signal]:
    """Yield the signals of Ready; its kubelet says what it waits for."""
    old, new = turned.old, turned.new
    before, now = (one and one.status for one in (old, new))
    if new is not None and "node is shutting down" in (new.message or ""):
        yield Signal(Role.ACT, Subject(Topic.SHUTDOWN), stored)
    if now == before:
        return
    if now == "True":
        yield Signal(Role.RECOVERY, Subject(Topic.READY), stored, over=True)
        return
    fault = None
    if rule is not None and new is not None and now == rule.when:
        # What was not ready before has only started.
        broke = before == "True" and new.message
        # A kubelet writes one sentence, which may have a semicolon.
        fault = _fault(rule, new, "\n") if broke else None
    yield Signal(Role.EFFECT, Subject(Topic.READY), stored, fault)


def _shutdown(
    stored: StoredFact, turned: ConditionChanged, _rule: ConditionRule | None
) -> Iterator[Signal]:
    was, now = (
        one is not None and one.status == "True"
        for one in (turned.old, turned.new)
    )
    if was != now:
        role = Role.ACT if now else Role.RECOVERY
        yield Signal(role, Subject(Topic.SHUTDOWN), stored, over=was)


_OF_KUBERNETES = {
    "Ready": _ready,
    # From 1.37 on.
    "GracefulNodeShutdownInProgress": _shutdown,
}
"""Conditions of Kubernetes itself."""


def _gpus(stored: StoredFact, amount: ResourceChanged) -> Iterator[Signal]:
    if amount.list != "allocatable" or not amount.resource.endswith("gpu"):
        return
    old, new = _number(amount.old), _number(amount.new)
    whole = _number(amount.capacity)
    if new < old and 0 < new < whole:
        # None at all is a plugin that has not registered yet.
        fault = Fault.GPU
        yield Signal(Role.FAULT, Subject(Topic.GPUS), stored, fault)
    elif new > old and new >= whole:
        yield Signal(Role.RECOVERY, Subject(Topic.GPUS), stored, over=True)


def _number(amount: str | None) -> int:
    return int(amount) if amount and amount.isdecimal() else 0


def _taint(
    stored: StoredFact,
    taint: Tainted | Untainted,
    actor: Actor | None,
    knowledge: Knowledge,
) -> Signal:
    subject = Subject(Topic.TAINT, taint.key)
    if isinstance(taint, Untainted):
        return _end(stored, subject, actor)
    rule = knowledge.taints.first(taint.key, values=taint.value or "")
    if rule is None:
        return Signal(Role.ACT, subject, stored, actor=actor)
    found = Signal.by(rule, subject, stored, actor)
    return found._replace(of_spot=rule.of_spot)


def _end(stored: StoredFact, subject: Subject, actor: Actor | None) -> Signal:
    return Signal(Role.RECOVERY, subject, stored, actor=actor, over=True)


def standing(seen: StoredFact, knowledge: Knowledge) -> list[Signal]:
    """Return the faults and decisions in the first observation of a node.

    And that it was cordoned, if who did that is recorded.
    """
    return [
        sign._replace(listed=True)
        for fact in unfolded(seen, knowledge)
        for sign in node_signals(fact, knowledge)
        if not sign.over
        and (
            sign.role in {Role.FAULT, Role.DECISION}
            or (sign.topic is Topic.CORDON and fact.fact.actor)
        )
    ]


Labels = Mapping[str, str]


class Cables:
    """The cables of a node, by the changes of its labels.

    What a port leads to and what it should lead to are two labels. A cable
    that is replugged on purpose changes both, so the labels of a whole version
    count.
    """

    def __init__(self, node: str, facts: Iterable[StoredFact]) -> None:
        """Take the facts about a node, in the order of the log."""
        self._node = node
        self._changes: dict[EntryName, list[LabelChanged]] = {}
        for stored in facts:
            detail = stored.fact.detail
            if stored.fact.about == "Node" and isinstance(
                detail, LabelChanged
            ):
                self._changes.setdefault(stored.entry, []).append(detail)

    def signals(self, stored: StoredFact, labels: Labels) -> list[Signal]:
        """Return the signals of a fact, with the labels by then."""
        detail = stored.fact.detail
        cable = (
            cable_of(detail.key) if isinstance(detail, LabelChanged) else None
        )
        if cable is None:
            return []
        changes = self._changes.get(stored.entry, ())
        was = cable.is_right(_with(labels, {c.key: c.old for c in changes}))
        now = cable.is_right(_with(labels, {c.key: c.new for c in changes}))
        if (was is False) == (now is False):
            return []
        mended = was is False
        return [
            Signal(
                Role.RECOVERY if mended else Role.FAULT,
                Subject(Topic.METADATA, cable.current), stored,
                None if mended else Fault.LINK,
                place=cable.port(self._node), over=mended,
            )
        ]  # fmt: skip


def _with(labels: Labels, values: Mapping[str, str | None]) -> Labels:
    changed = {**labels, **values}
    return {key: v for key, v in changed.items() if v is not None}
